"""Histories with a verdict that is known, from other projects: our verdicts never contradict it.

They are not ours to copy: the tests read them from `../shared/oracle` or $ISOSCOPE_ORACLE.
"""

from __future__ import annotations

import csv
import os
from functools import cache
from pathlib import Path

import pytest

import isoscope
from isoscope.anomalies import find
from isoscope.checkers.values import NAMES
from isoscope.history import Initial, OperationKind, VersionSource
from isoscope.levels import Level, implied
from isoscope.verdict import Outcome
from tests.reference.test_reads import assert_agreement
from tests.reference.test_weak_kernel import assert_agreement as assert_agreement_on_weak_levels

ROOT = Path(__file__).parents[2]
ORACLE = Path(os.environ.get("ISOSCOPE_ORACLE") or ROOT.parent / "shared" / "oracle")
pytestmark = pytest.mark.skipif(not ORACLE.is_dir(), reason=f"no oracle at {ORACLE}")

#: What the oracle calls a format, and what we do.
FORMATS = {"plume": "plume", "jepsen": "jepsen", "aion": "aion", "dbcop": "dbcop-bincode"}
#: Where the oracle's README says that a file is to be read with another initial value.
INITIAL = {"timestamps/format-kv.json.gz": Initial(value=0)}


def rows() -> list[dict[str, str]]:
    if not ORACLE.is_dir():
        return []
    with (ORACLE / "expected.csv").open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["format"] in FORMATS]


@cache
def load(path: str) -> isoscope.History:
    return isoscope.load(ORACLE / path, initial=INITIAL.get(path))


PATHS = sorted({row["path"] for row in rows()})


#: Levels that values decide: every row of theirs must be right, not only not wrong.
DECIDED = {Level.READ_COMMITTED, Level.READ_ATOMIC, Level.CAUSAL, Level.CUT_ISOLATION}
#: Histories that come with the order of their versions, as lists or with a log: so must be all their rows.
ORDERED = [path for path in PATHS if path.startswith("grail/")]
WEAK = [path for path in PATHS if path.startswith("weak/")]


def _slow(path: str) -> object:
    """Values alone of thousands of transactions: the search spends its whole budget before it gives up."""
    return pytest.param(path, marks=pytest.mark.deep) if "/fig7__" in path else path


@pytest.mark.parametrize("path", [*map(_slow, PATHS)])
def test_a_history_of_the_oracle_gets_the_verdict_that_is_known_or_none(path: str) -> None:
    mine = [row for row in rows() if row["path"] == path]
    assert {load(path).source.format} == {FORMATS[row["format"]] for row in mine}
    report = isoscope.check(load(path), [row["level"] for row in mine])
    for row, verdict in zip(mine, report.verdicts, strict=True):
        if path in ORDERED or verdict.level in DECIDED or verdict.outcome is not Outcome.UNKNOWN:
            assert str(verdict.outcome) == row["expected"], row


def test_the_levels_that_take_an_order_have_rows_with_both_answers() -> None:
    answers = {(row["level"], row["expected"]) for row in rows()}
    ordered = DECIDED - {Level.CUT_ISOLATION}
    assert answers >= {(str(level), expected) for level in ordered for expected in ("holds", "violated")}


@pytest.mark.parametrize("path", [path for path in ORDERED if "/register/" in path])
def test_the_log_beside_a_history_of_registers_is_read(path: str) -> None:
    [order] = load(path).version_orders
    assert order.source is VersionSource.LOG
    written = {(o.key, o.value) for t in load(path) for o in t.operations if o.kind is OperationKind.WRITE}
    logged = {(key, value) for key, versions in order.versions.items() for value in versions}
    assert logged
    assert logged <= written


@pytest.mark.parametrize("path", [path for path in WEAK if load(path).counts["operations"] < 300])
def test_the_specification_agrees_on_the_small_histories_of_the_oracle(path: str) -> None:
    assert_agreement(load(path))
    assert_agreement_on_weak_levels(load(path))


@pytest.mark.parametrize("path", [path for path in PATHS if path.startswith("timestamps/")])
def test_the_clock_says_what_is_known_of_a_history_with_timestamps(path: str) -> None:
    mine = [row for row in rows() if row["path"] == path]
    report = isoscope.check(load(path), [row["level"] for row in mine], method="timestamps")
    assert [str(verdict.outcome) for verdict in report.verdicts] == [row["expected"] for row in mine]
    assert {str(verdict.method) for verdict in report.verdicts} == {"timestamps"}
    assert {row["expected"] for row in mine} == {"holds", "violated"}


#: What the file of a pattern shows beside it: to the method of version orders it looks like this.
BESIDE = {
    "g": {"circular-information-flow"},
    "h": {"read-skew-session"},
    "i": {"fractured-read-cm", "no-commit-order"},
    "j": {"no-commit-order"},
    "k": {"read-skew-session"},
    "l": {"no-commit-order"},
    "m": {"read-skew-session"},
    "n": {"no-commit-order"},
}


#: The weakest levels that are broken, where sessions are not needed for it.
WEAKEST = {
    "g": {Level.PL_2},  # the circle is Adya's G1c as well
    "i": {Level.READ_COMMITTED, Level.MONOTONIC_VIEW},
    "l": {Level.READ_ATOMIC, Level.CONSISTENT_VIEW},
}


@pytest.mark.parametrize("letter", "abcdefghijklmn")
def test_a_pattern_of_plume_is_found_by_name_and_breaks_its_levels(letter: str) -> None:
    [path] = [path for path in PATHS if path.startswith(f"weak/tap/tap-{letter}_")]
    entry = find(f"TAP-{letter}")
    report = isoscope.check(load(path), list(Level))
    found = {name for verdict in report.verdicts for name in verdict.anomaly_counts}
    assert found == {entry.name} | BESIDE.get(letter, set())
    broken = {verdict.level for verdict in report.verdicts if verdict.outcome is Outcome.VIOLATED}
    weakest = WEAKEST.get(letter, {NAMES[entry.name]})
    assert broken == {level for level in Level if weakest & implied(level)}


@pytest.mark.parametrize("letter", "abcdefghijklmn")
def test_a_pattern_of_plume_can_be_looked_for_alone(letter: str) -> None:
    for path in (path for path in PATHS if path.startswith("weak/tap/")):
        [sighting] = isoscope.search(load(path), [f"tap-{letter}"]).sightings
        is_there = path.startswith(f"weak/tap/tap-{letter}_") or (letter == "l" and "/tap-i_" in path)
        assert sighting.presence == ("found" if is_there else "absent")
