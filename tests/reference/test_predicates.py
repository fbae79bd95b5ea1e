"""Reads by predicates, of keys that come and go."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoscope.checkers import check
from isoscope.history import UNKNOWN, Initial, Operation, OperationKind, Range, Status, Transaction
from isoscope.levels import Level, implied
from isoscope.recorder import build
from isoscope.reference import predicates
from isoscope.reference.predicates import matches
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

    from isoscope.history import History

PREDICATES = (":true", "[:= 1]", "[:mod 2 0]")
VALUES = (0, 1, 2, None)
KEYS = ("x", "y")


@st.composite
def operations(draw: DrawFn) -> Operation:
    kinds = [OperationKind.RANGE_READ] * 3 + [OperationKind.READ, OperationKind.WRITE, OperationKind.DELETE]
    kind = draw(st.sampled_from([*kinds, OperationKind.INSERT, OperationKind.APPEND]))
    key, value = draw(st.sampled_from(KEYS)), draw(st.sampled_from(VALUES))
    if kind is OperationKind.RANGE_READ:
        rows = draw(st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(VALUES)), max_size=2))
        predicate = draw(st.sampled_from([*PREDICATES, "x > 1", None]))
        return Operation(kind=kind, value=Range(rows=tuple(rows)), predicate=predicate)
    if kind is OperationKind.DELETE:
        return Operation(kind=kind, key=key)
    if kind is OperationKind.READ and draw(st.booleans()):
        return Operation(kind=kind, key=key, value=draw(st.sampled_from([None, UNKNOWN])))
    return Operation(kind=kind, key=key, value=value)


@st.composite
def closed_histories(draw: DrawFn) -> History:
    """A first transaction, or none, and a few that look at what others did to two keys."""
    transactions = []
    if draw(st.booleans()):
        rows = draw(st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), min_size=1))
        inserts = [
            Operation(kind=OperationKind.INSERT, key=key, value=value, statement="init")
            for key, value in rows.items()
        ]
        transactions.append(transaction(inserts))
    transactions += map(transaction, draw(st.lists(st.lists(operations(), max_size=3), max_size=4)))
    statuses = [Status.COMMITTED, Status.COMMITTED, Status.COMMITTED, *Status]
    initial = draw(st.sampled_from([Initial(value=None), Initial(value=0), Initial()]))
    return build(
        [
            replace(transaction, id=place, status=draw(st.sampled_from(statuses)))
            for place, transaction in enumerate(transactions)
        ],
        initial=initial,
    )


def transaction(operations: list[Operation]) -> Transaction:
    return Transaction(number=0, id=0, session=0, session_id=None, operations=tuple(operations))


@given(history=closed_histories())
def test_no_level_that_a_stronger_one_implies_is_broken_while_that_one_holds(history: History) -> None:
    outcomes = {verdict.level: verdict.outcome for verdict in check(history, time_limit=1.0).verdicts}
    held = [level for level, outcome in outcomes.items() if outcome is Outcome.HOLDS]
    for level in held:
        assert not [weaker for weaker in implied(level) if outcomes.get(weaker) is Outcome.VIOLATED]


@pytest.mark.parametrize(
    ("predicate", "matching", "other"),
    [
        (":true", [0, "a", False], [None]),
        ("[:= 1]", [1], [0, True, 1.0, "1", None]),
        ("[:mod 2 1]", [1, -1, 2**70 + 1], [0, -2, 2**70, True, "1", None]),
    ],
)
def test_a_predicate_asks_for_values(predicate: str, matching: list[object], other: list[object]) -> None:
    assert all(matches(predicate, value) for value in matching)
    assert not any(matches(predicate, value) for value in other)


@pytest.mark.parametrize("predicate", ["true", "[:= x]", "[:= 01]", "[:mod 0 1]", "[:mod 2]", "x > 1", ""])
def test_anything_else_is_no_predicate(predicate: str) -> None:
    assert matches(predicate, 1) is None


def test_a_read_of_a_deleted_key_is_wrong_if_it_shows_no_state_that_was_left() -> None:
    """One shows what its writer replaced, the other a value that its own transaction has deleted."""
    write, delete, read = OperationKind.WRITE, OperationKind.DELETE, OperationKind.READ

    def on_x(*operations: tuple[OperationKind, int | None]) -> Transaction:
        return transaction([Operation(kind=kind, key="x", value=value) for kind, value in operations])

    def outcome(*transactions: Transaction) -> Outcome:
        return check(of(*transactions), [Level.SERIALIZABLE]).verdicts[0].outcome

    for shown, expected in ((2, Outcome.HOLDS), (1, Outcome.VIOLATED)):
        writer = on_x((write, 1), (write, 2))
        assert outcome(writer, on_x((read, shown)), on_x((delete, None))) is expected
    for own, expected in ((None, Outcome.HOLDS), (1, Outcome.VIOLATED)):
        assert outcome(on_x((write, 1), (delete, None), (read, own))) is expected


def test_reads_by_predicates_that_miss_each_others_rows_are_a_cycle_with_a_proof() -> None:
    """Each deletes one of two rows and sees that both are gone."""
    inserts = [
        Operation(kind=OperationKind.INSERT, key=key, value=0, statement=predicates.INIT) for key in KEYS
    ]
    nothing = Operation(kind=OperationKind.RANGE_READ, value=Range(rows=()), predicate=":true")
    deletes = [transaction([Operation(kind=OperationKind.DELETE, key=key), nothing]) for key in KEYS]
    [verdict] = check(of(transaction(inserts), *deletes), [Level.PL_2]).verdicts
    assert set(verdict.anomaly_counts) == {"cyclic-causal-order", "circular-information-flow"}
    for anomaly in verdict.anomalies:
        assert [step.relation for step in anomaly.steps] == ["wr", "wr"]


def of(*transactions: Transaction) -> History:
    return build([replace(t, id=place) for place, t in enumerate(transactions)], initial=Initial(value=None))
