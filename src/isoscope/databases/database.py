"""The interface of a database for a run: sessions on one table, and the levels that it promises.

The table `isoscope` maps integer keys to registers (an integer) or to lists of integers. A driver says in
which of three ways a statement failed: `Aborted` (the transaction is rolled back, for sure), `ConnectionLost`
(the effect of the statement is unknown) or `DatabaseError` (the run cannot go on).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, TypeAlias

from isoscope import profiles
from isoscope.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from isoscope.history import Timestamp
    from isoscope.levels import Level

__all__ = [
    "Aborted",
    "ConnectionLost",
    "Content",
    "Database",
    "FaultTarget",
    "Found",
    "Isolation",
    "Leftover",
    "Session",
    "leftovers_at_url",
    "refuse_unknown",
    "without_password",
]

_CLUSTERS = "postgresql, etcd, galera, cassandra, dgraph and simulated have nodes and faults"
#: The password of a URL.
_PASSWORD = re.compile(r"(?<=//)([^:@/]*):.*(?=@)|(?<=password=)[^&,]*")
#: What a key holds.
Content: TypeAlias = Literal["register", "list"]
#: The result of a read; None if there is no such row.
Found: TypeAlias = int | tuple[int, ...] | None


class Aborted(Exception):  # noqa: N818 - an event, not an error
    """The database rolled the transaction back; the message is its reason, short and without values."""


class ConnectionLost(Exception):  # noqa: N818
    """The connection is lost; it is unknown whether the last statement took effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """An isolation that can be asked of a database, and the strongest levels that it promises.

    With a `profile`, the promises are those of the profile called so, which then need not be named here.
    """

    meaning: str
    promises: tuple[Level, ...] = ()
    profile: str = ""

    def __post_init__(self) -> None:
        if self.profile:
            object.__setattr__(self, "promises", profiles.load(self.profile).promises)


@dataclass(frozen=True, slots=True)
class Leftover:
    """An object that a killed run left behind, such as `schema isoscope_1a2b3c4d`, or one that is in use."""

    what: str
    is_in_use: bool = False


class FaultTarget(Protocol):
    """Injects faults into the nodes of a database; used by one thread, after `open` and before `close`."""

    def inject(self, kind: str, node: str) -> None:
        """Begins a fault; raises `DatabaseError` if that is not possible."""

    def heal(self, kind: str, node: str) -> str:
        """Ends a fault; returns what did not work again, or an empty text."""


class Session(Protocol):
    """One connection, used by one thread. After `Aborted` the next call is `rollback` or `begin`."""

    def begin(self) -> None:
        """Starts a transaction with the isolation of the run."""

    def read(self, key: int) -> Found:
        """What `key` holds."""

    def write(self, key: int, value: int) -> None:
        """Overwrites the register `key`; its row exists."""

    def append(self, key: int, value: int) -> None:
        """Appends to the list `key` in one statement; its row exists."""

    def insert(self, key: int, value: int) -> None:
        """Adds a row: a register, or a list of this one element."""

    def delete(self, key: int) -> None:
        """Removes a row."""

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        """Registers from `low` to `high`, both included, by key."""

    def commit(self) -> tuple[Timestamp, Timestamp] | None:
        """Commits; returns the database's own start and commit timestamps, if it has them."""

    def rollback(self) -> None:
        """Rolls back; never fails, also if there is nothing to roll back or no connection."""

    def close(self) -> None:
        """Closes the connection; never fails."""


class Database(Protocol):
    """A database that a workload can run on.

    A driver is a class in its own file, called `DATABASE` there. `NAME`, `ISOLATIONS` and `SETTINGS` are
    known without a connection. `open` comes first and `close` last, whatever happened between them: it drops
    the table that `open` made, and stops the server that `open` started.
    """

    #: Its name on the command line.
    NAME: ClassVar[str]
    #: By name, the default first.
    ISOLATIONS: ClassVar[Mapping[str, Isolation]]
    #: Settings for `--set NAME=VALUE`, with their meanings.
    SETTINGS: ClassVar[Mapping[str, str]]
    #: The isolation that sessions ask for.
    isolation: str

    @property
    def promises(self) -> tuple[Level, ...]:
        """The strongest promised levels with these settings; after `open`, also those of the server found."""
        return self.ISOLATIONS[self.isolation].promises

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        """Connects to nothing yet; raises `UsageError` if the settings contradict each other."""

    def open(self, content: Content) -> str:
        """Starts or connects, and makes an empty table; returns name and version, as `PostgreSQL 15.2`.

        Raises `DatabaseError` with one clear message if that is not possible.
        """

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        """Commits rows with their initial values, outside of every session; from any thread.

        Transactions that begin afterwards see them. Of lists only the keys count: they start empty.
        """

    def session(self) -> Session:
        """A new connection; raises `DatabaseError` or `ConnectionLost`."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes that sessions are spread over, after `open`; empty if there is only one."""
        return ()

    @property
    def shows_past(self) -> bool:
        """Whether reads may show the past, as a replica does: real time does not say what they see then."""
        return False

    def session_at(self, node: str) -> Session:  # noqa: ARG002 - a database with nodes knows them
        """A new connection to one of the nodes; raises as `session` does."""
        return self.session()

    def use_nodes(self, count: int) -> None:  # noqa: ARG002
        """Before `open`: starts so many nodes. Raises `UsageError` if that is not possible."""
        raise UsageError(f"{self.NAME} is not started as several nodes\n\nhint: {_CLUSTERS}")

    def use_urls(self, urls: Sequence[str]) -> None:  # noqa: ARG002
        """Before `open`: further nodes of the same database. Raises `UsageError` if it has none."""
        raise UsageError(f"{self.NAME} has one URL\n\nhint: {_CLUSTERS}")

    def use_faults(self, kinds: Collection[str]) -> FaultTarget:
        """Before `open`: these faults will be injected. Raises `UsageError` if one of them cannot be."""
        raise UsageError(f"{self.NAME} takes no faults such as {', '.join(kinds)}\n\nhint: {_CLUSTERS}")

    def version_order(self) -> Iterable[tuple[int, int]] | None:
        """Committed versions (key, value) of registers in the order of the database's own log.

        Those of `insert` are left out. None if there is no log. Asked once, when all sessions are closed.
        """

    def close(self) -> None:
        """Drops and stops what `open` made and started; never fails."""

    def clean(self) -> list[Leftover]:
        """Removes what killed runs left at the URL, without `open`; also names what living runs use.

        Raises `UsageError` if there is no URL, and `DatabaseError` if it cannot be reached.
        """
        raise UsageError(f"a killed run leaves nothing behind in {self.NAME}")


def refuse_unknown(what: str, name: str, names: Collection[str]) -> None:
    """Raises `UsageError` if `name` is not one of `names`."""
    if name in names:
        return
    close = get_close_matches(name, names, n=1)
    guess = f"; did you mean `{close[0]}`?" if close else ""
    known = f"it is one of {', '.join(names)}" if names else "there are none"
    raise UsageError(f"unknown {what} `{name}`{guess}\n\nhint: {known}")


def without_password(url: str) -> str:
    """The URL as messages and files may show it."""
    return _PASSWORD.sub(r"\1", url)


def leftovers_at_url(name: str, url: str | None) -> str:
    """The URL. Raises `UsageError` if there is none: a temporary server goes with its run."""
    if url is None:
        raise UsageError(
            f"a killed run on a temporary {name} leaves no server behind\n\n"
            f"hint: name the place of the run, as in `isoscope clean {name}:...`"
        )
    return url
