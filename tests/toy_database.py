"""A database in a few lines for scripts to run on; each isolation breaks what it says it breaks."""

from __future__ import annotations

from threading import Event, Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from isoscope.databases.database import Aborted, ConnectionLost, Database, Isolation
from isoscope.errors import DatabaseError
from isoscope.levels import Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from isoscope.databases.database import Content, Session

__all__ = ["ToyDatabase"]


class ToyDatabase(Database):
    """Registers in a dictionary."""

    NAME: ClassVar[str] = "toy"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = MappingProxyType(
        {
            "serial": Isolation(meaning="one transaction at a time", promises=(Level.STRICT_SERIALIZABLE,)),
            "snapshot": Isolation(meaning="first committer wins", promises=(Level.SNAPSHOT_ISOLATION,)),
            "chaos": Isolation(meaning="no isolation: writes are there at once", promises=()),
            "stuck": Isolation(meaning="writes are never answered", promises=()),
            "lost": Isolation(meaning="the connection is lost at the first write", promises=()),
            "unreadable": Isolation(meaning="a read aborts", promises=()),
            "unwritable": Isolation(meaning="a write aborts", promises=()),
            "short of connections": Isolation(meaning="there are two of them", promises=()),
        }
    )
    SETTINGS: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        del url, settings
        self.isolation = isolation
        self.rows: dict[int, int] = {}
        self.turn = Lock()
        self.closing = Event()
        self.sessions: list[ToySession] = []
        self.is_open = False

    def open(self, content: Content) -> str:
        assert content == "register"
        self.is_open = True
        return "Toy 1.0"

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        self.rows.update(rows)

    def session(self) -> Session:
        if self.isolation == "short of connections" and len(self.sessions) == 2:
            raise DatabaseError("too many connections")
        self.sessions.append(_SESSIONS.get(self.isolation, ToySession)(self))
        return self.sessions[-1]

    def version_order(self) -> None:
        return None

    def close(self) -> None:
        self.closing.set()
        self.is_open = False


class ToySession:
    """Without isolation: a rollback puts back what was there."""

    def __init__(self, database: ToyDatabase) -> None:
        self.database = database
        self.is_open = True
        self.before: dict[int, int | None] = {}

    @property
    def rows(self) -> dict[int, int]:
        return self.database.rows

    def begin(self) -> None:
        self.before = {}

    def read(self, key: int) -> int | None:
        return self.rows.get(key)

    def write(self, key: int, value: int) -> None:
        self.before.setdefault(key, self.rows.get(key))
        self.rows[key] = value

    def append(self, key: int, value: int) -> None:
        raise NotImplementedError

    def insert(self, key: int, value: int) -> None:
        self.write(key, value)

    def delete(self, key: int) -> None:
        self.before.setdefault(key, self.rows.get(key))
        del self.rows[key]

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        return [(key, value) for key, value in sorted(self.rows.items()) if low <= key <= high]

    def commit(self) -> None:
        self.before = {}

    def rollback(self) -> None:
        for key, value in self.before.items():
            if value is not None:
                self.rows[key] = value
            else:
                del self.rows[key]
        self.before = {}

    def close(self) -> None:
        self.is_open = False


class _Serial(ToySession):
    """A transaction waits until the one before it has ended."""

    def begin(self) -> None:
        self.database.turn.acquire()
        super().begin()

    def commit(self) -> None:
        super().commit()
        self.database.turn.release()

    def rollback(self) -> None:
        super().rollback()
        self.database.turn.release()


class _Snapshot(ToySession):
    """Works on a copy; a commit fails if another transaction has changed a key since."""

    def __init__(self, database: ToyDatabase) -> None:
        super().__init__(database)
        self.copy: dict[int, int] = {}
        self.snapshot: dict[int, int] = {}

    @property
    def rows(self) -> dict[int, int]:
        return self.copy

    def begin(self) -> None:
        super().begin()
        self.copy, self.snapshot = dict(self.database.rows), dict(self.database.rows)

    def commit(self) -> None:
        shared = self.database.rows
        if any(shared.get(key) != self.snapshot.get(key) for key in self.before):
            raise Aborted("another transaction was first")
        for key in self.before:
            if key in self.copy:
                shared[key] = self.copy[key]
            else:
                del shared[key]


class _Stuck(ToySession):
    def write(self, key: int, value: int) -> None:
        del key, value
        self.database.closing.wait()


class _Lost(ToySession):
    def write(self, key: int, value: int) -> None:
        raise ConnectionLost("reset by peer")


class _Unreadable(ToySession):
    def read(self, key: int) -> int | None:
        raise Aborted("no reads")


class _Unwritable(ToySession):
    def write(self, key: int, value: int) -> None:
        raise Aborted("no writes")


_SESSIONS: dict[str, type[ToySession]] = {
    "serial": _Serial,
    "snapshot": _Snapshot,
    "stuck": _Stuck,
    "lost": _Lost,
    "unreadable": _Unreadable,
    "unwritable": _Unwritable,
}

if TYPE_CHECKING:
    _a_toy_is_a_database: type[Database] = ToyDatabase
