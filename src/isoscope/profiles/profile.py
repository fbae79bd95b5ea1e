"""What a database promises to do at one level: which mechanisms, and what each statement locks and reads.

Li et al. 2023 (Leopard): every level of every database they looked at is made of four mechanisms. A profile
is that table's line as data; the kernel mirrors it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from isoscope import _native

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.levels import Level

__all__ = ["Certifier", "Conduct", "Granularity", "Lock", "Profile", "Read", "Snapshot", "Statement"]


class Snapshot(StrEnum):
    """When the snapshot is taken that consistent reads show.

    By every statement for itself; for the transaction by its first statement that reads, by its first one of
    any kind, by the one that begins it, or at an instant that the database chooses: between the first
    operation and the answer to the first statement (`start`), or between begin and commit (`transaction`).
    """

    STATEMENT = "statement"
    FIRST_READ = "first-read"
    FIRST_STATEMENT = "first-statement"
    BEGIN = "begin"
    START = "start"
    TRANSACTION = "transaction"


class Certifier(StrEnum):
    """What refuses transactions that would not be serializable, or would lose an update."""

    NONE = "none"
    SSI = "ssi"
    TIMESTAMP_ORDER = "timestamp-order"
    OPTIMISTIC_READS = "optimistic-reads"
    OPTIMISTIC_WRITES = "optimistic-writes"


class Lock(StrEnum):
    """What a statement holds on a row until its transaction ends; `update` excludes other updates alone."""

    NONE = "none"
    SHARE = "share"
    UPDATE = "update"
    EXCLUSIVE = "exclusive"


class Read(StrEnum):
    """Which version a statement reads: the newest one, that of the snapshot, or the newest committed one."""

    UNCOMMITTED = "uncommitted"
    CONSISTENT = "consistent"
    LOCKING = "locking"


class Granularity(StrEnum):
    """What a lock is taken on."""

    ROW = "row"
    TABLE = "table"
    DATABASE = "database"


class Statement(StrEnum):
    """Statements that a profile tells apart."""

    SELECT = "select"
    SELECT_FOR_SHARE = "select-for-share"
    SELECT_FOR_UPDATE = "select-for-update"
    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Conduct:
    """What one kind of statement does; `predicate`: its lock covers also rows that are not there."""

    lock: Lock = Lock.NONE
    read: Read = Read.CONSISTENT
    predicate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One level of one database, with sources.

    `name` is `database/level`; `promises` are the strongest levels that the mechanisms give together.
    `register_promises` are stronger ones for histories in which transactions only overwrite whole rows and
    read them without locks. `compares_inserts`: first updater wins is asked of inserted rows, too.
    `clock_skew`: real time orders snapshots and commits only where they have a key in common. `documented` is
    the page on which the vendor describes the level.
    """

    name: str
    database: str
    level: str
    protocol: str
    snapshot: Snapshot
    first_updater_wins: bool
    certifier: Certifier
    statements: Mapping[Statement, Conduct]
    granularity: Granularity = Granularity.ROW
    commit_lock: Lock = Lock.NONE
    compares_inserts: bool = False
    clock_skew: bool = False
    promises: tuple[Level, ...] = ()
    register_promises: tuple[Level, ...] = ()
    documented: str = ""
    aliases: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def promised(self, *, registers: bool) -> tuple[Level, ...]:
        """The strongest promised levels, for a history of registers or for any other."""
        return self.register_promises or self.promises if registers else self.promises

    @property
    def isolation(self) -> str:
        """The level as statements of the database spell it."""
        return self.level.replace("-", " ").upper()

    #: The same mechanisms as the native core takes them.
    native: _native.Profile = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        statements = {
            str(statement): _native.Conduct(
                lock=conduct.lock, read=conduct.read, locks_predicate=conduct.predicate
            )
            for statement, conduct in self.statements.items()
        }
        native = _native.Profile(
            snapshot=self.snapshot,
            granularity=self.granularity,
            first_updater_wins=self.first_updater_wins,
            compares_inserts=self.compares_inserts,
            clock_skew=self.clock_skew,
            certifier=self.certifier,
            commit_lock=self.commit_lock,
            statements=statements,
        )
        object.__setattr__(self, "native", native)
