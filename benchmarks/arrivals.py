"""Histories as they arrive at the engine that judges online: in batches, and part after part without end."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Literal

from isoscope._native import Reader, TableReader
from isoscope.databases.simulated import Simulated, run
from isoscope.history import History, Initial, Operation, OperationKind, Status, Timestamp, Transaction
from isoscope.recorder import build
from isoscope.workloads import Workload

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from isoscope._native import _Column

__all__ = ["BATCH", "DATABASES", "WORKLOAD", "bodies", "parsed", "parts", "simulated"]

#: As the collectors of Li et al. 2025 send them.
BATCH = 500
WORKLOAD = Workload(
    sessions=24,
    transactions=500_000,
    min_operations=8,
    max_operations=8,
    keys=1000,
    distribution="zipfian",
    timestamps=True,
    initial=Initial(value=0),
    seed=21,
)
#: By the level that their histories satisfy; no transaction aborts.
DATABASES = {
    "clock-snapshot-isolation": Simulated(conflicts="read", concurrency=24),
    "clock-serializable": Simulated(isolation="serializable", concurrency=1),
}
_SHIFTED = ("transaction", "value", "start_physical", "commit_physical")


def simulated(level: str, workload: Workload = WORKLOAD) -> History:
    """What clients of a database that keeps `level` saw."""
    return run(DATABASES[level], workload).history


def bodies(path: Path) -> Iterator[bytes]:
    """An AION JSON file of a transaction on each line, as JSON lines in batches."""
    with path.open("rb") as lines:
        transactions = (line.rstrip(b",\n") for line in lines if line.startswith(b"{"))
        while batch := [*islice(transactions, BATCH)]:
            yield b"\n".join(batch) + b"\n"


def parsed(body: bytes) -> History:
    """A batch as the engine takes it."""
    reader = Reader("aion")
    reader.start_of_file("batch")
    reader.feed(body)
    reader.end_of_file()
    return History(reader.finish())


def parts(history: History, count: int) -> Iterator[Iterator[History]]:
    """The history so often, in batches: each part has ids, timestamps and values of its own.

    Every transaction has eight operations. A part begins with a transaction that writes what the keys held
    first, so that it is judged as if it were alone.
    """
    # Transactions stand in the order of their commits.
    last = history.transaction(len(history) - 1).commit
    span = last.physical + 10 if last else 0
    for part in range(count):
        yield _part(history, part * span)


def _part(history: History, shift: int) -> Iterator[History]:
    # No id and no value is above the last timestamp, so that one number moves all out of the way.
    if shift:
        yield _bridge(history, shift)
    transaction = 0
    while transaction < len(history):
        transaction, table = history.columns.export_rows(transaction, 8 * BATCH)
        rows, integers, texts, _, _ = table
        reader = TableReader()
        columns = {name: _column(data, shift * (name in _SHIFTED)) for name, data in integers.items()}
        kinds: dict[str, tuple[_Column, list[str]]] = {
            name: ((_cells(data, "i"), None, 0), words) for name, (data, words) in texts.items()
        }
        reader.add(rows, columns, kinds, None, None)
        yield History(reader.finish())


def _bridge(history: History, shift: int) -> History:
    writes = (Operation(kind=OperationKind.WRITE, key=key, value=shift) for key in history.keys)
    time = Timestamp(shift)
    one = Transaction(number=0, id=shift, session=0, session_id="bridge", status=Status.COMMITTED)
    return build([replace(one, start=time, commit=time, operations=tuple(writes))])


def _column(data: bytes, shift: int) -> _Column:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    if not shift:
        return _cells(data, "q"), None, 0
    column = pa.Array.from_buffers(pa.int64(), len(data) // 8, [None, pa.py_buffer(data)])
    return _cells(pc.add(column, shift).buffers()[1], "q"), None, 0


def _cells(data: bytes, code: Literal["i", "q"]) -> memoryview:
    return memoryview(data).cast("B").cast(code)
