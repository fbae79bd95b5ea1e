"""A queue of ended transactions: one thread hands them on in batches, with heartbeats of their sessions.

A batch is handed on when it is full, or when its first transactions have waited long enough. Heartbeats
follow it: for each session without waiting transactions, the instant before which nothing more will come.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from threading import Condition, Thread
from time import perf_counter, perf_counter_ns
from typing import TYPE_CHECKING, Any

from isoscope.errors import ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from isoscope.history import Scalar

__all__ = ["BatchQueue", "Collected"]

#: Seconds that an incomplete batch waits for more, and between two heartbeats of a session.
_LINGER = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """Counts of transactions that were handed on or left out (their end is unknown), and the cost.

    `seconds` is how long callers were held up, of which they `waited` for a place in the buffer.
    """

    transactions: int = 0
    left_out: int = 0
    batches: int = 0
    retries: int = 0
    bytes: int = 0
    seconds: float = 0.0
    waited: float = 0.0


class BatchQueue:
    """Calls `deliver(rows, beats)` from its own thread: rows of one type, or none, then heartbeats.

    If `deliver` raises an exception, every later call and `close` raise ServiceError.
    """

    def __init__(
        self,
        deliver: Callable[[list[Any], list[tuple[Scalar, int]]], None],
        *,
        batch: int = 500,
        buffer: int = 50_000,
        sessions: Iterable[Scalar] = (),
    ) -> None:
        """`sessions` get heartbeats by themselves: `began` says when each of them begins a transaction."""
        self._deliver = deliver
        self._batch, self._buffer = batch, max(buffer, batch)
        self._waiting: deque[tuple[Hashable, Any]] = deque()
        #: Waiting transactions by session.
        self._of_session: Counter[Hashable] = Counter()
        #: When the open transaction of each session began; None between transactions.
        self._open_since: dict[Scalar, int | None] = dict.fromkeys(sessions)
        #: Heartbeats that `beat` was called with.
        self._given_beats: dict[Scalar, int] = {}
        # Before the first rows, the receiver must know every session that it has to wait for.
        self._first_beats = [(session, perf_counter_ns()) for session in self._open_since]
        self.changed = Condition()
        self._unsent = 0
        self._is_urgent = self._is_closed = False
        self._problem: ServiceError | None = None
        self.counts = dict.fromkeys(("transactions", "left_out", "batches", "retries", "bytes"), 0)
        self._seconds = self._waited = 0.0
        self._thread = Thread(target=self._work, name="isoscope-collector", daemon=True)
        self._thread.start()

    def put(self, row: object, session: Scalar, began: float) -> None:
        """Adds an ended transaction; the caller is held up since `began`, and while the buffer is full."""
        with self.changed:
            if self._unsent >= self._buffer:
                full = perf_counter()
                self.changed.wait_for(lambda: self._problem or self._unsent < self._buffer)
                self._waited += perf_counter() - full
            self._raise()
            if self._is_closed:
                raise ServiceError("the collector is closed")
            self._waiting.append((session, row))
            self._of_session[session] += 1
            self._unsent += 1
            if session in self._open_since:
                self._open_since[session] = None
            if len(self._waiting) in (1, self._batch):
                self.changed.notify_all()
            self._seconds += perf_counter() - began

    def began(self, session: Scalar) -> None:
        """The session is about to begin a transaction."""
        with self.changed:
            # Taken under the lock: no heartbeat can be later than the operations of the transaction.
            self._open_since[session] = perf_counter_ns()

    def beat(self, session: Scalar, time: int) -> None:
        """Every transaction of the session that began before `time` was put."""
        with self.changed:
            self._given_beats[session] = time
            self.changed.notify_all()

    def flush(self) -> None:
        """Returns when everything was handed on."""
        with self.changed:
            self._is_urgent = True
            self.changed.notify_all()
            self.changed.wait_for(lambda: self._problem or not self._unsent)
            self._is_urgent = False
            self._raise()

    def close(self) -> None:
        """Hands on the rest and ends the thread; a second call does nothing."""
        try:
            if not self._is_closed:
                self.flush()
        finally:
            with self.changed:
                self._is_closed = True
                self.changed.notify_all()
            self._thread.join()

    @property
    def unsent(self) -> int:
        """How many transactions were put and not handed on yet."""
        return self._unsent

    @property
    def collected(self) -> Collected:
        """The counts so far."""
        with self.changed:
            return Collected(**self.counts, seconds=self._seconds, waited=self._waited)

    def _raise(self) -> None:
        if self._problem is not None:
            raise self._problem

    def _work(self) -> None:
        """Hands on batches until the queue is closed or `deliver` fails."""
        try:
            if self._first_beats:
                self._deliver([], self._first_beats)
            while (due := self._next()) is not None:
                rows, beats = due
                if rows or beats:
                    self._deliver(rows, beats)
                    self._handed_on(len(rows))
        except ServiceError as error:
            self._give_up(error)
        except BaseException as error:
            # Callers that wait for this thread must see the error, such as a value that JSON cannot hold.
            self._give_up(ServiceError(f"a transaction cannot be sent: {type(error).__name__}: {error}"))

    def _give_up(self, problem: ServiceError) -> None:
        with self.changed:
            self._problem = problem
            self.changed.notify_all()

    def _handed_on(self, count: int) -> None:
        with self.changed:
            self._unsent -= count
            self.counts["transactions"] += count
            self.counts["batches"] += bool(count)
            self.changed.notify_all()

    def _next(self) -> tuple[list[Any], list[tuple[Scalar, int]]] | None:
        """The next batch, when there are enough or they have waited long enough; None at the end."""
        with self.changed:
            self.changed.wait_for(
                lambda: self._waiting or self._given_beats or self._is_closed,
                _LINGER if self._open_since else None,
            )
            self.changed.wait_for(
                lambda: len(self._waiting) >= self._batch or self._is_urgent or self._is_closed,
                _LINGER if self._waiting else 0,
            )
            if self._is_closed and not self._waiting:
                return None
            rows = self._pop()
            return rows, self._beats()

    def _pop(self) -> list[Any]:
        """The oldest rows, all of one type."""
        rows: list[Any] = []
        while self._waiting and len(rows) < self._batch:
            session, row = self._waiting[0]
            if rows and type(row) is not type(rows[0]):
                break
            self._waiting.popleft()
            self._of_session[session] -= 1
            rows.append(row)
        return rows

    def _beats(self) -> list[tuple[Scalar, int]]:
        """Heartbeats of sessions without waiting transactions; one between transactions may begin now."""
        now = perf_counter_ns()
        times = {session: now if began is None else began for session, began in self._open_since.items()}
        times |= self._given_beats
        beats = [(session, time) for session, time in times.items() if not self._of_session[session]]
        for session, _ in beats:
            self._given_beats.pop(session, None)
        return beats
