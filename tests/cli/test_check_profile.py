"""`isoscope check --profile`: whether mechanisms were at work, in every kind of report."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from isoscope.anomalies import CATALOGUE
from isoscope.anomalies.entry import leopard
from isoscope.reports.schema import schema
from tests.cli.running import run

SER = "postgresql/serializable"
CLEAN = ("1 0-10 update x=1", "1 20-30 commit", "2 40-50 select x=1", "2 60-70 commit")
OVERLAPPING = ("1 0-10 update x=1", "1 20-45 commit", "2 40-50 select x=0", "2 60-70 commit")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("inconsistent-read", "lock-violation", "first-updater-violation", "certifier-violation"):
        example = CATALOGUE[name].example
        assert example is not None
        Path(f"{name}.jsonl").write_text(example.text, encoding="utf-8")
    for name, lines in {"clean": CLEAN, "overlapping": OVERLAPPING}.items():
        Path(f"{name}.jsonl").write_text(leopard(*lines, note="", profile="").text, encoding="utf-8")
    Path("plain.txt").write_text("w(1,1,1,1)\nr(1,1,2,2)\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "status", "answer"),
    [
        (["clean.jsonl"], 0, "Yes. PostgreSQL at SERIALIZABLE kept strong snapshot isolation and "),
        (["clean.jsonl", "--method", "intervals"], 0, "Yes. PostgreSQL at SERIALIZABLE kept strong snap"),
        (["overlapping.jsonl"], 0, "Yes. PostgreSQL at SERIALIZABLE kept strong snapshot isolation and "),
        (
            ["first-updater-violation.jsonl"],
            1,
            "No. PostgreSQL at SERIALIZABLE broke first-updater-wins: 1 first-updater violation.",
        ),
        (["plain.txt"], 3, "Not decided: whether PostgreSQL at SERIALIZABLE kept strong snapshot isolation "),
        (
            ["clean.jsonl", "--level", "linearizable", "--clock-error", "1"],
            3,
            "Not decided: whether PostgreSQL at SERIALIZABLE kept linearizability (clocks that are not ",
        ),
    ],
)
def test_the_first_line_answers_and_the_exit_status_agrees(
    arguments: list[str], status: int, answer: str
) -> None:
    done = run("check", *arguments, "--profile", SER)
    assert done.out.startswith(answer)
    assert done.status == status


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "intervals"], "--method intervals needs a --profile"),
        (["--method", "values", "--profile", SER], "--profile goes with --method intervals"),
        (["--clock-error", "5"], "--clock-error goes with a --profile"),
        (["--profile", "postgresql/strange"], ""),
        (["--anomaly", "lock-violation", "--level", "pl-2", "--profile", SER], "`lock-violation` convicts a"),
        (["--streaming", "--profile", SER], "--streaming goes with --method timestamps"),
    ],
)
def test_options_that_contradict_each_other_are_one_message(arguments: list[str], message: str) -> None:
    done = run("check", "clean.jsonl", *arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"error: {message}")
    assert "Traceback" not in done.err


def test_a_missing_profile_says_how_to_find_one() -> None:
    done = run("check", "clean.jsonl", "--method", "intervals")
    assert "hint: `isoscope profiles` lists them" in done.err


def test_the_text_tells_mechanisms_dependencies_and_what_is_open() -> None:
    out = run("check", "overlapping.jsonl", "--profile", SER).out
    assert "  unknown   consistent-read: 1 read checked, 1 may be right or wrong: intervals overlap\n" in out
    assert "  holds     agreement: nothing to check\n" in out
    assert "  open      not verified: 1 of 1 read" in out


def test_a_promise_without_sessions_that_is_broken_stands_in_the_short_answer() -> None:
    out = run("check", "certifier-violation.jsonl", "--profile", SER).out
    assert "without sessions: snapshot-isolation holds, serializable is violated\n" in out


def test_a_counterexample_is_a_timeline_with_places_intervals_and_words() -> None:
    out = run("check", "inconsistent-read.jsonl", "--profile", SER).out
    assert (
        """
  T1  session "1"
    wrote x = 1  |====|                                       0 to 10 ns (inconsistent-read.jsonl:1)
    commit               |####|                               20 to 30 ns (line 2)
