"""Arrow streams have the columns of our Parquet, come from anywhere, and are refused with a reason."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isoscope import formats
from isoscope.errors import FormatError
from isoscope.formats.parquet import from_stream
from isoscope.workloads import TABLE_1, generate

from ..reference.clock_histories import clocked

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import History

TOLD = clocked("a 1-2: w(x,1) r(y,2)", "b 3-4: a(z,1)", "c 5-6: r(z,[1])")


def table(history: History, folder: Path) -> pa.Table:
    formats.save(history, folder / "h.parquet")
    return pq.read_table(folder / "h.parquet")


def stream(rows: pa.Table, *, batches: int = 1) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows, max_chunksize=max(1, len(rows) // batches))
    return bytes(sink.getvalue().to_pybytes())


@pytest.mark.parametrize("batches", [1, 3])
def test_a_stream_and_a_file_give_the_same_history(tmp_path: Path, batches: int) -> None:
    assert from_stream(stream(table(TOLD, tmp_path), batches=batches), path="s") == TOLD


def test_without_metadata_initial_values_are_unknown(tmp_path: Path) -> None:
    rows = table(generate(TABLE_1.__class__(transactions=20)), tmp_path).replace_schema_metadata(None)
    assert str(from_stream(stream(rows), path="s").initial) == "unknown"


def test_other_columns_are_left_alone(tmp_path: Path) -> None:
    rows = table(TOLD, tmp_path)
    more = rows.append_column("note", pa.array(["hello"] * len(rows)))
    assert from_stream(stream(more), path="s") == TOLD


def test_a_column_of_another_type_is_rejected(tmp_path: Path) -> None:
    rows = table(clocked("a 1-2: w(x,1)"), tmp_path)
    place = rows.schema.names.index("value")
    wrong = rows.set_column(place, "value", pa.array(["one"] * len(rows)))
    with pytest.raises(FormatError, match="s: expected an Arrow stream that is whole, found "):
        from_stream(stream(wrong), path="s")


def test_damaged_streams_are_read_or_rejected(tmp_path: Path) -> None:
    whole, chance = stream(table(TOLD, tmp_path)), random.Random(1)
    refused = 0
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        try:
            from_stream(bytes(damaged), path="s")
        except FormatError as error:
            refused += str(error).startswith("s")
    assert refused > 30
