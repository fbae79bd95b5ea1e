"""The engine of the clock levels agrees with the definition: counts, findings, ties and outcomes."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from isoscope._native import judge_clock
from isoscope.checkers.itemised import with_range_reads_as_reads
from isoscope.checkers.timestamps import check, ties
from isoscope.history import UNKNOWN
from isoscope.reference import clock, reads
from isoscope.reference.observations import INITIAL
from tests.seeds import DEEP, seeds

from .clock_histories import clock_histories, random_clock_history

if TYPE_CHECKING:
    from isoscope._native import ClockFinding, ClockJudgement
    from isoscope.history import History
    from isoscope.levels import Level
    from isoscope.reference.clock import Violation

SEEDS = seeds(400, deep=40_000)
pytestmark = pytest.mark.timeout(3600 if DEEP else 120)
SI, SER = clock.LEVELS


def defined(history: History, level: Level) -> Counter[object]:
    return Counter(row(violation) for violation in clock.judge(history, level).violations)


def row(violation: Violation) -> object:
    name = violation.name
    if name == "write-conflict":
        return name, frozenset((violation.transaction, violation.other)), violation.key
    if name in ("session-order", "timestamp-inversion"):
        return name, violation.transaction, violation.other
    read = violation.transaction, violation.index
    if name != "stale-read":
        return name, read, violation.key
    expected = violation.expected
    return name, read, violation.key, expected, violation.cls, violation.other


def judged(history: History, level: Level, max_anomalies: int) -> ClockJudgement:
    [judgement] = judge_clock(history.columns, [level], max_anomalies)
    return judgement


def found(history: History, level: Level) -> Counter[object]:
    """The findings of the engine, in the words of the definition."""
    judgement = judged(history, level, 1000)
    assert judgement.counts == Counter(finding.name for finding in judgement.findings)
    return Counter(translated(history, finding) for finding in judgement.findings)


def translated(history: History, finding: ClockFinding) -> object:
    name, key = finding.name, reads.token(finding.key)
    locate = history.columns.locate
    if name == "write-conflict":
        return name, frozenset((finding.transaction, finding.other)), key
    if name in ("session-order", "timestamp-inversion"):
        return name, finding.transaction, finding.other
    assert finding.operation is not None
    read = locate(finding.operation)
    if name != "stale-read":
        return name, read, key
    assert finding.version_class is not None
    write = finding.version_write
    writer = None if write is None else locate(write)[0]
    if finding.version_class == "older-version" and write is None:
        writer = INITIAL
    shown = history.transaction(read[0]).operations[read[1]].value
    expected = demanded(history, finding, is_list=isinstance(shown, tuple))
    return name, read, key, expected, finding.version_class, writer


def demanded(history: History, finding: ClockFinding, *, is_list: bool) -> object:
    if is_list:
        return tuple(reads.token(element) for element in finding.expected)
    if finding.against is None:
        count = reads.counted(history)
        return reads.initial_value(history, [*history], count, finding.key)
    number, place = history.columns.locate(finding.against)
    value = history.transaction(number).operations[place].value
    assert value is not UNKNOWN
    return reads.token(value)


def assert_agreement(history: History, level: Level) -> None:
    single = with_range_reads_as_reads(history)
    assert found(single, level) == defined(history, level)
    judgement = clock.judge(history, level)
    [verdict] = check(single, levels=[level])
    if history.evidence["timestamps"]:
        assert verdict.outcome is judgement.outcome
        assert judged(single, level, 0).ties == judgement.ties
        assert ties(single, level) == judgement.ties


@pytest.mark.parametrize("level", [SI, SER])
def test_the_engine_agrees_with_the_definition_on_many_seeds(level: Level) -> None:
    for seed in range(SEEDS):
        assert_agreement(random_clock_history(random.Random(seed)), level)


@pytest.mark.parametrize("level", [SI, SER])
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(history=clock_histories())
def test_the_engine_agrees_with_the_definition_on_any_history(level: Level, history: History) -> None:
    assert_agreement(history, level)
