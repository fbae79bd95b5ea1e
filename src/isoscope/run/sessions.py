"""The sessions of a run: one thread each, every operation recorded as its client saw it.

An operation is recorded with the instants before it was sent and after it was answered; whole transactions go
into the native builder, so that a long run takes little memory. A transaction that the database refused is
aborted; a connection that was lost while committing leaves the transaction indeterminate.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING

from isoscope.databases.database import Aborted, ConnectionLost
from isoscope.errors import DatabaseError, IsoscopeError, ServiceError
from isoscope.history import STATUSES, Status
from isoscope.run.active_sessions import ActiveSessions
from isoscope.run.attempt import Attempt, RecordedAttempt
from isoscope.run.connections import Connections, NoConnection
from isoscope.run.faults import FaultInjector
from isoscope.run.recording import Recording
from isoscope.run.result import Progress, Run
from isoscope.run.violation_search import ViolationSearch
from isoscope.workloads.clients import RolledBack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from isoscope.databases.database import Database, Session
    from isoscope.run.faults import FaultPlan
    from isoscope.run.history_log import HistoryLog
    from isoscope.run.recording import Sink
    from isoscope.run.result import Limits
    from isoscope.workloads.clients import ClientWorkload, Program

__all__ = ["run"]

_COMMITTED = STATUSES.index(Status.COMMITTED)
_ABORTED = STATUSES.index(Status.ABORTED)
_INDETERMINATE = STATUSES.index(Status.INDETERMINATE)
#: Seconds between two reports of the progress.
_GLANCE = 0.1
#: Seconds without an answer to any session after which the end of a run waits no longer.
_GRACE = 10.0


def run(  # noqa: PLR0913 - the rest is named
    database: Database,
    workload: ClientWorkload,
    limits: Limits,
    *,
    record: bool = True,
    sink: Sink | None = None,
    log: HistoryLog | None = None,
    faults: FaultPlan | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Opens `database`, runs `workload` on it until a limit is reached, and closes it.

    Sessions are spread over the nodes of the database; `faults` are injected while it runs.

    A `sink` gets every transaction, and is closed at the end; so does a `log`, which is not closed. An
    interrupt (Ctrl-C) ends the run early, and so does a lost database: what was recorded is kept. An
    unexpected exception is in the result, with what was recorded until then. Raises `DatabaseError` if the
    run cannot begin.
    """
    if (sink is not None or limits.until_violated) and not record:
        raise ValueError("a sink and `until_violated` need recorded transactions")
    try:
        target = None if faults is None else database.use_faults(faults.kinds)
        name = database.open(workload.content)
        recording = Recording(record=record, sink=sink, log=log, is_searched=limits.until_violated)
        injector = (
            None
            if faults is None or target is None
            else FaultInjector(faults, target, database.nodes, recording)
        )
        ran = _Sessions(database, workload, limits, recording, injector).run(name, progress)
    except BaseException as error:
        with suppress(Exception):
            database.close()
        if isinstance(error, ConnectionLost):
            raise DatabaseError(f"the database is gone: {error}") from None
        raise
    return _closed(database, ran)


def _closed(database: Database, ran: Run) -> Run:
    """The result after the database is closed; a database that cannot be closed does not lose the history."""
    try:
        database.close()
    except KeyboardInterrupt:
        return replace(ran, interrupted=True)
    except BaseException as error:
        problem = f"the database was not closed: {type(error).__name__}: {error}"
        return replace(ran, problem=ran.problem or problem, error=ran.error or error)
    return ran


