"""PostgreSQL through psycopg2: connections and cursors that record what they do.

As with psycopg 3, the version of a row is its `xmin`. The driver converts all columns of a row at once, so
the rows of a statement with hidden columns are fetched when it has been executed, and handed out without
them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import psycopg2
from psycopg2 import extensions
from psycopg2._psycopg import ReplicationConnection

from isoscope.record.call_site import call_site
from isoscope.record.done import Done
from isoscope.record.plan import Kind, Plan, not_understood
from isoscope.record.postgresql_catalog import failed_status, postgresql_database
from isoscope.record.postgresql_snapshot import SameSnapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from isoscope.record.recording import Database, Recording, Session

__all__ = ["connect", "install", "uninstall"]

_ORIGINAL = psycopg2.connect
_IN_TRANSACTION = (extensions.TRANSACTION_STATUS_INTRANS, extensions.TRANSACTION_STATUS_INERROR)
_LEVELS = {
    extensions.ISOLATION_LEVEL_READ_UNCOMMITTED: "read-uncommitted",
    extensions.ISOLATION_LEVEL_READ_COMMITTED: "read-committed",
    extensions.ISOLATION_LEVEL_REPEATABLE_READ: "repeatable-read",
    extensions.ISOLATION_LEVEL_SERIALIZABLE: "serializable",
}


def install(recording: Recording) -> None:
    """Records every connection that is made from now on, in this process."""

    def connect_recorded(*given: Any, **named: Any) -> Any:
        return connect(recording, *given, **named)

    psycopg2.connect = connect_recorded


def uninstall() -> None:
    """New connections are no longer recorded."""
    psycopg2.connect = _ORIGINAL


def connect(recording: Recording, *given: Any, **named: Any) -> Any:
    """A connection that is recorded; one for asynchronous work or replication is not."""
    dsn, factory, *others = (*given, None, None)[: max(2, len(given))]
    factory = named.pop("connection_factory", factory) or extensions.connection
    is_class = isinstance(factory, type) and not issubclass(factory, ReplicationConnection)
    if not is_class or named.get("async") or named.get("async_"):
        return _ORIGINAL(dsn, factory, *others, **named)
    connection = _ORIGINAL(dsn, _recorded_connection(factory), *others, **named)
    connection.recording = recording
    return connection


@cache
def _recorded_connection(made: Any) -> Any:
    """A class of connections that record; what `made` itself does comes first, and ends in ours."""
    return _joined(made, _RecordedConnection)


@cache
def _recorded_cursor(made: Any) -> Any:
    return _joined(made, _RecordedCursor)


def _joined(made: Any, ours: Any) -> Any:
    if issubclass(made, ours) or issubclass(ours, made):
        return made if issubclass(made, ours) else ours
    return type(f"Recorded{made.__name__}", (made, ours), {})


def _database(connection: Any, recording: Recording) -> Database:
    info = connection.info
    side = _ORIGINAL(**{**info.dsn_parameters, "password": info.password})
    side.autocommit = True
    recording.closing(side)

    def ask(sql: str, values: Sequence[Any]) -> Sequence[Any]:
        with extensions.connection.cursor(side) as cursor:
            cursor.execute(sql, values or None)
            rows: Sequence[Any] = [] if cursor.description is None else cursor.fetchall()
            return rows

    return postgresql_database(f"{info.host}:{info.port}/{info.dbname}", ask)


class _RecordedConnection(extensions.connection):  # type: ignore[misc]
    """What a recorded connection does beside its own work."""

    recorded: Session | None = None
    recording: Recording

    def session(self) -> Session:
        """The session of this connection, made by its first statement."""
        if self.recorded is None:
            where = tuple(sorted(self.info.dsn_parameters.items()))
            database = self.recording.database(where, lambda: _database(self, self.recording))
            self.recorded = self.recording.session(database, database.facts["isolation"])
        return self.recorded

    def level(self) -> str:
        """The level that the program asked this connection for, empty if it did not."""
        return _LEVELS.get(self.isolation_level, "")

    def cursor(self, *given: Any, **named: Any) -> Any:
        """A cursor that records; the rows of one with a name stay on the server, and are not known."""
        name, factory, *others = (*given, None, None)[: max(2, len(given))]
        name = named.pop("name", name)
        made = named.pop("cursor_factory", factory) or self.cursor_factory or extensions.cursor
        if name:
            self.skip(f"DECLARE {name}", "a server-side cursor does not show which rows it read")
        return super().cursor(name, _recorded_cursor(made), *others, **named)

    def begin(self) -> None:
        """Gives the transaction that the next statement begins the level of the hook."""
        changed = self.recording.hook.begin("BEGIN")
        is_open = self.get_transaction_status() in _IN_TRANSACTION
        if changed != "BEGIN" and not is_open and not self.autocommit and self.isolation_level is None:
            command = f"SET TRANSACTION{changed.removeprefix('BEGIN')}"
            with super().cursor(cursor_factory=extensions.cursor) as cursor:
                cursor.execute(command)
            self.session().control(command)

    def commit(self) -> None:
        """Commits; the transaction ends."""
        self.recording.hook.before_end(self.session())
        self._end(super().commit, "committed")

    def rollback(self) -> None:
        """Rolls back; the transaction ends."""
        self._end(super().rollback, "aborted")

    def reset(self) -> None:
        """Rolls back, and sets the session back."""
        self._end(super().reset, "aborted")

    def tpc_prepare(self) -> None:
        """Another connection may commit from now on: the end is not known here."""
        self._end(super().tpc_prepare, "indeterminate")

    def close(self) -> None:
        """An open transaction is rolled back by the server."""
        if self.recorded is not None and self.recorded.done:
            now = self.recording.clock()
            self.recorded.end("aborted", now, now, isolation=self.level())
        super().close()

    def _end(self, ending: Callable[[], None], status: str) -> None:
        session, clock = self.session(), self.recording.clock
        # A transaction with an error cannot commit, and the driver does not say so.
        is_failed = self.get_transaction_status() == extensions.TRANSACTION_STATUS_INERROR
        level, invoke = self.level(), clock()
        try:
            ending()
        except psycopg2.Error as error:
            session.end(failed_status(error.pgcode), invoke, clock(), isolation=level)
            raise
        session.end("aborted" if is_failed else status, invoke, clock(), isolation=level)

    def skip(self, sql: str, reason: str) -> None:
        """A statement whose rows are not known."""
        session, now = self.session(), self.recording.clock()
        session.add(Done(sql, not_understood(sql, reason), None, call_site(), now, now))


class _RecordedCursor(extensions.cursor):  # type: ignore[misc]
    """What a recorded cursor does beside its own work.

    `_rows` are the rows of a statement with hidden columns, None if the driver itself hands them out.
    """

    _plan: Plan | None = None
    row_factory: Any
    _rows: list[Any] | None = None
    _at = 0
    _count: int | None = None

    def execute(self, query: Any, vars: Any = None) -> None:  # noqa: A002 - the name of the driver
        """Executes a statement, and keeps the rows that it read or wrote."""
        self._plan, self._rows, self._at, self._count = None, None, 0, None
        if self.name is not None:
            super().execute(query, vars)
            return
        connection = self.connection
        session: Session = connection.session()
        sql = session.recording.hook.changed(_sql(query, self))
        plan = session.database.plan(sql)
        if session.recording.is_hooked:
            connection.begin()
            query = _announced(session, plan, sql, query)
        invoke = session.recording.clock()
        try:
            if plan.parts:
                plan, hidden = self._with_parts(plan, sql, query, vars)
            else:
                hidden = self._executed(plan, query, vars)
        except BaseException as error:
            self._failed(session, error, invoke)
            raise
        complete = session.recording.clock()
        session.add(Done(sql, plan, vars, call_site(), invoke, complete, hidden))
        if connection.get_transaction_status() not in _IN_TRANSACTION:
            status = "aborted" if self.statusmessage == "ROLLBACK" else "committed"
            session.end(status, invoke, complete, isolation=connection.level())

    def _executed(self, plan: Plan, query: Any, values: Any) -> list[Any]:
        """The hidden columns of each row."""
        if not plan.hidden:
            super().execute(query, values)
            return []
        super().execute(plan.text, values)
        self._plan = plan
        factory, self.row_factory = self.row_factory, None
        rows, visible = super().fetchall(), len(super().description) - plan.hidden
        self.row_factory = factory
        self._rows = [row[:visible] for row in rows]
        return [list(row[visible:]) for row in rows]

    def _with_parts(self, plan: Plan, sql: str, query: Any, values: Any) -> tuple[Plan, list[Any]]:
        """A statement of several SELECTs, between what the recorder asks about them."""
        connection = self.connection

        def ask(text: str, given: list[Any] | None) -> Sequence[Any]:
            with extensions.connection.cursor(connection, cursor_factory=extensions.cursor) as cursor:
                # Without parameters, the driver would not read two percent signs as one.
                cursor.execute(text if given or not values else text.replace("%%", "%"), given or None)
                return [] if cursor.description is None else list(cursor.fetchall())

        around = SameSnapshot(
            ask, is_in_transaction=lambda: connection.get_transaction_status() in _IN_TRANSACTION
        )
        if plan.change is not None:
            asked = around.asked(plan, values)
            own = self._executed(plan.change, query, values)
            return plan, [own, *(asked or [] if around.is_same() else [])]
        super().execute(query, values)
        return around.rows(plan, sql, values)

    def _failed(self, session: Session, error: BaseException, invoke: int) -> None:
        session.failed(invoke, getattr(error, "pgcode", None))
        if self.connection.get_transaction_status() not in _IN_TRANSACTION:
            status = failed_status(getattr(error, "pgcode", None))
            session.end(status, invoke, session.recording.clock(), isolation=self.connection.level())

    def executemany(self, query: Any, vars_list: Iterable[Any]) -> None:
        """One statement after the other, so that each shows the rows that it wrote."""
        changed = 0
        for values in vars_list:
            self.execute(query, values)
            changed += max(0, self.rowcount)
        self._count = changed

    def fetchone(self) -> Any:
        """The next row."""
        if self._rows is None:
            return super().fetchone()
        rows = self._next(1)
        return rows[0] if rows else None

    def fetchmany(self, size: int | None = None) -> Any:
        """Some rows."""
        size = self.arraysize if size is None else size
        return super().fetchmany(size) if self._rows is None else self._next(size)

    def fetchall(self) -> Any:
        """The rows that are left."""
        return super().fetchall() if self._rows is None else self._next(len(self._rows))

    def __iter__(self) -> Iterator[Any]:
        return super().__iter__() if self._rows is None else iter(self.fetchone, None)

    def __next__(self) -> Any:
        if self._rows is None:
            return super().__next__()
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def _next(self, size: int) -> list[Any]:
        rows = self._shown()[self._at : self._at + size]
        self._at += len(rows)
        return rows if self.row_factory is None else [self._made(row) for row in rows]

    def _shown(self) -> list[Any]:
        """The rows that the program may fetch: a change without RETURNING has none."""
        if self._plan is None or not self._plan.is_returning:
            raise psycopg2.ProgrammingError("no results to fetch")
        return self._rows or []

    def _made(self, row: Any) -> Any:
        """A row as the driver makes it with a row factory."""
        made = self.row_factory(self)
        for place, value in enumerate(row):
            made[place] = value
        return made

    def scroll(self, value: int, mode: str = "relative") -> None:
        """Moves to another row."""
        if self._rows is None:
            super().scroll(value, mode)
            return
        place = value + (self._at if mode == "relative" else 0)
        if not 0 <= place < len(self._shown()):
            raise IndexError("scroll destination out of bounds")
        self._at = place

    @property
    def rownumber(self) -> int:
        """The place among the rows."""
        number: int = super().rownumber
        return number if self._rows is None else self._at

    @property
    def rowcount(self) -> int:
        """The rows that the last call changed or found."""
        count: int = super().rowcount
        return count if self._count is None else self._count

    @property
    def description(self) -> Any:
        """The columns of the program."""
        if self._plan is None:
            return super().description
        return super().description[: -self._plan.hidden] if self._plan.is_returning else None

    def callproc(self, *given: Any, **named: Any) -> Any:
        """A function, which may write."""
        self._skip(f"CALL {given[0]}", "a function does not show which rows it read or wrote")
        return super().callproc(*given, **named)

    def copy_from(self, *given: Any, **named: Any) -> Any:
        """Rows of a file."""
        self._skip(f"COPY {given[1:2]}", _COPY)
        return super().copy_from(*given, **named)

    def copy_to(self, *given: Any, **named: Any) -> Any:
        """Rows into a file."""
        self._skip(f"COPY {given[1:2]}", _COPY)
        return super().copy_to(*given, **named)

    def copy_expert(self, sql: Any, *given: Any, **named: Any) -> Any:
        """A COPY by its text."""
        self._skip(_sql(sql, self), _COPY)
        return super().copy_expert(sql, *given, **named)

    def _skip(self, sql: str, reason: str) -> None:
        self._plan, self._rows, self._count = None, None, None
        self.connection.skip(sql, reason)


_COPY = "COPY does not show which rows it read or wrote"


def _announced(session: Session, plan: Plan, sql: str, query: Any) -> Any:
    """The hook may wait, and may change the command that begins a transaction."""
    hook = session.recording.hook
    hook.before(session)
    return hook.begin(sql) if plan.kind is Kind.NO_ROWS and sql[:5].upper() == "BEGIN" else query


def _sql(query: Any, cursor: Any) -> str:
    if isinstance(query, bytes):
        return query.decode(extensions.encodings[cursor.connection.encoding])
    return query if isinstance(query, str) else str(query.as_string(cursor))
