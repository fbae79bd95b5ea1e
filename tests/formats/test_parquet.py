"""Our own Parquet: what a file must have, and several files of one history."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isoscope import formats
from isoscope.errors import FormatError
from tests.formats.forms import FORMS

if TYPE_CHECKING:
    from pathlib import Path

INITIAL = {"value": "0", "replaceable": False, "of_key": []}
HEADER = {"schema": 1, "initial": INITIAL}
ROW = {"transaction": 1, "kind": "write", "key": 2, "value": 3}


def store(path: Path, columns: dict[str, list[Any]], header: object = HEADER) -> Path:
    """A Parquet file of these columns, as another program may write it."""
    metadata = {} if header is None else {"isoscope": json.dumps(header)}
    pq.write_table(pa.table(columns).replace_schema_metadata(metadata), path)
    return path


def message(path: Path) -> str:
    with pytest.raises(FormatError) as caught:
        formats.load(path, format="parquet")
    return str(caught.value)


def test_a_file_of_plain_columns_is_read(tmp_path: Path) -> None:
    path = store(tmp_path / "a.parquet", {name: [value] for name, value in ROW.items()} | {"extra": ["x"]})
    [transaction] = formats.load(path)
    assert [(operation.key, operation.value) for operation in transaction.operations] == [(2, 3)]


ROWS = {
    "another kind": ({"kind": "upsert"}, "PATH: expected a kind of operation such as `read`, found `upsert`"),
    "no transaction": ({"transaction": None}, "PATH:1: expected a transaction, found `null`"),
    "no key": ({"key": None}, "PATH:1: expected a key, found `null`"),
    "no value": ({"value": None}, "PATH:1: expected a value, found `null`"),
    "another status": (
        {"status": "lost"},
        "PATH:1: expected committed, aborted or indeterminate, found `lost`",
    ),
    "no EDN": (
        {"key": None, "key_edn": "{:a"},
        "PATH:1: expected EDN in the column key_edn, found `{:a` "
        "(a closing bracket or quote, or more of what begins before)",
    ),
    "another source": (
        {"kind": "version", "statement": "guess"},
        "PATH:1: expected `log` or `declared` as the statement of a version, found `guess`",
    ),
    "rows in odd numbers": (
        {"kind": "range-read", "rows_edn": "[1 2 3]"},
        "PATH:1: expected keys and values in turn as the rows of a range read, found `something else`",
    ),
}


@pytest.mark.parametrize(("changes", "expected"), ROWS.values(), ids=ROWS.keys())
def test_a_row_that_makes_no_sense_is_told_with_its_number(
    changes: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    path = store(tmp_path / "a.parquet", {name: [value] for name, value in (ROW | changes).items()})
    assert message(path) == expected.replace("PATH", str(path))


HEADERS: dict[str, tuple[object, str]] = {
    "none": (None, "expected a Parquet file that Isoscope wrote, found no metadata called `isoscope`"),
    "a list": ([], "expected a Parquet file that Isoscope wrote, found no metadata called `isoscope`"),
    "no initial values": ({"schema": 1}, "expected a Parquet file that Isoscope wrote, found no metadata"),
    "a newer schema": (
        {"schema": 2, "initial": INITIAL},
        "expected version 1 of the schema, found version 2",
    ),
    "no EDN": ({"schema": 1, "initial": INITIAL | {"value": "{"}}, "expected a closing bracket or quote"),
    "a number": ({"schema": 1, "initial": INITIAL | {"of_key": 5}}, "expected a Parquet file that Isoscope"),
}


@pytest.mark.parametrize(("header", "expected"), HEADERS.values(), ids=HEADERS.keys())
def test_metadata_that_makes_no_sense_is_an_error(header: object, expected: str, tmp_path: Path) -> None:
    path = store(tmp_path / "a.parquet", {name: [value] for name, value in ROW.items()}, header)
    assert message(path).startswith(f"{path}")
    assert expected in message(path)


TYPES: dict[str, list[Any]] = {
    "transaction": ["x"],
    "kind": [5],
    "key": [[1]],
    "value": [1.5],
    "value_list": ["x"],
    "tombstone": ["maybe"],
    "table": [7],
    "key_edn": [None],
}


@pytest.mark.parametrize("name", TYPES)
def test_a_column_of_another_type_is_read_or_an_error(name: str, tmp_path: Path) -> None:
    columns = {column: [value] for column, value in ROW.items()} | {name: TYPES[name]}
    path = store(tmp_path / "a.parquet", columns)
    with suppress(FormatError):
        assert len(formats.load(path)) == 1


def test_a_file_that_is_cut_off_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(FORMS["parquet"].sample[:-9])
    assert message(path).startswith(f"{path}: expected a Parquet file that is whole, found ")
    assert message(path).endswith("hint: the file was cut off or damaged, or is no Parquet file")


def test_what_the_library_says_of_damaged_bytes_reaches_no_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    damaged = bytearray(FORMS["parquet"].sample)
    length = int.from_bytes(damaged[-8:-4], "little")
    damaged[-8 - length : -8] = b"\x0f" * length
    path.write_bytes(damaged)
    assert message(path) == (
        f"{path}: expected a Parquet file that is whole, found metadata that is damaged or cut off\n\n"
        "hint: the file was cut off or damaged, or is no Parquet file"
    )
