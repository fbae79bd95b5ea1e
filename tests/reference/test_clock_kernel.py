"""The engine of the clock levels says what the definition says: counts, every finding, what is set aside."""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

from isoscope._native import judge_clock
from isoscope.checkers.contradictions import AXIOMS, CLASSES
from isoscope.checkers.timestamps import check, ties
from isoscope.history import UNKNOWN
from isoscope.reference import clock, reads
from isoscope.reference.observations import INITIAL

from .clock_histories import clock_histories, random_clock_history

if TYPE_CHECKING:
    from isoscope.checkers.contradictions import Finding
    from isoscope.history import History
    from isoscope.levels import Level
    from isoscope.reference.clock import Violation

DEEP = os.environ.get("ISOSCOPE_HYPOTHESIS") == "deep"
SEEDS = 40_000 if DEEP else 1_500
pytestmark = pytest.mark.timeout(3600 if DEEP else 120)
SI, SER = clock.LEVELS
NAMES = list(AXIOMS)


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


def found(history: History, level: Level) -> Counter[object]:
    """What the engine says, in the words of the definition."""
    counts, findings, _, _ = judge_clock(history.columns, level is SER, 1000)
    assert counts == [sum(finding[0] == name for finding in findings) for name in range(len(NAMES))]
    return Counter(translated(history, finding) for finding in findings)


def translated(history: History, finding: Finding) -> object:
    number, transaction, other, key, operation, against, elements, origin = finding
    name = NAMES[number]
    locate = history.columns.locate
    if name == "write-conflict":
        return name, frozenset((transaction, other)), reads.token(key)
    if name in ("session-order", "timestamp-inversion"):
        return name, transaction, other
    assert operation is not None
    read = locate(operation)
    if name != "stale-read":
        return name, read, reads.token(key)
    assert origin is not None
    kind, write = origin
    writer = None if write is None else locate(write)[0]
    if CLASSES[kind] == "older-version" and write is None:
        writer = INITIAL
    shown = history.transaction(read[0]).operations[read[1]].value
    expected = demanded(history, key, against, elements, is_list=isinstance(shown, tuple))
    return name, read, reads.token(key), expected, CLASSES[kind], writer


def demanded(
    history: History, key: object, against: int | None, elements: list[Any], *, is_list: bool
) -> object:
    if is_list:
        return tuple(reads.token(element) for element in elements)
    if against is None:
        count = reads.counted(history)
        return reads.initial_value(history, [*history], count, key)
    number, place = history.columns.locate(against)
    value = history.transaction(number).operations[place].value
    assert value is not UNKNOWN
    return reads.token(value)


def assert_agreement(history: History, level: Level) -> None:
    assert found(history, level) == defined(history, level)
    judgement = clock.judge(history, level)
    [verdict] = check(history, levels=[level])
    if history.evidence["timestamps"]:
        assert verdict.outcome is judgement.outcome
        assert judge_clock(history.columns, level is SER, 0)[2] == judgement.ties
        assert ties(history, level) == judgement.ties


@pytest.mark.parametrize("level", [SI, SER])
def test_the_engine_agrees_with_the_definition_on_many_seeds(level: Level) -> None:
    for seed in range(SEEDS):
        assert_agreement(random_clock_history(random.Random(seed)), level)


@pytest.mark.parametrize("level", [SI, SER])
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(history=clock_histories())
def test_the_engine_agrees_with_the_definition_on_any_history(level: Level, history: History) -> None:
    assert_agreement(history, level)
