"""A simulated database that works as a profile says, and knows when everything really happened.

Clients send requests, the server acts at one true instant of each, and the history has what clients saw:
when they asked and when they had the answer. The truth is for tests of the method of intervals, which shares
nothing with the engine (`rust/kernel/src/simulate/mechanisms`) but the words of the profile.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol

from isoscope import _native
from isoscope.databases.database import refuse_unknown
from isoscope.errors import UsageError
from isoscope.history import History, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "FAULTS",
    "Delays",
    "Dependency",
    "HeldLock",
    "Lifetime",
    "Load",
    "Profile",
    "Profiled",
    "Run",
    "Shown",
    "Struck",
    "Truth",
    "Version",
    "run",
    "slices",
]

#: What can go wrong, and what that is.
FAULTS: Mapping[str, str] = MappingProxyType(
    {
        "stale-snapshot": "a read shows the version before the one of its snapshot",
        "moving-snapshot": "a read shows what is committed by then, not the snapshot of its transaction",
        "dirty-read": "a read shows a write that is not committed",
        "aborted-read": "a read shows a write that was rolled back",
        "intermediate-read": "a read shows a write that its own transaction overwrote",
        "future-read": "a read showed what was committed only later",
        "lost-own-write": "a read does not show what its own transaction wrote",
        "missing-lock": "a statement that writes, or a commit, does not wait for a lock",
        "missing-share-lock": "a read does not wait for its lock",
        "early-release": "a lock is released while its transaction goes on",
        "missed-first-updater": "a row is changed although it changed since the snapshot",
        "missed-certifier": "a transaction commits that the certifier should refuse",
        "lost-version": "a write disappears with its commit",
        "missing-row": "a range read leaves out a row",
    }
)


_SHARES = frozenset(
    {
        "reads",
        "ranges",
        "for_update",
        "for_share",
        "updates_after_reads",
        "inserts",
        "deletes",
        "rollbacks",
        "lost_answers",
    }
)


class Profile(Protocol):
    """What the database does, as `isoscope.profiles.Profile` says it."""

    @property
    def name(self) -> str:
        """`database/level`."""

    @property
    def native(self) -> _native.Profile:
        """The same for the native core."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What clients do. Shares lie between 0 and 1.

    `reads` is the share of statements, `inserts` and `deletes` of those that write; `ranges`, `for_update`
    and `for_share` are shares of reads, `updates_after_reads` of updates. Row n is drawn with weight
    1/n^theta.
    """

    clients: int = 8
    transactions: int = 1000
    operations: tuple[int, int] = (1, 8)
    keys: int = 100
    tables: int = 1
    theta: float = 0.0
    reads: float = 0.5
    ranges: float = 0.0
    longest_range: int = 10
    for_update: float = 0.0
    for_share: float = 0.0
    updates_after_reads: float = 0.0
    inserts: float = 0.0
    deletes: float = 0.0
    repeated_values: int = 0
    rollbacks: float = 0.0
    lost_answers: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Delays:
    """How long things take on average, in nanoseconds; `clock_error` is how far clocks are off at most."""

    network: int = 50_000
    service: int = 20_000
    thinking: int = 20_000
    clock_error: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiled:
    """The database: `faults` are the shares of occasions at which each strikes."""

    profile: Profile
    seed: int = 0
    delays: Delays = field(default_factory=Delays)
    faults: Mapping[str, float] = field(default_factory=dict)


class Lifetime(NamedTuple):
    """True instants of a transaction; `snapshot` where all of it has one, `committed` if it did."""

    begun: int
    snapshot: int | None
    committed: int | None
    ended: int


class HeldLock(NamedTuple):
    """A lock on rows from `low` to `high`; `mode` is the place in `isoscope.profiles.Lock`."""

    transaction: int
    low: int
    high: int
    mode: int
    is_predicate: bool
    taken: int
    released: int


class Shown(NamedTuple):
    """A read looked at a row as it was at an instant: the version of `writer`, None for the initial one."""

    operation: int
    key: int
    at: int
    writer: int | None
    appeared: int


class Version(NamedTuple):
    """The version of a row that a transaction left, and when it appeared."""

    key: int
    transaction: int
    appeared: int


class Dependency(NamedTuple):
    """One transaction comes before another because of a row; `kind` is wr, ww or rw."""

    kind: str
    before: int
    after: int
    key: int


class Struck(NamedTuple):
    """A fault; `is_visible` if clients of committed transactions can have seen it."""

    fault: str
    transaction: int
    operation: int
    is_visible: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What really happened. Transactions and operations are numbered as in the history.

    `lifetimes` are by transaction, `versions` of each row in their order; `dependencies` are those of
    committed transactions, between neighbouring versions.
    """

    lifetimes: tuple[Lifetime, ...]
    locks: tuple[HeldLock, ...]
    shown: tuple[Shown, ...]
    versions: tuple[Version, ...]
    dependencies: tuple[Dependency, ...]
    faults: tuple[Struck, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a run left: the history, and what really happened."""

    history: History
    truth: Truth

    def struck(self) -> Mapping[str, tuple[int, int]]:
        """How often each fault struck, and how often it can have been seen."""
        all_ = Counter(struck.fault for struck in self.truth.faults)
        seen = Counter(struck.fault for struck in self.truth.faults if struck.is_visible)
        return {fault: (all_[fault], seen[fault]) for fault in sorted(all_)}


def run(database: Profiled, load: Load, *, truth: bool = True) -> Run:
    """Runs `load`; raises `UsageError` if it makes no sense. Faults are told of even without `truth`."""
    simulation = _simulation(database, load, truth=truth)
    history = _history(database, simulation.next(load.transactions))
    lifetimes, locks, shown, versions, dependencies, faults = simulation.truth()
    kinds = ("wr", "ww", "rw")
    return Run(
        history=history,
        truth=Truth(
            lifetimes=tuple(Lifetime(*row) for row in lifetimes),
            locks=tuple(HeldLock(*row) for row in locks),
            shown=tuple(Shown(*row) for row in shown),
            versions=tuple(Version(*row) for row in versions),
            dependencies=tuple(Dependency(kinds[kind], *row) for kind, *row in dependencies),
            faults=tuple(Struck(*row) for row in faults),
        ),
    )


def slices(database: Profiled, load: Load, size: int) -> Iterator[History]:
    """The same history in parts of `size` transactions, in the order in which they end."""
    simulation = _simulation(database, load, truth=False)
    while True:
        history = _history(database, simulation.next(size))
        if not history.counts["transactions"]:
            return
        yield history


def _history(database: Profiled, columns: _native.Columns) -> History:
    return History(columns, Source(path=f"<{database.profile.name}>", format="simulated"))


def _simulation(database: Profiled, load: Load, *, truth: bool) -> _native.MechanismSimulation:
    for name, share in database.faults.items():
        refuse_unknown("fault", name, FAULTS)
        _refuse_share(f"the rate of {name}", share)
    shares = {name: share for name, share in asdict(load).items() if name in _SHARES}
    for name, share in shares.items():
        _refuse_share(name, share)
    rest = {name: number for name, number in asdict(load).items() if name not in _SHARES}
    try:
        return _native.MechanismSimulation(
            database.profile.native,
            seed=database.seed,
            **rest,
            **{name: round(share * 1000) for name, share in shares.items()},
            **asdict(database.delays),
            faults=list(database.faults.items()),
            truth=truth,
        )
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{error}, in {load}") from error


def _refuse_share(name: str, share: float) -> None:
    if not 0 <= share <= 1:
        raise UsageError(f"{name}: a share lies between 0 and 1, not at {share}")
