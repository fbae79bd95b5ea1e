"""Java databases in this process: a JVM by JPype, the driver from a jar, a cursor over `java.sql`.

A process has one JVM, which starts with the first database and ends with the process. Each driver has a class
loader of its own.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any

from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Connection", "Cursor", "connect", "library", "sql_error"]

_starting = Lock()


class Cursor:
    """As much of a DB-API cursor as a session needs; each statement is prepared once."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._prepared: dict[str, Any] = {}
        self._rows: list[tuple[Any, ...]] = []
        #: Not None after a statement that returns rows.
        self.description: bool | None = None
        #: Rows that the last statement found, if it was one that changes rows.
        self.rowcount = -1

    def execute(self, statement: str, parameters: Sequence[int | str] = ()) -> None:
        """Runs a statement; raises an exception of Java."""
        if statement in {"COMMIT", "ROLLBACK"}:
            getattr(self._connection, statement.lower())()
            self._rows, self.description, self.rowcount = [], None, -1
            return
        prepared = self._prepared.get(statement)
        if prepared is None:
            prepared = self._prepared[statement] = self._connection.prepareStatement(statement)
        for place, value in enumerate(parameters, start=1):
            if isinstance(value, str):
                prepared.setString(place, value)
            else:
                prepared.setLong(place, value)
        if prepared.execute():
            self._rows, self.description, self.rowcount = _rows(prepared.getResultSet()), True, -1
        else:
            self._rows, self.description, self.rowcount = [], None, int(prepared.getUpdateCount())

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows of the last statement."""
        return self._rows


class Connection:
    """A connection without automatic commits."""

    def __init__(self, connection: Any) -> None:
        self.java = connection
        self.java.setAutoCommit(False)

    def cursor(self) -> Cursor:
        """A cursor."""
        return Cursor(self.java)

    def close(self) -> None:
        """Ends the transaction and the connection."""
        with suppress(Exception):
            self.java.rollback()
        self.java.close()


def connect(jars: Path, driver: str, url: str) -> Connection:
    """A connection to `url` by the class `driver`, from the jars in a folder."""
    return Connection(_driver(jars, driver).connect(url, _jvm().JClass("java.util.Properties")()))


def sql_error(error: Exception) -> tuple[str, int, str]:
    """The state (five characters), code and message of an exception of `java.sql`."""
    if not isinstance(error, _jvm().JClass("java.sql.SQLException")):
        return "", 0, f"{type(error).__name__}: {error}"
    java: Any = error
    return str(java.getSQLState()), int(java.getErrorCode()), str(java.getMessage()).partition("; SQL")[0]


def _rows(found: Any) -> list[tuple[Any, ...]]:
    """All rows; numbers and texts as those of Python."""
    width = range(1, found.getMetaData().getColumnCount() + 1)
    rows = []
    while found.next():
        rows.append(tuple(_value(found.getObject(column)) for column in width))
    found.close()
    return rows


def _value(value: Any) -> int | str | None:
    if value is None:
        return None
    return int(value) if hasattr(value, "longValue") else str(value)


@cache
def _driver(jars: Path, name: str) -> Any:
    java = _jvm()
    places = [java.JClass("java.io.File")(str(jar)).toURI().toURL() for jar in sorted(jars.glob("*.jar"))]
    platform = java.JClass("java.lang.ClassLoader").getPlatformClassLoader()
    loader = java.JClass("java.net.URLClassLoader")(places, platform)
    return loader.loadClass(name).getDeclaredConstructor().newInstance()


def library() -> Any:
    """The module JPype. Raises `DatabaseError` if it is not installed."""
    try:
        return import_module("jpype")
    except ImportError:
        raise DatabaseError(
            "databases in Java need the library JPype\n\nhint: pip install 'isoscope[jdbc]'"
        ) from None


def _jvm() -> Any:
    """The module JPype, with a running JVM. Raises `DatabaseError` if there is none."""
    jpype = library()
    with _starting:
        if not jpype.isJVMStarted():
            try:
                # Signals stay with Python: Ctrl-C ends a run in order.
                jpype.startJVM("-Xrs", "-XX:+UseSerialGC", "-Xmx512m", convertStrings=False, interrupt=False)
            except (jpype.JVMNotFoundException, OSError) as error:
                raise DatabaseError(
                    f"no Java is found: {str(error).partition(chr(10))[0]}\n\n"
                    "hint: install a JRE (Debian: apt install default-jre-headless), or set JAVA_HOME"
                ) from None
            # HSQLDB prints remarks of its own there.
            system, nothing = jpype.JClass("java.lang.System"), jpype.JClass("java.io.OutputStream")
            system.setOut(jpype.JClass("java.io.PrintStream")(nothing.nullOutputStream()))
    return jpype
