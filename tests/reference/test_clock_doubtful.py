"""Violations by the clock stand, whatever became of transactions of which no client learned the end."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import chain, combinations
from typing import TYPE_CHECKING

import pytest

from isoscope import check
from isoscope._native import judge_clock
from isoscope.history import Status
from isoscope.levels import Level
from isoscope.recorder import build
from isoscope.reference import clock
from isoscope.reference.counted import counted
from isoscope.verdict import Outcome
from tests.seeds import DEEP, seeds

from .clock_histories import clocked, random_clock_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.history import History, Transaction

SEEDS = seeds(600, deep=40_000)
pytestmark = pytest.mark.timeout(3600 if DEEP else 120)

AGAIN = ("c 4-5: w(x,1)", "c 4-5 aborted: w(x,1)", "c 4-5 indeterminate: w(x,1)", "c 4-5: w(x,1) w(x,3)")


def ended(transactions: Iterable[Transaction], committed: frozenset[int]) -> Iterator[Transaction]:
    """The same with every end known."""
    for one in transactions:
        if one.status is Status.INDETERMINATE:
            yield replace(one, status=Status.COMMITTED if one.number in committed else Status.ABORTED)
        else:
            yield one


def choices(history: History) -> Iterator[frozenset[int]]:
    """Everything that may have committed."""
    count = counted(history)
    doubtful = [t.number for t in history if t.status is Status.INDETERMINATE and t.number not in count]
    sizes = range(len(doubtful) + 1)
    for some in chain.from_iterable(combinations(doubtful, size) for size in sizes):
        yield count | {*some}


def test_a_violation_stands_whatever_became_of_the_transactions_that_do_not_count() -> None:
    seen: Counter[bool] = Counter()
    for seed in range(SEEDS):
        parts = random_clock_parts(random.Random(seed))
        history = build(**parts)
        for level in clock.LEVELS:
            if clock.judge(history, level).outcome is not Outcome.VIOLATED:
                continue
            for committed in choices(history):
                whole = build([*ended(history, committed)], initial=history.initial)
                assert clock.judge(whole, level).outcome is not Outcome.HOLDS, (seed, level, committed)
                seen[committed == counted(history)] += 1
    assert min(seen[True], seen[False]) > 50


@pytest.mark.parametrize("again", AGAIN)
@pytest.mark.parametrize("level", clock.LEVELS)
def test_a_read_of_a_repeated_value_that_a_doubtful_writer_explains_is_set_aside(
    again: str, level: str
) -> None:
    history = clocked("a 0-1 indeterminate: w(x,1)", "b 2-3: r(x,1)", again)
    [verdict] = check(history, [level], method="timestamps").verdicts
    reason = "1 read saw values that several transactions wrote (key x)"
    assert (verdict.outcome, verdict.reason) == (Outcome.UNKNOWN, reason)


@pytest.mark.parametrize(
    ("level", "outcome"),
    [
        (Level.CLOCK_SNAPSHOT_ISOLATION, Outcome.VIOLATED),
        (Level.CLOCK_SERIALIZABLE, Outcome.UNKNOWN),
    ],
)
def test_a_doubtful_writer_explains_a_read_only_if_it_committed_in_time_to_be_seen(
    level: Level, outcome: Outcome
) -> None:
    """It commits after the reader starts: `clock-serializable` alone asks for the order of commits."""
    history = clocked("a 0-3 indeterminate: w(x,1)", "b 2-4: r(x,1)", "c 5-6: w(x,1)")
    assert clock.judge(history, level).outcome is outcome


def test_a_read_that_the_clock_explains_without_doubtful_writers_is_right() -> None:
    history = clocked("a 0-1: w(x,1)", "b 1-2 indeterminate: w(x,1)", "c 3-4: r(x,1)")
    [verdict] = check(history, [clock.LEVELS[0]]).verdicts
    assert verdict.outcome is Outcome.HOLDS


def test_lists_that_are_set_aside_take_no_place_from_others() -> None:
    history = clocked(
        "a 0-1 indeterminate: a(x,1)",
        "b 2-3: r(x,[1])",
        "c 4-5 aborted: a(x,1)",
        "d 6-7: a(y,1)",
        "e 8-9: r(y,[])",
    )
    [judgement] = judge_clock(history.columns, [clock.LEVELS[0]], 1)
    assert judgement.counts == {"stale-read": 1}
    assert (judgement.repeated_reads, judgement.repeated_keys) == (1, ["x"])
    [finding] = judgement.findings
    assert (finding.key, finding.expected) == ("y", [1])
