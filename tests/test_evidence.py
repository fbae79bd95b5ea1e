"""Evidence of a history: absent, partial or complete."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from isoscope import Initial, Timestamp
from isoscope.history import (
    EvidenceKind,
    Extent,
    Interval,
    OperationKind,
    Status,
    Transaction,
    VersionSource,
)
from isoscope.recorder import build
from tests.reference.histories import random_history
from tests.small_transactions import append, read, transaction, write

if TYPE_CHECKING:
    from isoscope.history import History, Scalar

VALUES, ORDER, CLOCK, CLIENT = EvidenceKind
ABSENT, PARTIAL, COMPLETE = Extent


def committed(*, clock: bool = False, client: bool = False) -> Transaction:
    fields: dict[str, Any] = {}
    if clock:
        fields |= {"start": Timestamp(1), "commit": Timestamp(2)}
    if client:
        fields |= {"interval": Interval(1, 2)}
    return transaction((clock, client) == (True, True), **fields)


def named(name: Scalar, made: Transaction) -> Transaction:
    return replace(made, id=name)


APPENDS = [transaction(1, append("x", 1)), transaction(2, append("x", 2))]
NEVER_ENDED = transaction("n", status=Status.INDETERMINATE)


@pytest.mark.parametrize(
    ("kind", "extent", "transactions"),
    [
        (VALUES, COMPLETE, []),
        (VALUES, COMPLETE, [transaction(1, write("x", 1)), transaction(2, write("y", 1))]),
        (VALUES, COMPLETE, [transaction(1, write("x", 1), write("x", 1))]),
        (VALUES, PARTIAL, [transaction(1, write("x", 1)), transaction(2, write("x", 1))]),
        (ORDER, ABSENT, [transaction(1, write("x", 1)), transaction(2, write("x", 2))]),
        (ORDER, PARTIAL, [*APPENDS, transaction(3, read("x", ()))]),
        (ORDER, COMPLETE, [*APPENDS, transaction(3, read("x", (1,)))]),
        (CLOCK, ABSENT, [named(1, committed())]),
        (CLOCK, PARTIAL, [named(1, committed()), named(2, committed(clock=True))]),
        (CLOCK, PARTIAL, [transaction(1, start=Timestamp(1))]),
        (CLOCK, COMPLETE, [named(1, committed(clock=True)), NEVER_ENDED]),
        (CLIENT, ABSENT, [named(1, committed())]),
        (CLIENT, PARTIAL, [named(1, committed()), named(2, committed(client=True))]),
        (CLIENT, COMPLETE, [named(1, committed(client=True)), NEVER_ENDED]),
        (CLIENT, ABSENT, [transaction(1, interval=Interval(1, None))]),
        (CLIENT, COMPLETE, [transaction(1, positions=Interval(0, 3))]),
        (CLIENT, COMPLETE, [transaction(1, replace(write("x", 1), interval=Interval(1, 2)))]),
    ],
)  # fmt: skip
def test_evidence_is_absent_partial_or_complete(
    kind: EvidenceKind, extent: Extent, transactions: list[Transaction]
) -> None:
    evidence = build(transactions).evidence
    assert evidence[kind] is extent
    assert evidence[str(kind)] is extent
    assert (kind in evidence.present) == (extent is not ABSENT)


@pytest.mark.parametrize(
    ("source", "versions", "extent"),
    [
        (VersionSource.LOG, (1, 2), COMPLETE),
        (VersionSource.DECLARED, (1, 2), COMPLETE),
        (VersionSource.LOG, (1,), COMPLETE),
        (VersionSource.LOG, (), ABSENT),
    ],
)
def test_a_recorded_order_of_versions_is_evidence(
    source: VersionSource, versions: tuple[int, ...], extent: Extent
) -> None:
    transactions = [transaction(value, write("x", value)) for value in (1, 2)]
    history = build(transactions, versions=[(source, "x", value) for value in versions])
    assert history.evidence[ORDER] is extent


@pytest.mark.parametrize(
    ("initial", "repeated"),
    [
        (Initial(value=1), 2),
        (Initial(value=1, replaceable=True), 1),
        (Initial(), 1),
        (Initial(of_key={"y": 5}), 2),
    ],
)
def test_repeated_values_count_pairs_of_key_and_value_that_several_wrote(
    initial: Initial, repeated: int
) -> None:
    history = build(
        [
            transaction(1, write("x", 1), write("y", 5)),
            transaction(2, write("z", 2)),
            transaction(3, write("z", 2)),
        ],
        initial=initial,
    )
    assert history.evidence.repeated_values == repeated


def test_values_repeat_if_several_wrote_one_or_one_appended_it_twice() -> None:
    histories = [random_history(random.Random(seed)) for seed in range(400)]
    repeating = [_repeats(history) for history in histories]
    assert [history.columns.repeats() for history in histories] == repeating
    assert 40 < sum(repeating) < 360


def _repeats(history: History) -> bool:
    def appended(each: Transaction) -> list[tuple[str, str]]:
        appends = (o for o in each.operations if o.kind is OperationKind.APPEND)
        return [(repr(o.key), repr(o.value)) for o in appends]

    twice = (len(set(pairs)) < len(pairs) for pairs in map(appended, history))
    return history.evidence.repeated_values > 0 or any(twice)


def test_only_present_evidence_is_listed() -> None:
    one = replace(transaction(1, write("x", 1)), start=Timestamp(1), commit=Timestamp(2))
    evidence = build([one, transaction(2, write("x", 2))]).evidence
    assert evidence.present == (VALUES, CLOCK)
    assert [evidence[kind] for kind in EvidenceKind] == [COMPLETE, ABSENT, PARTIAL, ABSENT]
    with pytest.raises(ValueError, match="moon-phase"):
        evidence["moon-phase"]
