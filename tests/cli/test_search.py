"""`isoscope check --anomaly`: chosen anomalies and nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from isoscope import search
from isoscope.anomalies import CATALOGUE
from isoscope.checkers.values import NAMES
from isoscope.verdict import Method, Presence, Sighting
from tests.cli.running import run
from tests.recorded import record

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {
    "clean.txt": "w(1,1,1,1)\nr(1,1,2,2)\n",
    "fractured.txt": "w(1,1,1,1)\nw(2,1,1,1)\nr(1,0,2,2)\nr(2,1,2,2)\n",
    "both.txt": "w(1,1,1,1)\nw(2,1,1,1)\nr(1,0,2,2)\nr(2,1,2,2)\nr(3,9,3,3)\n",
    "repeated.txt": "w(1,1,1,1)\nw(1,1,2,2)\nr(1,1,3,3)\n",
    "broken.txt": "w(1,1,1,1)\nr(1,1,2\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["fractured.txt", "--anomaly", "fractured-read-co"], 1),
        (["fractured.txt", "--anomaly", "TAP-K"], 1),
        (["fractured.txt", "--anomaly", "fractured_read_co"], 1),
        (["fractured.txt", "--anomaly", "tap-l"], 0),
        (["fractured.txt", "--anomaly", "tap-l", "--anomaly", "tap-k"], 1),
        (["clean.txt", "fractured.txt", "--anomaly", "tap-k"], 1),
        (["clean.txt", "--anomaly", "tap-k", "--anomaly", "tap-a"], 0),
        # A value that two transactions wrote hides which of them was read, but not a value without a writer.
        (["repeated.txt", "--anomaly", "tap-k"], 3),
        (["repeated.txt", "--anomaly", "thin-air-read"], 0),
        (["repeated.txt", "--anomaly", "non-repeatable-read"], 0),
        (["repeated.txt", "fractured.txt", "--anomaly", "tap-k"], 1),
        (["fractured.txt", "broken.txt", "--anomaly", "tap-k"], 2),
        (["fractured.txt", "--anomaly", "tap-k", "--level", "read-atomic"], 1),
        (["fractured.txt", "--anomaly", "tap-k", "--level", "serializable", "--level", "causal"], 1),
        (["fractured.txt", "--anomaly", "tap-k", "--level", "read-committed"], 2),
        (["fractured.txt", "--anomaly", "tap-z"], 2),
        (["fractured.txt", "--anomaly", "lock-violation"], 2),
        (["fractured.txt", "--anomaly", "tap-k", "--method", "timestamps"], 2),
        (["fractured.txt", "--anomaly", "tap-k", "--method", "values"], 1),
    ],
    ids=lambda case: " ".join(case) if isinstance(case, list) else None,
)
def test_the_exit_status_is_1_if_found_3_if_it_may_be_there_else_0(arguments: list[str], status: int) -> None:
    for extra in ([], ["--json"], ["--summary"]):
        assert run("check", *arguments, *extra).status == status


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--anomaly", "fractured-reads-co"],
            "unknown anomaly `fractured-reads-co`; did you mean",
        ),
        (["--anomaly", "lock-violation"], "`lock-violation` is one of mechanisms: a profile says which"),
        (["--anomaly", "tap-k", "--method", "timestamps"], "the method timestamps does not report"),
        (
            ["--anomaly", "tap-k", "--level", "rc"],
            "`fractured-read-co` does not count against `read-committed`: it breaks `read-atomic`",
        ),
    ],
)
def test_a_name_that_cannot_be_looked_for_is_refused_with_a_hint(arguments: list[str], message: str) -> None:
    done = run("check", "fractured.txt", *arguments)
    assert done.out == ""
    assert done.err.startswith(f"error: {message}")
    assert "hint: `isoscope explain` lists the anomalies" in done.err


def test_the_report_shows_only_what_was_looked_for() -> None:
    done = run("check", "both.txt", "--anomaly", "tap-k", "--anomaly", "tap-b")
    _, rows, *example = done.out.split("\n\n")
    assert rows == "  found     fractured-read-co (1)\n  absent    aborted-read"
    assert [" ".join(block.split()) for block in example] == [
        "fractured-read-co: 1 found",
        "T1 session 1 wrote key 1 = 1 (both.txt:1), wrote key 2 = 1 (line 2) "
        "T2 session 2 read key 1 = 0 (line 3), read key 2 = 1 (line 4)",
        "T1 before T2 (wr) T2 read key 2 = 1, which T1 wrote "
        "So T2 saw only part of what T1 wrote: it read key 1 = 0, the initial value, which T1 had "
        "overwritten with 1.",
        "",
    ]


def documents(*arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run("check", "--json", *arguments).out.splitlines()]


def test_json_has_sightings_instead_of_verdicts() -> None:
    [found] = documents("repeated.txt", "--anomaly", "tap-k", "--anomaly", "tap-j")
    assert list(found) == ["isoscope", "history", "assumptions", "sightings"]
    assert found["sightings"] == [
        {
            "name": "fractured-read-co",
            "presence": "unknown",
            "method": "values",
            "reason": "1 read saw values that several transactions wrote (key 1)",
            "count": 0,
            "anomalies": [],
        },
        {
            "name": "non-repeatable-read",
            "presence": "absent",
            "method": "values",
            "reason": "",
            "count": 0,
            "anomalies": [],
        },
    ]
    [found] = documents("fractured.txt", "--anomaly", "tap-k", "--timings")
    assert [anomaly["name"] for anomaly in found["sightings"][0]["anomalies"]] == ["fractured-read-co"]
    assert list(found["seconds"]) == ["load", "check"]


@pytest.mark.parametrize("name", NAMES)
def test_every_anomaly_that_is_reported_can_be_looked_for(name: str) -> None:
    example = CATALOGUE[name].example
    assert example is not None
    done = run("check", "-", "--anomaly", name, stdin=example.text)
    assert done.status == 1
    assert f"{name}: " in done.out


def test_python_looks_for_anomalies_by_any_name_once() -> None:
    history = record([("read", "x", 5)], [("read", "x", 6)])
    [sighting] = search(history, ["TAP-a", "thin-air-read"], max_anomalies=1).sightings
    assert (sighting.name, sighting.presence, sighting.count) == ("thin-air-read", Presence.FOUND, 2)
    assert len(sighting.anomalies) == 1
    with pytest.raises(ValueError, match="unknown anomaly"):
        search(history, ["tap-z"])


def test_a_sighting_is_consistent_and_has_no_truth_value() -> None:
    for wrong in (
        {"presence": Presence.FOUND},
        {"presence": Presence.ABSENT, "count": 1},
        {"presence": Presence.ABSENT, "reason": "why"},
        {"presence": Presence.UNKNOWN},
    ):
        with pytest.raises(ValueError, match="with"):
            Sighting(name="thin-air-read", method=Method.VALUES, **wrong)
    with pytest.raises(TypeError, match="three answers"):
        bool(Sighting(name="thin-air-read", method=Method.VALUES, presence=Presence.ABSENT))
