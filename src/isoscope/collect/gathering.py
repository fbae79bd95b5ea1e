"""Transactions as they end, gathered into batches that one thread hands on, and what sessions are about.

A batch is handed on when it is full, or when a few have waited long enough. After it come heartbeats: for
each session of which nothing waits any longer, the instant before which nothing more of it is to come.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from threading import Condition, Thread
from time import perf_counter, perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple

from isoscope._native import Builder
from isoscope.errors import ServiceError
from isoscope.history import History, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from isoscope.history import Scalar, Timestamp

__all__ = ["Collected", "Gathering", "Recorded", "as_history"]

#: Seconds that a few transactions wait for more, and after which sessions are heard of again.
_LINGER = 0.2


class Recorded(NamedTuple):
    """A transaction with what its client's clock said: rows as `Builder.recorded` takes them."""

    id: Scalar
    session: Scalar
    status: int
    rows: list[tuple[Any, ...]]
    timestamps: tuple[Timestamp, Timestamp] | None = None


def as_history(rows: Iterable[Recorded], initial: Mapping[int, int] | None = None) -> History:
    """The transactions as a slice of a history; with `initial`, keys hold these values at first, or 0."""
    builder = Builder()
    if initial is not None:
        builder.initial(0, replaceable=False)
        for key, value in initial.items():
            builder.initial_of(key, value)
    for row in rows:
        builder.recorded(*row)
    return History(builder.finish(), Source(path="<run>", format="run"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What was done: transactions handed on and left out (nobody knows their end), and what it cost.

    `seconds` is how long callers were held up, of which they `waited` for room in the buffer.
    """

    transactions: int = 0
    left_out: int = 0
    batches: int = 0
    retries: int = 0
    bytes: int = 0
    seconds: float = 0.0
    waited: float = 0.0


class Gathering:
    """Calls `deliver(rows, beats)` from a thread of its own: rows of one type, or none, then heartbeats.

    Raises ServiceError, from then on and when it is closed, if `deliver` raises something.
    """

    def __init__(
        self,
        deliver: Callable[[list[Any], list[tuple[Scalar, int]]], None],
        *,
        batch: int = 500,
        buffer: int = 50_000,
        sessions: Iterable[Scalar] = (),
    ) -> None:
        """`sessions` are those that are heard of by themselves: whoever uses them says when they begin."""
        self._deliver = deliver
        self._batch, self._buffer = batch, max(buffer, batch)
        self._waiting: deque[tuple[Hashable, Any]] = deque()
        #: How many transactions of a session wait.
        self._of_session: Counter[Hashable] = Counter()
        #: When the transaction of a session began that is under way; None: there is none.
        self._under_way: dict[Scalar, int | None] = dict.fromkeys(sessions)
        self._told: dict[Scalar, int] = {}
        # Whoever hears of the first rows must know who else is to be waited for.
        self._joining = [(session, perf_counter_ns()) for session in self._under_way]
        self.changed = Condition()
        self._unsent = 0
        self._is_urgent = self._is_closed = False
        self._problem: ServiceError | None = None
        self.counts = dict.fromkeys(("transactions", "left_out", "batches", "retries", "bytes"), 0)
        self._seconds = self._waited = 0.0
        self._thread = Thread(target=self._work, name="isoscope-collector", daemon=True)
        self._thread.start()

    def put(self, row: object, session: Scalar, began: float) -> None:
        """A transaction that has ended; its caller waits since `began`, and while the buffer is full."""
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
            if session in self._under_way:
                self._under_way[session] = None
            if len(self._waiting) in (1, self._batch):
                self.changed.notify_all()
            self._seconds += perf_counter() - began

    def began(self, session: Scalar) -> None:
        """The session is about to begin a transaction."""
        with self.changed:
            # Taken here, so that no heartbeat in between can be later than what the transaction does.
            self._under_way[session] = perf_counter_ns()

    def beat(self, session: Scalar, time: int) -> None:
        """All of the session that began before `time` was put."""
        with self.changed:
            self._told[session] = time
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
        """Hands on the rest and ends; what was closed is not closed twice."""
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
        """What it did so far."""
        with self.changed:
            return Collected(**self.counts, seconds=self._seconds, waited=self._waited)

    def _raise(self) -> None:
        if self._problem is not None:
            raise self._problem

    def _work(self) -> None:
        """Until it is closed, or cannot go on."""
        try:
            if self._joining:
                self._deliver([], self._joining)
            while (due := self._next()) is not None:
                rows, beats = due
                if rows or beats:
                    self._deliver(rows, beats)
                    self._handed_on(len(rows))
        except ServiceError as error:
            self._give_up(error)
        except Exception as error:
            # Whoever waits for this thread must hear of it, such as of a value that JSON does not have.
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
                lambda: self._waiting or self._told or self._is_closed, _LINGER if self._under_way else None
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
        """Of the sessions of which nothing waits; one between transactions may begin the next one now."""
        now = perf_counter_ns()
        times = {session: now if began is None else began for session, began in self._under_way.items()}
        times |= self._told
        beats = [(session, time) for session, time in times.items() if not self._of_session[session]]
        for session, _ in beats:
            self._told.pop(session, None)
        return beats
