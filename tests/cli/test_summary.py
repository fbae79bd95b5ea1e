"""`isoscope check --summary`: many histories, counted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from isoscope import formats
from tests.cli.running import run

if TYPE_CHECKING:
    from pathlib import Path

ABORTED = "w(1,1,1,-1)\nr(1,1,2,2)\nr(1,1,2,3)\n"
FRACTURED = "w(1,1,1,1)\nw(2,1,1,1)\nr(1,0,2,2)\nr(2,1,2,2)\n"
CLEAN = "w(1,1,1,1)\nr(1,1,2,2)\n"
APPENDS = "{:type :info, :process 0, :value [[:w 1 1]]}\n"
LOG = '{"type":2300,"tid":"1","data":{"_key":"1","rwAttr":1}}\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    texts = {
        "runs/b.txt": ABORTED,
        "runs/a.txt": CLEAN,
        "runs/deep/er/c.txt": FRACTURED,
        "runs/deep/d.txt": FRACTURED,
        "runs/.hidden.txt": "nothing\n",
        "logs/x.edn": APPENDS,
        "logs/x.log": LOG,
        "bad/a.txt": CLEAN,
        "bad/broken.txt": "w(1,1,1\n",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_levels_and_anomalies_are_counted_over_all_files_of_a_directory() -> None:
    done = run("check", "runs", "--summary", "--level", "ra", "--level", "rc", "--level", "ser")
    assert done.err == ""
    assert done.out == (
        "4 histories\n"
        "\n"
        "level           holds  violated  unknown\n"
        "read-atomic         1         3        0\n"
        "read-committed      3         1        0\n"
        "serializable        1         3        0\n"
        "\n"
        "anomaly            histories  found  first in\n"
        "fractured-read-co          2      2  runs/deep/d.txt\n"
        "read-skew                  2      2  runs/deep/d.txt\n"
        "aborted-read               1      2  runs/b.txt\n"
    )


def test_levels_that_nobody_knows_are_counted_in_one_line() -> None:
    assert (
        "1 level is unknown for every history"
        in run("check", "runs/a.txt", "--summary", "--level", "strict-serializable", "--level", "causal").out
    )
    assert run("check", "runs/a.txt", "--summary").out.startswith("1 history\n")
    assert run("check", "runs/a.txt", "--summary").out.endswith("no anomaly found\n")


def test_the_order_of_the_histories_is_that_of_their_names(folder: Path) -> None:
    assert formats.histories("runs") == ["runs/a.txt", "runs/b.txt", "runs/deep/d.txt", "runs/deep/er/c.txt"]
    assert formats.histories("runs/a.txt") == ["runs/a.txt"]
    assert formats.histories("logs") == ["logs/x.edn"]


@pytest.mark.parametrize("options", [[], ["--level", "ra"], ["--level", "ser"], ["--anomaly", "tap-b"]])
@pytest.mark.parametrize("given", [["runs"], ["runs/a.txt"], ["runs/a.txt", "runs/deep"], ["logs"]])
def test_the_exit_status_is_that_of_the_same_histories_one_by_one(
    given: list[str], options: list[str]
) -> None:
    listed = [path for name in given for path in formats.histories(name)]
    assert run("check", *given, "--summary", *options).status == run("check", *listed, *options).status


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_each_unreadable_history_is_one_line_and_status_2(extra: list[str]) -> None:
    done = run("check", "bad", "nowhere.txt", "--summary", *extra)
    assert done.status == 2
    assert [line[: len("error: bad/broken.txt:1")] for line in done.err.splitlines()] == [
        "error: bad/broken.txt:1",
        "error: cannot read nowh",
    ]


def test_unreadable_histories_are_counted_in_the_heading() -> None:
    assert run("check", "bad", "--summary").out.startswith("1 history, 1 could not be read\n")


def summary(*arguments: str) -> dict[str, Any]:
    [line] = run("check", "--summary", "--json", *arguments).out.splitlines()
    found: dict[str, Any] = json.loads(line)
    assert set(found) == {"isoscope", "summary"}
    counted: dict[str, Any] = found["summary"]
    return counted


def test_json_is_one_document() -> None:
    found = summary("runs", "bad", "--level", "read-atomic")
    assert found["histories"] == 5
    assert [entry["path"] for entry in found["unreadable"]] == ["bad/broken.txt"]
    assert found["levels"] == [{"level": "read-atomic", "holds": 2, "violated": 3, "unknown": 0}]
    assert found["anomalies"][0] == {
        "name": "fractured-read-co",
        "histories": 2,
        "count": 2,
        "unknown": 0,
        "first": "runs/deep/d.txt",
    }


def test_chosen_anomalies_are_counted_even_if_nobody_shows_them(folder: Path) -> None:
    (folder / "runs" / "repeated.txt").write_text("w(1,1,1,1)\nw(1,1,2,2)\nr(1,1,3,3)\n")
    done = run("check", "runs", "--summary", "--anomaly", "tap-k", "--anomaly", "tap-n")
    assert done.out == (
        "5 histories\n"
        "\n"
        "anomaly                histories  found  unknown  first in\n"
        "fractured-read-co              2      2        1  runs/deep/d.txt\n"
        "commit-order-conflict          0      0        1\n"
    )


def test_the_same_histories_give_the_same_bytes() -> None:
    assert run("check", "runs", "--summary", "--json") == run("check", "runs", "--summary", "--json")


@pytest.mark.parametrize("mistake", [["empty"], ["runs", "--timings"]])
def test_a_mistake_is_one_message(mistake: list[str]) -> None:
    done = run("check", "--summary", *mistake)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("error: ")
