"""The definition of the clock levels agrees with a replay of the timestamps."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, event, given, settings

from isoscope.history import UNKNOWN, Initial
from isoscope.recorder import build
from isoscope.reference import clock, reads
from isoscope.reference.execution import Execution, committed, started
from isoscope.verdict import Outcome
from tests.seeds import DEEP, seeds

from .clock_histories import clock_histories, random_clock_history, random_clock_parts, shuffled
from .clock_replays import replay

if TYPE_CHECKING:
    from isoscope.history import History
    from isoscope.levels import Level
    from isoscope.reference.clock import Judgement, Violation
    from isoscope.reference.relation import Relation

SEEDS = seeds(700, deep=40_000)
pytestmark = pytest.mark.timeout(3600 if DEEP else 120)
SI, SER = clock.LEVELS


# The replay.


def assert_agreement(history: History, level: Level) -> Judgement:
    """The judgement by the definition, which is that of the replay."""
    judgement = clock.judge(history, level)
    found = replay(history, level)
    aside = {(one.transaction, one.key) for one in judgement.set_aside if one.reason == "repeated"}
    kept = {read for read in found.external if (read[0], key_of(history, *read)) not in aside}
    assert reads_of(judgement, "ext") == kept
    assert reads_of(judgement, "int") == found.internal
    assert {(v.transaction, v.index) for v in of(judgement, "ext") if v.cls == "older-version"} == (
        found.older & kept
    )
    assert {(frozenset((v.transaction, v.other)), v.key) for v in of(judgement, "noconflict")} == {
        (pair, reads.token(key)) for pair, (_, key) in found.conflicts
    }
    assert {(v.other, v.transaction) for v in of(judgement, "session")} == found.sessions
    assert {v.transaction for v in of(judgement, "start-before-commit")} == found.inverted
    return judgement


def key_of(history: History, transaction: int, index: int) -> object:
    return reads.token(history.transaction(transaction).operations[index].key)


def of(judgement: Judgement, axiom: str) -> list[Violation]:
    return [violation for violation in judgement.violations if violation.axiom == axiom]


def reads_of(judgement: Judgement, axiom: str) -> set[tuple[int, int | None]]:
    """Which reads break an axiom; no read does so twice."""
    places = [(violation.transaction, violation.index) for violation in of(judgement, axiom)]
    assert len(places) == len({*places})
    return {*places}


def test_the_definition_agrees_with_a_replay_on_many_seeds_and_every_violation_is_seen() -> None:
    seen: Counter[object] = Counter()
    for seed in range(SEEDS):
        history = random_clock_history(random.Random(seed))
        for level in clock.LEVELS:
            judgement = assert_agreement(history, level)
            seen[level, judgement.outcome] += 1
            seen.update((level, v.name, v.cls) for v in judgement.violations)
    reads_by_class = [(level, "stale-read", cls) for level in clock.LEVELS for cls in CLASSES]
    by_name = [(level, name, None) for level in clock.LEVELS for name in INTERNAL]
    others = [(SI, name, None) for name in ("session-order", "write-conflict", "timestamp-inversion")]
    outcomes = [(level, outcome) for level in clock.LEVELS for outcome in Outcome]
    assert seen.keys() == {*reads_by_class, *by_name, *others, *outcomes}
    assert min(seen[outcome] for outcome in outcomes) > SEEDS // 20, seen
    assert min(seen[cls] for cls in reads_by_class) > SEEDS // 50, seen


CLASSES = ("older-version", "uncommitted", "newer-version", "never-written")
INTERNAL = ("non-repeatable-read", "not-my-last-write", "not-my-own-write")


@settings(
    max_examples=5_000 if DEEP else 100,
    deadline=None,
    derandomize=not DEEP,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(history=clock_histories())
def test_the_definition_agrees_with_a_replay(history: History) -> None:
    for level in clock.LEVELS:
        event(f"{level}: {assert_agreement(history, level).outcome}")


def test_a_class_names_the_writer_of_the_value_that_was_found() -> None:
    """The named transaction wrote the value, or appended one of the elements."""
    for seed in range(SEEDS // 3):
        history = random_clock_history(random.Random(seed))
        transactions = list(history)
        for violation in clock.judge(history, random.Random(seed).choice(clock.LEVELS)).violations:
            [key] = [k for k in history.keys if reads.token(k) == violation.key] or [None]
            if violation.cls == "never-written":
                assert violation.other is None
            elif violation.cls and violation.other != -1 and violation.found:
                assert violation.other is not None
                written = reads.installed(transactions[violation.other], key)
                assert violation.found in written or shows_part(violation, written)


def shows_part(violation: Violation, written: list[object]) -> bool:
    """Whether a list shows an element; of one that is cut short, the rest was expected."""
    found, expected = violation.found, violation.expected
    assert isinstance(found, tuple)
    assert isinstance(expected, tuple)
    return bool({*found, *expected} & {*written})


# Visibility and arbitration.


def compose(first: Relation, second: Relation) -> Relation:
    return frozenset((a, d) for a, b in first for c, d in second if b == c)


def test_with_unique_timestamps_visibility_is_a_partial_order_within_arbitration_and_prefix_holds() -> None:
    """Definition 3, and "given the VIS and AR relations, [...] the PREFIX axiom holds"."""
    checked = 0
    for seed in range(SEEDS // 2):
        execution = Execution(random_clock_history(random.Random(seed)), SI)
        times = [time for t in execution.arbitration for time in (t.start, t.commit)]
        if len({*times}) < len(times) or any(started(t) > committed(t) for t in execution.arbitration):
            continue
        checked += 1
        assert execution.vis <= execution.ar
        assert compose(execution.vis, execution.vis) <= execution.vis
        assert compose(execution.ar, execution.vis) <= execution.vis
        numbers = [t.number for t in execution.arbitration]
        assert all(
            (a, b) in execution.ar or (b, a) in execution.ar or a == b for a in numbers for b in numbers
        )
    assert checked > SEEDS // 10


def test_with_ties_prefix_holds_too() -> None:
    """Of several transactions that start and commit at one instant, each sees only those before it."""
    seen: Counter[tuple[bool, bool]] = Counter()
    for seed in range(SEEDS):
        execution = Execution(random_clock_history(random.Random(seed)), SI)
        if any(started(t) > committed(t) for t in execution.arbitration):
            continue
        instants = Counter(t.start for t in execution.arbitration if t.start == t.commit)
        assert execution.vis <= execution.ar
        assert compose(execution.ar, execution.vis) <= execution.vis
        seen[max(instants.values(), default=0) > 1, execution.ties > 0] += 1
    assert seen.keys() == {(False, False), (False, True), (True, True)}


def test_serializability_by_the_clock_shows_a_transaction_all_that_come_before_it() -> None:
    for seed in range(50):
        execution = Execution(random_clock_history(random.Random(seed)), SER)
        assert execution.vis == execution.ar


# Arrival.


def test_the_order_of_arrival_changes_nothing_but_numbers() -> None:
    """Except where "the first in the input" decides: unknown initial values, and several aborted writers."""
    seen: Counter[str] = Counter()
    for seed in range(SEEDS // 3):
        chooser = random.Random(seed)
        parts = random_clock_parts(chooser)
        if parts["initial"].value is UNKNOWN:
            parts["initial"] = Initial(value=7)
        other = {**parts, "transactions": shuffled(parts["transactions"], chooser)}
        seen["moved" if other != parts else "same"] += 1
        for level in clock.LEVELS:
            assert by_ids(build(**parts), level) == by_ids(build(**other), level)
    assert seen["moved"] > SEEDS // 10


def by_ids(history: History, level: Level) -> tuple[object, ...]:
    """A judgement without numbers of transactions, and without transactions that never committed."""
    judgement = clock.judge(history, level)
    ids: dict[int | None, Any] = {None: None, -1: "initial", **{t.number: t.id for t in history}}
    committed_ones = {-1, *(t.number for t in Execution(history, level).arbitration)}
    violations = Counter(
        str(
            replace(
                v,
                transaction=ids[v.transaction],
                other=ids[v.other] if v.other in committed_ones else None,
            )
        )
        for v in judgement.violations
    )
    set_aside = Counter((reason, ids[number], key) for reason, number, key in judgement.set_aside)
    return violations, set_aside, judgement.ties
