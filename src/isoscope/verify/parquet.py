"""Isoscope's Parquet, through pyarrow; `docs/reference/formats/parquet.md` has the columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from isoscope.verify.edn import Form, as_scalar, parse_one
from isoscope.verify.history import (
    APPEND,
    COMMITTED,
    DELETE,
    INDETERMINATE,
    MARKER,
    RANGE,
    READ,
    UNKNOWN,
    WRITE,
    BadInputError,
    History,
    Initial,
    Transaction,
)
from isoscope.verify.ranges import RangeRead, replace_ranges

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.verify.history import Operation, Timestamp

__all__ = ["initial_values", "read"]

_KINDS = {
    "read": READ,
    "write": WRITE,
    "insert": WRITE,
    "append": APPEND,
    "delete": DELETE,
    "range-read": RANGE,
    "begin": MARKER,
    "commit": MARKER,
    "abort": MARKER,
}
_FEW_ROWS = 10_000


class _Rows:
    """The columns as Python lists, and EDN texts that were read before."""

    def __init__(self, columns: dict[str, list[Any]], size: int) -> None:
        self.size = size
        self._columns = columns
        self._nothing = [None] * size
        self._forms: dict[str, Any] = {}
        self.longest: dict[Any, list[Any]] = {}
        self.has_ranges = RANGE in self.column("kind")
        #: A table and a key of each operation, if range reads ask for them.
        self.tables: list[tuple[Any, Any]] = []

    def column(self, name: str) -> list[Any]:
        """A column; one that is absent is null everywhere."""
        return self._columns.get(name, self._nothing)

    def scalar(self, name: str, row: int) -> Any:
        """The scalar of a plain column or its EDN twin; UNKNOWN if both are null."""
        plain = self.column(name)[row]
        if plain is not None:
            return plain
        text = self.column(f"{name}_edn")[row]
        return UNKNOWN if text is None else as_scalar(self.form(text))

    def form(self, text: str) -> Any:
        if text not in self._forms:
            self._forms[text] = parse_one(text, "EDN in Parquet")
        return self._forms[text]

    def listed(self, row: int) -> list[Any] | None:
        """The list that a row spells out, None if it has none."""
        plain = self.column("value_list")[row]
        if plain is not None:
            return list(plain)
        text = self.column("value_edn")[row]
        form = self.form(text) if text is not None and text.startswith(("[", "(")) else None
        return [as_scalar(element) for element in form] if isinstance(form, Form) else None

    def value(self, key: Any, kind: str, row: int) -> Any:
        if kind == READ:
            length = self.column("value_length")[row]
            if length is not None:
                return self.longest[key][:length]
            listed = self.listed(row)
            if listed is not None:
                return listed
        return self.scalar("value", row)

    def operation(self, kind: str, row: int) -> Operation:
        """The operation of a row; a read that met a tombstone shows nil."""
        if kind == MARKER:
            return kind, None, None
        if kind == RANGE:
            return kind, None, self.range_read(row)
        key = self.scalar("key", row)
        if self.has_ranges:
            self.tables.append((self.column("table")[row], key))
        if kind == READ and self.column("tombstone")[row]:
            return kind, key, None
        return kind, key, self.value(key, kind, row)

    def range_read(self, row: int) -> RangeRead:
        rows, tombstones = self.pairs("rows_edn", row), self.pairs("tombstones_edn", row)
        low, high = (self.column(name)[row] for name in ("low_edn", "high_edn"))
        return RangeRead(
            rows=rows,
            tombstones=[key for key, _ in tombstones],
            low=None if low is None else as_scalar(self.form(low)),
            high=None if high is None else as_scalar(self.form(high)),
            table=self.column("table")[row],
            predicate=self.column("predicate")[row],
        )

    def pairs(self, name: str, row: int) -> list[tuple[Any, Any]]:
        """Keys and values in turn."""
        text = self.column(name)[row]
        form = [] if text is None else self.form(text)
        if not isinstance(form, list) or len(form) % 2:
            raise BadInputError(f"row {row + 1}: expected keys and values in turn, found {text}")
        flat = [*map(as_scalar, form)]
        return [*zip(flat[::2], flat[1::2], strict=True)]


def read(path: Path) -> History:
    """The history of this file."""
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415 - only Parquet needs it
    except ImportError:
        raise BadInputError("Parquet needs pyarrow: pip install pyarrow") from None
    file = pq.ParquetFile(path)
    # Threads that decode a few rows cost more than they save.
    table = file.read(use_threads=file.metadata.num_rows > _FEW_ROWS)
    metadata = json.loads((table.schema.metadata or {}).get(b"isoscope", b"{}"))
    if metadata.get("schema") != 1:
        raise BadInputError(
            f"{path}: expected schema 1 of Isoscope's Parquet, found {metadata.get('schema')}"
        )
    rows = _Rows({name: table.column(name).to_pylist() for name in table.column_names}, table.num_rows)
    _find_longest(rows)
    transactions, recorded = _transactions(rows)
    history = History(transactions, initial_values(metadata["initial"]), "parquet")
    history.recorded = recorded
    history.has_real_time = any(t.begin is not None or t.end is not None for t in transactions)
    return history


def initial_values(said: dict[str, Any]) -> Initial:
    """The initial values as the metadata, or a certificate, has them."""
    try:
        of_key = {_scalar(key): _scalar(value) for key, value in said.get("of_key", [])}
        return Initial(_scalar(said["value"]), of_key, bool(said.get("replaceable")))
    except (KeyError, TypeError, ValueError):
        raise BadInputError(f"expected initial values, found {said}") from None


def _scalar(text: str) -> Any:
    return as_scalar(parse_one(text, "an initial value")) if text else UNKNOWN


def _find_longest(rows: _Rows) -> None:
    if not any(length is not None for length in rows.column("value_length")):
        return
    for row in range(rows.size):
        listed = rows.listed(row) if rows.column("kind")[row] == "read" else None
        key = rows.scalar("key", row)
        if listed is not None and len(listed) > len(rows.longest.get(key, ())):
            rows.longest[key] = listed
        rows.longest.setdefault(key, [])


def _transactions(rows: _Rows) -> tuple[list[Transaction], dict[str, dict[Any, list[Any]]]]:
    by_id: dict[Any, Transaction] = {}
    filling: set[Transaction] = set()
    sessions: dict[Any, int] = {}
    recorded: dict[str, dict[Any, list[Any]]] = {}
    intervals: dict[Any, list[tuple[int | None, int | None]]] = {}
    for row, kind in enumerate(rows.column("kind")):
        if kind == "version":
            order = recorded.setdefault(str(rows.column("statement")[row]), {})
            order.setdefault(rows.scalar("key", row), []).append(rows.scalar("value", row))
            continue
        name = rows.scalar("transaction", row)
        transaction = by_id.get(name)
        if transaction is None:
            transaction = by_id[name] = _transaction(rows, row, name, len(by_id), sessions)
            filling.add(transaction)
        if kind is None:
            continue
        if kind not in _KINDS:
            raise BadInputError(f"row {row + 1}: expected a kind of operation, found {kind}")
        transaction.operations.append(rows.operation(_KINDS[kind], row))
        if kind != "insert" or rows.column("statement")[row] != "init":
            filling.discard(transaction)
        times = rows.column("operation_invoke")[row], rows.column("operation_complete")[row]
        intervals.setdefault(name, []).append(times)
    for transaction in filling:
        transaction.is_first = transaction.status == COMMITTED
    _real_time(rows, by_id, intervals)
    replace_ranges([*by_id.values()], rows.tables)
    return list(by_id.values()), recorded


def _transaction(rows: _Rows, row: int, name: Any, number: int, sessions: dict[Any, int]) -> Transaction:
    session = rows.scalar("session", row)
    place = sessions.setdefault(("alone", name) if session is UNKNOWN else session, len(sessions))
    transaction = Transaction(number, name, place, rows.column("status")[row] or COMMITTED)
    transaction.session_id = session
    transaction.sequence = rows.column("sequence")[row]
    transaction.start = _timestamp(rows, row, "start")
    transaction.commit = _timestamp(rows, row, "commit")
    transaction.begin = rows.column("invoke_position")[row]
    transaction.end = rows.column("complete_position")[row]
    return transaction


def _timestamp(rows: _Rows, row: int, name: str) -> Timestamp | None:
    physical = rows.column(f"{name}_physical")[row]
    return None if physical is None else (physical, rows.column(f"{name}_logical")[row] or 0)


def _real_time(
    rows: _Rows, by_id: dict[Any, Transaction], intervals: dict[Any, list[tuple[int | None, int | None]]]
) -> None:
    """Intervals in the place of positions, if the history has no positions."""
    if any(t.begin is not None or t.end is not None for t in by_id.values()):
        return
    seen: set[Any] = set()
    for row, kind in enumerate(rows.column("kind")):
        name = rows.scalar("transaction", row)
        if kind == "version" or name in seen:
            continue
        seen.add(name)
        t = by_id[name]
        t.begin, t.end = rows.column("invoke")[row], rows.column("complete")[row]
        if t.begin is None and t.end is None:
            times = intervals.get(name, [])
            t.begin = min((one for one, _ in times if one is not None), default=None)
            t.end = max((two for _, two in times if two is not None), default=None)
    for t in by_id.values():
        if t.status == INDETERMINATE:
            t.end = None
