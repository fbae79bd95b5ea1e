"""The journal of the service beside one on SQLite: appends a second, bytes on disk, seconds to replay.

Each client appends batches as the service does: the write under one lock, the wait for the disk outside it.
SQLite runs with a write-ahead log and `synchronous=FULL`, and stores a checksum for each record, because it
does not notice a changed byte in a page by itself.
"""

from __future__ import annotations

import sqlite3
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Protocol
from zlib import crc32

from benchmarks.suite import DATA, Measurement, Suite
from isoscope.live.journal import BatchRecord, Fsync, Journal

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SUITE", "measurements"]

HOW = "Records of 64 KiB, a batch of 500 transactions; each is on the disk before the next of its client."
RECORDS = 2_000
SIZE = 1 << 16
CLIENTS = (1, 2, 8)


class _Appended(Protocol):
    def append(self, record: BatchRecord) -> int: ...

    def sync(self, position: int) -> None: ...

    def bodies(self) -> int: ...


class _Segments:
    """The journal as it is."""

    def __init__(self, folder: Path) -> None:
        self._journal = Journal(folder, {}, fsync=Fsync.ALWAYS)
        self._folder = folder
        list(self._journal.replay())

    def append(self, record: BatchRecord) -> int:
        return self._journal.append(record)

    def sync(self, position: int) -> None:
        self._journal.sync(position)

    def bodies(self) -> int:
        self._journal.close()
        again = Journal(self._folder, {}, fsync=Fsync.ALWAYS)
        count = sum(isinstance(record, BatchRecord) for record in again.replay())
        again.close()
        return count


class _Sqlite:
    """The same records as rows of a table; a commit is on the disk when it returns."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "journal.sqlite"
        self._database = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)
        self._database.execute("pragma journal_mode=wal")
        self._database.execute("pragma synchronous=full")
        columns = "time integer, collector text, sequence integer, form integer, checksum integer, body blob"
        self._database.execute(f"create table record (number integer primary key, {columns})")

    def append(self, record: BatchRecord) -> int:
        row = (record.time, record.collector, record.sequence, record.form, crc32(record.body), record.body)
        insert = "insert into record (time, collector, sequence, form, checksum, body) values (?,?,?,?,?,?)"
        return self._database.execute(insert, row).lastrowid or 0

    def sync(self, position: int) -> None:
        """The commit has synced already."""

    def bodies(self) -> int:
        self._database.close()
        with sqlite3.connect(self._path) as database:
            rows = database.execute("select checksum, body from record order by number")
            return sum(crc32(body) == checksum for checksum, body in rows)


def measurements(records: int = RECORDS, clients: tuple[int, ...] = CLIENTS) -> Iterator[Measurement]:
    """Both journals, for each number of clients."""
    DATA.mkdir(exist_ok=True)
    for count in clients:
        for name, kind in (("journal", _Segments), ("SQLite", _Sqlite)):
            with tempfile.TemporaryDirectory(dir=DATA) as folder:
                yield _row(f"{name}, {count} clients", kind(Path(folder)), Path(folder), records, count)


def _row(name: str, journal: _Appended, folder: Path, records: int, clients: int) -> Measurement:
    lock, body = Lock(), bytes(range(256)) * (SIZE // 256)

    def client(number: int) -> None:
        for sequence in range(1, records // clients + 1):
            record = BatchRecord(
                time=sequence, collector=f"collector-{number}", sequence=sequence, form=0, body=body
            )
            with lock:
                position = journal.append(record)
            journal.sync(position)

    started = perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(client, range(clients)))
    seconds = perf_counter() - started
    size = sum(path.stat().st_size for path in folder.iterdir())
    started = perf_counter()
    found = journal.bodies()
    replayed = perf_counter() - started
    if found != records // clients * clients:
        raise AssertionError(f"{name}: {found} of {records} records came back")
    return Measurement(
        name,
        {
            "records a second": f"{found / seconds:,.0f}",
            "bytes on disk": f"{size / found / SIZE:.2f} a byte",
            "replay": f"{replayed:.2f} s",
        },
    )


SUITE = Suite(
    title="The journal beside one on SQLite",
    how=HOW,
    full=measurements,
    quick=lambda: measurements(records=200),
)
