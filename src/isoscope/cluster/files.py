"""The files of histories in Parquet, and what their footers say: nothing else of them is read here."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isoscope.errors import UsageError
from isoscope.formats.arrow import damaged, deployment_of, initial_values, known_columns
from isoscope.formats.source import File, Input
from isoscope.history import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow.parquet as pq

    from isoscope.formats.arrow import InitialEdn

__all__ = ["HistoryFiles", "files_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFiles:
    """One history: its files in order, how many rows each has, and which columns there are."""

    files: tuple[str, ...]
    rows: tuple[int, ...]
    columns: frozenset[str]
    initial: InitialEdn
    source: Source

    @property
    def first_positions(self) -> tuple[int, ...]:
        """The position in the whole of the first row of each file, from 1."""
        return tuple(accumulate(self.rows[:-1], initial=1))


def files_of(path: str) -> HistoryFiles:
    """The history at `path`: one Parquet file, or a folder of them in the order of their names.

    Raises UsageError or FormatError if that is no history of ours, or one that this engine cannot read.
    """
    names = [*_names(path)]
    footers = [_footer(name) for name in names]
    schemas = [footer.schema.to_arrow_schema() for footer in footers]
    headers = [initial_values(File(name), s.metadata or {}) for name, s in zip(names, schemas, strict=True)]
    other = next((name for name, header in zip(names, headers, strict=True) if header != headers[0]), None)
    if other is not None:
        raise UsageError(
            f"{other}: its initial values differ from those of {names[0]}\n\n"
            "hint: the files of a folder are one history; name a file to check it alone"
        )
    if headers[0][2]:
        raise UsageError(f"{path}: it has initial values of single keys, which --engine spark does not read")
    columns = frozenset(column for schema in schemas for column in known_columns(schema.names))
    if len(names) > 1 and "value_length" in columns:
        raise UsageError(
            f"{path}: some lists stand as lengths of others, which is read from one file only\n\n"
            "hint: write lists as `value_list`; docs/reference/formats/parquet.md has the columns"
        )
    rows = tuple(int(footer.num_rows) for footer in footers)
    firsts = tuple(accumulate(rows[:-1], initial=1))
    return HistoryFiles(
        files=tuple(names),
        rows=rows,
        columns=columns,
        initial=headers[0],
        source=Source(
            path=path,
            format="parquet",
            files=() if names == [path] else tuple(zip(firsts, names, strict=True)),
            deployment=deployment_of(schemas[0].metadata or {}, path=names[0]),
        ),
    )


def _names(path: str) -> Iterator[str]:
    if "://" in path:
        yield from _remote_names(path)
        return
    if path == "-":
        raise UsageError("--engine spark reads files: standard input is not one")
    source = Input.of(path)
    # Spark and others leave files such as `_SUCCESS` beside their output.
    kept = [file.path for file in source.files if not Path(file.path).name.startswith("_")]
    if not kept:
        raise UsageError(f"{path}: the directory holds no Parquet files")
    yield from kept


def _remote_names(path: str) -> Iterator[str]:
    """The files in an object store, by the file systems that Arrow knows."""
    from pyarrow import fs  # noqa: PLC0415

    store, inner = _store(path)
    found = store.get_file_info(inner)
    if found.type is fs.FileType.NotFound:
        raise UsageError(f"{path}: there is no such file or folder")
    if found.type is not fs.FileType.Directory:
        yield path
        return
    below = store.get_file_info(fs.FileSelector(inner))
    names = sorted(one.base_name for one in below if one.type is fs.FileType.File)
    yield from (f"{path.rstrip('/')}/{name}" for name in names if not name.startswith((".", "_")))


def _store(path: str) -> tuple[Any, str]:
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import fs  # noqa: PLC0415

    try:
        store, inner = fs.FileSystem.from_uri(path.replace("s3a://", "s3://", 1))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UsageError(f"{path}: {str(error).splitlines()[0]}") from None
    return store, inner


def _footer(name: str) -> pq.FileMetaData:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        if "://" in name:
            store, inner = _store(name)
            return pq.read_metadata(inner, filesystem=store)
        return pq.read_metadata(name)
    except FileNotFoundError:
        raise UsageError(f"{name}: there is no such file") from None
    except (pa.ArrowException, OSError) as error:
        raise damaged(name, "a Parquet file", error) from None
