"""The simulated database through SQL: connections of the DB-API that record what they do.

Programs that use a cursor run on it unchanged, at its isolations and with its faults. Each version names the
transaction that wrote it, as on PostgreSQL, and transactions commit one after the other.
"""

from __future__ import annotations

import threading
from itertools import count
from typing import TYPE_CHECKING, Any

from isoscope.databases import connect as connect_database
from isoscope.errors import UsageError
from isoscope.record.call_site import call_site
from isoscope.record.dialects import DIALECTS
from isoscope.record.done import Done
from isoscope.record.install import recording_of
from isoscope.record.placeholders import bound
from isoscope.record.plan import Kind, Plan
from isoscope.record.recording import Database, Hook, Recording, Session
from isoscope.record.simulated_tables import Stored, Tables, computed, is_met, selected
from isoscope.record.sql import analyse, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from isoscope.record.tables import Table

__all__ = ["SimulatedSQL"]

_DIALECT = DIALECTS["simulated"]
_NAMES = count(1)


class SimulatedSQL:
    """A simulated database with tables."""

    def __init__(self, isolation: str, settings: Mapping[str, str] | None = None) -> None:
        self.isolation = isolation
        self.tables = Tables()
        self.commit_lock = threading.RLock()
        self._numbers = count(1)
        self.number = 0
        self._name = f"simulated {next(_NAMES)}"
        self._inner = connect_database("simulated", isolation=isolation, settings=settings or {})
        self._inner.open("register")

    def connect(self) -> SimulatedConnection:
        """A connection, recorded if this process is."""
        return SimulatedConnection(self, self._inner.session(), recording_of())

    def next_number(self) -> int:
        """The number of a new transaction."""
        self.number = next(self._numbers)
        return self.number

    def described(self) -> Database:
        """The database as a recording knows it."""
        return Database("simulated", _DIALECT, self.tables.by_name.get, self._facts)

    def _facts(self) -> dict[str, Any]:
        return {"name": self._name, "first": self.number + 1, "isolation": self.isolation}


class SimulatedConnection:
    """A connection; its first statement begins a transaction."""

    def __init__(self, server: SimulatedSQL, inner: Any, recording: Recording | None) -> None:
        self.server = server
        self.inner = inner
        self._recording = recording
        self._recorded: Session | None = None
        self.number = 0

    @property
    def recorded(self) -> Session | None:
        """The session of this connection in the recording, if there is one."""
        if self._recorded is None and self._recording is not None:
            database = self._recording.database(id(self.server), self.server.described)
            self._recorded = self._recording.session(database, self.server.isolation)
        return self._recorded

    def cursor(self) -> SimulatedCursor:
        """A cursor."""
        return SimulatedCursor(self)

    def begin(self) -> None:
        """Begins a transaction if none is open."""
        if not self.number:
            self.number = self.server.next_number()
            self.inner.begin()

    def commit(self) -> None:
        """Commits; the transaction ends."""
        if self.recorded is not None:
            self.recorded.recording.hook.before_end(self.recorded)
        with self.server.commit_lock:
            self._end(self.inner.commit, "committed")

    def rollback(self) -> None:
        """Rolls back; the transaction ends."""
        self._end(self.inner.rollback, "aborted")

    def close(self) -> None:
        """An open transaction is rolled back."""
        self.rollback()
        self.inner.close()

    def _end(self, ending: Any, status: str) -> None:
        if not self.number:
            return
        session = self.recorded
        invoke = 0 if session is None else session.recording.clock()
        try:
            ending()
        except Exception:
            status = "aborted"
            raise
        finally:
            self.number = 0
            if session is not None:
                session.end(status, invoke, session.recording.clock())


