"""Run a workload on a database: sessions at the same time, every operation recorded as its client saw it.

One thread a session. An operation is recorded with the instants before it was sent and after it was answered;
whole transactions go into the native builder, so that a long run takes little memory. What the database
refused is aborted; a connection that was lost while committing leaves the transaction indeterminate.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Protocol

from isoscope._native import Builder
from isoscope.attempt import Attempt, RecordedAttempt
from isoscope.databases.database import Aborted, ConnectionLost
from isoscope.errors import DatabaseError, ServiceError
from isoscope.history import STATUSES, History, Source, Status, VersionSource
from isoscope.workloads.clients import RolledBack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from isoscope._native import _RecordedRow as RecordedRow
    from isoscope.databases.database import Database, Session
    from isoscope.history import Timestamp
    from isoscope.workloads.clients import ClientWorkload, Program

__all__ = ["Limits", "Progress", "Run", "Sink", "run"]

_COMMITTED, _ABORTED, _INDETERMINATE = (STATUSES.index(status) for status in Status)
#: Seconds for which a session tries to reach a database again.
_PATIENCE = 5.0
#: Seconds between two looks at the progress.
_GLANCE = 0.1
#: Seconds that a statement may still take after the end of the run.
_GRACE = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When a run ends, and how fast it goes: transactions are attempts, `rate` is attempts a second."""

    seconds: float | None = None
    transactions: int | None = None
    rate: float | None = None
    retries: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is."""

    seconds: float
    committed: int
    aborted: int
    indeterminate: int
    operations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a run left: the history (None if nothing was to be recorded), and what happened on the way.

    `reasons` counts what the database said when it aborted a transaction, `problem` is why a run ended early.
    """

    database: str
    history: History | None
    progress: Progress
    reasons: Counter[str]
    problem: str | None = None
    interrupted: bool = False


class Sink(Protocol):
    """Takes transactions as they end, from any thread: an online checker."""

    def initial(self, rows: Iterable[tuple[int, int]]) -> None:
        """What rows hold before anybody writes them; those that nobody tells of hold 0."""

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
        """One that has ended; an operation is (place in `KINDS`, key, value, invocation, completion)."""


