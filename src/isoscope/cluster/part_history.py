"""A part of a history, as rows in Arrow batches, made a small history that the native checkers judge.

A part has all rows of some keys, or one row for each transaction of some sessions. Its transactions and
operations are numbered anew; the position of a row in the whole history says which they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from isoscope._native import TableReader
from isoscope.formats.arrow import known_columns, native_columns
from isoscope.history import History

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from isoscope.formats.arrow import InitialEdn
    from isoscope.history import Initial

__all__ = [
    "HISTORY",
    "POSITION",
    "Beginning",
    "PartHistory",
    "RawNames",
    "by_history",
    "by_number",
    "changes",
    "part_of",
]

#: Columns beside those of Parquet: which of several histories, and where in it a row stands, from 1.
HISTORY, POSITION = "_history", "_position"


@dataclass(frozen=True, slots=True)
class Beginning:
    """The initial values of a history: those of its files, and those that the user gave instead."""

    header: InitialEdn
    given: Initial | None = None

    def set_on(self, reader: TableReader) -> None:
        """Tells `reader` these values."""
        reader.initial_edn(*self.header)
        if self.given is not None:
            reader.initial(self.given.value, list(self.given.of_key.items()))


class RawNames(NamedTuple):
    """A transaction and its session, as the columns name them."""

    transaction: int | None
    transaction_edn: str | None
    session: int | None
    session_edn: str | None


@dataclass(frozen=True, slots=True)
class PartHistory:
    """A part as a history, and its rows."""

    history: History
    rows: pa.Table

    def position(self, line: int | None) -> int:
        """The position in the whole of the row at this line of the part."""
        assert line, "rows have lines"
        return int(self.rows[POSITION][line - 1].as_py())

    def of_operation(self, operation: int) -> int:
        """The position in the whole of an operation with this number."""
        number, place = self.history.columns.locate(operation)
        return self.position(self.history.transaction(number).operations[place].line)

    def of_transaction(self, number: int) -> int:
        """The position in the whole of the first row that the part has of a transaction."""
        return self.position(self.history.transaction(number).line)

    def names(self, line: int | None) -> RawNames:
        """The transaction at a line of the part and its session, as the columns name them."""
        assert line, "rows have lines"
        return RawNames(*(self._cell(name, line - 1) for name in RawNames._fields))

    def _cell(self, name: str, row: int) -> Any:
        return self.rows[name][row].as_py() if name in self.rows.column_names else None


def by_history(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, list[pa.RecordBatch]]]:
    """The rows of each history; they are sorted by history."""
    yield from by_number(batches, HISTORY)


def by_number(batches: Iterable[pa.RecordBatch], name: str) -> Iterator[tuple[int, list[pa.RecordBatch]]]:
    """The rows for each number in a column; they are sorted by it."""
    import pyarrow.compute as pc  # noqa: PLC0415 - heavy: only this engine pays for it

    current: int | None = None
    kept: list[pa.RecordBatch] = []
    for batch in batches:
        for number in pc.unique(batch[name]).to_pylist():
            if number != current and kept:
                yield current, kept  # type: ignore[misc]  # kept has rows of it
                kept = []
            current = number
            kept.append(batch.filter(pc.equal(batch[name], number)))
    if kept:
        yield current, kept  # type: ignore[misc]


def part_of(batches: list[pa.RecordBatch], beginning: Beginning) -> PartHistory:
    """The history of rows that are sorted by position. Raises ParseError with a line of the part."""
    import pyarrow as pa  # noqa: PLC0415

    reader = TableReader()
    names = known_columns(batches[0].schema.names)
    for batch in batches:
        reader.add(batch.num_rows, *native_columns(batch.select(names)))
    beginning.set_on(reader)
    kept = [name for name in batches[0].schema.names if name in _KEPT]
    rows = pa.Table.from_batches([batch.select(kept) for batch in batches])
    return PartHistory(History(reader.finish()), rows)


def changes(column: pa.Array) -> NDArray[np.bool_]:
    """Of each row whether it differs from the one before it."""
    import numpy as np  # noqa: PLC0415

    if column.null_count or str(column.type) not in ("int32", "int64"):
        column = column.dictionary_encode(null_encoding="encode").indices
    numbers = column.to_numpy(zero_copy_only=False)
    return np.append([False], numbers[1:] != numbers[:-1])


#: Columns that are looked up again for findings and ranks.
_KEPT = (
    POSITION,
    *RawNames._fields,
    "key",
    "key_edn",
    "kind",
    "status",
    "commit_physical",
    "commit_logical",
)
