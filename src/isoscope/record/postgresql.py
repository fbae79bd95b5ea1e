"""PostgreSQL through psycopg 3: connections and cursors that record what they do.

The version of a row is its `xmin`, the number of the transaction that wrote it, so that each read names its
writer.
"""

from __future__ import annotations

import sys
from decimal import Decimal
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from isoscope.record.call_site import SITES, call_site, site_of
from isoscope.record.done import Done
from isoscope.record.plan import Kind, Plan, not_understood
from isoscope.record.postgresql_catalog import failed_status, postgresql_database
from isoscope.record.postgresql_parts import execute_parts
from isoscope.record.postgresql_results import (
    SilentResult,
    TrimmedCursor,
    changed_count,
    first_columns,
    hidden_rows,
)
from isoscope.record.recording import PENDING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from isoscope.record.recording import Database, Recording, Session

__all__ = ["connect", "install", "recorded_connection", "uninstall"]

_IN_TRANSACTION = frozenset(map(int, (TransactionStatus.INTRANS, TransactionStatus.INERROR)))
_LEVELS = {level: level.name.lower().replace("_", "-") for level in psycopg.IsolationLevel}
_new: Any = tuple.__new__
_getframe = sys._getframe  # noqa: SLF001 - the documented way to the calling frames
_ORIGINAL = psycopg.Connection.__dict__["connect"].__func__


def install(recording: Recording) -> None:
    """Records every connection that is made from now on, in this process."""

    def connect(cls: type[psycopg.Connection[Any]], *given: Any, **named: Any) -> Any:
        return _connect(cls, recording, *given, **named)

    psycopg.Connection.connect = classmethod(connect)  # type: ignore[assignment,method-assign]
    psycopg.connect = psycopg.Connection.connect


def uninstall() -> None:
    """New connections are no longer recorded."""
    psycopg.Connection.connect = classmethod(_ORIGINAL)  # type: ignore[assignment,method-assign]
    psycopg.connect = psycopg.Connection.connect


def connect(recording: Recording, *given: Any, **named: Any) -> Any:
    """A connection that is recorded."""
    return _connect(psycopg.Connection, recording, *given, **named)


def _connect(cls: Any, recording: Recording, *given: Any, **named: Any) -> Any:
    connection = _ORIGINAL(recorded_connection(cls), *given, **named)
    connection.recording = recording
    return connection


@cache
def recorded_connection(made: Any) -> Any:
    """The class of connections that record what they do, and otherwise behave like `made`."""
    if issubclass(made, _RecordedConnection):
        return made
    return type(f"Recorded{made.__name__}", (_RecordedConnection, made), {})


@cache
def _recorded_cursor(made: Any) -> Any:
    # Calls by these names cost less than calls of `super()`, which make an object each.
    own = {"_own_execute": made.execute, "_own_select_current_result": made._select_current_result}  # noqa: SLF001
    return type(f"Recorded{made.__name__}", (_RecordedCursor, made), own)


def _database(connection: psycopg.Connection[Any], recording: Recording) -> Database:
    """The tables are looked up on a connection of its own, so that no snapshot of the program is touched."""
    where = {**connection.info.get_parameters(), "password": connection.info.password}
    side = _ORIGINAL(psycopg.Connection, **where, autocommit=True)
    recording.closing(side)

    def ask(sql: str, values: Sequence[Any]) -> Sequence[Any]:
        # Without parameters, percent signs stay as they are.
        cursor = side.execute(sql, values or None)
        return [] if cursor.description is None else cursor.fetchall()

    return postgresql_database(f"{side.info.host}:{side.info.port}/{side.info.dbname}", ask)


