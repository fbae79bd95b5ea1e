"""DuckDB: connections that record what they do.

Rows do not name their writers, so the version of a row is its content. All connections to a database belong
to one process, which lets them commit one after the other: the order of commits is recorded. The driver hands
results out in many forms, so a SELECT of the program is executed as it is, behind another one in the same
snapshot that names the rows.
"""

from __future__ import annotations

import os
import threading
from contextlib import nullcontext, suppress
from itertools import count
from typing import TYPE_CHECKING, Any

import duckdb

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

__all__ = ["connect", "install", "uninstall"]

_ORIGINAL = duckdb.connect
#: Numbers of databases in memory.
_MEMORY = count(1)
_COLUMNS = """
SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ? AND schema_name = ?
AND database_name = current_database() ORDER BY column_index
"""
_KEY = """
SELECT constraint_column_names FROM duckdb_constraints() WHERE table_name = ? AND schema_name = ?
AND database_name = current_database() AND constraint_type = 'PRIMARY KEY'
"""
_BEGINNING = ("begin", "start")
_ENDING = {"commit": "committed", "end": "committed", "rollback": "aborted", "abort": "aborted"}
#: Ways to read and write that do not show rows.
_SKIPPED = frozenset({"append", "appender", "from_query", "query", "sql", "table", "view"})


def install(recording: Recording) -> None:
    """Records every connection that is made from now on, in this process."""

    def connect_recorded(*given: Any, **named: Any) -> Any:
        return connect(recording, *given, **named)

    duckdb.connect = connect_recorded


def uninstall() -> None:
    """New connections are no longer recorded."""
    duckdb.connect = _ORIGINAL


def connect(recording: Recording, *given: Any, **named: Any) -> Any:
    """A connection that is recorded."""
    inner = _ORIGINAL(*given, **named)
    # The variables of the program are no longer those of the calling frame.
    inner.execute("SET python_scan_all_frames = true")
    return _RecordedConnection(inner, recording, _database(inner, recording))


class _DuckDB(Database):
    """A database; a commit, and a statement outside of transactions, waits for the one before it."""

    def __init__(self, name: str) -> None:
        self.one_at_a_time = threading.RLock()
        #: Connections of the program; a cursor of one of them looks tables up, beside its transactions.
        self.connections: list[Any] = []
        super().__init__("duckdb", DIALECTS["duckdb"], self._find_table, lambda: {"name": name})

    def _find_table(self, name: str) -> Table | None:
        schema, _, table = name.rpartition(".")
        where = [table, schema or "main"]
        with self._side() as side:
            rows = side.execute(_COLUMNS, where).fetchall()
            keys = side.execute(_KEY, where).fetchall()
        if not rows:
            return None
        columns, types = tuple(row[0] for row in rows), tuple(row[1].lower() for row in rows)
        return Table(name, tuple(keys[0][0]) if keys else (), columns, types)

    def _side(self) -> Any:
        for one in reversed(self.connections):
            with suppress(duckdb.ConnectionException):  # It may have been closed with another one.
                return one.cursor()
        raise duckdb.ConnectionException("all connections are closed")


def _database(inner: Any, recording: Recording) -> _DuckDB:
    rows = inner.execute("SELECT path FROM duckdb_databases() WHERE database_name = current_database()")
    name = rows.fetchone()[0] or f"memory {os.getpid()}.{next(_MEMORY)}"
    found = recording.database(("duckdb", name), lambda: _DuckDB(name))
    assert isinstance(found, _DuckDB)
    return found


