"""What a recorded process keeps: its databases, sessions and open transactions."""

from __future__ import annotations

import os
import threading
import weakref
from collections import defaultdict
from dataclasses import replace
from itertools import count
from time import monotonic_ns
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from isoscope.record.distributed_commands import DistributedCommands
from isoscope.record.plan import CHANGES, Dialect, Kind, Plan, not_understood
from isoscope.record.sql import analyse
from isoscope.record.trace_file import Prepared, Writer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from isoscope.record.done import Done
    from isoscope.record.tables import Lookup, Table

__all__ = ["PENDING", "Database", "Hook", "Recording", "Session"]

#: Results are read when a transaction ends, or when it has so many that they would fill the memory.
PENDING = 256
#: Commands that the driver sends around each transaction, and that say nothing else.
_PLAIN = frozenset({"BEGIN", "COMMIT", "ROLLBACK"})
_SCHEMA_CHANGES = ("create", "alter", "drop")


class Hook:
    """What may happen around statements beside recording: delays, and changed statements."""

    def before(self, session: Session) -> None:
        """A statement of a transaction is about to be executed."""

    def before_end(self, session: Session) -> None:
        """A transaction is about to commit."""

    def changed(self, sql: str) -> str:
        """The statement that is executed instead."""
        return sql

    def begin(self, command: str) -> str:
        """The command that begins a transaction instead."""
        return command


class Database:
    """A database as one process sees it: its dialect, tables and plans."""

    def __init__(
        self,
        kind: str,
        dialect: Dialect,
        find: Lookup,
        facts: Callable[[], dict[str, Any]] = dict,
        *,
        accepts: Callable[[Plan], bool] | None = None,
    ) -> None:
        self.kind = kind
        self._accepts = accepts
        self.dialect = dialect
        self.ask = facts
        self.facts = facts()
        self._find = find
        self._lock = threading.RLock()
        self.tables: dict[str, Table | None] = {}
        #: The plan of each statement that was met.
        self.plans: dict[str, Plan] = {}
        self._cast_plans: dict[str, Plan] = {}
        #: The columns of each table that conditions compare: they must be known of each version.
        self._compared: dict[str, set[str]] = defaultdict(set)

    def plan(self, sql: str) -> Plan:
        """The plan of a statement, made once."""
        found = self.plans.get(sql)
        if found is None:
            with self._lock:
                found = self._accepted(sql, analyse(sql, self.dialect, self._table))
                self._compare(found)
                found = self.plans[sql] = self._asking(found)
        return found

    def _compare(self, plan: Plan) -> None:
        """Notes the columns that a condition compares; changes that leave one open ask for it from now on."""
        for part in plan.parts:
            self._compare(part)
        columns = (
            set()
            if plan.condition is None
            else {one.name.lower() for one in plan.condition.find_all(exp.Column)}
        )
        for reference in plan.references:
            if not columns <= self._compared[reference.table]:
                self._compared[reference.table] |= columns
                self.plans.update({text: self._asking(one) for text, one in self.plans.items()})

    def _asking(self, plan: Plan) -> Plan:
        """The plan, not silent if it leaves a column open that some condition compares."""
        if not plan.is_silent:
            return plan
        table = self.tables.get(plan.references[0].table)
        compared = self._compared[plan.references[0].table]
        columns = () if table is None else table.columns
        is_open = any(column.lower() in compared and column not in plan.row for column in columns)
        return replace(plan, is_silent=False) if is_open else plan

    def cast_plan(self, sql: str) -> Plan:
        """The same with a cast of every hidden column to a text, for results that are not texts."""
        found = self._cast_plans.get(sql)
        if found is None:
            dialect = replace(self.dialect, plain=frozenset())
            with self._lock:
                found = self._accepted(sql, analyse(sql, dialect, self._table))
                self._cast_plans[sql] = found
        return found

    def _accepted(self, sql: str, plan: Plan) -> Plan:
        """The plan if the server takes its text, where it was asked; else the statement stays as it is."""
        if not plan.hidden or self._accepts is None or self._accepts(plan):
            return plan
        return not_understood(sql, "the database does not take the columns that would name its rows")

    def forget(self) -> None:
        """Drops everything that a change of the schema may have made wrong."""
        with self._lock:
            self.tables.clear()
            self.plans.clear()
            self._cast_plans.clear()

    def _table(self, name: str) -> Table | None:
        if name not in self.tables:
            self.tables[name] = self._find(name)
        return self.tables[name]


