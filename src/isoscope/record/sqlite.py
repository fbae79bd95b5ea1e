"""SQLite through the module `sqlite3`: connections and cursors that record what they do.

A SELECT of the program is executed as it is; a second one in the same snapshot names the rows that it
read. The version of a row is its content, because SQLite does not say which transaction wrote it.
"""

from __future__ import annotations

import os
import sqlite3
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any

from isoscope.record.call_site import call_site
from isoscope.record.dialects import DIALECTS
from isoscope.record.done import Done
from isoscope.record.part_rows import rows_of_parts, unread
from isoscope.record.placeholders import bound
from isoscope.record.plan import Kind, Plan, not_understood
from isoscope.record.recording import Database, Recording, Session
from isoscope.record.returned import constants
from isoscope.record.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["connect", "install", "recorded_connection", "uninstall"]

_ORIGINAL = sqlite3.connect
#: Numbers of databases in memory.
_MEMORY = count(1)
#: The place of `factory` among the parameters of `sqlite3.connect`.
_FACTORY = 5


def install(recording: Recording) -> None:
    """Records every connection that is made from now on, in this process."""

    def connect_recorded(*given: Any, **named: Any) -> Any:
        return connect(recording, *given, **named)

    sqlite3.connect = sqlite3.dbapi2.connect = connect_recorded


def uninstall() -> None:
    """New connections are no longer recorded."""
    sqlite3.connect = sqlite3.dbapi2.connect = _ORIGINAL


def connect(recording: Recording, *given: Any, **named: Any) -> Any:
    """A connection that is recorded."""
    if len(given) > _FACTORY:
        made = recorded_connection(given[_FACTORY])
        given = (*given[:_FACTORY], made, *given[_FACTORY + 1 :])
    else:
        named["factory"] = recorded_connection(named.get("factory", sqlite3.Connection))
    connection = _ORIGINAL(*given, **named)
    connection.recording = recording
    return connection


@lru_cache
def recorded_connection(made: type[sqlite3.Connection]) -> type[sqlite3.Connection]:
    """The class of connections that record what they do, and otherwise behave like `made`."""
    return (
        made if issubclass(made, _RecordedConnection) else type("Recorded", (_RecordedConnection, made), {})
    )


@lru_cache
def _recorded_cursor(made: type[sqlite3.Cursor]) -> type[sqlite3.Cursor]:
    """Cursors that record; what `made` itself does, such as other placeholders, comes first."""
    return _RecordedCursor if made is sqlite3.Cursor else type("Recorded", (made, _RecordedCursor), {})


class _RecordedConnection(sqlite3.Connection):
    """What a recorded connection does beside its own work."""

    recorded: Session | None = None
    recording: Recording

    def session(self) -> Session:
        """The session of this connection, made by its first statement."""
        if self.recorded is None:
            recording = self.recording
            database = Database("sqlite", DIALECTS["sqlite"], self._find, self._facts)
            self.recorded = recording.session(database, "serializable")
        return self.recorded

    def cursor(self, factory: Any = sqlite3.Cursor) -> Any:
        """A cursor that records."""
        return super().cursor(_recorded_cursor(factory))

    def execute(self, sql: str, parameters: Any = (), /) -> Any:
        """A cursor that has executed the statement."""
        return self.cursor().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> Any:
        """A cursor that has executed the statement with each of the parameters."""
        return self.cursor().executemany(sql, parameters)

    def executescript(self, sql: str, /) -> Any:
        """A cursor that has executed the script."""
        return self.cursor().executescript(sql)

    def commit(self) -> None:
        """Commits; the transaction ends."""
        self._end(super().commit, "committed")

    def rollback(self) -> None:
        """Rolls back; the transaction ends."""
        self._end(super().rollback, "aborted")

    def close(self) -> None:
        """An open transaction is rolled back."""
        if self.recorded is not None and self.recorded.done:
            now = self.recorded.recording.clock()
            self.recorded.end("aborted", now, now)
        super().close()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        # The method of the base class would not call ours.
        if kind is None:
            self.commit()
        else:
            self.rollback()
        return False

    def _end(self, ending: Any, status: str) -> None:
        session = self.session()
        if status == "committed":
            session.recording.hook.before_end(session)
        invoke = session.recording.clock()
        ending()
        session.end(status, invoke, session.recording.clock())

    def _facts(self) -> dict[str, Any]:
        """The file; a database in memory belongs to its connection alone."""
        rows = sqlite3.Connection.cursor(self).execute("SELECT file FROM pragma_database_list").fetchall()
        (file,) = tuple(rows[0])
        return {"name": file or f"memory {os.getpid()}.{next(_MEMORY)}"}

    def _find(self, name: str) -> Table | None:
        rows = (
            sqlite3.Connection.cursor(self)
            .execute("SELECT name, pk FROM pragma_table_info(?)", [name])
            .fetchall()
        )
        if not rows:
            return None
        key = tuple(column for _, column in sorted((place, column) for column, place in rows if place))
        return Table(name, key, tuple(column for column, _ in rows))


