"""Range reads are judged as reads of every key between their bounds, shown or left out."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoscope import checkers
from isoscope._native import Term
from isoscope._native import itemised as itemised_columns
from isoscope.explain import message
from isoscope.history import Initial, Operation, OperationKind, Range, Scalar, Status, Transaction
from isoscope.recorder import build
from isoscope.verdict import Outcome
from tests.range_histories import changed, explained, serial

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

READ, WRITE, RANGE_READ = OperationKind.READ, OperationKind.WRITE, OperationKind.RANGE_READ
INSERT, DELETE = OperationKind.INSERT, OperationKind.DELETE
ZERO = Initial(value=0)


def rows(low: int, high: int, values: dict[int, int]) -> Range:
    return Range(low=low, high=high, rows=tuple((key, values[key]) for key in range(low, high + 1)))


def transaction(number: int, *operations: Operation) -> Transaction:
    return Transaction(
        number=0, id=number, session=0, session_id=number % 3, status=Status.COMMITTED, operations=operations
    )


@st.composite
def transactions(draw: DrawFn) -> list[Transaction]:
    """Writes of unique values, and range reads that show any of the values written so far."""
    written: dict[int, list[int]] = {key: [0] for key in range(4)}
    made = []
    for number in range(1, draw(st.integers(2, 7))):
        operations: list[Operation] = []
        for _ in range(draw(st.integers(1, 3))):
            if draw(st.booleans()):
                key = draw(st.integers(0, 3))
                value = number * 10 + len(operations)
                written[key].append(value)
                operations.append(Operation(kind=WRITE, key=key, value=value))
            else:
                low = draw(st.integers(0, 3))
                high = draw(st.integers(low, 3))
                shown = {key: draw(st.sampled_from(values)) for key, values in written.items()}
                operations.append(Operation(kind=RANGE_READ, value=rows(low, high, shown)))
        made.append(transaction(number, *operations))
    # Every key is known, so that every range read shows all there is.
    final = {key: values[-1] for key, values in written.items()}
    return [*made, transaction(len(made) + 1, Operation(kind=RANGE_READ, value=rows(0, 3, final)))]


def itemised(one: Transaction) -> Transaction:
    operations: list[Operation] = []
    for operation in one.operations:
        if isinstance(operation.value, Range):
            operations += [Operation(kind=READ, key=key, value=value) for key, value in operation.value.rows]
        else:
            operations.append(operation)
    return replace(one, operations=tuple(operations))


@given(transactions())
def test_a_range_read_is_as_good_as_reads_of_its_rows(recorded: list[Transaction]) -> None:
    ranges = checkers.check(build(recorded, initial=ZERO))
    items = checkers.check(build([itemised(one) for one in recorded], initial=ZERO))
    assert [(v.level, v.outcome, dict(v.anomaly_counts)) for v in ranges.verdicts] == [
        (v.level, v.outcome, dict(v.anomaly_counts)) for v in items.verdicts
    ]


def test_the_report_says_so_and_counts_what_was_recorded() -> None:
    recorded = [transaction(1, Operation(kind=RANGE_READ, value=rows(0, 3, dict.fromkeys(range(4), 0))))]
    report = checkers.check(build(recorded, initial=ZERO))
    assert report.history["operations"] == 1
    said = "1 range read judged as reads of every key of the table between the bounds"
    assert said in report.assumptions
    assert report.verdicts
    assert {verdict.outcome for verdict in report.verdicts} == {Outcome.HOLDS}


NIL = Initial(value=None)


def ranged(low: object, high: object, *shown: tuple[object, object], **details: object) -> Operation:
    return Operation(kind=RANGE_READ, value=Range(low=low, high=high, rows=shown), **details)  # type: ignore[arg-type]


def outcomes(initial: Initial, *transactions: Transaction) -> dict[str, Outcome]:
    return {v.level.value: v.outcome for v in checkers.check(build(transactions, initial=initial)).verdicts}


def counts(initial: Initial, level: str, *transactions: Transaction) -> dict[str, int]:
    [verdict] = checkers.check(build(transactions, initial=initial), [level]).verdicts
    return dict(verdict.anomaly_counts)


def inserted(key: object, value: object, **details: object) -> Operation:
    return Operation(kind=INSERT, key=key, value=value, **details)  # type: ignore[arg-type]


def test_two_inserts_that_do_not_see_each_other_are_a_phantom_and_break_no_level_of_items() -> None:
    both = (
        transaction(1, ranged(0, 9), inserted(1, 10)),
        transaction(2, ranged(0, 9), inserted(2, 20)),
    )
    found = outcomes(NIL, *both)
    assert found["serializable"] is Outcome.VIOLATED
    assert found["repeatable-read"] is Outcome.HOLDS
    assert found["snapshot-isolation"] is Outcome.HOLDS
    assert counts(NIL, "serializable", *both)["phantom"] == 2


def test_a_search_that_shows_half_of_two_inserts_breaks_parallel_snapshot_isolation_alone() -> None:
    both = (
        transaction(1, inserted(1, 10), inserted(2, 20)),
        transaction(2, ranged(0, 9, (1, 10))),
    )
    found = outcomes(NIL, *both)
    assert found["parallel-snapshot-isolation"] is Outcome.VIOLATED
    assert found["consistent-view"] is Outcome.HOLDS
    assert found["repeatable-read"] is Outcome.HOLDS
    assert found["read-atomic"] is Outcome.VIOLATED


@pytest.mark.parametrize(
    "read", [ranged(0, 9), Operation(kind=READ, key=1, value=None)], ids=["range read", "read"]
)
def test_two_inserts_of_a_key_that_a_search_did_not_show_break_parallel_snapshot_isolation(
    read: Operation,
) -> None:
    both = (
        transaction(1, ranged(0, 9), inserted(1, 10)),
        transaction(2, read, inserted(1, 20)),
    )
    found = outcomes(NIL, *both)
    assert found["parallel-snapshot-isolation"] is Outcome.VIOLATED
    assert found["snapshot-isolation"] is Outcome.VIOLATED
    assert found["strong-session-parallel-snapshot-isolation"] is Outcome.VIOLATED
    assert found["consistent-view"] is Outcome.HOLDS
    assert found["cursor-stability"] is Outcome.HOLDS
    assert counts(NIL, "parallel-snapshot-isolation", *both) == {"phantom": 1}
    assert Outcome.UNKNOWN not in found.values()


def test_a_range_reads_only_keys_of_its_table() -> None:
    one = transaction(1, inserted(1, 10, table="a"))
    other = transaction(2, Operation(kind=READ, key=1, value=10, table="a"), ranged(0, 9, table="b"))
    assert outcomes(NIL, one, other)["strong-session-serializable"] is Outcome.HOLDS
    same = transaction(2, Operation(kind=READ, key=1, value=10, table="a"), ranged(0, 9, table="a"))
    assert counts(NIL, "cut-isolation", one, same) == {"non-repeatable-read": 1}


@pytest.mark.parametrize(
    ("low", "high", "key", "is_between"),
    [
        (1, 3, 3, True),
        (1, 3, 4, False),
        (None, 3, -(10**30), True),
        (1, None, 10**30, True),
        (1, None, "1", False),
        ("a", "c", "b", True),
        ("a", "c", "é", False),
        ("a", None, 1, False),
        (1, "c", 2, False),
        (None, None, 1.5, True),
        (0, None, 1.5, False),
        (Term("a"), Term("a"), Term("a"), True),
        (Term("a"), Term("a"), Term("b"), False),
        (Term("a"), Term("a"), "a", False),
        (1.5, 1.5, 1.5, True),
    ],
)
def test_bounds_are_of_one_kind(low: Scalar, high: Scalar, key: Scalar, is_between: bool) -> None:
    one = transaction(1, inserted(key, 10))
    other = transaction(2, Operation(kind=READ, key=key, value=10), ranged(low, high))
    broken = outcomes(NIL, one, other)["cut-isolation"] is Outcome.VIOLATED
    assert broken is is_between


def test_a_tombstone_shows_that_the_key_does_not_exist() -> None:
    one = transaction(1, inserted(5, 10))
    dead = Operation(kind=RANGE_READ, value=Range(low=8, high=9, tombstones=((5, 10),)))
    found = outcomes(NIL, one, transaction(2, Operation(kind=READ, key=5, value=10), dead))
    assert found["cut-isolation"] is Outcome.VIOLATED


@pytest.mark.parametrize(
    "unjudged",
    [ranged(0.5, 3), ranged(Term("a"), Term("b")), ranged(0, 3, predicate="[:like x]")],
    ids=["a bound that is no integer or text", "two of them", "a predicate of unknown form"],
)
def test_what_is_not_judged_leaves_levels_unknown(unjudged: Operation) -> None:
    found = outcomes(NIL, transaction(1, inserted(1, 10)), transaction(2, unjudged))
    assert found["serializable"] is Outcome.UNKNOWN
    assert found["cut-isolation"] is Outcome.UNKNOWN


def test_too_many_reads_are_not_judged() -> None:
    history = build([transaction(1, inserted(1, 1)), transaction(2, ranged(0, 9, (1, 1)))], initial=NIL)
    assert itemised_columns(history.columns, most=1).excess == 2
    assert itemised_columns(history.columns, most=2).excess is None


def test_a_delete_by_one_of_several_transactions_is_a_choice() -> None:
    transactions = (
        transaction(1, inserted(1, 10)),
        transaction(2, Operation(kind=DELETE, key=1), inserted(2, 20)),
        transaction(3, Operation(kind=DELETE, key=1), inserted(3, 30)),
        transaction(4, ranged(0, 9, (3, 30))),
    )
    found = outcomes(NIL, *transactions)
    assert found["serializable"] is Outcome.HOLDS
    assert found["causal"] is Outcome.HOLDS


def test_the_counterexample_shows_the_range_read_as_it_was_recorded() -> None:
    both = (transaction(1, ranged(0, 9), inserted(1, 10)), transaction(2, ranged(0, 9), inserted(2, 20)))
    [verdict] = checkers.check(build(both, initial=NIL), ["serializable"]).verdicts
    first = next(one for one in verdict.anomalies if one.name == "phantom")
    assert [one.kind for one in first.participants[0].operations] == ["range-read", "insert"]
    assert first.participants[0].matters == {0, 1}
    assert message(first).startswith("T1 asked for rows 0 to 9 and did not see T2's insert of key 2")


@pytest.mark.parametrize("seed", range(150))
def test_what_a_serial_store_shows_satisfies_every_level(seed: int) -> None:
    history = serial(Random(seed))
    report = checkers.check(build(history.transactions, initial=history.initial))
    wrong = [(v.level, v.reason, v.anomalies) for v in report.verdicts if v.outcome is not Outcome.HOLDS]
    assert not wrong


@pytest.mark.parametrize("seed", range(400))
def test_a_changed_result_is_serializable_if_some_order_explains_it(seed: int) -> None:
    rng = Random(seed)
    history = serial(rng)
    for _ in range(rng.randint(1, 2)):
        history = changed(rng, history)
    levels = ("serializable", "strong-session-serializable")
    report = checkers.check(build(history.transactions, initial=history.initial), levels)
    expected = [explained(history, with_sessions=with_sessions) for with_sessions in (False, True)]
    found = [verdict.outcome for verdict in report.verdicts]
    assert found == [Outcome.HOLDS if is_explained else Outcome.VIOLATED for is_explained in expected]
