"""Sessions of transactions of operations, as one immutable `History`.

The columns live in the native core; Python objects are made only for the transactions that are asked for.
`docs/explanation/semantics.md` says what each part means.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from isoscope import _native
from isoscope._native import UNKNOWN, Columns, RangeRow, Term, Unknown, sub_history
from isoscope.evidence import Evidence, EvidenceKind, Extent
from isoscope.provenance import Deployment, Fault, ProgramStatement, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pandas as pd
    import pyarrow as pa

    from isoscope._native import OperationRow

__all__ = [
    "KINDS",
    "STATUSES",
    "UNKNOWN",
    "Deployment",
    "Evidence",
    "EvidenceKind",
    "Extent",
    "Fault",
    "History",
    "Initial",
    "Interval",
    "Operation",
    "OperationKind",
    "ProgramStatement",
    "Range",
    "Scalar",
    "Session",
    "Source",
    "Status",
    "Term",
    "Timestamp",
    "Transaction",
    "Unknown",
    "Value",
    "VersionOrder",
    "VersionSource",
    "label",
]

Scalar: TypeAlias = bool | int | float | str | Term | None
Value: TypeAlias = Scalar | Unknown | tuple[Scalar, ...]


class OperationKind(StrEnum):
    """The kind of an operation."""

    READ = "read"
    WRITE = "write"
    APPEND = "append"
    INSERT = "insert"
    DELETE = "delete"
    RANGE_READ = "range-read"
    BEGIN = "begin"
    COMMIT = "commit"
    ABORT = "abort"


class Status(StrEnum):
    """How a transaction ended, as far as the client knows."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    INDETERMINATE = "indeterminate"


class VersionSource(StrEnum):
    """The source of an order in which the versions of a key were installed."""

    LOG = "log"
    DECLARED = "declared"


# The rows of a run (`Builder.recorded`) have the place of a kind or status instead of its name.
KINDS = tuple(map(OperationKind, _native.KINDS))
STATUSES = tuple(map(Status, _native.STATUSES))
#: Transactions that a history keeps as objects: counterexamples ask for the same few again and again.
_CACHED = 64


class Timestamp(NamedTuple):
    """A reading of the database's clock, compared physical part first."""

    physical: int
    logical: int = 0


class Interval(NamedTuple):
    """Closed interval between two instants of one clock; None where an end is not known."""

    invoke: int | None
    complete: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The bounds and the result of a range read; an open bound is None."""

    low: Scalar = None
    high: Scalar = None
    rows: tuple[tuple[Scalar, Scalar], ...] = ()
    tombstones: tuple[tuple[Scalar, Scalar], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One step of a transaction.

    `value` was read or written: a scalar, a tuple for a list that was read, a `Range`, or `UNKNOWN` for a
    read whose result the client never learned.
    """

    kind: OperationKind
    key: Scalar = None
    value: Value | Range = None
    interval: Interval | None = None
    table: str | None = None
    columns: tuple[str, ...] = ()
    statement: str | None = None
    lock_mode: str | None = None
    read_mode: str | None = None
    predicate: str | None = None
    tombstone: bool = False
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """One transaction with its operations in program order.

    `number` is its place in the history, `session` the number of its session there; `session_id` and
    `id` are their names in the input (`session_id` is None if the input has none).
    """

    number: int
    id: Scalar
    session: int
    session_id: Scalar
    status: Status = Status.COMMITTED
    operations: tuple[Operation, ...] = ()
    sequence: int | None = None
    start: Timestamp | None = None
    commit: Timestamp | None = None
    interval: Interval | None = None
    positions: Interval | None = None
    line: int | None = field(default=None, compare=False)

    @property
    def label(self) -> str:
        """The name of the transaction in messages: `T7` for 7, other ids as they are."""
        return label(self.id)


def label(transaction_id: Scalar) -> str:
    """The name in messages of the transaction with this id, harmless on a terminal."""
    if isinstance(transaction_id, int) and not isinstance(transaction_id, bool):
        return f"T{transaction_id}"
    text = str(transaction_id)
    return text if text.isprintable() else ascii(text)


@dataclass(frozen=True, slots=True)
class Session:
    """A client's transactions, by their numbers, in session order."""

    id: Scalar
    transactions: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Initial:
    """The values of keys before the first write; lists always start empty.

    Of keys that Python takes for equal (1, 1.0, True) `of_key` can hold one only.
    `replaceable`: an explicit write of the initial value takes the place of the implicit one.
    """

    value: Scalar | Unknown = UNKNOWN
    of_key: Mapping[Scalar, Scalar | Unknown] = field(default_factory=dict)
    replaceable: bool = False

    def __str__(self) -> str:
        """The value of all keys that have none of their own, as messages show it."""
        if self.value is UNKNOWN:
            return "unknown"
        return "nil" if self.value is None else repr(self.value)


@dataclass(frozen=True, slots=True)
class VersionOrder:
    """Versions of keys in the order in which one source says they were installed.

    Of keys that Python takes for equal (1, 1.0, True) `versions` shows one only.
    """

    source: VersionSource
    versions: Mapping[Scalar, tuple[Scalar, ...]]


