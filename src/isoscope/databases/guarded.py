"""A driver of another package, whose faults become one line instead of a traceback of Isoscope."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from isoscope import plugins
from isoscope.databases.database import Aborted, ConnectionLost, Database
from isoscope.errors import DatabaseError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from isoscope.databases.database import Content, Leftover, Session
    from isoscope.levels import Level

__all__ = ["GuardedDatabase"]

_NEEDED = ("NAME", "ISOLATIONS", "SETTINGS", "open", "insert", "session", "close")
_STATEMENTS = ("begin", "read", "write", "append", "insert", "delete", "range_read", "commit")


class GuardedDatabase(Database):
    """Passes every call on to the driver at `place`."""

    def __init__(
        self, driver: type[Database], isolation: str, *, url: str | None = None, settings: Mapping[str, str]
    ) -> None:
        self.NAME, self.ISOLATIONS, self.SETTINGS = driver.NAME, driver.ISOLATIONS, driver.SETTINGS
        self.isolation = isolation
        self._driver = _called(driver.NAME, "__init__", driver, isolation, url=url, settings=settings)

    @staticmethod
    def refuse_incomplete(place: str, driver: object) -> None:
        """Raises UsageError if this is no driver."""
        plugins.refuse_incomplete("driver", place, driver, _NEEDED)
        isolations = getattr(driver, "ISOLATIONS", {})
        if not isinstance(driver, type) or not isolations:
            what = "it has no isolation" if isinstance(driver, type) else "it is no class"
            raise UsageError(f"{place} is no driver: {what}")

    @property
    def promises(self) -> tuple[Level, ...]:
        """The promises of the driver."""
        return tuple(self._driver.promises)

    def open(self, content: Content) -> str:
        """Opens the database of the driver."""
        return str(self._call("open", content))

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        """Inserts rows."""
        self._call("insert", rows)

    def session(self) -> Session:
        """A session of the driver."""
        session: Any = self._call("session")
        plugins.refuse_incomplete(
            "session", f"{self.NAME}: {type(session).__name__}", session, (*_STATEMENTS, "rollback", "close")
        )
        return cast("Session", _GuardedSession(self.NAME, session))

    def version_order(self) -> Iterable[tuple[int, int]] | None:
        """The order of versions, if the driver has one."""
        order: Any = self._call("version_order")
        return None if order is None else list(order)

    def close(self) -> None:
        """Closes the database of the driver."""
        self._call("close")

    def clean(self) -> list[Leftover]:
        """Removes what killed runs left."""
        return list(self._call("clean"))

    def _call(self, method: str, *arguments: Any) -> Any:
        return _called(self.NAME, method, getattr(self._driver, method), *arguments)


def _called(name: str, method: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """The result of a call; an unexpected exception ends the run with one line."""
    what = f"the driver {name} failed in `{method}`"
    with plugins.guarded(what, Aborted, ConnectionLost, raises=DatabaseError):
        return function(*arguments, **named)


class _GuardedSession:
    """Passes every statement on; the end of a session never fails."""

    __slots__ = ("_session", *_STATEMENTS)

    def __init__(self, name: str, session: Session) -> None:
        self._session = session
        for method in _STATEMENTS:
            setattr(self, method, _statement(name, method, getattr(session, method)))

    def rollback(self) -> None:
        with suppress(Exception):
            self._session.rollback()

    def close(self) -> None:
        with suppress(Exception):
            self._session.close()


def _statement(name: str, method: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        return _called(name, method, function, *arguments)

    return call
