"""`isoscope demo`: real databases and generated histories, with something to look at afterwards."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from isoscope.checkers.values import NAMES
from isoscope.cli import demo

from .running import Done, run

if TYPE_CHECKING:
    from pathlib import Path

RUNS = ["sqlite-serializable", "sqlite-read-uncommitted", "duckdb-snapshot-isolation"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "left"


@pytest.fixture(scope="module")
def done(folder: Path) -> Done:
    return run("demo", "--out", folder)


def test_the_demo_shows_databases_that_keep_their_promise_and_what_weaker_ones_allow(done: Done) -> None:
    assert (done.status, done.err) == (0, "")
    databases = done.out.partition("2. Histories")[0]
    answers = re.findall(r"^ +(Yes|No)\. (\w+) \S+ at ([A-Z ]+) kept (.*) \(", databases, re.MULTILINE)
    assert answers == [
        ("Yes", "SQLite", "SERIALIZABLE", "strict serializability"),
        ("Yes", "SQLite", "READ UNCOMMITTED", "PL-1"),
        ("Yes", "DuckDB", "SNAPSHOT ISOLATION", "strong snapshot isolation"),
    ]
    assert "in short: strong-session-serializable holds\n" in databases
    assert "in short: read-committed is violated\n" in databases
    assert "in short: strong-session-snapshot-isolation holds, strong-session-serializable is vi" in databases


def test_the_demo_leaves_histories_and_reports_that_can_be_checked_again(done: Done, folder: Path) -> None:
    documents = [json.loads(line) for line in (folder / "report.jsonl").read_text().splitlines()]
    names = [{name for v in d["verdicts"] for name in v["anomaly_counts"]} for d in documents]
    assert set().union(*names) >= set(NAMES)
    assert (folder / "report.txt").read_text().count(" found\n") == sum(map(len, names))
    for document in documents:
        levels = document["weakest_violated"] or ["cut-isolation"]
        status = run("check", document["history"]["path"], "--level", levels[0]).status
        assert status == bool(document["weakest_violated"])


def test_the_demo_ends_with_pages_to_open_and_a_command_to_try(done: Done, folder: Path) -> None:
    *_, last = done.out.splitlines()
    for name in ("report", *RUNS[1:]):
        assert str(folder / f"{name}.html") in done.out
    for name in ("report", *RUNS):
        assert "<!doctype html>" in (folder / f"{name}.html").read_text()
    assert " run sqlite --isolation read-uncommitted " in last


def test_all_but_the_runs_is_the_same_every_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_SECONDS", (0.05,))
    outputs = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        outputs.append(run("demo").out.partition("2. Histories")[2])
    assert outputs[0] == outputs[1]
    first, second = (_generated(tmp_path / name) for name in ("first", "second"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert len(first) > len(NAMES)


def _generated(folder: Path) -> list[Path]:
    """What does not tell of the runs."""
    told = {"report.txt", "report.jsonl"}
    return sorted(path for path in folder.rglob("*.*") if path.name not in told and path.stem not in RUNS)


def test_a_folder_that_cannot_be_made_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run("demo", "--out", tmp_path / "file" / "below")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"error: cannot write to {tmp_path / 'file' / 'below'}: ")