class SimulatedCursor:
    """Executes statements with the placeholder `%s`."""

    def __init__(self, connection: SimulatedConnection) -> None:
        self._connection = connection
        self._tables = connection.server.tables
        self._rows: list[tuple[Any, ...]] = []
        self.rowcount = -1

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Executes a statement; a change of the schema is part of no transaction."""
        session = self._connection.recorded
        plan = (
            analyse(sql, _DIALECT, self._tables.by_name.get)
            if session is None
            else session.database.plan(sql)
        )
        if plan.kind is Kind.NO_ROWS:
            self._tables.create(sql)
            return
        hook = Hook() if session is None else session.recording.hook
        if session is not None:
            hook.before(session)
        self._connection.begin()
        invoke = 0 if session is None else session.recording.clock()
        found = self._executed(plan, sql, [] if plan.marked is None else bound(plan.marked, parameters) or [])
        if session is not None:
            clock = session.recording.clock
            session.add(Done(sql, plan, list(parameters), call_site(), invoke, clock(), found))

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """One statement after the other."""
        for one in rows:
            self.execute(sql, one)

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows that are left."""
        rows, self._rows = self._rows, []
        return rows

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row."""
        return self._rows.pop(0) if self._rows else None

    def _executed(self, plan: Plan, sql: str, values: Sequence[Any]) -> list[Any]:
        """Executes a statement; version, key and, of a new version, content of each row."""
        if plan.kind is Kind.NOT_UNDERSTOOD:
            raise UsageError(f"the simulated database does not understand {sql}: {plan.reason}")
        tree = parse(sql, _DIALECT)[1]
        table = self._tables.by_name[plan.references[0].table]
        if plan.kind is Kind.INSERT:
            if tree is None or len(tree.expression.expressions[0].expressions) != len(plan.row):
                raise UsageError(f"the simulated database inserts parameters and constants, not {sql}")
            return [self._insert(plan, table, values)]
        found = self._found(plan, table, values)
        self.rowcount = len(found)
        if plan.kind is Kind.SELECT:
            self._rows = selected(tree, [one for _, one in found], values) if tree is not None else []
        if plan.kind in (Kind.SELECT, Kind.DELETE):
            return [self._left(plan, key, table, one) for key, one in found]
        parts = {part.this.name: part.expression for part in tree.expressions} if tree is not None else {}
        return [self._update(key, table, one, parts, values) for key, one in found]

    def _found(self, plan: Plan, table: Table, values: Sequence[Any]) -> list[tuple[int, Stored]]:
        """The keys and versions that a condition finds."""
        low, high = self._tables.bounds(table, plan, values)
        inner = self._connection.inner
        pairs = [(low, inner.read(low))] if low == high else inner.range_read(low, high)
        there = [(key, self._tables.version(value)) for key, value in pairs if value is not None]
        return [(key, one) for key, one in there if is_met(plan, one, values)]

    def _left(self, plan: Plan, key: int, table: Table, stored: Stored) -> list[Any]:
        if plan.kind is Kind.DELETE:
            self._connection.inner.delete(key)
        return [str(stored.writer), *(stored.content[column] for column in table.key)]

    def _insert(self, plan: Plan, table: Table, values: Sequence[Any]) -> list[Any]:
        content = {
            column: computed(plan.row[column], {}, values) if column in plan.row else None
            for column in table.columns
        }
        key = self._tables.key(table, [content[column] for column in table.key])
        self._connection.inner.insert(key, self._tables.store(self._connection.number, content))
        self.rowcount = 1
        return self._new(table, content)

    def _update(
        self, key: int, table: Table, stored: Stored, parts: Mapping[str, Any], values: Sequence[Any]
    ) -> list[Any]:
        changed = {column: computed(part, stored.content, values) for column, part in parts.items()}
        content = {**stored.content, **changed}
        self._connection.inner.write(key, self._tables.store(self._connection.number, content))
        return self._new(table, content)

    def _new(self, table: Table, content: dict[str, Any]) -> list[Any]:
        return [str(self._connection.number), *(content[column] for column in table.key), content]
