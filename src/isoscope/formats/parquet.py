"""Our own format, to keep and to share: Parquet, one row an operation, nothing lost.

`docs/reference/formats/parquet.md` documents the columns. A scalar is an integer in its plain column,
or EDN text in the column with the suffix `_edn`; columns that are null everywhere are left out. The
file's metadata holds the version of the schema, the initial values, nodes of sessions and faults.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from isoscope._native import ParseError, TableReader, table_columns
from isoscope.errors import UsageError
from isoscope.formats.arrow import (
    SCHEMA_VERSION,
    InitialEdn,
    batches,
    damaged,
    deployment_of,
    from_stream,
    initial_values,
    known_columns,
    native_columns,
    schema_of,
    to_stream,
)
from isoscope.formats.format import FEATURES, Format, format_error
from isoscope.history import History, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from isoscope.formats.source import File, Input
    from isoscope.history import Deployment, Initial

__all__ = ["FORMAT", "SCHEMA_VERSION", "from_stream", "to_stream"]

_MAGIC = b"PAR1"
# Rows read at a time: few enough that memory is used again at once.
_BATCH = 1 << 15
# Bytes of a column that are read at a time where memory matters more than time.
_BUFFER = 1 << 18


def _sniff(head: bytes) -> bool:
    return head.startswith(_MAGIC)


def _read(source: Input, *, initial: Initial | None = None) -> History:
    [file] = source.only("parquet").files
    files = () if file.path == source.path else ((1, file.path),)
    reader, said = TableReader(), Source(path=source.path, format="parquet", files=files)
    header, deployment = _read_file(reader, file, said)
    said = replace(said, deployment=deployment)
    try:
        _set_initial(reader, header, initial)
        return History(reader.finish(), said)
    except ParseError as error:
        raise format_error(error, said) from None


def _read_file(reader: TableReader, file: File, source: Source) -> tuple[InitialEdn, Deployment]:
    """Adds the rows of the file to `reader`; its initial values, its nodes and faults."""
    with _opened(file, source, pre_buffer=True) as (initial, deployment, batches):
        for batch in batches:
            reader.add(batch.num_rows, *native_columns(batch))
        return initial, deployment


def _slices(source: Input, *, initial: Initial | None = None) -> Iterator[History]:
    """The history in slices, each of whole transactions; the rows of each transaction stand together."""
    [file] = source.only("parquet").files
    said = Source(
        path=source.path, format="parquet", files=() if file.path == source.path else ((1, file.path),)
    )
    reader, latest = TableReader(), None
    with _opened(file, said, pre_buffer=False, buffer_size=_BUFFER) as (header, deployment, batches):
        said = replace(said, deployment=deployment)
        for batch in batches:
            _refuse_prefixes(file, batch)
            rest, latest = _rows_of(batch, latest), _transaction(batch, batch.num_rows - 1)
            if rest == batch.num_rows:
                reader.add(rest, *native_columns(batch))
                continue
            if rest:
                reader.add(rest, *native_columns(batch.slice(0, rest)))
            _set_initial(reader, header, initial)
            yield History(reader.drain(), said)
            reader.add(batch.num_rows - rest, *native_columns(batch.slice(rest)))
        _set_initial(reader, header, initial)
        yield History(reader.finish(), said)


def _set_initial(reader: TableReader, header: InitialEdn, initial: Initial | None) -> None:
    reader.initial_edn(*header)
    if initial is not None:
        reader.initial(initial.value, list(initial.of_key.items()))


def _refuse_prefixes(file: File, batch: pa.RecordBatch) -> None:
    if "value_length" in batch.schema.names:
        raise UsageError(
            f"{file.path}: its reads of lists stand as lengths of others, so it is read only as a whole\n\n"
            "hint: `isoscope convert` makes JSON of it, in which every list stands by itself"
        )


def _rows_of(batch: pa.RecordBatch, transaction: tuple[object, object] | None) -> int:
    """How many rows at the start of `batch` are of this transaction."""
    rows = range(batch.num_rows)
    return next((row for row in rows if _transaction(batch, row) != transaction), batch.num_rows)


def _transaction(batch: pa.RecordBatch, row: int) -> tuple[object, object]:
    """The id of a row's transaction, as an integer or as EDN."""
    names = ("transaction", "transaction_edn")
    number, text = (batch[name][row].as_py() if name in batch.schema.names else None for name in names)
    return number, text


@contextmanager
def _opened(
    file: File, source: Source, **how: int
) -> Iterator[tuple[InitialEdn, Deployment, Iterator[pa.RecordBatch]]]:
    """The metadata of a file, and its rows; a damaged file becomes an error for the user."""
    import pyarrow as pa  # noqa: PLC0415 - heavy: only readers of Parquet pay for it
    import pyarrow.parquet as pq  # noqa: PLC0415

    target = file.path if file.is_plain else pa.BufferReader(file.read())
    try:
        schema = pq.read_schema(target)
        initial = initial_values(file, schema.metadata or {})
        deployment = deployment_of(schema.metadata or {}, path=file.path)
        texts = [name for name in schema.names if name in table_columns()[1]]
        with pq.ParquetFile(target, read_dictionary=texts, **how) as table:
            batches = table.iter_batches(_BATCH, columns=known_columns(schema.names), use_threads=False)
            yield initial, deployment, batches if table.metadata.num_rows <= _BATCH else _ahead(batches)
    except ParseError as error:
        raise format_error(error, source) from None
    except (pa.ArrowException, OSError, TypeError, ValueError) as error:
        # Damaged metadata and columns of other types end in whichever of these.
        raise damaged(file.path, "a Parquet file", error) from None


def _ahead(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches, the next one being decoded on another core while one is used."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = pool.submit(next, batches, None)
            yield batch


def _write(history: History, sink: BinaryIO, *, path: str) -> None:  # noqa: ARG001
    import pyarrow.parquet as pq  # noqa: PLC0415

    schema = schema_of(history)
    # Few sessions and keys come again and again; other integers mostly differ a little from row to row.
    repeating = [name for name in schema.names if name in ("session", "key", *table_columns()[1])]
    rising = [name for name in schema.names if name in table_columns()[0] and name not in repeating]
    with pq.ParquetWriter(
        sink,
        schema,
        compression="zstd",
        use_dictionary=repeating,
        column_encoding=dict.fromkeys(rising, "DELTA_BINARY_PACKED"),
        write_statistics=False,
    ) as writer:
        for batch in batches(history, schema):
            writer.write_batch(batch)


FORMAT = Format(
    name="parquet",
    title="Isoscope's own Parquet",
    suffixes=(".parquet",),
    sniff=_sniff,
    read=_read,
    slices=_slices,
    write=_write,
    holds=frozenset(FEATURES),
)