class _Sessions:
    """The sessions of one run."""

    def __init__(
        self,
        database: Database,
        workload: ClientWorkload,
        limits: Limits,
        recording: Recording,
        injector: FaultInjector | None = None,
    ) -> None:
        self._injector = injector
        self._stop = Event()
        self._connections = Connections(database, self._stop, has_faults=injector is not None)
        self._database = database
        self._workload = workload
        self._limits = limits
        self._recording = recording
        self._attempt = RecordedAttempt if recording.is_on else Attempt
        self._lock = Lock()
        self._left = limits.transactions
        self._under_way: dict[int, Attempt] = {}
        self._problem: str | None = None
        self._error: BaseException | None = None
        self._interrupted = False
        self._active = ActiveSessions(workload.sessions, adapts=limits.adapts)
        self._found_violation = False

    def run(self, name: str, progress: Callable[[Progress], None] | None) -> Run:
        self._insert(self._workload.rows())
        clients = self._workload.clients(self._insert)
        # Connections are made one after the other: a database that refuses one says so before the run.
        sessions = self._connections.open(len(clients))
        self._recording.nodes(self._connections.nodes(len(clients)))
        threads = [
            Thread(target=self._work, args=(number, session, client), daemon=True)
            for number, (session, client) in enumerate(zip(sessions, clients, strict=True))
        ]
        started = monotonic()
        with self._searched(), self._injected():
            self._interrupted = self._watch(threads, started, progress)
            # To end a fault takes time, in which sessions begin nothing.
            seconds = monotonic() - started
        with self._interruptible():
            self._join(threads)
        return self._result(name, seconds)

    def _watch(
        self, threads: list[Thread], started: float, progress: Callable[[Progress], None] | None
    ) -> bool:
        """Starts the sessions and waits for the end; True if the run was interrupted."""
        try:
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads) and not self._stop.is_set():
                seconds = monotonic() - started
                left = _GLANCE if self._limits.seconds is None else self._limits.seconds - seconds
                if left <= 0:
                    break
                so_far = self._progress(seconds)
                self._active.note(so_far.committed, so_far.aborted)
                if progress is not None:
                    progress(so_far)
                self._stop.wait(min(left, _GLANCE))
        except KeyboardInterrupt:
            return True
        except Exception as error:
            self._fault("the run", error)
        finally:
            self._stop.set()
        return False

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """The first interrupt of a run ends only this block; the second one ends the run without a result."""
        try:
            yield
        except KeyboardInterrupt:
            if self._interrupted:
                raise
            self._interrupted = True

    def _join(self, threads: list[Thread]) -> None:
        """Waits for the last transactions as long as any session gets answers, also on a busy machine."""
        is_silent = False
        for thread in threads:
            while thread.is_alive() and not is_silent:
                before = self._answers()
                thread.join(_GRACE)
                is_silent = thread.is_alive() and self._answers() == before

    def _answers(self) -> tuple[int, int]:
        """Grows, or falls when a transaction ends, with every answer to a session."""
        under_way = list(self._under_way.values())
        return len(under_way), sum(attempt.operations for attempt in under_way)

    def _result(self, name: str, seconds: float) -> Run:
        for number in list(self._under_way):
            self._ended(number, is_known=False)  # its session still waits for an answer
        versions = self._versions()
        try:
            self._recording.close_sink()
        except ServiceError as error:
            self._fail(str(error))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self._fault("the live verification", error)
        return Run(
            database=name,
            history=self._recording.history(versions),
            progress=self._progress(seconds),
            reasons=self._recording.reasons,
            problem=self._problem,
            interrupted=self._interrupted,
            error=self._error,
            active_sessions=self._active.count,
            found_violation=self._found_violation,
            nodes=self._database.nodes,
            faults=() if self._injector is None else tuple(self._injector.faults),
        )

    def _versions(self) -> Iterable[tuple[int, int]] | None:
        """The order of versions in the log of the database; None if there is none or it cannot be read."""
        if self._problem is not None or not self._recording.is_on:
            return None
        try:
            with self._interruptible():
                return self._database.version_order()
        except (ConnectionLost, DatabaseError) as error:
            self._fail(f"the order of versions cannot be read from the log: {error}")
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self._fault("the order of versions", error)
        return None

    def _ended(self, number: int, *, is_known: bool = True) -> None:
        # Either the session or the end of the run takes the attempt, and only that one records it.
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
        """Runs the transactions of one session until the run ends."""
        try:
            for program in self._paced(number, client):
                again = self._limits.retries
                while self._may_try(number):
                    attempt = self._attempt(session, number)
                    self._recording.began(attempt)
                    self._under_way[number] = attempt
                    try:
                        alive = self._try(attempt, program)
                    finally:
                        # Also after an error of the database: others may have read the writes.
                        self._ended(number)
                    if not alive:
                        session.close()
                        session = self._connections.again(number)
                    if attempt.status != _ABORTED or not again:
                        break
                    again -= 1
        except NoConnection:
            pass
        except IsoscopeError as error:
            self._fail(str(error))
        except ConnectionLost as error:
            self._fail(f"the database is gone: {error}")
        except BaseException as error:
            # An error in our code must not look like the end of a run.
            self._fault(f"session {number}", error)
        finally:
            session.close()

    def _paced(self, number: int, client: Iterator[Program]) -> Iterator[Program]:
        """Yields the programs of a client, each when it is due; sessions take turns from the start."""
        step = 1 / self._limits.rate if self._limits.rate else 0.0
        due, pause = monotonic() + number * step, self._workload.sessions * step
        for program in client:
            if self._stop.is_set() or number >= self._active.count:
                return
            if pause:
                if self._stop.wait(max(0.0, due - monotonic())):
                    return
                due += pause
            yield program

    def _may_try(self, number: int) -> bool:
        """Takes one of the transactions that are left; False if there is none, or the session has stopped."""
        if self._stop.is_set() or number >= self._active.count:
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

    @contextmanager
    def _searched(self) -> Iterator[None]:
        """Looks for a broken promise meanwhile, if that ends the run."""
        if not self._limits.until_violated:
            yield
            return
        search = ViolationSearch(self._recording, self._database.promises, self._violation)
        search.start()
        try:
            yield
        finally:
            search.close()

    @contextmanager
    def _injected(self) -> Iterator[None]:
        """Injects faults meanwhile; all of them have ended after the block."""
        if self._injector is None:
            yield
            return
        self._injector.start()
        try:
            yield
        finally:
            self._injector.close()

    def _violation(self) -> None:
        self._found_violation = True
        self._stop.set()

    def _fail(self, problem: str) -> None:
        with self._lock:
            self._problem = self._problem or problem
        self._stop.set()

    def _fault(self, what: str, error: BaseException) -> None:
        """An error in our code: the run ends, and the caller gets the exception with the result."""
        with self._lock:
            self._error = self._error or error
        self._fail(f"{what} failed: {type(error).__name__}: {error}")