def run(  # noqa: PLR0913 - the rest is named
    database: Database,
    workload: ClientWorkload,
    limits: Limits,
    *,
    record: bool = True,
    sink: Sink | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Opens `database`, runs `workload` on it until a limit is reached, and closes it.

    An interrupt (Ctrl-C) ends the run early, and so does a database that is gone: what was recorded is kept.
    Raises `DatabaseError` if it cannot even begin.
    """
    try:
        name = database.open(workload.content)
        return _Running(database, workload, limits, _Recording(record=record, sink=sink)).run(name, progress)
    finally:
        database.close()


class _Recording:
    """Where ended transactions go: into columns, and to a sink if there is one."""

    def __init__(self, *, record: bool, sink: Sink | None) -> None:
        self.is_on = record
        self._sink = sink
        self._lock = Lock()
        self._builder = Builder()
        self._builder.initial(0, replaceable=False)
        self.counts = [0] * len(STATUSES)
        self.operations = 0
        self.reasons: Counter[str] = Counter()

    def initial(self, rows: Iterable[tuple[int, int]]) -> None:
        """Initial values of keys, where they are not 0."""
        if self._sink:
            self._sink.initial(rows)
        if not self.is_on:
            return
        with self._lock:
            for key, value in rows:
                if value:
                    self._builder.initial_of(key, value)

    def began(self, session: int) -> None:
        """A session is about to begin a transaction."""
        if self._sink:
            self._sink.began(session)

    def ended(self, attempt: Attempt) -> None:
        """A transaction has ended."""
        rows = attempt.rows
        with self._lock:
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

    def history(self, versions: Iterable[tuple[int, int]] | None) -> History | None:
        """Everything that was recorded; `versions` are what the database's log says."""
        if not self.is_on:
            return None
        for key, value in versions or ():
            self._builder.version(VersionSource.LOG, key, value)
        return History(self._builder.finish(), Source(path="<run>", format="run"))


class _Running:
    """Sessions at work."""

    def __init__(
        self, database: Database, workload: ClientWorkload, limits: Limits, recording: _Recording
    ) -> None:
        self._database = database
        self._workload = workload
        self._limits = limits
        self._recording = recording
        self._attempt = RecordedAttempt if recording.is_on else Attempt
        self._stop = Event()
        self._lock = Lock()
        self._left = limits.transactions
        self._under_way: dict[int, Attempt] = {}
        self._problem: str | None = None
        self._interrupted = False

    def run(self, name: str, progress: Callable[[Progress], None] | None) -> Run:
        self._insert(self._workload.rows())
        clients = self._workload.clients(self._insert)
        # Connections are made one after the other: a database that refuses one says so before the run.
        sessions = self._sessions(len(clients))
        threads = [
            Thread(target=self._work, args=(number, session, client), daemon=True)
            for number, (session, client) in enumerate(zip(sessions, clients, strict=True))
        ]
        started = monotonic()
        self._interrupted = self._watch(threads, started, progress)
        seconds = monotonic() - started
        with self._keeping():
            self._join(threads)
        return self._result(name, seconds)

    def _sessions(self, count: int) -> list[Session]:
        """So many connections, or none: the one that is refused may be wanted for dropping the table."""
        sessions: list[Session] = []
        try:
            while len(sessions) < count:
                sessions.append(self._database.session())
        except BaseException:
            for session in sessions:
                session.close()
            raise
        return sessions

    def _watch(
        self, threads: list[Thread], started: float, progress: Callable[[Progress], None] | None
    ) -> bool:
        """Sets the sessions to work and waits for the end; whether somebody interrupted the run."""
        try:
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads) and not self._stop.is_set():
                seconds = monotonic() - started
                left = _GLANCE if self._limits.seconds is None else self._limits.seconds - seconds
                if left <= 0:
                    break
                if progress is not None:
                    progress(self._progress(seconds))
                self._stop.wait(min(left, _GLANCE))
        except KeyboardInterrupt:
            return True
        finally:
            self._stop.set()
        return False

    @contextmanager
    def _keeping(self) -> Iterator[None]:
        """The first interrupt ends what is done here, and no more; the second one gives up."""
        try:
            yield
        except KeyboardInterrupt:
            if self._interrupted:
                raise
            self._interrupted = True

    def _join(self, threads: list[Thread]) -> None:
        end = monotonic() + _GRACE
        for thread in threads:
            if thread.ident is not None:  # else an interrupt came before its start
                thread.join(max(0.0, end - monotonic()))

    def _result(self, name: str, seconds: float) -> Run:
        for number in list(self._under_way):
            self._ended(number, is_known=False)  # it still waits for the database
        versions, problem = None, self._problem
        if problem is None and self._recording.is_on:
            try:
                with self._keeping():
                    versions = self._database.version_order()
            except (ConnectionLost, DatabaseError) as error:
                problem = f"the order of versions cannot be read from the log: {error}"
        return Run(
            database=name,
            history=self._recording.history(versions),
            progress=self._progress(seconds),
            reasons=self._recording.reasons,
            problem=problem,
            interrupted=self._interrupted,
        )

    def _ended(self, number: int, *, is_known: bool = True) -> None:
        # The session or the end of the run takes it: only one of them writes it down.
        attempt = self._under_way.pop(number, None)
        if attempt is not None:
            attempt.status = attempt.status if is_known else _INDETERMINATE
            self._recording.ended(attempt)

    def _progress(self, seconds: float) -> Progress:
        recorded = self._recording
        return Progress(
            seconds=seconds,
            committed=recorded.counts[_COMMITTED],
            aborted=recorded.counts[_ABORTED],
            indeterminate=recorded.counts[_INDETERMINATE],
            operations=recorded.operations,
        )

    def _insert(self, rows: Iterable[tuple[int, int]]) -> None:
        rows = list(rows)
        self._database.insert(rows)
        self._recording.initial(rows)

    def _work(self, number: int, session: Session, client: Iterator[Program]) -> None:
        """The life of a session."""
        try:
            for program in self._paced(number, client):
                again = self._limits.retries
                while self._may_try():
                    self._recording.began(number)
                    attempt = self._attempt(session, number)
                    self._under_way[number] = attempt
                    try:
                        alive = self._try(attempt, program)
                    finally:
                        # Also of one that the database gave up on: others may have read what it wrote.
                        self._ended(number)
                    if not alive:
                        session.close()
                        session = self._reconnected()
                    if attempt.status != _ABORTED or not again:
                        break
                    again -= 1
        except (DatabaseError, ServiceError) as error:
            self._fail(str(error))
        except ConnectionLost as error:
            self._fail(f"the database is gone: {error}")
        except BaseException as error:
            # A mistake of ours must not look like the end of a run.
            self._fail(f"session {number} failed: {type(error).__name__}: {error}")
            raise
        finally:
            session.close()

    def _paced(self, number: int, client: Iterator[Program]) -> Iterator[Program]:
        """The programs of a client, each when it is due; sessions take turns, from the first one on."""
        step = 1 / self._limits.rate if self._limits.rate else 0.0
        due, pause = monotonic() + number * step, self._workload.sessions * step
        for program in client:
            if self._stop.is_set():
                return
            if pause:
                if self._stop.wait(max(0.0, due - monotonic())):
                    return
                due += pause
            yield program

    def _may_try(self) -> bool:
        """Takes one of the transactions that are left."""
        if self._stop.is_set():
            return False
        if self._left is None:
            return True
        with self._lock:
            if self._left <= 0:
                self._stop.set()
                return False
            self._left -= 1
        return True

    def _try(self, attempt: Attempt, program: Program) -> bool:
        """Runs one transaction; False if its connection is gone."""
        try:
            attempt.begin()
            program(attempt)
        except Aborted as error:
            attempt.reason = str(error)
            attempt.rollback()
            return True
        except RolledBack:
            attempt.reason = "rolled back by its client"
            attempt.rollback()
            return True
        except ConnectionLost as error:
            attempt.reason = str(error)
            return False
        return self._commit(attempt)

    def _commit(self, attempt: Attempt) -> bool:
        attempt.status = _INDETERMINATE
        try:
            attempt.commit()
        except Aborted as error:
            attempt.status, attempt.reason = _ABORTED, str(error)
            attempt.rollback()
            return True
        except ConnectionLost as error:
            attempt.reason = str(error)
            return False
        attempt.status = _COMMITTED
        return True

    def _reconnected(self) -> Session:
        end = monotonic() + _PATIENCE
        while True:
            try:
                return self._database.session()
            except (ConnectionLost, DatabaseError):
                if monotonic() >= end or self._stop.is_set():
                    raise
                sleep(_GLANCE)

    def _fail(self, problem: str) -> None:
        with self._lock:
            self._problem = self._problem or problem
        self._stop.set()
