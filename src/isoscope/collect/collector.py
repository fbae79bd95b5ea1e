"""The client of the online service: takes transactions, sends numbered batches."""

from __future__ import annotations

import json
import os
import socket
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote
from uuid import uuid4

from isoscope.collect.batch_queue import BatchQueue
from isoscope.collect.connection import ServiceConnection
from isoscope.collect.recorded import Recorded, as_history
from isoscope.errors import ServiceError, UsageError
from isoscope.formats import parquet
from isoscope.history import KINDS, STATUSES, UNKNOWN, OperationKind, Status

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from isoscope.collect.batch_queue import Collected
    from isoscope.collect.recorded import SliceSource
    from isoscope.history import Scalar, Timestamp

__all__ = ["Collector"]

_LETTERS = {
    OperationKind.READ: "r",
    OperationKind.WRITE: "w",
    OperationKind.INSERT: "w",
    OperationKind.APPEND: "a",
}
_SILENT = {OperationKind.BEGIN, OperationKind.COMMIT, OperationKind.ABORT}
_JSON, _ARROW = "application/x-ndjson", "application/vnd.apache.arrow.stream"


class Collector:
    """Sends transactions to the service at `url`; from any thread, each session's in order.

    No two collectors may share a `name`: the service counts batches by it. `buffer` is how many transactions
    may wait, `patience` how many seconds the service may be out of reach. If the service refuses a batch or
    stays out of reach, every later call and `close` raise ServiceError.
    """

    def __init__(  # noqa: PLR0913 - all but the first are seldom needed
        self,
        url: str,
        *,
        name: str | None = None,
        token: str | None = None,
        batch: int = 500,
        buffer: int = 50_000,
        patience: float = 60.0,
        sessions: Iterable[Scalar] = (),
    ) -> None:
        """`sessions` are those of a run, which calls `began` when one of them begins a transaction."""
        self.name = name or f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"
        _refuse_odd("name", self.name)
        _refuse_odd("token", token or "")
        self._connection = ServiceConnection(url, token, patience=patience, on_retry=self._count_retry)
        self._sequence = 0
        known = tuple(sessions)
        self._sends_intervals = bool(known)
        self._slice_of: SliceSource | None = None
        self._queue = BatchQueue(self._deliver, batch=batch, buffer=buffer, sessions=known)

    def add(
        self,
        transaction_id: Scalar,
        *,
        session: Scalar,
        start: Timestamp | int,
        commit: Timestamp | int,
        operations: Iterable[tuple[str, Scalar, Any]],
    ) -> None:
        """A committed transaction: its operations are ("r" | "w" | "a", key, value), by `start` and `commit`.

        Waits while the buffer is full. Raises ServiceError if the service cannot take it.
        """
        began = perf_counter()
        row = {"tid": transaction_id, "sid": session, "sts": _time(start), "cts": _time(commit)}
        self._queue.put({**row, "ops": _rows(operations)}, session, began)

    def record(
        self,
        transaction_id: Scalar,
        *,
        session: Scalar,
        operations: Iterable[tuple[str, Scalar, Any, int, int]],
        status: Status | str = Status.COMMITTED,
    ) -> None:
        """A transaction for a service with a profile, however it ended.

        Its operations are (kind, key, value, instant before it was sent, instant after it was answered), the
        kind as `OperationKind` has it: begin and commit are operations, too. Waits as `add` does.
        """
        began = perf_counter()
        rows = [(KINDS.index(OperationKind(kind)), *rest) for kind, *rest in operations]
        row = Recorded(transaction_id, session, STATUSES.index(Status(status)), rows)
        self._queue.put(row, session, began)

    def heartbeat(self, session: Scalar, time: int) -> None:
        """Every transaction that the session began before `time` was recorded."""
        self._queue.beat(session, time)

    def connect(self, slice_of: SliceSource) -> None:
        """Called by `isoscope.run`, which has the transactions as columns already."""
        self._slice_of = slice_of

    def began(self, session: int) -> None:
        """A session of a run is about to begin a transaction."""
        if self._sends_intervals:
            self._queue.began(session)

    def transaction(
        self,
        number: int,
        session: int,
        status: Status,
        operations: list[tuple[Any, ...]],
        timestamps: tuple[Timestamp, Timestamp] | None,
    ) -> None:
        """The same for `isoscope.run`, as its sink.

        The transaction is sent with intervals if the sessions are known, else with timestamps; then an
        indeterminate transaction is left out.
        """
        if self._sends_intervals:
            self._queue.put(number, session, perf_counter())
            return
        if status is Status.INDETERMINATE:
            self._count("left_out", 1)
            return
        rows = [row for row in map(_clock_row, operations) if row is not None]
        if status is Status.ABORTED:
            aborted = {"tid": number, "sid": session, "status": "aborted", "ops": _rows(rows)}
            self._queue.put(aborted, session, perf_counter())
            return
        if timestamps is None:
            raise ServiceError(
                "the database gives no timestamps, and this service judges by them\n\n"
                "hint: `isoscope serve --profile NAME` judges by the clients' clocks"
            )
        start, commit = timestamps
        self.add(number, session=session, start=start, commit=commit, operations=rows)

    def flush(self) -> None:
        """Returns when the service has all that was added."""
        self._queue.flush()

    def close(self) -> None:
        """Sends the rest and ends; a second call does nothing."""
        try:
            self._queue.close()
        finally:
            self._connection.close()

    @property
    def collected(self) -> Collected:
        """The counts so far."""
        return self._queue.collected

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _deliver(self, rows: list[Any], beats: list[tuple[Scalar, int]]) -> None:
        if rows:
            self._sequence = self._sequence or self._expected()
            self._send(*self._encoded(rows))
            self._sequence += 1
        if beats:
            body = json.dumps({"sessions": beats}).encode()
            self._connection.request("POST", "/v1/heartbeat", body, {"Content-Type": "application/json"})

    def _expected(self) -> int:
        """The number of the next batch: a collector of this name may have sent some before."""
        answer = self._connection.request("GET", f"/v1/collectors/{quote(self.name, safe='')}")
        return int(answer["expected"])

    def _send(self, form: str, body: bytes) -> None:
        headers = {
            "Content-Type": form,
            "X-Isoscope-Collector": self.name,
            "X-Isoscope-Sequence": str(self._sequence),
        }
        before = self.collected.retries
        answer = self._connection.request("POST", "/v1/batches", body, headers)
        if answer.get("repeated") is True and self.collected.retries == before:
            raise ServiceError(
                f"the service had batch {self._sequence} of {self.name} before it was sent\n\n"
                "hint: another collector has the same name: give each its own"
            )
        self._count("bytes", len(body))

    def _encoded(self, rows: list[Any]) -> tuple[str, bytes]:
        """A batch: its content type and its bytes."""
        if isinstance(rows[0], dict):
            return _JSON, "\n".join(json.dumps(row, separators=(",", ":")) for row in rows).encode()
        if isinstance(rows[0], Recorded):
            return _ARROW, parquet.to_stream(as_history(rows))
        if self._slice_of is None:
            raise AssertionError("only a run puts numbers, and it connects first")
        return _ARROW, parquet.to_stream(self._slice_of(rows, initial=False))

    def _count_retry(self) -> None:
        self._count("retries", 1)

    def _count(self, what: str, number: int) -> None:
        with self._queue.changed:
            self._queue.counts[what] += number


def _refuse_odd(what: str, text: str) -> None:
    """Raises UsageError if a header cannot carry the text unchanged."""
    if not (text.isascii() and text.isprintable() and text == text.strip()):
        raise UsageError(f"expected a {what} in ASCII, without spaces around it")


def _time(reading: Timestamp | int) -> int | dict[str, int]:
    if isinstance(reading, int):
        return reading
    return {"p": reading.physical, "l": reading.logical}


def _rows(operations: Iterable[tuple[str, Scalar, Any]]) -> list[dict[str, Any]]:
    return [{"t": kind, "k": key, "v": value} for kind, key, value in operations]


def _clock_row(row: tuple[Any, ...]) -> tuple[str, Scalar, Any] | None:
    """An operation for a service that judges by timestamps; None if it has no key or no known value."""
    kind, key, value = KINDS[row[0]], row[1], row[2]
    if kind in _SILENT or value is UNKNOWN:
        return None
    if kind not in _LETTERS:
        raise ServiceError(f"the online service does not judge operations of the kind {kind}")
    return _LETTERS[kind], key, value