class _RecordedConnection:
    """What a recorded connection does beside its own work."""

    recorded: Session | None = None
    recording: Recording

    @property
    def cursor_factory(self) -> Any:
        return self._cursor_factory

    @cursor_factory.setter
    def cursor_factory(self, made: Any) -> None:
        self._cursor_factory = made if issubclass(made, _RecordedCursor) else _recorded_cursor(made)

    def session(self) -> Session:
        """The session of this connection, made by its first statement."""
        if self.recorded is None:
            recording: Recording = self.recording
            where = tuple(sorted(self.info.get_parameters().items()))  # type: ignore[attr-defined]
            database = recording.database(where, lambda: _database(self, recording))  # type: ignore[arg-type]
            self.recorded = recording.session(database, database.facts["isolation"])
        return self.recorded

    def level(self) -> str:
        """The level that the program asked this connection for, empty if it did not."""
        level = self.isolation_level  # type: ignore[attr-defined]
        return "" if level is None else _LEVELS[level]

    def _exec_command(self, command: Any, *given: Any, **named: Any) -> Any:
        """Commands of the driver itself: BEGIN, COMMIT, ROLLBACK and savepoints."""
        is_begin = isinstance(command, bytes) and command.startswith(b"BEGIN")
        if is_begin and not self.recording.is_hooked:
            # It begins a transaction at the level of the connection, which is known when it ends.
            return super()._exec_command(command, *given, **named)  # type: ignore[misc]
        return self._recorded_command(command, *given, **named)

    def _recorded_command(self, command: Any, *given: Any, **named: Any) -> Any:
        text = command.decode() if isinstance(command, bytes) else command.as_string(self)
        session = self.session()
        is_commit = text.upper().startswith("COMMIT")
        if text.upper().startswith("BEGIN"):
            text = session.recording.hook.begin(text)
            command = text.encode()
        if is_commit:
            session.recording.hook.before_end(session)
        invoke = session.recording.clock()
        try:
            waiting = super()._exec_command(command, *given, **named)  # type: ignore[misc]
            result = yield from (_meanwhile(waiting, session.prepare) if is_commit else waiting)
        except BaseException as error:
            if is_commit:
                session.end(_failed(error), invoke, session.recording.clock(), isolation=self.level())
            else:
                session.commands.failed(getattr(error, "sqlstate", None))
            raise
        complete = session.recording.clock()
        is_committed = is_commit and result is not None and result.command_status == b"COMMIT"
        stamp = ""
        try:
            if is_committed and session.wants_stamp(self.level()):
                stamp = yield from self._stamp()
        finally:
            self.commanded(text, (invoke, complete), result, stamp)
        return result

    def commanded(self, text: str, times: tuple[int, int], result: Any, stamp: str) -> None:
        """A command has been executed that may have ended the transaction."""
        session = self.session()
        session.control(text)
        if session.is_open:
            is_aborted = result is not None and result.command_status == b"ROLLBACK"
            self.end_if_over("aborted" if is_aborted else "committed", *times, stamp=stamp)

    def _stamp(self) -> Any:
        """When the last transaction committed, by CockroachDB itself (v23.1); empty if it does not say.

        It is asked for behind the COMMIT, in the same hold of the driver's lock. Before it,
        `cluster_logical_timestamp()` would forbid the server to move the transaction, which would then fail.
        """
        try:
            result = yield from super()._exec_command(b"SHOW COMMIT TIMESTAMP")  # type: ignore[misc]
            return str(Decimal(result.get_value(0, 0).decode()))
        except Exception:  # The program has committed, and must not learn that this question failed.
            return ""

    def end_if_over(self, status: str, invoke: int, complete: int | None = None, stamp: str = "") -> None:
        """The transaction ended if the driver says so."""
        if self.pgconn.transaction_status not in _IN_TRANSACTION:  # type: ignore[attr-defined]
            session = self.session()
            end = complete or session.recording.clock()
            session.end(status, invoke, end, isolation=self.level(), stamp=stamp)

    def skip(self, sql: str, reason: str) -> None:
        """A statement whose rows are not known."""
        session = self.session()
        now = session.recording.clock()
        session.add(Done(sql, not_understood(sql, reason), None, call_site(), now, now))

    def cursor(self, name: str = "", **named: Any) -> Any:
        """A cursor; the rows of one with a name stay on the server, and are not known."""
        if name:
            self.skip(f"DECLARE {name}", "a server-side cursor does not show which rows it read")
        return super().cursor(name, **named)  # type: ignore[misc]

    def close(self) -> None:
        """An open transaction is rolled back by the server."""
        if self.recorded is not None and self.recorded.done:
            now = self.recorded.recording.clock()
            self.recorded.end("aborted", now, now, isolation=self.level())
        super().close()  # type: ignore[misc]


