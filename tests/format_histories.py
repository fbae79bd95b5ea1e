"""Random histories that one format can hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from isoscope.history import (
    UNKNOWN,
    History,
    Initial,
    Interval,
    Operation,
    OperationKind,
    Range,
    Status,
    Transaction,
)
from isoscope.recorder import build
from tests.varied_histories import (
    EVENT_KINDS,
    FLOATS,
    INTEGERS,
    LARGE,
    PLAIN,
    TERMS,
    TEXTS,
    Variety,
    varied,
)

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy


@st.composite
def plume_histories(draw: DrawFn) -> History:
    """What Plume text holds: integers of 64 bits; aborted transactions are single, nameless writes."""
    numbers = INTEGERS
    variety = Variety(
        keys=numbers,
        values=numbers,
        transaction_ids=st.integers(0, 9) | st.integers(0, 2**62 - 1),
        session_ids=numbers,
        initial=st.just(Initial(value=0, replaceable=True)),
        least_operations=1,
    )
    history = draw(varied(variety))
    writes = st.builds(Operation, kind=st.just(OperationKind.WRITE), key=numbers, value=numbers)
    aborted = draw(st.lists(st.tuples(numbers, writes), max_size=3))
    transactions = list(history)
    for place, (session, write) in enumerate(aborted, start=1):
        transaction = Transaction(
            number=0,
            id=f"aborted-{place}",
            session=0,
            session_id=session,
            status=Status.ABORTED,
            operations=(write,),
        )
        transactions.append(transaction)
    return build(transactions, initial=history.initial)


def aion_histories() -> SearchStrategy[History]:
    """What AION JSON holds: no terms, no floats that are not finite, ids that are integers or strings."""
    scalars = PLAIN | LARGE | st.floats(allow_nan=False, allow_infinity=False)
    names = INTEGERS | LARGE | TEXTS
    return varied(
        Variety(
            keys=scalars,
            values=scalars,
            kinds=(OperationKind.READ, OperationKind.WRITE, OperationKind.APPEND),
            statuses=tuple(Status),
            transaction_ids=names,
            session_ids=names | st.none(),
            sequences=True,
            timestamps=True,
        )
    )


@st.composite
def jepsen_histories(draw: DrawFn, *, json: bool = False) -> History:
    """What a log of events holds, in EDN or in JSON, which has no terms."""
    names = INTEGERS | LARGE | TEXTS
    scalars = (
        names | st.booleans() | (st.floats(allow_nan=False, allow_infinity=False) if json else FLOATS | TERMS)
    )
    variety = Variety(
        keys=scalars | st.none(),
        # A read of nil is a result only in a transaction that committed; `_as_seen` says so.
        values=scalars | st.none(),
        kinds=EVENT_KINDS,
        statuses=tuple(Status),
        transaction_ids=names.filter(lambda name: not isinstance(name, int) or name < 0 or name > 30),
        session_ids=st.integers(0, 3) | LARGE,
        unknown_results=True,
    )
    transactions = [draw(_closed(transaction)) for transaction in draw(varied(variety))]
    return build(draw(_logged(transactions)), initial=Initial(value=None))


@st.composite
def _closed(draw: DrawFn, transaction: Transaction) -> Transaction:
    """The transaction with predicates for its range reads; it may be the first one, which only inserts."""
    predicates = st.sampled_from([":true", "[:= -2]", "[:mod 3 1]"])
    operations: list[Operation] = []
    for operation in transaction.operations:
        if operation.kind is OperationKind.DELETE:
            operations.append(replace(operation, value=None))
        elif isinstance(operation.value, Range):
            rows = replace(operation.value, low=None, high=None, tombstones=())
            operations.append(replace(operation, value=rows, predicate=draw(predicates)))
        else:
            operations.append(operation)
    if {operation.kind for operation in operations} == {OperationKind.INSERT} and draw(st.booleans()):
        operations = [replace(operation, statement="init") for operation in operations]
    return replace(transaction, operations=tuple(operations))


@st.composite
def _logged(draw: DrawFn, transactions: list[Transaction]) -> list[Transaction]:
    """The transactions with events: one place each, in the order of their completions."""
    clock = draw(st.booleans())
    now, logged, crashed = draw(st.integers(0, 2)), [], set()
    pending: list[Transaction] = []
    for transaction in transactions:
        if transaction.session_id in crashed:
            continue
        invoked, now = now, now + draw(st.integers(1, 3))
        if transaction.status is Status.INDETERMINATE and draw(st.booleans()):
            crashed.add(transaction.session_id)
            pending.append(_at(transaction, invoked, None, clock=clock))
            continue
        logged.append(_at(transaction, invoked, now, clock=clock))
        now += draw(st.integers(1, 3))
    return [_as_seen(transaction) for transaction in logged + pending]


def _at(transaction: Transaction, invoke: int, complete: int | None, *, clock: bool) -> Transaction:
    times = Interval(invoke * 10, None if complete is None else complete * 10) if clock else None
    return replace(transaction, positions=Interval(invoke, complete), interval=times)


def _as_seen(transaction: Transaction) -> Transaction:
    """A committed transaction knows its results; any other cannot tell nil from no result."""
    known = transaction.status is Status.COMMITTED
    never = transaction.positions is not None and transaction.positions.complete is None

    # A range read whose rows are unknown is left out.
    operations = [o for o in transaction.operations if not (never and o.kind is OperationKind.RANGE_READ)]

    def seen(operation: Operation) -> Operation:
        if operation.kind is not OperationKind.READ:
            return operation
        if known:
            return replace(operation, value=None) if operation.value is UNKNOWN else operation
        return replace(operation, value=UNKNOWN) if never or operation.value is None else operation

    return replace(transaction, operations=tuple(map(seen, operations)))
