"""A counterexample has a step of a session or of real time only if its level and its cycle need it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from isoscope.checkers import check
from isoscope.levels import DEFINITIONS, Family, Level
from isoscope.reference import cycles, reads
from isoscope.reference.dependencies import Dependencies, relation
from isoscope.reference.relation import closure, is_acyclic
from isoscope.reference.versions import coherent
from tests.reference.mixtures import mixtures, random_mixture
from tests.reference.test_reads import thorough
from tests.reference.version_histories import random_version_history
from tests.seeds import seeds
from tests.semantics.rules import edn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import History
    from isoscope.verdict import Anomaly, Step

SEEDS = seeds(120, deep=20_000)
#: What the steps of a verdict may be, beside dependencies.
TIMES = {
    Family.SESSIONLESS: set[str](),
    Family.SESSION: {"session"},
    Family.REAL_TIME: {"session", "real-time"},
    # Levels of the clock imply levels with sessions.
    Family.CLOCK: {"session"},
}
#: Their counterexamples need a step of a session: guarantees speak of two transactions of one, and prefix,
#: unlike levels above it, does not forbid lost updates.
BY_SESSION = {
    Level.PREFIX,
    Level.READ_YOUR_WRITES,
    Level.MONOTONIC_READS,
    Level.MONOTONIC_WRITES,
    Level.WRITES_FOLLOW_READS,
}
#: Names that are found with sessions and with real time, too.
CYCLES = ("write-cycle", "circular-information-flow", "read-skew", "long-fork", "write-skew")


def all_steps(steps: tuple[Step, ...]) -> Iterator[Step]:
    for step in steps:
        yield step
        yield from all_steps(step.sight)


def times_of(anomaly: Anomaly) -> set[str]:
    """The relations of sessions and time in the steps of a counterexample, and in each of its cases."""
    steps = [*all_steps(anomaly.steps), *(s for case in anomaly.alternatives for s in all_steps(case))]
    # An edge may rest on an order of versions that sessions or real time show.
    return {shown for step in steps for shown in (step.relation, step.source)} & {"session", "real-time"}


def suffix_of(name: str) -> str:
    return next((s for s in ("-session", "-real-time") if name.endswith(s)), "")


def needless(history: History) -> Iterator[str]:
    """Everything that a counterexample shows without need."""
    for verdict in check(history, list(Level)).verdicts:
        allowed = TIMES[DEFINITIONS[verdict.level].family]
        for anomaly in verdict.anomalies:
            shown = times_of(anomaly)
            named = {suffix_of(anomaly.name).removeprefix("-")} - {""}
            if not shown | named <= allowed:
                yield f"{verdict.level} shows {anomaly.name} by {sorted(shown)}"
            is_cycle = anomaly.name.startswith(CYCLES) and anomaly.name.endswith((*CYCLES, *named))
            if is_cycle and bool(named) and not named <= shown:
                yield f"{anomaly.name} without such a step"
            is_needed = verdict.level in BY_SESSION or needs_its_times(history, anomaly)
            if named and not is_needed:
                yield f"{anomaly.name} though there is a cycle without such a step"


def needs_its_times(history: History, anomaly: Anomaly) -> bool:
    """Whether the transactions of a counterexample have no such cycle with fewer relations of time.

    Of read skews, whether the reads that are shown close none.
    """
    suffix = suffix_of(anomaly.name)
    times = ("session",) if suffix == "-real-time" else ()
    [versions, *others] = coherent(history)
    if others:
        return True  # sources contradict each other, and the cycle may be that of any of them
    numbers = {t.number: t.label for t in history if t.label in anomaly.transactions}
    known = versions.known(("read-then-write", *times))
    edges = [e for e in Dependencies(versions).under(known).edges if {e.before, e.after} <= numbers.keys()]
    if anomaly.name.startswith("write-cycle"):
        given = [edge for edge in edges if edge.source != "read-then-write"]
        return is_acyclic(closure(relation(given, "ww", *times)))
    depends = closure(relation(edges, "wr", "ww", *times))
    if anomaly.name.startswith("read-skew"):
        shown = {(step.before, reads.token(step.key)) for step in anomaly.steps if step.relation == "rw"}
        return not any(
            (edge.after, edge.before) in depends and (numbers[edge.before], edge.key) in shown
            for edge in edges
            if edge.relation == "rw"
        )
    return not anomaly.name.startswith("circular") or is_acyclic(depends)


@pytest.mark.slow
def test_no_counterexample_has_a_needless_step_on_many_seeds() -> None:
    found = {
        (seed, text)
        for seed in range(SEEDS)
        for source in [random.Random(seed)]
        for text in needless(random_mixture(source) if seed % 2 else random_version_history(source, most=4))
    }
    assert sorted(found) == []


@thorough
@given(history=mixtures())
def test_no_counterexample_has_a_needless_step(history: History) -> None:
    assert [*needless(history)] == []


@pytest.mark.parametrize("level", [Level.SERIALIZABLE, Level.REPEATABLE_READ])
def test_two_transactions_of_a_session_that_miss_each_other_are_a_write_skew(level: Level) -> None:
    """They read before each other's writes; that they are in one session is not needed."""
    history = edn("ok 0 [:r :x nil] [:w :y 1]", "ok 0 [:r :y nil] [:w :x 1]")
    [verdict] = check(history, [level]).verdicts
    assert [anomaly.name for anomaly in verdict.anomalies] == ["write-skew"]
    assert {step.relation for step in verdict.anomalies[0].steps} == {"rw"}


def test_the_specification_counts_no_cycle_with_sessions_that_there_is_without() -> None:
    """Two transactions that append in circles are one write cycle, whatever their session holds."""
    interleaved = ("ok 0 [:append :x 1] [:append :x 3]", "ok 1 [:append :x 2] [:append :y 1]")
    history = edn(*interleaved, "ok 1 [:append :y 2]", "ok 2 [:r :x [1 2 3]] [:r :y [1 2]]")
    assert cycles.names(history) == {"write-cycle": 1}
    again = edn(
        "ok 0 [:append :x 1] [:append :x 3]",
        "ok 0 [:append :z 1]",
        "ok 0 [:append :x 2]",
        "ok 2 [:r :x [1 2 3]]",
    )
    assert cycles.names(again) == {"write-cycle": 1}
