"""A database for tests of `isoscope run`: one transaction at a time, and faults as they are set."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from isoscope import databases
from isoscope.databases.database import Aborted, ConnectionLost, Database, Isolation
from isoscope.errors import DatabaseError
from isoscope.levels import Level
from tests.interrupts import interrupt_main_thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pytest

__all__ = ["Fake", "install"]


@dataclass
class Store:
    """What all sessions share."""

    rows: dict[int, Any] = field(default_factory=dict)
    lock: RLock = field(default_factory=RLock)
    begun: int = 0


class FakeSession:
    """A session that does what the settings of its database say."""

    def __init__(self, store: Store, settings: Mapping[str, str]) -> None:
        self._store = store
        self._settings = settings
        self._undo: dict[int, Any] | None = None

    def begin(self) -> None:
        self._store.lock.acquire()
        self._undo = {}
        self._store.begun += 1
        if self._store.begun == int(self._settings.get("dies_at", 0)):
            self.rollback()
            raise ConnectionLost("server closed the connection")
        if self._store.begun == int(self._settings.get("ctrl_c_at", 0)):
            interrupt_main_thread(inside="_watch")

    def read(self, key: int) -> Any:
        if self._settings.get("reads") == "nothing":
            return type(self._store.rows[key])()
        return self._store.rows.get(key)

    def write(self, key: int, value: int) -> None:
        self._change(key, value)

    def append(self, key: int, value: int) -> None:
        self._change(key, (*self._store.rows[key], value))

    def insert(self, key: int, value: int) -> None:
        self._change(key, value)

    def delete(self, key: int) -> None:
        self._change(key, None)

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        return [(key, value) for key, value in sorted(self._store.rows.items()) if low <= key <= high]

    def commit(self) -> None:
        if self._store.begun % int(self._settings.get("aborts_every", sys.maxsize)) == 0:
            raise Aborted("conflict")
        self._end()

    def rollback(self) -> None:
        if self._undo is not None:
            self._store.rows |= self._undo
            self._end()

    def close(self) -> None:
        self.rollback()

    def _change(self, key: int, value: Any) -> None:
        assert self._undo is not None
        self._undo.setdefault(key, self._store.rows.get(key))
        self._store.rows[key] = value

    def _end(self) -> None:
        self._undo = None
        self._store.lock.release()


class Fake(Database):
    """Serial, unless told otherwise."""

    NAME: ClassVar[str] = "fake"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = {
        "serial": Isolation(meaning="one at a time", promises=(Level.STRICT_SERIALIZABLE,)),
        "loose": Isolation(meaning="anything", promises=()),
    }
    SETTINGS: ClassVar[Mapping[str, str]] = {
        "dies_at": "the transaction at whose begin the server is gone",
        "aborts_every": "which transactions are aborted",
        "ctrl_c_at": "the transaction during which the user presses Ctrl-C",
        "reads": "`nothing`: reads show the initial state",
        "password": "anything: it is wrong",
    }
    closed: ClassVar[int] = 0

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        self.isolation = isolation
        self._settings = settings
        self._store = Store()
        self._content = "register"

    def open(self, content: str) -> str:
        if "password" in self._settings:
            raise DatabaseError("fake: the password for user `isoscope` is wrong")
        self._content = content
        return "Fake 1.0"

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        is_list = self._content == "list"
        with self._store.lock:
            self._store.rows |= {key: () if is_list else value for key, value in rows}

    def session(self) -> FakeSession:
        if 0 < int(self._settings.get("dies_at", 0)) <= self._store.begun:
            raise DatabaseError("fake: the server does not listen any longer")
        return FakeSession(self._store, self._settings)

    def version_order(self) -> None:
        return None

    def close(self) -> None:
        type(self).closed += 1


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes it known as `fake`."""
    module = ModuleType("isoscope.databases.fake")
    module.__dict__["DATABASE"] = Fake
    monkeypatch.setitem(sys.modules, "isoscope.databases.fake", module)
    monkeypatch.setitem(databases.DATABASES, "fake", "fake")
    monkeypatch.setattr(Fake, "closed", 0)
