"""Histories as Arrow record batches, one row an operation: the columns of our Parquet, and streams of them.

`docs/reference/formats/parquet.md` documents the columns. A scalar is an integer in its plain column,
or EDN text in the column with the suffix `_edn`; columns that are null everywhere are left out.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from isoscope._native import ParseError, TableReader, table_columns
from isoscope.errors import FormatError
from isoscope.formats.format import format_error
from isoscope.formats.source import File
from isoscope.history import Deployment, History, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from isoscope._native import ListColumns, TableColumns, _Column

__all__ = [
    "SCHEMA_VERSION",
    "InitialEdn",
    "batches",
    "damaged",
    "deployment_of",
    "from_stream",
    "initial_of",
    "initial_values",
    "known_columns",
    "native_columns",
    "schema_of",
    "to_stream",
]

SCHEMA_VERSION = 1
# Value of every key, whether a write of it replaces it, values of single keys; EDN, empty if unknown.
InitialEdn: TypeAlias = tuple[str, bool, list[tuple[str, str]]]
_METADATA = b"isoscope"
_NULL = -(2**63)
_SIZES = {"i": 4, "q": 8}
# Rows of a group in the file: few enough that memory is used again at once.
_GROUP = 1 << 20


def from_stream(data: bytes, *, path: str) -> History:
    """The history in an Arrow stream with the same columns; without metadata, initial values are unknown."""
    import pyarrow as pa  # noqa: PLC0415 - heavy: only readers of Parquet or Arrow pay for it

    reader, source = TableReader(), Source(path=path, format="arrow")
    try:
        with pa.ipc.open_stream(pa.py_buffer(data)) as stream:
            source = replace(source, deployment=deployment_of(stream.schema.metadata or {}, path=path))
            reader.initial_edn(*initial_of(stream.schema.metadata or {}, path=path))
            for batch in stream:
                # Unlike a file of ours, this may come from anywhere.
                batch.validate(full=True)
                reader.add(batch.num_rows, *native_columns(batch.select(known_columns(batch.schema.names))))
        return History(reader.finish(), source)
    except ParseError as error:
        raise format_error(error, source) from None
    except (pa.ArrowException, OSError, TypeError, ValueError) as error:
        raise damaged(path, "an Arrow stream", error) from None


def to_stream(history: History) -> bytes:
    """The history as an Arrow stream, which `from_stream` reads."""
    import pyarrow as pa  # noqa: PLC0415 - as above

    schema, sink = schema_of(history), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches(history, schema):
            writer.write_batch(batch)
    return bytes(sink.getvalue())


def damaged(path: str, what: str, error: Exception) -> FormatError:
    """The error for a file or a stream that is not whole."""
    _, kind, noun = what.split()
    problem = (str(error) or type(error).__name__).splitlines()[0]
    return FormatError(
        path=path,
        expected=f"{what} that is whole",
        found=_in_plain_words(problem),
        hint=f"the {noun} was cut off or damaged, or is no {kind} {noun}",
    )


def _in_plain_words(problem: str) -> str:
    """What a library says on one line, without anything that a terminal would obey."""
    if "thrift" in problem.lower():
        return "metadata that is damaged or cut off"
    return problem if problem.isprintable() else ascii(problem)[1:-1]


def known_columns(names: list[str]) -> list[str]:
    """Those of the names that a history has."""
    integers, texts = table_columns()
    known = {*integers, *texts, "value_list", "tombstone"}
    return [name for name in names if name in known]


def initial_of(metadata: dict[bytes, bytes], *, path: str) -> InitialEdn:
    """The initial values of a table or a stream; unknown if its metadata names none."""
    return initial_values(File(path), metadata) if _METADATA in metadata else ("", False, [])


def deployment_of(metadata: dict[bytes, bytes], *, path: str) -> Deployment:
    """The nodes of sessions and the faults that the metadata names, if it names any."""
    try:
        said = json.loads(metadata.get(_METADATA, b"{}")).get("deployment")
        return Deployment() if said is None else Deployment.of(said)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise FormatError(
            path=path,
            expected="nodes of sessions and faults in the metadata",
            found="something else",
            hint="docs/reference/formats/parquet.md says how they look",
        ) from None


def initial_values(file: File, metadata: dict[bytes, bytes]) -> InitialEdn:
    """The initial values that the file's metadata names."""
    try:
        header = json.loads(metadata[_METADATA])
        version, said = header["schema"], header["initial"]
        value, replaceable = str(said["value"]), bool(said["replaceable"])
        of_key = [(str(key), str(value)) for key, value in said["of_key"]]
    except (KeyError, TypeError, ValueError):
        raise FormatError(
            path=file.path,
            expected="a Parquet file that Isoscope wrote",
            found="no metadata called `isoscope`",
            hint="docs/reference/formats/parquet.md says which columns and metadata make one",
        ) from None
    if version != SCHEMA_VERSION:
        raise FormatError(
            path=file.path,
            expected=f"version {SCHEMA_VERSION} of the schema",
            found=f"version {version}",
            hint="a newer Isoscope wrote it: update this one",
        )
    return value, replaceable, of_key


