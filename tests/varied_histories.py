"""Random histories of everything that a history can hold, or of a chosen variety of it."""

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

#: Integers around every size at which the native core changes their representation.
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
    """The features that the histories of one strategy may hold; None or False leaves one out."""

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
def varied(draw: DrawFn, variety: Variety) -> History:
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
    return varied(
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
