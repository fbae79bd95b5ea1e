"""The client of the online service: transactions in, batches with numbers out."""

from __future__ import annotations

import json
import os
import socket
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote
from uuid import uuid4

from isoscope.collect.gathering import Gathering, Recorded, as_history
from isoscope.collect.link import Link
from isoscope.errors import ServiceError, UsageError
from isoscope.formats import parquet
from isoscope.history import KINDS, STATUSES, UNKNOWN, OperationKind, Status

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from isoscope.collect.gathering import Collected
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

    `name` must be its own: the service counts batches by it. `buffer` is how many transactions may wait,
    `patience` how many seconds the service may be out of reach. Raises ServiceError, from then on and when
    it is closed, if the service refuses a batch or stays out of reach.
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
        """`sessions` are those of a run, which says with `began` when each begins a transaction."""
        self.name = name or f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"
        _refuse_odd("name", self.name)
        _refuse_odd("token", token or "")
        self._link = Link(url, token, patience=patience, again=self._again)
        self._sequence = 0
        known = tuple(sessions)
        self._sends_intervals = bool(known)
        self._gathering = Gathering(self._deliver, batch=batch, buffer=buffer, sessions=known)

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

        Waits while the buffer is full. Raises ServiceError if the service cannot be told.
        """
        began = perf_counter()
        told = {"tid": transaction_id, "sid": session, "sts": _time(start), "cts": _time(commit)}
        self._gathering.put({**told, "ops": _rows(operations)}, session, began)

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
        self._gathering.put(row, session, began)

    def heartbeat(self, session: Scalar, time: int) -> None:
        """All that the session began before `time` was recorded: nobody has to wait for it."""
        self._gathering.beat(session, time)

    def initial(self, rows: Iterable[tuple[int, int]]) -> None:
        """What rows hold at first is what the service was started with: `--initial`."""

    def began(self, session: int) -> None:
        """A session of a run is about to begin a transaction."""
        if self._sends_intervals:
            self._gathering.began(session)

    def transaction(
        self,
        number: int,
        session: int,
        status: Status,
        operations: list[tuple[Any, ...]],
        timestamps: tuple[Timestamp, Timestamp] | None,
    ) -> None:
        """The same for `isoscope.run`, as its sink.

        It goes with intervals if the sessions are known; else by timestamps, and then what may or may not
        have committed is left out.
        """
        if self._sends_intervals:
            row = Recorded(number, session, STATUSES.index(status), operations, timestamps)
            self._gathering.put(row, session, perf_counter())
            return
        if status is Status.INDETERMINATE:
            self._count("left_out", 1)
            return
        rows = [row for row in map(_told, operations) if row is not None]
        if status is Status.ABORTED:
            told = {"tid": number, "sid": session, "status": "aborted", "ops": _rows(rows)}
            self._gathering.put(told, session, perf_counter())
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
        self._gathering.flush()

    def close(self) -> None:
        """Sends the rest and ends; what was sent is not closed twice."""
        try:
            self._gathering.close()
        finally:
            self._link.close()

    @property
    def collected(self) -> Collected:
        """What it did so far."""
        return self._gathering.collected

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
            self._send(*_encoded(rows))
            self._sequence += 1
        if beats:
            body = json.dumps({"sessions": beats}).encode()
            self._link.insist("POST", "/v1/heartbeat", body, {"Content-Type": "application/json"})

    def _expected(self) -> int:
        """Which number comes next: a collector of this name may have been there before."""
        answer = self._link.insist("GET", f"/v1/collectors/{quote(self.name, safe='')}")
        return int(answer["expected"])

    def _send(self, form: str, body: bytes) -> None:
        headers = {
            "Content-Type": form,
            "X-Isoscope-Collector": self.name,
            "X-Isoscope-Sequence": str(self._sequence),
        }
        before = self.collected.retries
        answer = self._link.insist("POST", "/v1/batches", body, headers)
        if answer.get("repeated") is True and self.collected.retries == before:
            raise ServiceError(
                f"the service had batch {self._sequence} of {self.name} before it was sent\n\n"
                "hint: another collector has the same name: give each its own"
            )
        self._count("bytes", len(body))

    def _again(self) -> None:
        self._count("retries", 1)

    def _count(self, what: str, number: int) -> None:
        with self._gathering.changed:
            self._gathering.counts[what] += number


def _encoded(rows: list[Any]) -> tuple[str, bytes]:
    """A batch: its content type and its bytes."""
    if isinstance(rows[0], Recorded):
        return _ARROW, parquet.to_stream(as_history(rows))
    return _JSON, "\n".join(json.dumps(row, separators=(",", ":")) for row in rows).encode()


def _refuse_odd(what: str, text: str) -> None:
    """Raises UsageError if a header cannot have the text, or not to the letter."""
    if not (text.isascii() and text.isprintable() and text == text.strip()):
        raise UsageError(f"expected a {what} in ASCII, without spaces around it")


def _time(reading: Timestamp | int) -> int | dict[str, int]:
    if isinstance(reading, int):
        return reading
    return {"p": reading.physical, "l": reading.logical}


def _rows(operations: Iterable[tuple[str, Scalar, Any]]) -> list[dict[str, Any]]:
    return [{"t": kind, "k": key, "v": value} for kind, key, value in operations]


def _told(row: tuple[Any, ...]) -> tuple[str, Scalar, Any] | None:
    """An operation as a service that judges by timestamps takes it; None if it says nothing."""
    kind, key, value = KINDS[row[0]], row[1], row[2]
    if kind in _SILENT or value is UNKNOWN:
        return None
    if kind not in _LETTERS:
        raise ServiceError(f"the online service does not judge operations of the kind {kind}")
    return _LETTERS[kind], key, value
