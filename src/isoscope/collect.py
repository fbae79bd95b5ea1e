"""The collector: hands transactions to the online service, in batches, while the database is at work.

`add` only puts a transaction into a buffer; a thread sends batches of 500, one after the other, each with a
number, again and again until the service has it. A full buffer makes `add` wait: nothing is dropped. The
service recognises a batch that comes twice, so nothing is counted twice either.

    with Collector("http://127.0.0.1:8642") as collector:
        collector.add(1, session=1, start=10, commit=20, operations=[("w", "x", 1)])
"""

from __future__ import annotations

import json
import os
import socket
from collections import deque
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Condition, Thread
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote, urlsplit
from uuid import uuid4

from isoscope.errors import ServiceError, UsageError
from isoscope.history import KINDS, UNKNOWN, OperationKind, Status

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from isoscope.history import Scalar, Timestamp

__all__ = ["Collected", "Collector"]

#: Seconds that a few transactions wait for more, and between attempts, first and last.
_LINGER = 0.2
_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
#: Answers after which the same batch may be taken: too many, no room, not now.
_LATER = {408, 429, 500, 502, 503, 504, 507}
_LETTERS = {
    OperationKind.READ: "r",
    OperationKind.WRITE: "w",
    OperationKind.INSERT: "w",
    OperationKind.APPEND: "a",
}
_SILENT = {OperationKind.BEGIN, OperationKind.COMMIT, OperationKind.ABORT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What a collector did: transactions sent and left out (nobody knows their end), and what it cost.

    `seconds` is how long callers were held up, of which they `waited` for room in the buffer.
    """

    transactions: int = 0
    left_out: int = 0
    batches: int = 0
    retries: int = 0
    bytes: int = 0
    seconds: float = 0.0
    waited: float = 0.0


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
    ) -> None:
        self.name = name or f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"
        _refuse_odd("name", self.name)
        _refuse_odd("token", token or "")
        self._link = _Link(url, token)
        self._batch, self._buffer, self._patience = batch, max(buffer, batch), patience
        self._waiting: deque[dict[str, Any]] = deque()
        self._changed = Condition()
        self._unsent = 0
        self._is_urgent = self._is_closed = False
        self._problem: ServiceError | None = None
        self._counts = dict.fromkeys(("transactions", "left_out", "batches", "retries", "bytes"), 0)
        self._seconds = self._waited = 0.0
        self._thread = Thread(target=self._work, name="isoscope-collector", daemon=True)
        self._thread.start()

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
        self._put({**told, "ops": _rows(operations)}, began)

    def transaction(
        self,
        number: int,
        session: int,
        status: Status,
        operations: list[tuple[Any, ...]],
        timestamps: tuple[Timestamp, Timestamp] | None,
    ) -> None:
        """The same for `isoscope.run`, as its sink; what may or may not have committed is left out."""
        if status is Status.INDETERMINATE:
            with self._changed:
                self._counts["left_out"] += 1
            return
        rows = [row for row in map(_told, operations) if row is not None]
        if status is Status.ABORTED:
            told = {"tid": number, "sid": session, "status": "aborted", "ops": _rows(rows)}
            self._put(told, perf_counter())
            return
        if timestamps is None:
            raise ServiceError(
                "the database gives no timestamps, and the online service judges by them\n\n"
                "hint: check the recorded history when the run is over"
            )
        start, commit = timestamps
        self.add(number, session=session, start=start, commit=commit, operations=rows)

    def flush(self) -> None:
        """Returns when the service has all that was added."""
        with self._changed:
            self._is_urgent = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._problem or not self._unsent)
            self._is_urgent = False
            self._raise()

    def close(self) -> None:
        """Sends the rest and ends; what was sent is not closed twice."""
        try:
            if not self._is_closed:
                self.flush()
        finally:
            with self._changed:
                self._is_closed = True
                self._changed.notify_all()
            self._thread.join()
            self._link.close()

    @property
    def collected(self) -> Collected:
        """What it did so far."""
        with self._changed:
            return Collected(**self._counts, seconds=self._seconds, waited=self._waited)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _put(self, told: dict[str, Any], began: float) -> None:
        with self._changed:
            if self._unsent >= self._buffer:
                full = perf_counter()
                self._changed.wait_for(lambda: self._problem or self._unsent < self._buffer)
                self._waited += perf_counter() - full
            self._raise()
            if self._is_closed:
                raise ServiceError("the collector is closed")
            self._waiting.append(told)
            self._unsent += 1
            if len(self._waiting) in (1, self._batch):
                self._changed.notify_all()
            self._seconds += perf_counter() - began

    def _raise(self) -> None:
        if self._problem is not None:
            raise self._problem

    def _work(self) -> None:
        """Sends until it is closed, or cannot."""
        try:
            sequence = 0
            while rows := self._next():
                sequence = sequence or self._expected()
                self._send(sequence, rows)
                sequence += 1
        except ServiceError as error:
            self._give_up(error)
        except Exception as error:
            # Whoever waits for this thread must hear of it, such as of a value that JSON does not have.
            self._give_up(ServiceError(f"a transaction cannot be sent: {type(error).__name__}: {error}"))

    def _give_up(self, problem: ServiceError) -> None:
        with self._changed:
            self._problem = problem
            self._changed.notify_all()

    def _next(self) -> list[dict[str, Any]]:
        """The transactions of the next batch, when there are enough or they have waited long enough."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            self._changed.wait_for(
                lambda: len(self._waiting) >= self._batch or self._is_urgent or self._is_closed, _LINGER
            )
            return [self._waiting.popleft() for _ in range(min(self._batch, len(self._waiting)))]

    def _expected(self) -> int:
        """Which number comes next: a collector of this name may have been there before."""
        answer = self._insist("GET", f"/v1/collectors/{quote(self.name, safe='')}")
        return int(answer["expected"])

    def _send(self, sequence: int, rows: list[dict[str, Any]]) -> None:
        body = "\n".join(json.dumps(row, separators=(",", ":")) for row in rows).encode()
        headers = {
            "Content-Type": "application/x-ndjson",
            "X-Isoscope-Collector": self.name,
            "X-Isoscope-Sequence": str(sequence),
        }
        before = self._counts["retries"]
        answer = self._insist("POST", "/v1/batches", body, headers)
        if answer.get("repeated") is True and self._counts["retries"] == before:
            raise ServiceError(
                f"the service had batch {sequence} of {self.name} before it was sent\n\n"
                "hint: another collector has the same name: give each its own"
            )
        with self._changed:
            self._unsent -= len(rows)
            self._counts["transactions"] += len(rows)
            self._counts["batches"] += 1
            self._counts["bytes"] += len(body)
            self._changed.notify_all()

    def _insist(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """The answer of the service, however often it has to be asked."""
        pause, end = _PAUSE, monotonic() + self._patience
        while True:
            try:
                status, wait, answer = self._link.ask(method, path, body, headers or {})
                problem = f"answered {status}: {answer.get('error', '')}"
            except (OSError, HTTPException) as error:
                status, wait, problem = 503, 0.0, f"cannot be reached: {error}"
            if status == 200:
                return answer
            if status not in _LATER or monotonic() >= end:
                raise ServiceError(f"the service at {self._link.url} {problem}")
            with self._changed:
                self._counts["retries"] += 1
                self._changed.wait_for(lambda: False, max(pause, wait))
            pause = min(2 * pause, _LONGEST_PAUSE)


class _Link:
    """A connection that is made again when it is lost."""

    def __init__(self, url: str, token: str | None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"expected an address such as http://127.0.0.1:8642, found {url!r}")
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self.url = url.rstrip("/")
        self._prefix = parts.path.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._connection = kind(parts.hostname, parts.port, timeout=30.0)

    def ask(
        self, method: str, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[int, float, dict[str, Any]]:
        """Status, seconds to wait before another attempt, and the answer. Raises OSError, HTTPException."""
        try:
            self._connection.request(method, self._prefix + path, body, {**self._headers, **headers})
            answer = self._connection.getresponse()
            text = answer.read()
        except (OSError, HTTPException):
            self._connection.close()
            raise
        document = _document(text)
        # The header has whole seconds only, and a proxy's answer may have nothing else.
        wait = document.get("retry_after") or answer.headers.get("Retry-After", "0")
        return answer.status, _seconds(wait), document

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()


def _refuse_odd(what: str, text: str) -> None:
    """Raises UsageError if a header cannot have the text, or not to the letter."""
    if not (text.isascii() and text.isprintable() and text == text.strip()):
        raise UsageError(f"expected a {what} in ASCII, without spaces around it")


def _document(text: bytes) -> dict[str, Any]:
    """The answer, whatever answered."""
    try:
        found = json.loads(text)
    except ValueError:
        return {"error": text[:200].decode(errors="replace")}
    return found if isinstance(found, dict) else {"error": str(found)[:200]}


def _seconds(text: object) -> float:
    try:
        return max(0.0, float(str(text)))
    except ValueError:
        return 0.0


def _time(reading: Timestamp | int) -> int | dict[str, int]:
    if isinstance(reading, int):
        return reading
    return {"p": reading.physical, "l": reading.logical}


def _rows(operations: Iterable[tuple[str, Scalar, Any]]) -> list[dict[str, Any]]:
    return [{"t": kind, "k": key, "v": value} for kind, key, value in operations]


def _told(row: tuple[Any, ...]) -> tuple[str, Scalar, Any] | None:
    """An operation as the service takes it; None if it says nothing."""
    kind, key, value = KINDS[row[0]], row[1], row[2]
    if kind in _SILENT or value is UNKNOWN:
        return None
    if kind not in _LETTERS:
        raise ServiceError(f"the online service does not judge operations of the kind {kind}")
    return _LETTERS[kind], key, value