class Recording:
    """The recording of one process, into files of a folder."""

    def __init__(self, folder: Path, *, hook: Hook | None = None) -> None:
        self.folder = folder
        self.hook = hook or Hook()
        #: Whether anything happens around statements beside recording.
        self.is_hooked = hook is not None
        self.clock: Callable[[], int] = monotonic_ns
        self._local = threading.local()
        self._numbers = count(1)
        self._databases: dict[Any, Database] = {}
        self._lock = threading.RLock()
        self._resources: list[Any] = []
        self._writers: list[Writer] = []
        self._is_closed = False
        # The process keeps what it registers for ever, and this must not keep the recording.
        alive = weakref.ref(self)
        os.register_at_fork(after_in_child=lambda: _forked(alive()))

    def database(self, name: Any, make: Callable[[], Database]) -> Database:
        """The database of this name, made by the first connection."""
        with self._lock:
            if name not in self._databases:
                self._databases[name] = make()
            return self._databases[name]

    def session(self, database: Database, isolation: str) -> Session:
        """A new session: a connection."""
        return Session(self, database, f"{os.getpid()}.{next(self._numbers)}", isolation)

    def writer(self) -> Writer:
        """The file of this thread."""
        found: Writer | None = getattr(self._local, "writer", None)
        if found is None:
            name = f"{os.getpid()}-{threading.get_ident()}-{next(self._numbers)}.trace"
            found = self._local.writer = Writer(self.folder / name)
            with self._lock:
                self._writers.append(found)
        return found

    def closing(self, resource: Any) -> None:
        """Something that is closed with the recording."""
        with self._lock:
            self._resources.append(resource)

    def close(self) -> None:
        """Closes the files and what belongs to the recording."""
        with self._lock:
            self._is_closed = True
            for resource in (*self._writers, *self._resources):
                resource.close()
            self._resources.clear()
            self._writers.clear()

    @property
    def is_closed(self) -> bool:
        """Whether nothing more is recorded; connections may live on."""
        return self._is_closed

    def rotate(self, folder: Path) -> None:
        """Records into another folder from now on; what is in the database now is what was there before."""
        with self._lock:
            self.folder = folder
            for writer in self._writers:
                writer.close()
            self._writers.clear()
            self._local = threading.local()
            for database in self._databases.values():
                database.facts = database.ask()

    def forked(self) -> None:
        """A child must not use the files and connections of its parent."""
        self._inherited = (self._databases, self._resources, self._writers)
        self._databases, self._resources, self._writers = {}, [], []
        self._local = threading.local()
        self._lock = threading.RLock()


def _forked(recording: Recording | None) -> None:
    if recording is not None:
        recording.forked()


