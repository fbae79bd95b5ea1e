"""The record of a run: each transaction becomes columns once, for the history and for a sink."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from isoscope._native import Builder
from isoscope.history import STATUSES, Deployment, Fault, History, Source, Status, VersionSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from isoscope._native import _RecordedRow as RecordedRow
    from isoscope.collect import SliceSource
    from isoscope.history import Timestamp
    from isoscope.run.attempt import Attempt
    from isoscope.run.history_log import HistoryLog

__all__ = ["Recording", "Sink", "open_transactions"]

_SOURCE = Source(path="<run>", format="run")
_INDETERMINATE = STATUSES.index(Status.INDETERMINATE)


class Sink(Protocol):
    """Takes transactions while a run goes on, from any thread: an online checker."""

    def connect(self, slice_of: SliceSource) -> None:
        """Called first: `slice_of` gives recorded transactions as a slice of the history."""

    def began(self, session: int) -> None:
        """A session is about to begin a transaction, which will end."""

    def transaction(
        self,
        number: int,
        session: int,
        status: Status,
        operations: list[RecordedRow],
        timestamps: tuple[Timestamp, Timestamp] | None,
    ) -> None:
        """A recorded transaction; an operation is (index in `KINDS`, key, value, invocation, completion)."""

    def close(self) -> None:
        """Called last: takes the rest. Raises ServiceError if the sink could not take everything."""


class Recording:
    """Puts ended transactions into columns, and tells the sink."""

    def __init__(
        self, *, record: bool, sink: Sink | None, log: HistoryLog | None = None, is_searched: bool = False
    ) -> None:
        self.is_on = record
        self._sink = sink
        self._log = log
        self._tracks_open = log is not None or is_searched
        self._of_key: dict[int, int] = {}
        #: Attempts that have not ended, by session.
        self._open: dict[int, Attempt] = {}
        self._lock = Lock()
        self._source = _SOURCE
        self._builder = Builder()
        self._builder.initial(0, replaceable=False)
        self.counts = [0] * len(STATUSES)
        self.operations = 0
        self.reasons: Counter[str] = Counter()
        if sink is not None:
            sink.connect(self.slice_of)
        if log is not None:
            log.start(self)

    def initial(self, rows: Iterable[tuple[int, int]]) -> None:
        """Sets the initial values of keys where they are not 0."""
        if not self.is_on:
            return
        of_key = {key: value for key, value in rows if value}
        if self._log is not None:
            self._log.initial(of_key)
        with self._lock:
            self._of_key |= of_key
            for key, value in of_key.items():
                self._builder.initial_of(key, value)

    def nodes(self, of_session: Mapping[int, str]) -> None:
        """The nodes that sessions are connected to."""
        self._deploy(Deployment(nodes=dict(of_session.items())))

    def faults(self, faults: Iterable[Fault]) -> None:
        """All faults until now; one that goes on has no end yet."""
        self._deploy(replace(self._source.deployment, faults=tuple(faults)))

    def _deploy(self, deployment: Deployment) -> None:
        with self._lock:
            self._source = replace(self._source, deployment=deployment)
        if self._log is not None:
            self._log.deployment(deployment)

    def began(self, attempt: Attempt) -> None:
        """A session is about to begin a transaction."""
        if self._tracks_open:
            with self._lock:
                self._open[attempt.session_number] = attempt
        if self._sink:
            self._sink.began(attempt.session_number)

    def ended(self, attempt: Attempt) -> None:
        """Records a transaction that has ended."""
        rows = attempt.rows
        with self._lock:
            self._open.pop(attempt.session_number, None)
            self.counts[attempt.status] += 1
            self.operations += attempt.operations
            if attempt.reason is not None:
                self.reasons[attempt.reason] += 1
            number = sum(self.counts)
            if self.is_on:
                self._builder.recorded(
                    number, attempt.session_number, attempt.status, rows, attempt.timestamps
                )
        if self._sink is not None:
            self._sink.transaction(
                number, attempt.session_number, STATUSES[attempt.status], rows, attempt.timestamps
            )

    def slice_of(self, numbers: list[int], *, initial: bool) -> History:
        """The transactions with these numbers, and with `initial` the initial values of no earlier slice."""
        with self._lock:
            return History(self._builder.slice(numbers, initial=initial), self._source)

    def since(self, number: int) -> tuple[History | None, int, list[Attempt]]:
        """The transactions after this number, the number of the last one, and the attempts under way.

        All of them at one instant: whatever the transactions have read was written by them or by an attempt
        of the list. None if nothing ended.
        """
        with self._lock:
            last = sum(self.counts)
            if last == number:
                return None, last, []
            slice_ = self._builder.slice(range(number + 1, last + 1), initial=False)
            return History(slice_, _SOURCE), last, list(self._open.values())

    def snapshot(self) -> History:
        """Everything up to now; transactions under way are indeterminate."""
        ended, number, attempts = self.since(0)
        builder = Builder()
        builder.initial(0, replaceable=False)
        for part in (() if ended is None else ended, open_transactions(attempts, number)):
            for transaction in part:
                builder.add(transaction)
        with self._lock:
            of_key = dict(self._of_key)
        for key, value in of_key.items():
            builder.initial_of(key, value)
        return History(builder.finish(), self._source)

    def close_sink(self) -> None:
        """Waits until the sink has taken everything; must come before `history`. Raises ServiceError."""
        if self._sink is not None:
            self._sink.close()

    def history(self, versions: Iterable[tuple[int, int]] | None) -> History | None:
        """Everything that was recorded; `versions` is the order of versions in the database's log."""
        if not self.is_on:
            return None
        if self._log is not None:
            self._log.finish()
        for key, value in versions or ():
            self._builder.version(VersionSource.LOG, key, value)
        return History(self._builder.finish(), self._source)


def open_transactions(attempts: Iterable[Attempt], number: int) -> History:
    """Transactions under way, as indeterminate ones: their writes may have been read."""
    builder = Builder()
    for place, attempt in enumerate(attempts, start=number + 1):
        # The list may grow meanwhile.
        builder.recorded(place, attempt.session_number, _INDETERMINATE, list(attempt.rows), None)
    return History(builder.finish(), _SOURCE)