"""
        in out
    )
    assert "T3's snapshot is of 80 ns at the earliest." in " ".join(out.split())


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_a_timeline_fits_the_screen_where_words_allow_it(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    # The answer is on one line, however long that is, as are the page of the promise and the exit status.
    _, _, _, *lines, _ = run("check", "lock-violation.jsonl", "--profile", SER).out.splitlines()
    assert max(map(len, lines)) <= max(width, 60)


def test_the_document_has_the_mechanisms_and_keeps_the_schema() -> None:
    out = run("check", "lock-violation.jsonl", "--profile", SER, "--clock-error", 3, "--json").out
    document = json.loads(out)
    assert list(Draft202012Validator(schema()).iter_errors(document)) == []
    found = document["mechanisms"]
    assert (found["profile"], found["clock_error"]) == (SER, 3)
    locks = next(one for one in found["verdicts"] if one["mechanism"] == "mutual-exclusion")
    assert (locks["outcome"], locks["anomaly_counts"]) == ("violated", {"lock-violation": 1})
    assert [one["interval"] for one in locks["anomalies"][0]["operations"]] == [[0, 10], [20, 30]]
    assert [row["kind"] for row in found["dependencies"]] == ["wr", "ww", "rw"]


def test_without_a_profile_the_document_says_nothing_of_mechanisms() -> None:
    assert "mechanisms" not in json.loads(run("check", "lock-violation.jsonl", "--json").out)


def test_an_anomaly_is_looked_for_with_a_profile() -> None:
    done = run("check", "lock-violation.jsonl", "--anomaly", "ME", "--profile", SER)
    assert done.status == 1
    assert "  found     lock-violation (1)\n" in done.out


def test_every_mechanism_is_a_test_case_and_the_violated_one_fails() -> None:
    run("check", "lock-violation.jsonl", "--profile", SER, "--junit", "out.xml")
    cases = {case.get("name"): case for case in ElementTree.parse("out.xml").iter("testcase")}
    failure = cases["mutual-exclusion"].find("failure")
    assert failure is not None
    assert (
        failure.get("message") == "No. PostgreSQL at SERIALIZABLE broke mutual-exclusion: 1 lock violation."
    )
    assert [*cases["consistent-read"]] == []
    assert "first-updater-wins" in cases


def test_the_page_has_a_section_of_mechanisms_and_the_timeline() -> None:
    run("check", "lock-violation.jsonl", "--profile", SER, "--report", "out.html")
    page = Path("out.html").read_text(encoding="utf-8")
    assert "<h2>Mechanisms</h2>" in page
    assert (
        '<th scope="row">mutual-exclusion</th><td class="violated" data-head="outcome">violated</td>' in page
    )
    assert '<a href="#lock-violation-1">lock-violation</a> (1)' in page
    assert 'class="bar end"' in page


def test_a_timeline_is_drawn_with_a_lane_for_each_transaction() -> None:
    run("check", "lock-violation.jsonl", "--profile", SER, "--svg", "out.svg")
    picture = ElementTree.parse("out.svg")
    groups = [one.get("data-transaction") for one in picture.iter() if one.get("class") == "track"]
    assert groups == ["T1", "T2"]
    bars = [one.get("class") for one in picture.iter() if (one.get("class") or "").startswith("bar ")]
    assert bars == [*["bar matters", "bar end"] * 2, "bar matters", "bar end"]


def test_the_same_input_gives_the_same_bytes() -> None:
    for option in (["--json"], ["--svg", "out.svg"], ["--report", "out.html"], ["--sarif", "out.sarif"]):
        seen = set()
        for _ in range(2):
            done = run("check", "certifier-violation.jsonl", "--profile", SER, *option)
            written = Path(option[-1]).read_bytes() if len(option) > 1 else b""
            seen.add((done.out, written))
        assert len(seen) == 1


def test_findings_for_tools_are_errors_in_the_lines_of_the_trace() -> None:
    run("check", "lock-violation.jsonl", "--profile", SER, "--sarif", "out.sarif")
    [result, *_] = json.loads(Path("out.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("lock-violation", "error")
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}


def test_a_summary_counts_what_mechanisms_show() -> None:
    out = run("check", "lock-violation.jsonl", "clean.jsonl", "--summary", "--profile", SER).out
    assert ["lock-violation", "1", "1", "lock-violation.jsonl"] in [line.split() for line in out.splitlines()]