class _RecordedCursor(sqlite3.Cursor):
    """What a recorded cursor does beside its own work."""

    _plan: Plan | None = None
    _count = -1

    def execute(self, sql: str, parameters: Any = (), /) -> Any:
        """Executes a statement, and names the rows that it read or wrote."""
        connection: Any = self.connection
        session: Session = connection.session()
        sql = session.recording.hook.changed(sql)
        plan = session.database.plan(sql)
        session.recording.hook.before(session)
        self._plan = plan
        invoke = session.recording.clock()
        try:
            rows = self._executed(connection, plan, sql, parameters)
            plan = unread(sql) if rows is None else plan
        except sqlite3.Error:
            session.failed(invoke)
            # SQLite keeps the transaction open after most errors.
            if not connection.in_transaction:
                session.end("aborted", invoke, session.recording.clock())
            raise
        done = Done(sql, plan, parameters, call_site(), invoke, session.recording.clock(), rows or [])
        session.add(done)
        if not connection.in_transaction:
            is_aborted = sql.lstrip()[:8].lower() == "rollback"
            session.end("aborted" if is_aborted else "committed", invoke, done.complete)
        return self

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> Any:
        """One statement after the other, so that each shows the rows that it wrote."""
        changed = 0
        for one in parameters:
            self.execute(sql, one)
            changed += max(0, self.rowcount)
        self._count = changed
        return self

    def executescript(self, sql: str, /) -> Any:
        """Commits, then executes a script; its statements about rows are not understood one by one."""
        connection: Any = self.connection
        session: Session = connection.session()
        if connection.in_transaction:
            connection.commit()
        invoke = session.recording.clock()
        super().executescript(sql)
        complete = session.recording.clock()
        session.database.forget()
        if any(session.database.plan(one).kind is not Kind.NO_ROWS for one in sql.split(";")):
            plan = not_understood(sql, "it is a script of several statements")
            session.add(Done(sql, plan, None, call_site(), invoke, complete))
            session.end("committed", invoke, complete)
        return self

    def _executed(self, connection: Any, plan: Plan, sql: str, parameters: Any) -> list[Any] | None:
        if plan.change is not None:
            return self._changed(connection, plan, sql, parameters)
        if plan.separate or plan.parts:
            return self._selected(connection, plan, sql, parameters)
        if not plan.hidden:
            super().execute(sql, parameters)
            self._count = super().rowcount
            return []
        super().execute(plan.text, parameters)
        factory, self.row_factory = self.row_factory, None
        rows = [list(row) for row in super().fetchall()]
        self.row_factory = factory
        self._count = len(rows)
        return self._returned(plan, rows) if plan.is_returning else rows

    def _changed(self, connection: Any, plan: Plan, sql: str, parameters: Any) -> list[Any]:
        """A change with subqueries: outside of a transaction, what they read comes from another snapshot."""
        side = sqlite3.Connection.cursor(connection)
        side.row_factory = None
        if not connection.in_transaction and connection.isolation_level is not None:
            side.execute(f"BEGIN {connection.isolation_level}")
        values = [] if plan.marked is None else bound(plan.marked, parameters) or []
        rows = (
            rows_of_parts(plan, values, lambda text, given: side.execute(text, given).fetchall())
            if connection.in_transaction
            else None
        )
        assert plan.change is not None
        return [self._executed(connection, plan.change, sql, parameters), *(rows or [])]

    def _returned(self, plan: Plan, rows: list[Any]) -> list[Any]:
        """Gives the program the columns that it asked for; the rest names the rows."""
        names = [column[0] for column in super().description[: -plan.hidden]]
        super().execute(*constants(names, [row[: -plan.hidden] for row in rows]))
        return [row[-plan.hidden :] for row in rows]

    def _selected(self, connection: Any, plan: Plan, sql: str, parameters: Any) -> list[Any] | None:
        """Both statements see one snapshot: outside of a transaction, they get one of their own."""
        was_open = connection.in_transaction
        side = sqlite3.Connection.cursor(connection)
        side.row_factory = None
        if not was_open:
            side.execute("BEGIN")
        try:
            super().execute(sql, parameters)
            self._count = -1
            values = [] if plan.marked is None else bound(plan.marked, parameters) or []
            if plan.parts:
                return rows_of_parts(plan, values, lambda text, given: side.execute(text, given).fetchall())
            given = [values[place] for place in plan.kept]
            return [list(row) for row in side.execute(plan.separate, given)]
        finally:
            if not was_open and connection.in_transaction:
                side.execute("COMMIT")

    @property
    def rowcount(self) -> int:
        """The rows that the last statement changed."""
        return self._count

    @property
    def description(self) -> Any:
        """The columns of the program's own statement."""
        hides = self._plan is not None and self._plan.hidden and not self._plan.is_returning
        return None if hides else super().description
