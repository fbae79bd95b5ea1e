"""Histories as tables in memory: Arrow, pandas, polars, and whatever else gives its columns as Arrow.

One row is one operation; `docs/reference/formats/parquet.md` documents the columns. Here `transaction`,
`session`, `key` and `value` may also hold texts and other scalars.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from isoscope._native import ParseError, TableReader
from isoscope.errors import UsageError
from isoscope.formats.arrow import (
    batches,
    deployment_of,
    initial_of,
    known_columns,
    native_columns,
    schema_of,
)
from isoscope.formats.format import format_error
from isoscope.history import History, Source
from isoscope.scalars import edn

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from isoscope.history import Initial

__all__ = ["from_table", "is_table", "to_pandas", "to_table"]

#: Columns of scalars: integers there, anything else as EDN in the column with the suffix `_edn`.
_SCALARS = ("transaction", "session", "key", "value")
_NEEDED = ("transaction", "kind", "key")
_SOURCE = Source(path="<table>", format="arrow")


def is_table(value: object) -> bool:
    """Whether `value` is a table, of whichever library."""
    return hasattr(value, "__arrow_c_stream__") or _library(value) in ("pandas", "polars", "pyarrow")


def _library(value: object) -> str:
    return type(value).__module__.partition(".")[0]


def from_table(table: Any, *, initial: Initial | None = None) -> History:
    """The history in a table with the columns of our Parquet; `initial` replaces the table's own.

    A null `value` of a read is a result that never arrived. Raises UsageError if a column is missing or
    cannot be read.
    """
    import pyarrow as pa  # noqa: PLC0415 - heavy: only users of tables pay for it

    reader = TableReader()
    try:
        arrow = _arrow(table)
        _refuse_missing(arrow.column_names)
        reader.initial_edn(*initial_of(arrow.schema.metadata or {}, path=_SOURCE.path))
        if initial is not None:
            reader.initial(initial.value, list(initial.of_key.items()))
        for batch in _with_edn(arrow).to_batches():
            reader.add(batch.num_rows, *native_columns(batch))
        deployment = deployment_of(arrow.schema.metadata or {}, path=_SOURCE.path)
        return History(reader.finish(), replace(_SOURCE, deployment=deployment))
    except ParseError as error:
        raise UsageError(str(format_error(error, _SOURCE))) from None
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise UsageError(f"the table cannot be read: {str(error).splitlines()[0]}") from None


def _arrow(table: Any) -> pa.Table:
    import pyarrow as pa  # noqa: PLC0415

    if isinstance(table, pa.RecordBatchReader):
        return table.read_all()
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    if _library(table) == "pandas":
        return pa.Table.from_pandas(table, preserve_index=False)
    return pa.table(table)


def _refuse_missing(names: list[str]) -> None:
    missing = [name for name in _NEEDED if not {name, f"{name}_edn"} & {*names}]
    if missing:
        raise UsageError(
            f"the table has no column `{missing[0]}`: it has {', '.join(names) or 'none'}\n\n"
            "hint: one row is one operation, with the columns transaction, session, kind, key and value"
        )


def _with_edn(table: pa.Table) -> pa.Table:
    """The columns that a history has; scalars that are no integers become EDN."""
    import pyarrow as pa  # noqa: PLC0415

    table = table.select(known_columns(table.column_names))
    for name in [name for name in _SCALARS if name in table.column_names]:
        place, column = table.column_names.index(name), _without_fractions(table[name])
        if pa.types.is_integer(column.type) or pa.types.is_null(column.type):
            table = table.set_column(place, name, column.cast(pa.int64()))
            continue
        texts = [None if cell is None else edn(_cell(cell)) for cell in column.to_pylist()]
        if f"{name}_edn" in table.column_names:
            others = table[f"{name}_edn"].to_pylist()
            texts = [other if text is None else text for text, other in zip(texts, others, strict=True)]
            table = table.drop_columns([f"{name}_edn"])
        table = table.drop_columns([name]).append_column(f"{name}_edn", pa.array(texts, pa.string()))
    return table.unify_dictionaries().combine_chunks()


def _cell(cell: Any) -> object:
    return tuple(map(_cell, cell)) if isinstance(cell, list) else cell


def _without_fractions(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Integers again, if pandas made floats of them because some are missing."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    if not pa.types.is_floating(column.type) or not column.null_count:
        return column
    is_whole = pc.all(pc.equal(pc.trunc(column), column)).as_py()
    return column.cast(pa.int64()) if is_whole else column


def to_table(history: History) -> pa.Table:
    """The history as an Arrow table: the columns of our Parquet, with every list in full."""
    import pyarrow as pa  # noqa: PLC0415

    schema = schema_of(history)
    table = pa.Table.from_batches(batches(history, schema), schema=schema)
    return _with_whole_lists(table, history) if "value_length" in table.column_names else table


def _with_whole_lists(table: pa.Table, history: History) -> pa.Table:
    """A list that the file would hold as a prefix of another one stands by itself."""
    import pyarrow as pa  # noqa: PLC0415

    lengths = table["value_length"].to_pylist()
    columns: dict[str, list[Any]] = {
        name: table[name].to_pylist() if name in table.column_names else [None] * table.num_rows
        for name in ("value_list", "value_edn")
    }
    for row, (length, value) in enumerate(zip(lengths, _values(history), strict=False)):
        if length is None:
            continue
        assert isinstance(value, tuple)
        is_small = all(type(element) is int and -(2**62) <= element < 2**62 for element in value)
        columns["value_list" if is_small else "value_edn"][row] = list(value) if is_small else edn(value)
    for name, kind in (("value_list", pa.list_(pa.int64())), ("value_edn", pa.string())):
        if name in table.column_names:
            table = table.drop_columns([name])
        if any(cell is not None for cell in columns[name]):
            table = table.append_column(name, pa.array(columns[name], kind))
    return table.drop_columns(["value_length"])


def _values(history: History) -> Iterator[object]:
    """The value of each row of operations; a transaction without operations has a row as well."""
    for transaction in history:
        yield from (
            (operation.value for operation in transaction.operations) if transaction.operations else [None]
        )


def to_pandas(history: History) -> Any:
    """The same as a pandas DataFrame. Raises UsageError if pandas is not installed."""
    try:
        import pandas  # noqa: F401, PLC0415 - an optional library
    except ImportError:
        raise UsageError("pandas is not installed\n\nhint: pip install pandas, or use to_arrow()") from None
    return to_table(history).to_pandas(integer_object_nulls=True, strings_to_categorical=False)
