"""One attempt of a transaction: sends its operations to a session, and records them if asked."""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING

from isoscope._native import UNKNOWN
from isoscope.history import KINDS, STATUSES, OperationKind, Status

if TYPE_CHECKING:
    from isoscope._native import _RecordedRow as RecordedRow
    from isoscope.databases.database import Session
    from isoscope.history import Timestamp

__all__ = ["Attempt", "RecordedAttempt"]

_READ = KINDS.index(OperationKind.READ)
_WRITE = KINDS.index(OperationKind.WRITE)
_APPEND = KINDS.index(OperationKind.APPEND)
_INSERT = KINDS.index(OperationKind.INSERT)
_DELETE = KINDS.index(OperationKind.DELETE)
_RANGE_READ = KINDS.index(OperationKind.RANGE_READ)
_BEGIN = KINDS.index(OperationKind.BEGIN)
_COMMIT = KINDS.index(OperationKind.COMMIT)
_ABORT = KINDS.index(OperationKind.ABORT)
_ABORTED = STATUSES.index(Status.ABORTED)


class Attempt:
    """Sends the operations of its program and records nothing; `status` is an index in `STATUSES`."""

    __slots__ = ("operations", "reason", "rows", "session", "session_number", "status", "timestamps")

    def __init__(self, session: Session, session_number: int) -> None:
        self.session = session
        self.session_number = session_number
        self.rows: list[RecordedRow] = []
        self.operations = 0
        self.status = _ABORTED
        self.reason: str | None = None
        self.timestamps: tuple[Timestamp, Timestamp] | None = None

    def read(self, key: int) -> int | tuple[int, ...] | None:
        """Reads a register or a list."""
        self.operations += 1
        return self.session.read(key)

    def write(self, key: int, value: int) -> None:
        """Overwrites a register."""
        self.operations += 1
        self.session.write(key, value)

    def append(self, key: int, value: int) -> None:
        """Appends to a list."""
        self.operations += 1
        self.session.append(key, value)

    def insert(self, key: int, value: int) -> None:
        """Adds a row."""
        self.operations += 1
        self.session.insert(key, value)

    def delete(self, key: int) -> None:
        """Removes a row."""
        self.operations += 1
        self.session.delete(key)

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        """Reads the registers from `low` to `high`."""
        self.operations += 1
        return self.session.range_read(low, high)

    def begin(self) -> None:
        """Starts the transaction."""
        self.session.begin()

    def commit(self) -> None:
        """Commits it."""
        self.timestamps = self.session.commit()

    def rollback(self) -> None:
        """Rolls it back."""
        self.session.rollback()


class RecordedAttempt(Attempt):
    """The same, and records every operation.

    These methods run a hundred thousand times a second: they call no function that they can avoid.
    """

    __slots__ = ()

    def read(self, key: int) -> int | tuple[int, ...] | None:
        """Reads a register or a list."""
        self.operations += 1
        start = perf_counter_ns()
        try:
            value = self.session.read(key)
        except BaseException:
            self.rows.append((_READ, key, UNKNOWN, start, perf_counter_ns()))
            raise
        self.rows.append((_READ, key, value, start, perf_counter_ns()))
        return value

    def write(self, key: int, value: int) -> None:
        """Overwrites a register."""
        self.operations += 1
        start = perf_counter_ns()
        try:
            self.session.write(key, value)
        finally:
            self.rows.append((_WRITE, key, value, start, perf_counter_ns()))

    def append(self, key: int, value: int) -> None:
        """Appends to a list."""
        self.operations += 1
        start = perf_counter_ns()
        try:
            self.session.append(key, value)
        finally:
            self.rows.append((_APPEND, key, value, start, perf_counter_ns()))

    def insert(self, key: int, value: int) -> None:
        """Adds a row."""
        self.operations += 1
        start = perf_counter_ns()
        try:
            self.session.insert(key, value)
        finally:
            self.rows.append((_INSERT, key, value, start, perf_counter_ns()))

    def delete(self, key: int) -> None:
        """Removes a row."""
        self.operations += 1
        start = perf_counter_ns()
        try:
            self.session.delete(key)
        finally:
            self.rows.append((_DELETE, key, None, start, perf_counter_ns()))

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        """Reads the registers from `low` to `high`."""
        self.operations += 1
        start = perf_counter_ns()
        rows = self.session.range_read(low, high)
        self.rows.append((_RANGE_READ, None, (low, high, rows, ()), start, perf_counter_ns()))
        return rows

    def begin(self) -> None:
        """Starts the transaction."""
        start = perf_counter_ns()
        try:
            self.session.begin()
        finally:
            self.rows.append((_BEGIN, None, None, start, perf_counter_ns()))

    def commit(self) -> None:
        """Commits it."""
        start = perf_counter_ns()
        try:
            self.timestamps = self.session.commit()
        finally:
            self.rows.append((_COMMIT, None, None, start, perf_counter_ns()))

    def rollback(self) -> None:
        """Rolls it back."""
        start = perf_counter_ns()
        self.session.rollback()
        self.rows.append((_ABORT, None, None, start, perf_counter_ns()))
