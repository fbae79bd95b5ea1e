"""Range reads, deletes and predicates: the specification against brute force that shares nothing with it."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from isoscope.history import UNKNOWN, Initial, Operation, OperationKind, Range, Status, Transaction
from isoscope.levels import DEFINITIONS, Family, Level, implied
from isoscope.recorder import build
from isoscope.reference import adya, clock, commit_order, cycles, explanations, reads, verdicts, weak
from isoscope.reference.rows import Rows
from isoscope.verdict import Outcome
from tests.range_histories_spec import disturbed, serial
from tests.seeds import seeds

from .range_replays import Replays

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isoscope.history import History

FEW, MANY = 12, seeds(400, deep=4_000)
#: To judge more explanations takes too long.
MOST_EXPLANATIONS = 60
DECIDED = [
    level
    for level in (Level.CUT_ISOLATION, *weak.LEVELS, *adya.LEVELS, *clock.LEVELS)
    if DEFINITIONS[level].family is not Family.REAL_TIME
]


def small(make: Callable[[random.Random], History], seed: int) -> History | None:
    """The history of a seed, unless it has too many explanations."""
    history = make(random.Random(seed))
    found = islice(explanations.explanations(history), MOST_EXPLANATIONS + 1)
    return history if len([*found]) <= MOST_EXPLANATIONS else None


def wrong_of_serial(seed: int) -> list[str]:
    """Levels that a serial run does not satisfy; without real time some are not decided.

    The clock levels need no explanations, so they do not know which indeterminate transactions took effect.
    """
    history = small(serial, seed)
    found = explanations.outcomes(history) if history is not None else {}
    if history is not None and any(t.status is Status.INDETERMINATE for t in history):
        found = {level: found[level] for level in found if level not in clock.LEVELS}
    broken = [level for level, outcome in found.items() if outcome is Outcome.VIOLATED]
    return [*broken, *(level for level in DECIDED if found.get(level) is Outcome.UNKNOWN)]


def right(history: History) -> dict[Level, bool]:
    """What brute force says; of cut isolation nothing where it depends on what took effect."""
    replays = Replays(history)
    found = {
        Level.SERIALIZABLE: replays.is_serializable(),
        Level.STRONG_SESSION_SERIALIZABLE: replays.is_serializable(in_sessions=True),
        Level.SNAPSHOT_ISOLATION: replays.is_snapshot_isolated(),
    }
    if all(t.status is not Status.INDETERMINATE for t in history):
        found[Level.CUT_ISOLATION] = replays.is_cut_isolated()
    return found


def compared(seed: int) -> Counter[tuple[Level, bool]]:
    """How often brute force found each level to hold or not; the specification says the same."""
    history = small(disturbed, seed)
    expected = right(history) if history is not None else {}
    found = explanations.outcomes(history) if history is not None else {}
    for level, holds in expected.items():
        assert found[level] is (Outcome.HOLDS if holds else Outcome.VIOLATED), (seed, level)
    return Counter(expected.items())


def test_a_serial_run_satisfies_every_level() -> None:
    assert not {seed: wrong for seed in range(FEW) if (wrong := wrong_of_serial(seed))}


def test_the_specification_agrees_with_brute_force() -> None:
    seen = sum((compared(seed) for seed in range(FEW)), Counter[tuple[Level, bool]]())
    assert {(Level.SERIALIZABLE, True), (Level.SERIALIZABLE, False)} <= set(seen)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_many_serial_runs_satisfy_every_level() -> None:
    assert not {seed: wrong for seed in range(FEW, MANY) if (wrong := wrong_of_serial(seed))}


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_specification_agrees_with_brute_force_on_many_seeds() -> None:
    seen = sum((compared(seed) for seed in range(FEW, MANY)), Counter[tuple[Level, bool]]())
    levels = (*right(serial(random.Random(0))), Level.CUT_ISOLATION)
    # Agreement on what hardly ever happens would say little.
    assert min(seen[level, holds] for level in levels for holds in (True, False)) > MANY // 40, seen
    assert seen[Level.SNAPSHOT_ISOLATION, True] > seen[Level.SERIALIZABLE, True], "no write skew"


@pytest.mark.slow
def test_no_definition_holds_where_one_that_it_implies_is_violated() -> None:
    for seed in range(MANY // 4):
        history = small(disturbed, seed)
        for explained in explanations.explanations(history) if history is not None else ():
            found = verdicts.value_outcomes(explained)
            for level in Level:
                weaker = {found[other] for other in implied(level)}
                assert found[level] is not Outcome.HOLDS or Outcome.VIOLATED not in weaker, (seed, level)


def of_single_operations(history: History) -> History | None:
    """The same without range reads and deletes, if brute force knows all that is left."""
    operations = [o for t in history for o in t.operations]
    is_unknown = history.initial.value is UNKNOWN and not history.initial.of_key
    if is_unknown or any(o.predicate or o.statement for o in operations):
        return None
    single = (replace(t, operations=tuple(_written(t))) for t in Rows(history).history)
    return build(single, initial=history.initial)


def _written(transaction: Transaction) -> Iterator[Operation]:
    for operation in transaction.operations:
        is_delete = operation.kind is OperationKind.DELETE
        if operation.kind is not OperationKind.RANGE_READ:
            yield replace(operation, kind=OperationKind.WRITE) if is_delete else operation


@pytest.mark.slow
def test_at_the_weak_levels_a_commit_order_exists_for_the_single_reads() -> None:
    seen: Counter[tuple[Level, bool]] = Counter()
    for seed in range(MANY // 3):
        history = small(disturbed, seed)
        single = of_single_operations(history) if history is not None else None
        if history is None or single is None:
            continue
        found = explanations.outcomes(history)
        for level in weak.LEVELS:
            exists = commit_order.exists(single, level)
            assert found[level] is (Outcome.HOLDS if exists else Outcome.VIOLATED), (seed, level)
            seen[level, exists] += 1
    assert len(seen) == 2 * len(weak.LEVELS)


# Small histories by hand.

ABSENT = Initial(value=None)


def of(*transactions: list[Operation], initial: Initial = ABSENT, **statuses: Status) -> History:
    made = [
        Transaction(
            number=0,
            id=place,
            session=0,
            session_id=None,
            status=statuses.get(f"t{place}", Status.COMMITTED),
            operations=tuple(operations),
        )
        for place, operations in enumerate(transactions)
    ]
    return build(made, initial=initial)


def read(key: int, value: int | None) -> Operation:
    return Operation(kind=OperationKind.READ, key=key, value=value)


def write(key: int, value: int) -> Operation:
    return Operation(kind=OperationKind.WRITE, key=key, value=value)


def delete(key: int) -> Operation:
    return Operation(kind=OperationKind.DELETE, key=key)


def rows(shown: dict[int, int], predicate: str | None = None) -> Operation:
    value = Range(rows=tuple(shown.items()))
    return Operation(kind=OperationKind.RANGE_READ, value=value, predicate=predicate)


def names(history: History) -> dict[str, int]:
    found = Counter(finding.name for finding in reads.judge(history).findings)
    return dict(found) | dict(cycles.names(history))


def test_two_inserts_that_miss_each_other_are_a_phantom_that_repeatable_read_allows() -> None:
    history = of([rows({}), write(1, 5)], [rows({}, ":true"), write(2, 6)])
    found = explanations.outcomes(history)
    assert names(history) == {"phantom": 2}
    for level in (Level.SERIALIZABLE, Level.UPDATE_SERIALIZABLE):
        assert found[level] is Outcome.VIOLATED
    for level in (Level.REPEATABLE_READ, Level.SNAPSHOT_ISOLATION, Level.CONSISTENT_VIEW):
        assert found[level] is Outcome.HOLDS


def test_two_predicates_that_leave_a_key_out_do_not_differ_although_different_writes_hide_it() -> None:
    history = of([rows({}, "[:= 1]"), rows({}, "[:= 2]")], [write(1, 1)], initial=Initial(value=2))
    found = explanations.outcomes(history)
    assert found[Level.CUT_ISOLATION] is Outcome.HOLDS
    for level in (Level.REPEATABLE_READ, Level.CONSISTENT_VIEW):
        assert found[level] is Outcome.HOLDS
    assert found[Level.SERIALIZABLE] is Outcome.VIOLATED


def test_a_row_that_appears_in_two_halves_is_a_phantom_that_breaks_parallel_snapshot_isolation() -> None:
    """Consistent view speaks of rows that are shown, so it allows a range read that misses one."""
    history = of([write(1, 5), write(2, 6)], [rows({1: 5})])
    found = explanations.outcomes(history)
    assert names(history) == {"phantom": 1}
    assert found[Level.PARALLEL_SNAPSHOT_ISOLATION] is Outcome.VIOLATED
    assert found[Level.READ_ATOMIC] is Outcome.VIOLATED
    for level in (Level.CONSISTENT_VIEW, Level.MONOTONIC_VIEW, Level.CURSOR_STABILITY):
        assert found[level] is Outcome.HOLDS


def test_single_reads_of_the_same_are_read_skew() -> None:
    history = of([write(1, 5), write(2, 6)], [read(1, 5), read(2, None)])
    assert names(history) == {"read-skew": 1}
    assert explanations.outcomes(history)[Level.CONSISTENT_VIEW] is Outcome.VIOLATED


@pytest.mark.parametrize(
    ("transactions", "expected"),
    [
        ([[read(1, None)], [write(1, 5)], [delete(1)]], {}),
        ([[rows({})], [rows({1: 5})], [write(1, 5)]], {}),
        ([[rows({1: 7})]], {"thin-air-read": 1}),
        ([[write(1, 5), rows({})]], {"not-my-own-write": 1}),
        ([[write(1, 5), rows({}, "[:= 4]")]], {}),
        ([[write(1, 5), rows({}, "[:= 5]")]], {"not-my-own-write": 1}),
        ([[write(1, 5)], [rows({1: 5}), rows({})]], {"non-repeatable-read": 1, "phantom": 1}),
        ([[write(1, 5)], [rows({1: 5}), rows({}, "[:= 4]")]], {}),
        ([[write(1, 5)], [read(1, 5), rows({}, "[:mod 5 0]")]], {"non-repeatable-read": 1, "phantom": 1}),
    ],
)
def test_reads_of_ranges_have_the_names_of_single_reads(
    transactions: list[list[Operation]], expected: dict[str, int]
) -> None:
    assert names(of(*transactions)) == expected


def test_what_no_state_hides_is_a_miss_and_names_of_aborted_writers_do_not_matter() -> None:
    two = Initial(value=2)
    assert names(of([rows({1: 2})], [rows({}, "[:in 2 3]")], initial=two)) == {"predicate-read-miss": 1}
    hidden = of([rows({1: 2})], [rows({}, "[:in 2 3]")], [write(1, 4)], initial=two, t2=Status.ABORTED)
    assert names(hidden) == {"predicate-read-miss": 1}


def test_an_indeterminate_transaction_counts_if_it_alone_can_have_hidden_a_row() -> None:
    maybe = [write(1, 4)]
    history = of(
        [rows({1: 2})], [rows({}, "[:= 2]")], maybe, initial=Initial(value=2), t2=Status.INDETERMINATE
    )
    assert reads.counted(history) == {0, 1, 2}
    assert explanations.outcomes(history)[Level.SERIALIZABLE] is Outcome.HOLDS


def test_places_of_single_reads_lead_back_to_the_range_read() -> None:
    history = of([read(1, None), rows({2: 5}), read(2, 5)], [write(3, 1)])
    single = Rows(history)
    assert single.places[0] == [0, 1, 1, 1, 2]
    assert [o.key for o in next(iter(single.history)).operations[1:4]] == [1, 2, 3]
    assert Rows(single.history).history == single.history


def test_what_is_not_judged_leaves_every_level_unknown_that_is_not_violated() -> None:
    for unknown in (rows({}, "x > 1"), Operation(kind=OperationKind.RANGE_READ, value=Range(low=1.5))):
        found = explanations.outcomes(of([unknown], [write(1, 1)]))
        assert {found[level] for level in DECIDED} == {Outcome.UNKNOWN}
    shown = explanations.outcomes(of([rows({1: 1}, "x > 1")], [write(1, 1)]))
    assert shown[Level.SERIALIZABLE] is Outcome.HOLDS
