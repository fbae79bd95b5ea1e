"""`isoscope.watch`: the violations of a growing file, and its report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import isoscope

if TYPE_CHECKING:
    from pathlib import Path


def line(number: int, start: int, commit: int, *ops: tuple[str, int, int]) -> str:
    operations = [{"t": kind, "k": key, "v": value} for kind, key, value in ops]
    clock = {"sts": {"p": start, "l": 0}, "cts": {"p": commit, "l": 0}}
    return json.dumps({"tid": str(number), "sid": str(number), "sno": 0, "ops": operations, **clock}) + "\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "history.jsonl"
    stale = [line(1, 1, 2, ("w", 1, 7)), line(2, 3, 4, ("w", 1, 8)), line(3, 5, 6, ("r", 1, 7))]
    path.write_text("".join(stale))
    return path


def test_violations_come_one_by_one_and_the_report_in_the_end(file: Path) -> None:
    watched = isoscope.watch(file, to_the_end=True)
    lines = [violation.line() for violation in watched]
    assert any("stale-read" in line for line in lines)
    assert not watched.report().holds("clock-snapshot-isolation")
    assert repr(watched) == f"<Watch {file}: the clock>"


def test_a_watch_stops_when_it_is_told_to(file: Path) -> None:
    watched = isoscope.watch(file, "snapshot-isolation", timeout=0)
    for _ in watched:
        watched.stop()
    assert [verdict.level for verdict in watched.report()] == ["clock-snapshot-isolation"]


def test_what_cannot_be_watched_is_one_error(file: Path) -> None:
    with pytest.raises(isoscope.UsageError, match="causal cannot be checked online"):
        isoscope.watch(file, "causal")
    with pytest.raises(isoscope.UsageError, match="leave out `levels` or `profile`"):
        isoscope.watch(file, "si", profile="postgresql/serializable")
    with pytest.raises(isoscope.UsageError, match="cannot read nowhere"):
        list(isoscope.watch("nowhere"))
