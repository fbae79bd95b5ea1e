"""A history that the clock accepts is accepted by values, by version orders and by the BC-graph.

The converse fails on purpose: timestamps say which order *was*, the others ask whether there *could* be one.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from isoscope.levels import DEFINITIONS, Level
from isoscope.recorder import build
from isoscope.reference import adya, clock, commit_order, reads, snapshot, weak
from isoscope.reference.dependencies import Dependencies
from isoscope.reference.versions import Versions
from isoscope.verdict import Outcome
from tests.seeds import DEEP, seeds

from .clock_histories import clocked, random_clock_history

if TYPE_CHECKING:
    from isoscope.history import History

SEEDS = seeds(250, deep=10_000)
pytestmark = pytest.mark.timeout(3600 if DEEP else 120)
#: With more transactions there are too many orders of versions.
MOST = 4
SI, SER = clock.LEVELS
STRONG_SESSION_SI = Level.STRONG_SESSION_SNAPSHOT_ISOLATION


def random_histories(seeds: int) -> list[History]:
    """Values are unique: the other methods know the writer of each."""
    return [random_clock_history(random.Random(seed), unique=True, most=MOST) for seed in range(seeds)]


def accepts(history: History, level: Level) -> bool:
    return clock.judge(history, level).outcome is Outcome.HOLDS


def without_timestamps(history: History) -> History:
    plain = [replace(t, start=None, commit=None) for t in history]
    return build(plain, initial=history.initial)


def test_the_lattice_says_what_is_shown_here() -> None:
    assert DEFINITIONS[SI].implies == (STRONG_SESSION_SI,)
    assert DEFINITIONS[SER].implies == (Level.SERIALIZABLE,)


def test_a_history_that_the_clock_accepts_satisfies_snapshot_isolation_with_any_ties() -> None:
    seen: Counter[Outcome] = Counter()
    for history in random_histories(SEEDS):
        if accepts(history, SI):
            assert adya.outcome(history, STRONG_SESSION_SI) is Outcome.HOLDS
            assert adya.outcome(without_timestamps(history), STRONG_SESSION_SI) is Outcome.HOLDS
            seen[Outcome.HOLDS] += 1
        else:
            seen[adya.outcome(without_timestamps(history), STRONG_SESSION_SI)] += 1
    assert min(seen[Outcome.HOLDS], seen[Outcome.VIOLATED]) > SEEDS // 10, seen


def test_a_history_that_the_clock_accepts_is_serializable_with_any_ties() -> None:
    seen: Counter[bool] = Counter()
    for history in random_histories(SEEDS):
        if accepts(history, SER):
            assert adya.outcome(history, Level.SERIALIZABLE) is Outcome.HOLDS
            assert adya.outcome(without_timestamps(history), Level.SERIALIZABLE) is Outcome.HOLDS
            seen[clock.judge(history, SER).ties > 0] += 1
    assert min(seen[True], seen[False]) > SEEDS // 20, seen


def test_a_history_that_the_clock_accepts_is_accepted_by_values() -> None:
    checked = 0
    for history in random_histories(SEEDS):
        if accepts(history, SI):
            plain = without_timestamps(history)
            assert not reads.judge(plain).findings
            assert {*weak.judge(plain).outcomes.values()} == {Outcome.HOLDS}
            assert commit_order.exists(plain, Level.CAUSAL)
            checked += 1
    assert checked > SEEDS // 10


def test_a_history_that_the_clock_accepts_is_accepted_by_the_bc_graph_of_the_commit_order() -> None:
    checked = 0
    for history in random_histories(SEEDS // 2):
        if not accepts(history, SI) or clock.judge(history, SI).ties:
            continue
        versions = Versions(history, sources=["timestamps"])
        orders = [Dependencies(versions).under(order) for order in versions.completions()]
        assert [snapshot.bc_graph(graph, "strong session") for graph in orders] == [True]
        checked += 1
    assert checked > SEEDS // 20


def test_figure_11_a_snapshot_that_leaves_out_what_was_committed_is_seen_by_the_clock_alone() -> None:
    """T1, T2 and T3 commit one after the other; T3 reads from a snapshot without T2.

    "Traditional non-timestamp-based SI checkers [...] infer an execution order of [...] T1, T3, T2".
    """
    lines = ("a 1-2: w(x,1) w(y,1)", "b 3-4: r(x,1) w(x,2)", "c 5-6: r(x,1) r(y,1)")
    history = clocked(*lines)
    [stale] = clock.judge(history, SI).violations
    assert (stale.transaction, stale.other, stale.cls) == (2, 0, "older-version")
    assert clock.judge(history, SER).violations == (stale,)
    for seen in (history, without_timestamps(history)):
        assert adya.outcome(seen, STRONG_SESSION_SI) is Outcome.HOLDS
        assert adya.outcome(seen, Level.SERIALIZABLE) is Outcome.HOLDS


def test_figure_11_in_one_session_is_seen_by_all() -> None:
    history = clocked("a 1-2: w(x,1) w(y,1)", "b 3-4: r(x,1) w(x,2)", "b 5-6: r(x,1) r(y,1)")
    assert not accepts(history, SI)
    assert adya.outcome(without_timestamps(history), STRONG_SESSION_SI) is Outcome.VIOLATED


def test_transactions_of_one_shared_instant_do_not_read_from_each_other() -> None:
    """Each sees those before it in the order of commits; both ways would be no order at all."""
    circle = clocked("a 1-1: r(y,1) w(x,1)", "b 1-1: r(x,1) w(y,1)")
    assert not accepts(circle, SI)
    assert adya.outcome(circle, STRONG_SESSION_SI) is Outcome.VIOLATED
    assert accepts(clocked("a 1-1: r(y,0) w(x,1)", "b 1-1: r(x,1) w(y,1)"), SI)
    future = clocked("a 1-1: r(x,1)", "a 1-1: w(x,1)")
    assert not accepts(future, SI)
    assert adya.outcome(future, STRONG_SESSION_SI) is Outcome.VIOLATED
    assert accepts(clocked("a 0-1: w(x,1)", "b 1-1: r(x,1)", "c 1-2: r(x,1)"), SI)


def test_neither_clock_level_implies_the_other() -> None:
    """Write skew is snapshot isolation; a serial order may ignore when transactions started."""
    skew = clocked("a 1-3: r(x,0) w(y,1)", "b 2-4: r(y,0) w(x,1)")
    assert (accepts(skew, SI), accepts(skew, SER)) == (True, False)
    late = clocked("a 1-3: w(x,1)", "b 2-4: r(x,1)")
    assert (accepts(late, SI), accepts(late, SER)) == (False, True)
