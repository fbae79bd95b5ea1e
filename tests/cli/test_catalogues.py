"""`levels`, `explain` and `stats`: what they print can be read and used."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from isoscope.anomalies import CATALOGUE
from isoscope.checkers import CHECKERS, intervals
from isoscope.levels import DEFINITIONS, Level
from tests.cli.running import run

if TYPE_CHECKING:
    from pathlib import Path


def test_levels_lists_every_level_once_with_what_it_implies() -> None:
    done = run("levels")
    assert done.status == 0
    rows = [line.split("=>") for line in done.out.splitlines() if "=>" in line]
    assert sorted(level.strip() for level, _ in rows) == sorted(Level)
    implied = {level.strip(): right.strip() for level, right in rows}
    assert implied["read-atomic"] == "read-committed, cut-isolation"
    assert implied["pl-1"] == "nothing weaker"


@pytest.mark.parametrize("level", Level)
def test_a_level_is_explained(level: Level) -> None:
    done = run("levels", level)
    assert done.status == 0
    assert done.out.startswith(f"{level} (")
    words = " ".join(done.out.split())
    for said in (DEFINITIONS[level].meaning, DEFINITIONS[level].source, *DEFINITIONS[level].aliases):
        assert said in words


@pytest.mark.parametrize("level", Level)
def test_a_level_says_whether_a_method_decides_it(level: Level) -> None:
    assert ("No method decides it" in run("levels", level).out) == (not DEFINITIONS[level].decided)


def test_a_level_that_nothing_settles_says_so() -> None:
    done = run("levels", "elle:linearizable")
    assert done.out.startswith("linearizable (with real time)")
    assert "the answer is always unknown" in done.out
    assert "the answer is always unknown" not in run("levels", "update-atomic").out


def test_a_level_is_found_by_an_alias() -> None:
    assert run("levels", "SI").out == run("levels", "snapshot-isolation").out


def test_an_unknown_level_is_one_message() -> None:
    done = run("levels", "serialisable")
    assert done.status == 2
    assert done.err.startswith("error: unknown level `serialisable`; did you mean `serializable`")


def test_explain_lists_the_catalogue() -> None:
    done = run("explain")
    assert done.status == 0
    heads = [line.split()[0] for line in done.out.splitlines() if not line.startswith(" ")]
    assert heads == list(CATALOGUE)
    assert max(map(len, done.out.splitlines())) <= 100


@pytest.mark.parametrize("name", CATALOGUE)
def test_an_anomaly_is_explained_with_its_example(name: str) -> None:
    done = run("explain", name)
    entry = CATALOGUE[name]
    assert done.status == 0
    assert done.out.startswith(entry.title)
    assert entry.meaning in " ".join(done.out.split())
    assert any(name in checker.NAMES for checker in (*CHECKERS, intervals))
    assert "No method of this version reports it yet." not in done.out
    for example in (entry.example, entry.allowed):
        if example is not None:
            assert all(f"    {line}\n" in done.out + "\n" for line in example.text.splitlines())


def test_an_anomaly_is_found_by_every_papers_name() -> None:
    assert run("explain", "g1a").out == run("explain", "aborted-read").out


def test_an_example_is_printed_ready_for_a_file() -> None:
    example = CATALOGUE["aborted-read"].example
    assert example is not None
    assert run("explain", "G1a", "--example").out == example.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["G1-a"], "unknown anomaly `G1-a`; did you mean `aborted-read`?"),
    ],
)
def test_an_anomaly_that_cannot_be_explained_is_one_message(arguments: list[str], message: str) -> None:
    done = run("explain", *arguments)
    assert done.status == 2
    assert done.err.startswith(f"error: {message}")


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "h.txt").write_text("w(1,1,1,-1)\nw(1,1,1,1)\nr(1,1,2,2)\n")
    return "h.txt"


def test_stats_say_what_a_history_holds(history: str) -> None:
    done = run("stats", history)
    assert done.status == 0
    assert done.err == ""
    found = dict(line.split(maxsplit=1) for line in done.out.splitlines() if len(line.split()) == 2)
    assert found["format"] == "plume"
    assert found["transactions"] == "3"
    assert found["aborted"] == "1"
    assert "repeated values  1\n" in done.out
    assert "evidence         values: partial, version-order: absent" in done.out


def test_stats_as_json_are_one_document(history: str) -> None:
    done = run("stats", history, "--json")
    assert done.status == 0
    found = json.loads(done.out)
    assert found["path"] == "h.txt"
    assert found["operations"] == 3
    assert found["writes"] == 2
    assert found["repeated values"] == 1
    assert found["initial value"] == "0"
    assert found["evidence"] == {
        "values": "partial",
        "version-order": "absent",
        "timestamps": "absent",
        "intervals": "absent",
    }
    assert {"aborted transactions", "registers"} <= set(found["holds"])
    assert found["notes"] == {}


def test_stats_count_the_dependency_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    skewed = ["[:append :x 1] [:r :y nil]", "[:append :y 1] [:r :x nil]", "[:r :x [1]] [:r :y [1]]"]
    events = [f"{{:type :ok, :process {n}, :value [{ops}]}}" for n, ops in enumerate(skewed)]
    (tmp_path / "h.edn").write_text("\n".join(events))
    found = json.loads(run("stats", "h.edn", "--graph", "--json").out)
    assert found["vertices"] == 3
    assert found["edges by kind"] == {"wr": 2, "ww": 0, "rw": 2}
    assert (found["edges"], found["density"]) == (4, 1.3333)
    assert (found["components"], found["largest component"]) == (1, 2)
    assert (found["traversals"], found["more traversals"]) == (2, False)
    assert found["keys by order"] == found["wholly ordered"] == {"list read": 2}
    assert "edges by kind    wr: 2, ww: 0, rw: 2\n" in run("stats", "h.edn", "--graph").out
    assert "vertices" not in run("stats", "h.edn").out


def test_stats_of_what_cannot_be_read_are_one_message(history: str) -> None:
    done = run("stats", "nowhere.txt")
    assert (done.status, done.err) == (2, "error: cannot read nowhere.txt: No such file or directory\n")
