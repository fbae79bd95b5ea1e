"""The checker finds exactly the violations in the log of the simulated database."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import pytest

from isoscope.checkers import check, timestamps
from isoscope.databases.simulated import BUGS, ISOLATIONS, Simulated, Simulation, run
from isoscope.levels import Level, implied
from isoscope.recorder import build
from isoscope.verdict import Outcome
from isoscope.workloads import Workload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import History

SI, SER = timestamps.LEVELS
SEEDS = range(3)
#: What timestamps are promised for.
PROMISED = {"snapshot-isolation": (SI,), "serializable": (SI, SER)}
PAIRS = [
    (bug, isolation) for bug, entry in BUGS.items() for isolation in entry.isolations if isolation in PROMISED
]
CLOCKS: tuple[Literal["central", "hybrid"], ...] = ("central", "hybrid")
SHAPES = pytest.mark.parametrize("lists", [False, True], ids=["registers", "lists"])


def workload(seed: int, **more: Any) -> Workload:
    """Many transactions on few keys, some of which read a key again."""
    parameters = {
        "seed": seed,
        "sessions": 8,
        "transactions": 400,
        "min_operations": 1,
        "max_operations": 8,
        "keys": 25,
        "abort_ratio": 0.05,
        "timestamps": True,
    }
    return Workload(**parameters | more)


def runs(bug: str, isolation: str, **more: Any) -> Iterator[Simulation]:
    """The fault with every clock and seed; a clock that is behind takes several."""
    for clock in CLOCKS if bug != "clock-skew" else CLOCKS[1:]:
        for seed in SEEDS:
            database = Simulated(isolation=isolation, clock=clock, bug=bug, bug_rate=0.1)
            yield run(database, workload(seed, **more))


def counts(history: History, level: Level) -> dict[str, int]:
    [verdict] = timestamps.check(history, levels=[level], max_anomalies=1)
    return dict(verdict.anomaly_counts)


@SHAPES
@pytest.mark.parametrize(("bug", "isolation"), PAIRS)
def test_the_checker_counts_exactly_what_the_log_holds(bug: str, isolation: str, lists: bool) -> None:
    found: Counter[str] = Counter()
    for simulation in runs(bug, isolation, lists=lists):
        for level in PROMISED[isolation]:
            assert counts(simulation.history, level) == simulation.expected(level)
            found.update(simulation.expected(level))
    assert found, "the fault was never seen"
    # In the order of commits, a transaction that lost an update has read an overwritten version.
    replayed = {"stale-read"} if (bug, isolation) == ("lost-update", "serializable") else set()
    assert found.keys() <= {*BUGS[bug].shows} | replayed


@SHAPES
@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_without_a_bug_every_method_accepts_what_is_promised(isolation: str, clock: Any, lists: bool) -> None:
    database = Simulated(isolation=isolation, clock=clock)
    promised = sorted(frozenset().union(*map(implied, database.promises)))
    for seed in SEEDS:
        history = run(database, workload(seed, lists=lists, intervals=True)).history
        for method in (None, "values", "version-order", "timestamps"):
            verdicts = check(history, promised, method=method).verdicts
            blamed = {v.level for v in verdicts if v.outcome is Outcome.VIOLATED}
            # By timestamps alone, a plain level is that of the clock.
            assert blamed <= (by_the_clock(isolation) if method == "timestamps" else set())


def by_the_clock(isolation: str) -> set[Level]:
    """Plain levels whose counterpart is not promised."""
    kept = PROMISED.get(isolation, ())
    return {plain for plain, clock in timestamps.ASKED_AS.items() if clock not in kept}


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("isolation", PROMISED)
def test_without_a_bug_the_clock_proves_what_is_promised(isolation: str, clock: Any) -> None:
    for seed in SEEDS:
        history = run(Simulated(isolation=isolation, clock=clock, repeated_values=3), workload(seed)).history
        levels = PROMISED[isolation]
        proved = check(history, [*levels, Level.STRONG_SESSION_SNAPSHOT_ISOLATION]).verdicts
        assert {(v.outcome, str(v.method)) for v in proved} == {(Outcome.HOLDS, "timestamps")}


@SHAPES
@pytest.mark.parametrize(("bug", "isolation"), PAIRS)
def test_a_bug_is_blamed_for_nothing_that_it_leaves(bug: str, isolation: str, lists: bool) -> None:
    promised = frozenset().union(*map(implied, ISOLATIONS[isolation].hybrid))
    kept = sorted(promised & frozenset().union(*map(implied, BUGS[bug].keeps)))
    if bug == "fractured-commit" and lists:
        # An append that becomes visible late leaves a hole: the list never had this state.
        kept = [level for level in kept if Level.PL_2 not in implied(level)]
    for simulation in runs(bug, isolation, lists=lists, transactions=200):
        for verdict in check(simulation.history, kept).verdicts:
            assert verdict.outcome is not Outcome.VIOLATED, (verdict.level, verdict.anomaly_counts)


@SHAPES
@pytest.mark.parametrize(("bug", "isolation"), PAIRS)
def test_the_order_of_the_file_changes_nothing(bug: str, isolation: str, lists: bool) -> None:
    """Sessions are interleaved anew; each keeps its own order."""
    for seed, simulation in enumerate(runs(bug, isolation, lists=lists, transactions=200)):
        shuffled = interleaved(simulation.history, random.Random(seed))
        assert [t.id for t in shuffled] != [t.id for t in simulation.history]
        for level in PROMISED[isolation]:
            assert counts(shuffled, level) == counts(simulation.history, level)


def interleaved(history: History, chance: random.Random) -> History:
    turns = [session for session in history.sessions for _ in session.transactions]
    chance.shuffle(turns)
    rest = {session.id: iter(session.transactions) for session in history.sessions}
    chosen = (history.transaction(next(rest[session.id])) for session in turns)
    return build([replace(t, number=n) for n, t in enumerate(chosen)], initial=history.initial)