class Session:
    """The transactions of one connection."""

    def __init__(self, recording: Recording, database: Database, name: str, isolation: str) -> None:
        self.recording = recording
        self.database = database
        self.id = name
        self.isolation = isolation
        self._next_isolation = ""
        self.done: list[Done] = []
        self._has_commands = False
        self._prepared: tuple[Writer, Prepared] | None = None
        self._savepoints: list[tuple[str, int]] = []
        self._has_changed_schema = False
        self.has_failed = False
        #: When the first statement that failed was asked for: the snapshot may be its own. 0 if none did.
        self._failed_at = 0
        #: Whether a row that the open transaction wrote shows its number, and all others will have the same.
        self.is_numbered = False
        self.commands = DistributedCommands(
            database.dialect, reads_past=bool(database.facts.get("reads_past"))
        )

    def add(self, done: Done) -> None:
        """A statement was executed in the open transaction, or opened one."""
        self.done.append(done)
        if not done.plan.references or not len(self.done) % PENDING:
            self.added(done)

    def added(self, done: Done) -> None:
        """What is to be done about a statement that may be a command, or that is one too many."""
        if not len(self.done) % PENDING:
            self.done[-PENDING:] = [one.read() for one in self.done[-PENDING:]]
        if not done.plan.references:
            self.is_numbered = False  # It may have ended the transaction, or begun a part of it.
            if done.plan.kind is Kind.NO_ROWS:
                self._has_commands = True
                self.control(done.sql)

    def numbered(self) -> None:
        """A row that the transaction wrote shows its number; parts between savepoints have their own."""
        self.is_numbered = not self._savepoints

    def failed(self, invoke: int, sqlstate: str | None = None) -> None:
        """A statement was refused, which may leave a transaction open."""
        self.has_failed = True
        self.commands.failed(sqlstate)
        self._failed_at = self._failed_at or invoke

    @property
    def is_open(self) -> bool:
        """Whether a statement was executed or refused since the last transaction ended."""
        return bool(self.done) or self.has_failed

    def control(self, text: str) -> None:
        """Savepoints, levels and changes of the schema."""
        if text in _PLAIN:
            return
        self.is_numbered = False
        self.commands.command(text)
        for command in text.split(";"):
            words = command.replace('"', " ").split()
            if words:
                self._control([word.lower() for word in words])

    def _control(self, words: list[str]) -> None:
        self.commands.follow(words, self.done, next((name for name, _ in self._savepoints), None))
        if words[0] in _SCHEMA_CHANGES:
            self._has_changed_schema = True
            self.database.forget()
        elif words[0] == "savepoint":
            self._savepoints.append((words[-1], len(self.done)))
        elif words[0] == "rollback" and "to" in words:
            self._undo(words[-1])
        elif "isolation" in words and "level" in words:
            level = "-".join(word.strip(",") for word in words[words.index("level") + 1 :][:2])
            level = next((name for name in _LEVELS if level.startswith(name)), "")
            if "characteristics" in words or "session" in words:
                self.isolation = level or self.isolation
            else:
                self._next_isolation = level

    def _undo(self, name: str) -> None:
        """The writes since a savepoint are undone; what was read stays read."""
        for place in range(len(self._savepoints) - 1, -1, -1):
            if self._savepoints[place][0] == name:
                first = self._savepoints[place][1]
                self.done[first:] = [self.commands.undone(one) for one in self.done[first:]]
                del self._savepoints[place + 1 :]
                return

    def _only_read(self, done: list[Done], level: str) -> bool:
        """Whether a rollback undid nothing: programs end transactions that only read in this way.

        At SERIALIZABLE, a database may let such a transaction read what it would not let it commit.
        """
        is_serializable = level == "serializable" and self.database.kind != "sqlite"
        return (
            not self.has_failed and not is_serializable and all(one.plan.kind is Kind.SELECT for one in done)
        )

    def _about_rows(self) -> list[Done]:
        """The statements of the open transaction that read or write rows."""
        if not self._has_commands:
            return self.commands.known(self.done)
        return self.commands.known([one for one in self.done if one.plan.kind is not Kind.NO_ROWS])

    def level(self, isolation: str) -> str:
        """The level of the open transaction; `isolation` is that of the connection, if it has one."""
        return self._next_isolation or isolation or self.isolation

    def wants_stamp(self, isolation: str) -> bool:
        """Whether the time of the commit that comes now names the versions that were written."""
        return self.commands.can_ask_stamp(self.level(isolation)) and any(
            one.plan.kind in CHANGES for one in self.done
        )

    def _begin(self, done: list[Done]) -> dict[str, int]:
        """When the transaction began, if another statement came first, which may have taken its snapshot."""
        if not self._has_commands and not self._failed_at:
            return {}
        began = [one.invoke for one in self.done[:1]] + [self._failed_at] * bool(self._failed_at)
        return {"begin": min(began)} if done else {}

    def prepare(self) -> None:
        """Does what can be done before the end is known; the server works on the commit at the same time."""
        done = self._about_rows()
        if done and not self.recording.is_closed:
            writer = self.recording.writer()
            self._prepared = writer, writer.prepared(self.database, done)

    def end(self, status: str, invoke: int, complete: int, *, isolation: str = "", stamp: str = "") -> None:
        """The open transaction ended; one without statements about rows is not written."""
        done = self._about_rows()
        status, invoke = self.commands.end(status, invoke)
        if self._has_changed_schema:
            # Before the commit, the new tables could not be looked up.
            self.database.forget()
            self._has_changed_schema = False
        level = self.level(isolation)
        if status == "aborted" and self._only_read(done, level):
            status = "committed"
        begin = self._begin(done)
        self.has_failed = self.is_numbered = self._has_commands = False
        self._failed_at = 0
        self.done, self._savepoints, self._next_isolation = [], [], ""
        if done and not self.recording.is_closed:
            row = {"status": status, "isolation": level, "end": [invoke, complete], **begin}
            row |= {"stamp": stamp} if stamp else {}
            writer = self.recording.writer()
            prepared = self._prepared and self._prepared[0] is writer and self._prepared[1]
            writer.transaction(self.id, row, prepared or writer.prepared(self.database, done))
        self._prepared = None


_LEVELS = ("read-uncommitted", "read-committed", "repeatable-read", "serializable", "snapshot")
