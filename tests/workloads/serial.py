"""A table in memory, and a database around it that runs one transaction after the other."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, ClassVar

from isoscope.databases.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from isoscope.databases.database import Content, Isolation


class Table:
    """Operations on a dict; remembers what was done. Lists are tuples."""

    def __init__(self, rows: Iterable[tuple[int, int]] = ()) -> None:
        self.rows: dict[int, int | tuple[int, ...]] = dict(rows)
        self.done: list[tuple[str, int, int | None]] = []

    def read(self, key: int) -> int | tuple[int, ...] | None:
        self.done.append(("read", key, None))
        return self.rows[key]

    def write(self, key: int, value: int) -> None:
        assert key in self.rows
        self.done.append(("write", key, value))
        self.rows[key] = value

    def append(self, key: int, value: int) -> None:
        self.done.append(("append", key, value))
        before = self.rows[key]
        assert isinstance(before, tuple)
        self.rows[key] = (*before, value)

    def insert(self, key: int, value: int) -> None:
        raise NotImplementedError

    def delete(self, key: int) -> None:
        raise NotImplementedError

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        self.done.append(("range", low, high))
        found = [(key, self.rows[key]) for key in range(low, high + 1)]
        return [(key, value) for key, value in found if isinstance(value, int)]


class SerialSession(Table):
    """A session that holds the database's only lock while its transaction is open."""

    def __init__(self, database: SerialDatabase) -> None:
        super().__init__()
        self.rows = database.rows
        self._database = database
        self._before: dict[int, int | tuple[int, ...]] = {}

    def begin(self) -> None:
        self._database.lock.acquire()
        self._before = dict(self.rows)
        self.done.clear()

    def commit(self) -> None:
        last = {key: value for kind, key, value in self.done if kind == "write"}
        self._database.log += [(key, value) for key, value in last.items() if value is not None]
        self._database.lock.release()

    def rollback(self) -> None:
        self.rows.update(self._before)
        self._database.lock.release()

    def close(self) -> None:
        """Nothing is open."""


class SerialDatabase(Database):
    """One transaction at a time: its histories are strict serializable."""

    NAME: ClassVar[str] = "serial"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = {}
    SETTINGS: ClassVar[Mapping[str, str]] = {}

    def __init__(self, isolation: str = "", *, url: str | None = None, settings: Mapping[str, str]) -> None:
        self.isolation = isolation
        self.arguments = (isolation, url, settings)
        self.content: Content = "register"
        self.rows: dict[int, int | tuple[int, ...]] = {}
        self.log: list[tuple[int, int]] = []
        self.inserts = 0
        self.lock = Lock()

    def open(self, content: Content) -> str:
        self.content = content
        return self.NAME

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        with self.lock:
            self.inserts += 1
            for key, value in rows:
                assert key not in self.rows, "a key is inserted once"
                self.rows[key] = value if self.content == "register" else ()

    def session(self) -> SerialSession:
        return SerialSession(self)

    def version_order(self) -> list[tuple[int, int]] | None:
        return self.log if self.content == "register" else None

    def close(self) -> None:
        """Nothing is left."""