class _RecordedConnection:
    """A connection that records; what is not about transactions is left to the driver's own."""

    def __init__(self, inner: Any, recording: Recording, database: _DuckDB) -> None:
        self._inner = inner
        self._recording = recording
        self._database = database
        self._recorded: Session = recording.session(database, "snapshot")
        self._is_open = False
        self._count: int | None = None
        database.connections.append(inner)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return duckdb.DuckDBPyConnection

    def __getattr__(self, name: str) -> Any:
        if name in _SKIPPED:
            self._skip(name)
        return getattr(self._inner, name)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def cursor(self) -> Any:
        """Another connection to the same database."""
        return _RecordedConnection(self._inner.cursor(), self._recording, self._database)

    duplicate = cursor

    @property
    def rowcount(self) -> int:
        """The rows that the last statement changed."""
        count_: int = self._inner.rowcount
        return count_ if self._count is None else self._count

    def execute(self, query: Any, parameters: Any = None, *given: Any, **named: Any) -> Any:
        """Executes a statement, and names the rows that it read or wrote."""
        self._count = None
        if not isinstance(query, str):
            self._skip("a prepared statement")
            self._inner.execute(query, parameters, *given, **named)
            return self
        session, hook = self._recorded, self._recording.hook
        query = hook.changed(query)
        words = query.lower().replace(";", " ").split()
        if words and words[0] in _ENDING:
            self._end(lambda: self._inner.execute(query), _ENDING[words[0]])
            return self
        plan = self._planned(query, parameters)
        hook.before(session)
        self._do(plan, query, parameters)
        self._is_open = self._is_open or bool(words and words[0] in _BEGINNING)
        return self

    def executemany(self, query: str, parameters: Iterable[Any]) -> Any:
        """One statement after the other, so that each shows the rows that it wrote."""
        changed = 0
        for one in parameters:
            changed += max(0, self.execute(query, one).rowcount)
        self._count = changed
        return self

    def begin(self) -> Any:
        """Begins a transaction."""
        return self.execute("BEGIN TRANSACTION")

    def commit(self) -> Any:
        """Commits; the transaction ends."""
        self._end(self._inner.commit, "committed")
        return self

    def rollback(self) -> Any:
        """Rolls back; the transaction ends."""
        self._end(self._inner.rollback, "aborted")
        return self

    def close(self) -> None:
        """An open transaction is rolled back."""
        if self._recorded.done:
            now = self._recording.clock()
            self._recorded.end("aborted", now, now)
        if self._inner in self._database.connections:
            self._database.connections.remove(self._inner)
        self._inner.close()

    def _planned(self, query: str, parameters: Any) -> Plan:
        plan = self._database.plan(query)
        if (plan.kept or plan.parts) and plan.marked is not None and bound(plan.marked, parameters) is None:
            return not_understood(query, "its parameters do not fit its placeholders")
        return plan

    def _do(self, plan: Plan, query: str, parameters: Any) -> None:
        session, clock = self._recorded, self._recording.clock
        is_alone = not self._is_open and plan.kind is not Kind.NO_ROWS
        # Nothing commits between a statement and the one that names its rows.
        with self._database.one_at_a_time if is_alone else nullcontext():
            invoke = clock()
            try:
                rows = self._with_rows(plan, query, parameters)
                plan = unread(query) if rows is None else plan
            except duckdb.Error:
                session.failed(invoke)
                if not self._is_open:
                    session.end("aborted", invoke, clock())
                raise
            complete = clock()
        session.add(Done(query, plan, parameters, call_site(), invoke, complete, rows or []))
        if not self._is_open:
            session.end("committed", invoke, complete)

    def _with_rows(self, plan: Plan, query: str, parameters: Any) -> list[Any] | None:
        given = () if parameters is None else (parameters,)
        if plan.parts:
            return self._with_parts(plan, query, parameters)
        if plan.separate:
            values = [] if plan.marked is None else bound(plan.marked, parameters) or []
            rows = self._inner.execute(plan.separate, [values[place] for place in plan.kept]).fetchall()
            self._inner.execute(query, *given)
            return [list(row) for row in rows]
        if not plan.hidden:
            self._inner.execute(query, *given)
            return []
        rows = self._inner.execute(plan.text, *given).fetchall()
        if plan.is_returning:
            return self._returned(plan, rows)
        # The result that the driver gives for a change without RETURNING.
        self._inner.execute(f'SELECT {len(rows)}::BIGINT AS "Count"')
        self._count = len(rows)
        return [list(row) for row in rows]

    def _with_parts(self, plan: Plan, query: str, parameters: Any) -> list[Any] | None:
        """The parts come first, because the program fetches from the result that comes last."""
        values = [] if plan.marked is None else bound(plan.marked, parameters) or []
        rows = rows_of_parts(plan, values, lambda text, given: self._inner.execute(text, given).fetchall())
        if plan.change is not None:
            return [self._with_rows(plan.change, query, parameters), *(rows or [])]
        self._inner.execute(query, *(() if parameters is None else (parameters,)))
        return rows

    def _returned(self, plan: Plan, rows: list[Any]) -> list[Any]:
        """Gives the program the columns that it asked for; the rest names the rows."""
        columns = self._inner.description[: -plan.hidden]
        names, types = [one[0] for one in columns], [str(one[1]) for one in columns]
        self._inner.execute(*constants(names, [row[: -plan.hidden] for row in rows], types))
        return [list(row[-plan.hidden :]) for row in rows]

    def _end(self, ending: Any, status: str) -> None:
        session, clock = self._recorded, self._recording.clock
        if status == "committed":
            self._recording.hook.before_end(session)
        if session.has_failed and not self._is_usable():
            status = "aborted"
        with self._database.one_at_a_time:
            invoke = clock()
            try:
                ending()
            except duckdb.Error:
                status = "aborted"
                raise
            finally:
                self._is_open = False
                session.end(status, invoke, clock())

    def _is_usable(self) -> bool:
        """Whether the transaction can commit: most errors leave it aborted, and a commit does nothing."""
        try:
            self._inner.execute("SELECT 1")
        except duckdb.Error:
            return False
        return True

    def _skip(self, name: str) -> None:
        """A way to read or write whose rows are not known."""
        plan = not_understood(name, "it does not show which rows it read or wrote")
        now = self._recording.clock()
        self._recorded.add(Done(name, plan, None, call_site(), now, now))
        if not self._is_open:
            self._recorded.end("committed", now, now)