class History:
    """A recorded history. Iterate over it, or look a transaction up by its original id."""

    __slots__ = ("_columns", "_counts", "_evidence", "_looked_up", "source")

    def __init__(self, columns: Columns, source: Source | None = None) -> None:
        self._columns = columns
        self._looked_up = lru_cache(maxsize=_CACHED)(partial(_transaction, columns))
        self._evidence: Evidence | None = None
        self._counts: Mapping[str, int] | None = None
        self.source = source or Source()

    @property
    def columns(self) -> Columns:
        """The native columns, for checkers."""
        return self._columns

    def __len__(self) -> int:
        return self._columns.transactions

    def __iter__(self) -> Iterator[Transaction]:
        return map(partial(_transaction, self._columns), range(len(self)))

    def __getitem__(self, transaction_id: Scalar) -> Transaction:
        """The transaction with this id in the input."""
        number = self._columns.find(transaction_id)
        if number is None:
            raise KeyError(transaction_id)
        return self.transaction(number)

    def __contains__(self, transaction_id: Scalar) -> bool:
        return self._columns.find(transaction_id) is not None

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same, whatever their files looked like."""
        if not isinstance(other, History):
            return NotImplemented
        return self._columns.same(other._columns) and self.deployment == other.deployment

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        sizes = {name: self.counts[f"{name}s"] for name in ("session", "transaction", "operation")}
        said = ", ".join(f"{count} {name}{'s' * (count != 1)}" for name, count in sizes.items())
        return f"<History {self.source.path}: {said}>"

    def transaction(self, number: int) -> Transaction:
        """The transaction with this number, from 0 in the order of the input."""
        return self._looked_up(number)

    def part(self, transactions: Iterable[int], *, without: Iterable[int] = ()) -> History:
        """The history of these transactions alone, by number, and of everything else about them.

        `without` are operations, numbered from 0 through the whole history. Operations that depend on a
        dropped one (reads of its value, ...) are dropped as well: the part claims nothing beyond the whole.
        """
        return History(sub_history(self._columns, [*transactions], [*without]), self.source)

    def to_arrow(self) -> pa.Table:
        """One row an operation, as an Arrow table with the columns of Parquet; `isoscope.check` takes it."""
        from isoscope.formats.table import to_table  # noqa: PLC0415 - it imports this module

        return to_table(self)

    def to_pandas(self) -> pd.DataFrame:
        """The table of `to_arrow` as a DataFrame. Raises UsageError if pandas is not installed."""
        from isoscope.formats.table import to_pandas  # noqa: PLC0415 - as above

        return to_pandas(self)

    @property
    def sessions(self) -> tuple[Session, ...]:
        """All sessions, in the order of first appearance."""
        rows = map(self._columns.session, range(self._columns.sessions))
        return tuple(Session(row.id, row.transactions) for row in rows)

    @property
    def keys(self) -> tuple[Scalar, ...]:
        """All keys, in the order of first appearance."""
        return tuple(self._columns.keys())

    @property
    def initial(self) -> Initial:
        """The values of keys before the first write."""
        row = self._columns.initial()
        return Initial(value=row.value, replaceable=row.replaceable, of_key=row.of_key)

    @property
    def version_orders(self) -> tuple[VersionOrder, ...]:
        """Orders of versions that were recorded beside the operations."""
        return tuple(
            VersionOrder(VersionSource(row.source), row.versions) for row in self._columns.versions()
        )

    @property
    def evidence(self) -> Evidence:
        """Which kinds of evidence there are and how complete each is."""
        if self._evidence is None:
            self._evidence = Evidence(self._columns)
        return self._evidence

    @property
    def deployment(self) -> Deployment:
        """The nodes of sessions, and the faults while it was recorded."""
        return self.source.deployment

    @property
    def notes(self) -> Mapping[str, int]:
        """Counts of the reader: lines skipped, files not read, ..."""
        return dict([*self._columns.notes(), *self.source.notes])

    @property
    def counts(self) -> Mapping[str, int]:
        """Sizes: sessions, transactions by status, operations by kind, keys."""
        if self._counts is None:
            self._counts = {
                "sessions": self._columns.sessions,
                "transactions": len(self),
                "operations": self._columns.operations,
                "keys": self._columns.key_count,
                **self._columns.status_counts(),
                **self._columns.kind_counts(),
            }
        return self._counts


def _transaction(columns: Columns, number: int) -> Transaction:
    row = columns.transaction(number)
    return Transaction(
        number=number,
        id=row.id,
        session=row.session,
        session_id=row.session_id,
        status=Status(row.status),
        operations=tuple(map(_operation, row.operations)),
        sequence=row.sequence,
        start=row.start and Timestamp(*row.start),
        commit=row.commit and Timestamp(*row.commit),
        interval=row.interval and Interval(*row.interval),
        positions=row.positions and Interval(*row.positions),
        line=row.line or None,
    )


def _operation(row: OperationRow) -> Operation:
    value = row.value
    if isinstance(value, RangeRow):
        value = Range(low=value.low, high=value.high, rows=value.rows, tombstones=value.tombstones)
    return Operation(
        kind=OperationKind(row.kind),
        key=row.key,
        value=value,
        interval=row.interval and Interval(*row.interval),
        table=row.table,
        columns=row.columns or (),
        statement=row.statement,
        lock_mode=row.lock_mode,
        read_mode=row.read_mode,
        predicate=row.predicate,
        tombstone=row.tombstone,
        line=row.line or None,
    )
