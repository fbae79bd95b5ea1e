"""Random histories for Hypothesis, all made by `isoscope.recorder.build`.

- `histories()`: small ones in which anomalies are likely, for checkers;
- `any_histories()`: everything that a history can hold, in any mixture;
- `plume_histories()`, `jepsen_histories()`, `aion_histories()`: what a format can hold, and all of it.

A test that needs one history more often than a generated one takes `EVERYTHING`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from isoscope.history import (
    UNKNOWN,
    History,
    Initial,
    Interval,
    Operation,
    OperationKind,
    Range,
    Scalar,
    Status,
    Term,
    Timestamp,
    Transaction,
    VersionSource,
)
from isoscope.recorder import build

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

__all__ = [
    "EVERYTHING",
    "FLOATS",
    "INTEGERS",
    "SCALARS",
    "TERMS",
    "TEXTS",
    "aion_histories",
    "any_histories",
    "histories",
    "jepsen_histories",
    "plume_histories",
]

LIST_KINDS = (OperationKind.READ, OperationKind.APPEND)
REGISTER_KINDS = (OperationKind.READ, OperationKind.WRITE)
EVENT_KINDS = (
    *REGISTER_KINDS,
    OperationKind.APPEND,
    OperationKind.INSERT,
    OperationKind.DELETE,
    OperationKind.RANGE_READ,
)
MARKERS = (OperationKind.BEGIN, OperationKind.COMMIT, OperationKind.ABORT)

#: Integers around every size at which the native core changes its mind.
INTEGERS = st.integers(-4, 12) | st.sampled_from(
    [sign * (1 << bits) + near for sign in (1, -1) for bits in (31, 32, 53, 62) for near in (-1, 0, 1)]
    + [2**63 - 1, 2**63, -(2**63), 2**64 - 1]
)
LARGE = st.integers(2**64, 2**80) | st.integers(-(2**80), -(2**63) - 1)
TEXTS = st.text(max_size=6) | st.sampled_from(
    ["", "x", '"', "\\", "\n", "\r", "\x00", "\x7f", "nil", "7", "é", "𝄞"]
)
FLOATS = st.floats(width=64) | st.sampled_from([0.0, -0.0, 1.5, 1e300, 5e-324])
#: Canonical EDN text of forms without a Python twin; vectors and lists are in `VECTORS`.
TERMS = st.sampled_from(
    [":x", ":ns/name", "symbol", "\\a", "\\newline", "22/7", "1.5M", '#inst "2020"', "{:a 1}", "#{1 2}"]
).map(Term)
VECTORS = st.sampled_from(["[1 2]", "[]", "(1 2)", "[[1] nil]"]).map(Term)
PLAIN = INTEGERS | TEXTS | st.booleans() | st.none()
SCALARS = PLAIN | LARGE | FLOATS | TERMS | VECTORS

_TIMES = st.integers(0, 40) | st.integers(0, 2**62 - 1)
_READINGS = st.builds(Timestamp, _TIMES, st.integers(0, 3))
_HALF_OPEN = st.builds(Interval, st.none() | _TIMES, st.none() | _TIMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variety:
    """What the histories of one strategy may hold; None or False leaves a thing out."""

    keys: SearchStrategy[Scalar] = INTEGERS
    values: SearchStrategy[Scalar] = INTEGERS
    kinds: tuple[OperationKind, ...] = REGISTER_KINDS
    statuses: tuple[Status, ...] = (Status.COMMITTED,)
    transaction_ids: SearchStrategy[Scalar] = INTEGERS
    session_ids: SearchStrategy[Scalar] = INTEGERS
    initial: SearchStrategy[Initial] = field(default_factory=lambda: st.just(Initial()))
    most_operations: int = 4
    least_operations: int = 0
    unknown_results: bool = False
    sequences: bool = False
    timestamps: bool = False
    intervals: bool = False
    positions: bool = False
    details: bool = False
    versions: bool = False


@st.composite
def _varied(draw: DrawFn, variety: Variety) -> History:
    keys = draw(st.lists(variety.keys, min_size=1, max_size=4, unique_by=_identity))
    ids = draw(st.lists(variety.transaction_ids, max_size=5, unique_by=_identity))
    transactions = [draw(_transactions(variety, keys, name)) for name in ids]
    if variety.sequences and draw(st.booleans()):
        transactions = draw(_sequenced(transactions))
    versions: list[tuple[VersionSource, Scalar, Scalar]] = []
    if variety.versions:
        row = st.tuples(st.sampled_from(VersionSource), st.sampled_from(keys), variety.values)
        versions = draw(st.lists(row, max_size=4))
    return build(transactions, initial=draw(variety.initial), versions=versions)


def _identity(scalar: Scalar) -> object:
    """What tells scalars apart: 1, 1.0 and True are three, every not-a-number is one."""
    return type(scalar), repr(scalar)


@st.composite
def _transactions(draw: DrawFn, variety: Variety, keys: list[Scalar], name: Scalar) -> Transaction:
    status = draw(st.sampled_from(variety.statuses))
    operations = st.lists(
        _operations(variety, keys), min_size=variety.least_operations, max_size=variety.most_operations
    )

    def maybe(strategy: SearchStrategy[Any], *, wanted: bool) -> Any:
        return draw(st.none() | strategy) if wanted else None

    return Transaction(
        number=0,
        id=name,
        session=0,
        session_id=draw(variety.session_ids),
        status=status,
        operations=tuple(draw(operations)),
        start=maybe(_READINGS, wanted=variety.timestamps),
        commit=maybe(_READINGS, wanted=variety.timestamps),
        interval=maybe(_HALF_OPEN, wanted=variety.intervals),
        positions=maybe(_HALF_OPEN, wanted=variety.positions),
    )


@st.composite
def _operations(draw: DrawFn, variety: Variety, keys: list[Scalar]) -> Operation:
    kind = draw(st.sampled_from(variety.kinds))
    key: Scalar = None
    value: Any = None
    if kind is OperationKind.RANGE_READ:
        value = draw(_ranges(variety, keys))
    elif kind not in MARKERS:
        key = draw(st.sampled_from(keys))
        value = draw(_results(variety) if kind is OperationKind.READ else variety.values)
    operation = Operation(kind=kind, key=key, value=value)
    return draw(_detailed(operation)) if variety.details else operation


def _results(variety: Variety) -> SearchStrategy[Any]:
    results: SearchStrategy[Any] = variety.values
    if OperationKind.APPEND in variety.kinds:
        results |= st.lists(variety.values, max_size=3).map(tuple)
    if variety.unknown_results:
        results |= st.just(UNKNOWN)
    return results


@st.composite
def _ranges(draw: DrawFn, variety: Variety, keys: list[Scalar]) -> Range:
    rows = st.lists(st.tuples(st.sampled_from(keys), variety.values), max_size=3).map(tuple)
    bounds = st.none() | variety.keys
    return Range(low=draw(bounds), high=draw(bounds), rows=draw(rows), tombstones=draw(rows))


@st.composite
def _detailed(draw: DrawFn, operation: Operation) -> Operation:
    return replace(
        operation,
        interval=draw(st.none() | _HALF_OPEN),
        table=draw(st.none() | TEXTS),
        columns=tuple(draw(st.lists(TEXTS, max_size=2))),
        statement=draw(st.none() | st.sampled_from(["select", "select for update", ""])),
        lock_mode=draw(st.none() | st.sampled_from(["NON_LOCK", "EXCLUSIVE_LOCK"])),
        read_mode=draw(st.none() | st.sampled_from(["CONSISTENT_READ", "LOCKING_READ"])),
        predicate=draw(st.none() | TEXTS),
        tombstone=draw(st.booleans()),
    )


@st.composite
def _sequenced(draw: DrawFn, transactions: list[Transaction]) -> list[Transaction]:
    """Explicit places, different ones in each session, in no special order."""
    places = draw(st.permutations(range(len(transactions))))
    first = draw(st.integers(-3, 3) | st.just(2**62))
    return [
        replace(transaction, sequence=first + place)
        for transaction, place in zip(transactions, places, strict=True)
    ]


def any_histories() -> SearchStrategy[History]:
    """Everything that a history can hold."""
    return _varied(
        Variety(
            keys=SCALARS,
            values=SCALARS,
            kinds=tuple(OperationKind),
            statuses=tuple(Status),
            transaction_ids=SCALARS.filter(lambda name: name is not None),
            session_ids=SCALARS,
            initial=_initials(),
            unknown_results=True,
            sequences=True,
            timestamps=True,
            intervals=True,
            positions=True,
            details=True,
            versions=True,
        )
    )


def _initials() -> SearchStrategy[Initial]:
    values = SCALARS | st.just(UNKNOWN)
    of_key = st.dictionaries(TEXTS | st.integers(0, 9) | st.none(), values, max_size=2)
    return st.builds(Initial, value=values, of_key=of_key, replaceable=st.booleans())


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
    history = draw(_varied(variety))
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
    return _varied(
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
    transactions = [draw(_closed(transaction)) for transaction in draw(_varied(variety))]
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
    """Who committed knows its results; who did not cannot tell nil from no result."""
    known = transaction.status is Status.COMMITTED
    never = transaction.positions is not None and transaction.positions.complete is None

    # Rows that nobody knows are no read.
    operations = [o for o in transaction.operations if not (never and o.kind is OperationKind.RANGE_READ)]

    def seen(operation: Operation) -> Operation:
        if operation.kind is not OperationKind.READ:
            return operation
        if known:
            return replace(operation, value=None) if operation.value is UNKNOWN else operation
        return replace(operation, value=UNKNOWN) if never or operation.value is None else operation

    return replace(transaction, operations=tuple(map(seen, operations)))


@st.composite
def histories(
    draw: DrawFn,
    *,
    lists: bool | None = None,
    unique: bool = True,
    statuses: tuple[Status, ...] = (Status.COMMITTED, Status.COMMITTED, Status.COMMITTED, *Status),
    timestamps: bool = False,
    initial: Initial = Initial(value=0),  # noqa: B008 - immutable
) -> History:
    """Small histories in which anomalies are likely: up to five transactions on two or three keys.

    Registers or lists (`lists=None`: either). With `unique`, no two writes of a key write the same value,
    nor the initial value 0. Reads see something that somebody wrote, or now and then nothing of the kind.
    """
    is_list = draw(st.booleans()) if lists is None else lists
    keys = ["x", "y", "z"][: draw(st.integers(2, 3))]
    count = draw(st.integers(1, 5))
    sizes = [draw(st.integers(1, 4)) for _ in range(count)]
    kind = OperationKind.APPEND if is_list else OperationKind.WRITE
    fresh = iter(range(1, sum(sizes) + 1))
    plans = [[(draw(st.sampled_from(keys)), draw(st.booleans())) for _ in range(size)] for size in sizes]
    written: dict[str, list[int]] = {key: [] for key in keys}
    writes: list[list[Operation | str]] = []
    for plan in plans:
        steps: list[Operation | str] = []
        for key, is_write in plan:
            if is_write:
                written[key].append(next(fresh) if unique else draw(st.integers(1, 2)))
                steps.append(Operation(kind=kind, key=key, value=written[key][-1]))
            else:
                steps.append(key)
        writes.append(steps)
    read = _list_read if is_list else _register_read
    transactions = [
        Transaction(
            number=0,
            id=number,
            session=0,
            session_id=draw(st.integers(0, 2)),
            status=draw(st.sampled_from(statuses)),
            operations=tuple(read(draw, step, written) if isinstance(step, str) else step for step in steps),
        )
        for number, steps in enumerate(writes, start=1)
    ]
    if timestamps:
        transactions = [draw(_clocked(transaction)) for transaction in transactions]
    return build(transactions, initial=initial)


def _register_read(draw: DrawFn, key: str, written: dict[str, list[int]]) -> Operation:
    value = draw(st.sampled_from([0, *written[key], *written[key], 99] if draw(st.integers(0, 9)) else [99]))
    return Operation(kind=OperationKind.READ, key=key, value=value)


def _list_read(draw: DrawFn, key: str, written: dict[str, list[int]]) -> Operation:
    elements = written[key]
    if draw(st.integers(0, 5)) == 0:
        elements = draw(st.permutations(elements))
    return Operation(
        kind=OperationKind.READ, key=key, value=tuple(elements[: draw(st.integers(0, len(elements)))])
    )


@st.composite
def _clocked(draw: DrawFn, transaction: Transaction) -> Transaction:
    start = draw(st.integers(0, 12))
    commit = start + draw(st.integers(0, 5))
    return replace(transaction, start=Timestamp(start), commit=Timestamp(commit))


def _everything() -> History:
    """One history with every feature, for tests that need only one."""
    details: dict[str, Any] = {
        "interval": Interval(1, 2),
        "table": "accounts",
        "columns": ("balance", "owner"),
        "statement": "select for update",
        "lock_mode": "EXCLUSIVE_LOCK",
        "read_mode": "LOCKING_READ",
        "predicate": "x > 1",
    }
    scalars: tuple[Scalar, ...] = (None, True, 7, 2**70, 1.5, "text", Term(":term"))
    row = (("x", 1), (7, "text"))
    operations = (
        Operation(kind=OperationKind.BEGIN),
        *(Operation(kind=OperationKind.WRITE, key=scalar, value=scalar) for scalar in scalars),
        *(Operation(kind=OperationKind.READ, key=scalar, value=scalar) for scalar in scalars),
        Operation(kind=OperationKind.APPEND, key="list", value=1),
        Operation(kind=OperationKind.READ, key="list", value=(1, "two")),
        Operation(kind=OperationKind.READ, key="list", value=UNKNOWN),
        Operation(kind=OperationKind.INSERT, key="row", value=1, **details),
        Operation(kind=OperationKind.DELETE, key="row", tombstone=True, **details),
        Operation(kind=OperationKind.RANGE_READ, value=Range(low=1, high="z", rows=row, tombstones=row)),
        Operation(kind=OperationKind.COMMIT),
    )
    full = Transaction(
        number=0,
        id=1,
        session=0,
        session_id="session",
        operations=operations,
        sequence=1,
        start=Timestamp(1, 2),
        commit=Timestamp(3, 4),
        interval=Interval(5, 6),
        positions=Interval(0, 1),
    )
    empty = Transaction(number=0, id="two", session=0, session_id=None, status=Status.INDETERMINATE)
    aborted = replace(empty, id=-3, session_id=4, status=Status.ABORTED, operations=operations[:3])
    versions = [(source, "list", value) for source in VersionSource for value in (1, "two")]
    initial = Initial(value=0, of_key={"x": 5, "row": UNKNOWN}, replaceable=True)
    return build([full, empty, aborted], initial=initial, versions=versions)


EVERYTHING = _everything()