def native_columns(batch: pa.RecordBatch) -> tuple[dict[str, Any], dict[str, Any], Any, Any]:
    """The columns of `batch` as the native core takes them: no values are touched here."""
    integers, texts = table_columns()
    numbers: dict[str, Any] = {}
    words: dict[str, Any] = {}
    lists = tombstones = None
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name in integers:
            numbers[name] = _column(_as(column, "int64"), "q")
        elif name in texts:
            words[name] = _texts(column)
        elif name == "value_list":
            lists = _lists(column)
        else:
            tombstones = bytes(bool(cell) for cell in column.to_pylist())
    return numbers, words, lists, tombstones


def _as(column: pa.Array, kind: str) -> pa.Array:
    return column if str(column.type) == kind else column.cast(kind)


def _column(column: pa.Array, code: Literal["i", "q"], *, extra: int = 0) -> _Column:
    """Data (with `extra` cells behind the last row), validity bitmap if needed, and offset."""
    validity, data = column.buffers()[:2]
    nulls = validity if column.null_count else None
    if data is None:
        return memoryview(b"").cast(code), nulls, column.offset
    size = _SIZES[code]
    first, last = column.offset * size, (column.offset + len(column) + extra) * size
    return memoryview(data).cast("B")[first:last].cast(code), _bits(nulls), column.offset


def _bits(buffer: pa.Buffer | None) -> memoryview[int] | None:
    return None if buffer is None else memoryview(buffer).cast("B")


def _texts(column: pa.Array) -> tuple[_Column, list[str]]:
    if not hasattr(column, "indices"):
        column = column.cast("string").dictionary_encode()
    return _column(_as(column.indices, "int32"), "i"), column.dictionary.to_pylist()


def _lists(column: pa.Array) -> tuple[_Column, _Column]:
    import pyarrow as pa  # noqa: PLC0415

    if column.type != pa.list_(pa.int64()):
        column = column.cast(pa.list_(pa.int64()))
    return _column(column, "i", extra=1), _column(column.values, "q")


def schema_of(history: History) -> pa.Schema:
    """The columns that this history needs, always in the same order."""
    import pyarrow as pa  # noqa: PLC0415

    integers, texts = table_columns()
    types: dict[str, pa.DataType] = dict.fromkeys(integers, pa.int64())
    types |= dict.fromkeys(texts, pa.dictionary(pa.int32(), pa.string()))
    types |= {"value_list": pa.list_(pa.int64()), "tombstone": pa.bool_()}
    used = history.columns.used_columns()
    value, replaceable, of_key = history.columns.initial_edn()
    initial = {"value": value, "replaceable": replaceable, "of_key": of_key}
    header: dict[str, Any] = {"schema": SCHEMA_VERSION, "initial": initial}
    if history.deployment:
        header["deployment"] = history.deployment.document()
    metadata = {_METADATA: json.dumps(header, ensure_ascii=False).encode()}
    # A column without nulls is declared so: it is read in half the time.
    fields = [pa.field(name, types[name], nullable=nullable) for name, nullable in used]
    return pa.schema(fields, metadata=metadata)


def batches(history: History, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of the history."""
    import pyarrow as pa  # noqa: PLC0415

    for table in _tables(history):
        columns = []
        for field in schema:
            if field.name in table.integers:
                columns.append(_nullable(table.integers[field.name], table.rows))
            elif field.name in table.texts:
                columns.append(_dictionary(*table.texts[field.name]))
            elif field.name == "value_list" and table.lists is not None:
                columns.append(_list_array(table.lists))
            elif field.name == "tombstone" and table.tombstones is not None:
                columns.append(pa.array(memoryview(table.tombstones), pa.uint8()).cast(pa.bool_()))
            else:
                columns.append(pa.nulls(table.rows, field.type))
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _tables(history: History) -> Iterator[TableColumns]:
    """Rows of operations, then rows of recorded version orders."""
    transaction = 0
    while transaction < len(history):
        transaction, table = history.columns.export_rows(transaction, _GROUP)
        yield table
    yield history.columns.export_versions()


def _nullable(data: bytes, rows: int) -> pa.Array:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    column = pa.Array.from_buffers(pa.int64(), rows, [None, pa.py_buffer(data)])
    return pc.if_else(pc.equal(column, _NULL), None, column)


def _dictionary(indices: bytes, words: list[str]) -> pa.Array:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    numbers = pa.Array.from_buffers(pa.int32(), len(indices) // 4, [None, pa.py_buffer(indices)])
    numbers = pc.if_else(pc.equal(numbers, -1), None, numbers)
    return pa.DictionaryArray.from_arrays(numbers, pa.array(words, pa.string()))


def _list_array(lists: ListColumns) -> pa.Array:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    rows, elements = len(lists.present), lists.elements
    values = pa.Array.from_buffers(pa.int64(), len(elements) // 8, [None, pa.py_buffer(elements)])
    starts = pa.Array.from_buffers(pa.int64(), rows + 1, [None, pa.py_buffer(lists.offsets)]).cast(pa.int32())
    absent = pc.invert(pa.array(memoryview(lists.present), pa.uint8()).cast(pa.bool_()))
    return pa.ListArray.from_arrays(starts, values, mask=absent)