def _meanwhile(waiting: Any, work: Callable[[], None]) -> Any:
    """A generator of the driver that does some work as soon as the server has been asked."""
    try:
        wanted = next(waiting)
        work()
        while True:
            wanted = waiting.send((yield wanted))
    except StopIteration as end:
        return end.value


def _failed(error: BaseException) -> str:
    return failed_status(error.sqlstate if isinstance(error, psycopg.Error) else None)


class _RecordedCursor:
    """What a recorded cursor does beside its own work."""

    _plan: Plan | None = None
    #: Whether it is a change that gives no result, not even a hidden one.
    _is_silent = False
    _results: list[Any]
    _own_execute: Callable[..., Any]
    _own_select_current_result: Callable[..., Any]
    pgresult: Any

    def execute(  # noqa: C901 - the path of every statement, where calls cost time
        self, query: Any, params: Any = None, *, prepare: bool | None = None, binary: bool | None = None
    ) -> Any:
        connection: Any = self._conn  # type: ignore[attr-defined]
        session: Session = connection.recorded or connection.session()
        recording = session.recording
        sql = query if type(query) is str else _sql(query, self)
        if recording.is_hooked:
            sql = recording.hook.changed(sql)
        database = session.database
        plan = database.plans.get(sql) or database.plan(sql)
        text, reader, self._is_silent = query, None, False
        if plan.is_silent and session.is_numbered and _fits(plan, params):
            self._plan, self._is_silent, reader = None, True, changed_count
        elif plan.hidden:
            if binary or self.format or connection._pipeline:  # type: ignore[attr-defined] # noqa: SLF001
                plan = _special(connection, database, plan, sql)
            self._plan = plan
            text, reader = (plan.sent, hidden_rows) if plan.hidden else (query, None)
        elif plan.parts:
            self._plan, run = None, super().execute  # type: ignore[misc]
            return execute_parts(self, sql, query, params, partial(run, prepare=prepare, binary=binary))
        else:
            self._plan = plan
        if recording.is_hooked:
            text = _announced(session, plan, sql, text)
        invoke = recording.clock()
        try:
            self._own_execute(text, params, prepare=prepare, binary=binary)
        except BaseException as error:
            session.failed(invoke, getattr(error, "sqlstate", None))
            connection.end_if_over(_failed(error), invoke)
            raise
        complete = recording.clock()
        result: Any = self._results[0] if self._results else None
        frame = _getframe(1)
        site = SITES.get((id(frame.f_code), frame.f_lasti))
        place = site_of(frame) if site is None else site[1]
        # NamedTuple's own constructor takes several times as long.
        rows = () if reader is None else result
        done = _new(Done, (sql, plan, params, place, invoke, complete, rows, reader, False))
        session.done.append(done)
        if not plan.references or not len(session.done) % PENDING:
            session.added(done)
        if reader is hidden_rows and not session.is_numbered and plan.row and result.ntuples:
            session.numbered()
        if connection.pgconn.transaction_status not in _IN_TRANSACTION:
            is_aborted = result is not None and result.command_status == b"ROLLBACK"
            connection.end_if_over("aborted" if is_aborted else "committed", invoke, complete)
        return self

    def executemany(self, query: Any, params_seq: Iterable[Any], *, returning: bool = False) -> Any:
        """One statement after the other; a pipeline would not show which rows each wrote."""
        if returning:
            self._skip(_sql(query, self), "executemany returns rows of several statements")
            return super().executemany(query, params_seq, returning=True)  # type: ignore[misc]
        changed = 0
        for params in params_seq:
            self.execute(query, params)
            changed += max(0, self.rowcount)  # type: ignore[attr-defined]
        self._rowcount = changed
        return None

    def copy(self, statement: Any, *given: Any, **named: Any) -> Any:
        self._skip(_sql(statement, self), "COPY does not show which rows it read or wrote")
        return super().copy(statement, *given, **named)  # type: ignore[misc]

    def stream(self, query: Any, *given: Any, **named: Any) -> Any:
        self._skip(_sql(query, self), "its rows are streamed")
        return super().stream(query, *given, **named)  # type: ignore[misc]

    def _skip(self, sql: str, reason: str) -> None:
        """A statement that is executed unchanged, and named in the report."""
        self._plan, self._is_silent = None, False
        self.connection.skip(sql, reason)  # type: ignore[attr-defined]

    @property
    def description(self) -> Any:
        columns = super().description  # type: ignore[misc]
        if self._plan is None or not self._plan.hidden or columns is None:
            return columns
        return columns[: -self._plan.hidden]

    def _select_current_result(self, i: int, format: Any = None) -> None:  # noqa: A002 - the driver's name
        """Takes a result; that of a change without RETURNING has no rows that a program can fetch."""
        plan = self._plan
        if not self._is_silent and (plan is None or not plan.hidden):
            self._own_select_current_result(i, format)
            return
        result = self._results[i]
        self._iresult, self._pos = i, 0
        self._statusmessage = result.command_status
        if plan is None:
            self.pgresult, self._rowcount = result, result.command_tuples or 0
            return
        self._rowcount = result.ntuples
        if plan.is_returning:
            self.pgresult = result
            self._tx.set_pgresult(result, format=format)  # type: ignore[attr-defined]
            self._make_row = self._trimming(result.nfields - plan.hidden)
        else:
            # The driver would look up how to read the hidden columns, which takes longer than all the rest.
            self.pgresult = SilentResult(result)
            self._make_row = tuple

    def _trimming(self, visible: int) -> Callable[[Any], Any]:
        """Makes a row of the program from one with hidden columns."""
        if self._row_factory is tuple_row:  # type: ignore[attr-defined]
            return first_columns(visible)
        inner = self._row_factory(TrimmedCursor(self, visible))  # type: ignore[attr-defined]
        return lambda values: inner(values[:visible])


def _announced(session: Session, plan: Plan, sql: str, text: Any) -> Any:
    """The hook may wait, and may change the command that begins a transaction."""
    hook = session.recording.hook
    hook.before(session)
    return hook.begin(sql) if plan.kind is Kind.NO_ROWS and sql[:5].upper() == "BEGIN" else text


def _fits(plan: Plan, params: Any) -> bool:
    """Whether the parameters of the key are of the types by which the row is known."""
    if type(params) is not tuple and type(params) is not list:
        return not plan.checked
    for place, kind in plan.checked:  # noqa: SIM110 - a generator would take longer than the comparisons
        if type(params[place]) is not kind:
            return False
    return True


def _special(connection: Any, database: Database, plan: Plan, sql: str) -> Plan:
    """The plan for results that are not texts, or that come later."""
    if connection._pipeline:  # noqa: SLF001 - it has no other name
        return not_understood(sql, "it is sent in a pipeline, and its rows come later")
    return database.cast_plan(sql) if plan.hidden else plan


def _sql(query: Any, cursor: Any) -> str:
    if isinstance(query, str):
        return query
    if isinstance(query, bytes):
        return query.decode()
    text: str = query.as_string(cursor)
    return text
