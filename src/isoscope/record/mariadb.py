"""MariaDB through PyMySQL: connections and cursors that record what they do.

Rows do not name their writers, so the version of a row is its content. Hidden columns show it; an UPDATE,
which cannot return rows, is followed by a SELECT of the rows that it changed, in the same transaction.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pymysql
from pymysql.constants.SERVER_STATUS import SERVER_STATUS_IN_TRANS
from pymysql.cursors import Cursor, SSCursor

from isoscope.record.call_site import call_site
from isoscope.record.dialects import DIALECTS
from isoscope.record.done import Done
from isoscope.record.placeholders import bound
from isoscope.record.plan import Kind, Plan, not_understood
from isoscope.record.recording import Database, Recording, Session
from isoscope.record.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["connect", "install", "uninstall"]

_TABLE = """
SELECT c.column_name, c.data_type, k.ordinal_position FROM information_schema.columns c
LEFT JOIN information_schema.key_column_usage k ON k.table_schema = c.table_schema
  AND k.table_name = c.table_name AND k.column_name = c.column_name AND k.constraint_name = 'PRIMARY'
WHERE c.table_schema = coalesce(%s, database()) AND c.table_name = %s ORDER BY c.ordinal_position
"""
_LEVEL = "SHOW VARIABLES WHERE variable_name IN ('transaction_isolation', 'tx_isolation')"
#: Errors of the server that leave a transaction rolled back: a deadlock.
_DEADLOCK = 1213
#: Errors of the client: the answer is lost.
_LOST = (2006, 2013)
_ENDING = ("commit", "rollback", "begin", "start", "create", "alter", "drop", "truncate", "rename", "lock")
_ORIGINAL = pymysql.connect


def install(recording: Recording) -> None:
    """Records every connection that is made from now on, in this process."""

    def connect_recorded(*given: Any, **named: Any) -> Any:
        return connect(recording, *given, **named)

    pymysql.connect = pymysql.Connect = connect_recorded


def uninstall() -> None:
    """New connections are no longer recorded."""
    pymysql.connect = pymysql.Connect = _ORIGINAL


def connect(recording: Recording, *given: Any, **named: Any) -> Any:
    """A connection that is recorded."""
    connection = _RecordedConnection(*given, **named)
    connection.recording = recording
    connection.made = given, named
    return connection


@cache
def _recorded_cursor(made: Any) -> Any:
    return type(f"Recorded{made.__name__}", (_RecordedCursor, made), {})


def _database(connection: _RecordedConnection) -> Database:
    """The tables are looked up on a connection of its own, so that no snapshot of the program is touched."""
    given, named = connection.made
    side = _ORIGINAL(*given, **{**named, "autocommit": True, "cursorclass": Cursor})
    connection.recording.closing(side)

    def ask(sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with side.cursor() as cursor:
            cursor.execute(sql, values)
            return list(cursor.fetchall())

    def find(name: str) -> Table | None:
        schema, _, table = name.rpartition(".")
        rows = ask(_TABLE, [schema or None, table])
        key = sorted((place, column) for column, _, place in rows if place is not None)
        columns, types = tuple(row[0] for row in rows), tuple(row[1].lower() for row in rows)
        return Table(name, tuple(column for _, column in key), columns, types) if rows else None

    def facts() -> dict[str, Any]:
        [(_, level), *_] = ask(_LEVEL)
        [(name,)] = ask("SELECT database()")
        return {"name": f"{side.host}:{side.port}/{name}", "isolation": level.lower()}

    kind = "mariadb" if "mariadb" in side.get_server_info().lower() else "mysql"
    return Database(kind, DIALECTS[kind], find, facts)


def _is_end(words: list[str]) -> bool:
    """Whether a statement ends the transaction before it, as changes of the schema do."""
    first = words[0].rstrip(";")
    return first in _ENDING and not (first == "rollback" and words[1:] and words[1].startswith("to"))


class _RecordedConnection(pymysql.connections.Connection):  # type: ignore[misc]
    """What a recorded connection does beside its own work."""

    recorded: Session | None = None
    recording: Recording
    made: tuple[tuple[Any, ...], dict[str, Any]]

    def session(self) -> Session:
        """The session of this connection, made by its first statement."""
        if self.recorded is None:
            where = (self.host, self.port, self.user, self.db)
            database = self.recording.database(where, lambda: _database(self))
            self.recorded = self.recording.session(database, database.facts["isolation"])
        return self.recorded

    @property
    def is_in_transaction(self) -> bool:
        """Whether statements belong to a transaction; an answer with rows does not show it."""
        return not self.get_autocommit() or bool(self.server_status & SERVER_STATUS_IN_TRANS)

    def cursor(self, cursor: Any = None) -> Any:
        """A cursor that records."""
        return _recorded_cursor(cursor or self.cursorclass)(self)

    def plain_cursor(self) -> Any:
        """A cursor that does not."""
        return Cursor(self)

    def commit(self) -> None:
        """Commits; the transaction ends."""
        session = self.session()
        session.recording.hook.before_end(session)
        self._end(super().commit, "committed")

    def rollback(self) -> None:
        """Rolls back; the transaction ends."""
        self._end(super().rollback, "aborted")

    def close(self) -> None:
        """An open transaction is rolled back by the server."""
        if self.recorded is not None and self.recorded.done:
            now = self.recorded.recording.clock()
            self.recorded.end("aborted", now, now)
        super().close()

    def _end(self, ending: Any, status: str) -> None:
        session = self.session()
        invoke = session.recording.clock()
        try:
            ending()
        except pymysql.Error as error:
            is_lost = error.args and error.args[0] in _LOST
            session.end("indeterminate" if is_lost else "aborted", invoke, session.recording.clock())
            raise
        session.end(status, invoke, session.recording.clock())


class _RecordedCursor:
    """What a recorded cursor does beside its own work."""

    _plan: Plan | None = None
    _hidden: list[list[Any]]
    connection: Any

    def execute(self, query: str, args: Any = None) -> Any:
        """Executes a statement, and names the rows that it read or wrote."""
        connection = self.connection
        session: Session = connection.session()
        recording = session.recording
        query = recording.hook.changed(query)
        plan = self._planned(session, query)
        recording.hook.before(session)
        invoke = recording.clock()
        try:
            changed, rows = self._with_rows(plan, query, args)
        except pymysql.Error as error:
            self._failed(session, error, invoke)
            raise
        complete = recording.clock()
        session.add(Done(query, plan, args, call_site(), invoke, complete, rows))
        words = query.lower().split(None, 2)[:2] if plan.kind is Kind.NO_ROWS else []
        if not connection.is_in_transaction or (words and _is_end(words)):
            session.end("aborted" if words[:1] == ["rollback"] else "committed", invoke, complete)
        return changed

    def _planned(self, session: Session, query: str) -> Plan:
        plan = session.database.plan(query)
        if plan.hidden and isinstance(self, SSCursor):
            return not_understood(query, "its rows are streamed")
        return plan

    def _with_rows(self, plan: Plan, query: str, args: Any) -> tuple[Any, list[Any]]:
        self._plan, self._hidden = plan, []
        run = super().execute  # type: ignore[misc]
        if plan.separate:
            return self._updated(plan, query, args)
        changed = run(plan.text if plan.hidden else query, args)
        if plan.kind is Kind.INSERT and plan.hidden:
            # A result with rows does not show the number that the server gave to the row.
            self.lastrowid = self._ask("SELECT LAST_INSERT_ID()")[0][0]
        return changed, self._hidden

    def _updated(self, plan: Plan, query: str, args: Any) -> tuple[Any, list[Any]]:
        """An UPDATE and the SELECT that shows its rows, in one transaction."""
        connection = self.connection
        is_alone = not connection.is_in_transaction
        if is_alone:
            self._ask("BEGIN")
        run = super().execute  # type: ignore[misc]
        try:
            before = self._located(plan, args) if plan.is_locating else []
            changed = run(query, args)
            rows = self._again(plan, before) if plan.is_locating else self._located(plan, args)
        finally:
            if is_alone:
                self._ask("COMMIT")
        return changed, rows

    def _located(self, plan: Plan, args: Any) -> list[Any]:
        values = [] if plan.marked is None else bound(plan.marked, args) or []
        given = args if isinstance(args, dict) else [values[place] for place in plan.kept]
        return self._ask(plan.separate, given or None)

    def _again(self, plan: Plan, before: list[Any]) -> list[Any]:
        """The rows of an UPDATE as they are behind it."""
        found: list[Any] = []
        table = self.connection.session().database.tables[plan.references[0].table]
        select = plan.separate.partition(" FROM ")[0]
        alias = plan.references[0].alias
        names = " AND ".join(f"`{alias}`.`{column}` = %s" for column in table.key)
        source = "`.`".join(table.name.split("."))
        for _, *key in before:
            found += self._ask(f"{select} FROM `{source}` AS `{alias}` WHERE {names} FOR UPDATE", key)
        return found

    def _ask(self, sql: str, values: Any = None) -> list[Any]:
        with self.connection.plain_cursor() as cursor:
            cursor.execute(sql, values)
            return [list(row) for row in cursor.fetchall()]

    def _failed(self, session: Session, error: pymysql.Error, invoke: int) -> None:
        session.failed(invoke)
        number = error.args[0] if error.args else 0
        if number in (_DEADLOCK, *_LOST) or not self.connection.is_in_transaction:
            session.end("indeterminate" if number in _LOST else "aborted", invoke, session.recording.clock())

    def executemany(self, query: str, args: Iterable[Any]) -> Any:
        """One statement after the other, so that each shows the rows that it wrote."""
        self.rowcount = sum(self.execute(query, one) for one in args)
        return self.rowcount

    def _do_get_result(self) -> None:
        """The result without its hidden columns."""
        plan, result = self._plan, self.connection._result  # noqa: SLF001 - it has no other name
        if plan is not None and plan.hidden and result.rows is not None:
            count = plan.hidden
            self._hidden = [list(row[-count:]) for row in result.rows]
            if plan.is_returning:
                result.rows = tuple(row[:-count] for row in result.rows)
                result.description, result.fields = result.description[:-count], result.fields[:-count]
            else:
                result.rows = result.description = None
        super()._do_get_result()  # type: ignore[misc]
