"""What every database offers a run: sessions on one table, and what it says of isolation.

The table `isoscope` maps integer keys to registers (an integer) or to lists of integers. A driver says in
which of three ways a statement failed: `Aborted` (the transaction is rolled back, for sure), `ConnectionLost`
(nobody knows what became of the statement) or `DatabaseError` (there is no going on).
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, TypeAlias

from isoscope.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from isoscope.history import Timestamp
    from isoscope.levels import Level

__all__ = [
    "Aborted",
    "ConnectionLost",
    "Content",
    "Database",
    "Found",
    "Isolation",
    "Session",
    "refuse_unknown",
]

#: What a key holds.
Content: TypeAlias = Literal["register", "list"]
#: What a read of a key shows; None if there is no such row.
Found: TypeAlias = int | tuple[int, ...] | None


class Aborted(Exception):  # noqa: N818 - what happened, not a mistake of anybody
    """The database rolled the transaction back; the message is what it said, short and without values."""


class ConnectionLost(Exception):  # noqa: N818
    """The connection is gone; whether the last statement took effect is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """An isolation that can be asked of a database, and the strongest levels that it promises."""

    meaning: str
    promises: tuple[Level, ...]


class Session(Protocol):
    """One connection, used by one thread. After `Aborted` the next call is `rollback` or `begin`."""

    def begin(self) -> None:
        """Starts a transaction with the isolation of the run."""

    def read(self, key: int) -> Found:
        """What `key` holds."""

    def write(self, key: int, value: int) -> None:
        """Overwrites the register `key`, whose row is there."""

    def append(self, key: int, value: int) -> None:
        """Appends to the list `key`, whose row is there, in one statement."""

    def insert(self, key: int, value: int) -> None:
        """Adds a row: a register, or a list of this one element."""

    def delete(self, key: int) -> None:
        """Removes a row."""

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        """Registers from `low` to `high`, both included, by key."""

    def commit(self) -> tuple[Timestamp, Timestamp] | None:
        """Commits; the database's own start and commit timestamps, if it tells them."""

    def rollback(self) -> None:
        """Rolls back; never fails, also if there is nothing to roll back or no connection."""

    def close(self) -> None:
        """Closes the connection; never fails."""


class Database(Protocol):
    """A database that a workload can run on.

    A driver is a class in a file of its own, called `DATABASE` there. What it can be told is known without a
    connection: `NAME`, `ISOLATIONS`, `SETTINGS`. `open` comes first and `close` last, whatever happened
    between them: it drops what `open` made, and stops what `open` started.
    """

    #: What the command line calls it.
    NAME: ClassVar[str]
    #: By name, the default first.
    ISOLATIONS: ClassVar[Mapping[str, Isolation]]
    #: What can be set with `--set NAME=VALUE`, and what that means.
    SETTINGS: ClassVar[Mapping[str, str]]
    #: The one that was asked for.
    isolation: str

    @property
    def promises(self) -> tuple[Level, ...]:
        """The strongest levels that it promises as it is set; once it is open, also as it is found."""
        return self.ISOLATIONS[self.isolation].promises

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        """Touches nothing yet; raises `UsageError` if something here makes no sense."""

    def open(self, content: Content) -> str:
        """Starts or connects, and makes an empty table; what it is, as `PostgreSQL 15.2`.

        Raises `DatabaseError` with one clear message if that is not possible.
        """

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        """Commits rows with their initial values, outside of every session; from any thread.

        Transactions that begin afterwards see them. Of lists only the keys count: they start empty.
        """

    def session(self) -> Session:
        """A new connection; raises `DatabaseError` or `ConnectionLost`."""

    def version_order(self) -> Iterable[tuple[int, int]] | None:
        """Committed versions (key, value) of registers in the order of the database's own log.

        Those of `insert` are left out. None if there is no log. Asked once, when all sessions are closed.
        """

    def close(self) -> None:
        """Drops and stops what `open` made and started; never fails."""


def refuse_unknown(what: str, name: str, names: Collection[str]) -> None:
    """Raises `UsageError` if `name` is none of the names that there are."""
    if name in names:
        return
    close = get_close_matches(name, names, n=1)
    guess = f"; did you mean `{close[0]}`?" if close else ""
    known = f"it is one of {', '.join(names)}" if names else "there are none"
    raise UsageError(f"unknown {what} `{name}`{guess}\n\nhint: {known}")
