"""The simulated database that works as a profile says, and records true times.

Clients send requests, and the server handles each at one true instant. The history has what clients saw: when
they sent a request and when they had the answer. The truth is for tests of the method of intervals, which
shares only the words of the profile with the engine (`rust/kernel/src/simulate/store/profile`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from isoscope import _native
from isoscope._native import Truth
from isoscope.databases.database import refuse_unknown
from isoscope.errors import UsageError
from isoscope.history import History, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "FAULTS",
    "Delays",
    "Load",
    "Profile",
    "Profiled",
    "Run",
    "Truth",
    "run",
    "slices",
]

#: Faults, and their meanings.
FAULTS: Mapping[str, str] = MappingProxyType(
    {
        "stale-snapshot": "a read shows the version before the one of its snapshot",
        "moving-snapshot": "a read shows the newest committed version, not the snapshot of its transaction",
        "dirty-read": "a read shows a write that is not committed",
        "aborted-read": "a read shows a write that was rolled back",
        "intermediate-read": "a read shows a write that its own transaction overwrote",
        "future-read": "a read shows a version that is committed only later",
        "lost-own-write": "a read does not show the write of its own transaction",
        "missing-lock": "a statement that writes, or a commit, does not wait for a lock",
        "missing-share-lock": "a read does not wait for its lock",
        "early-release": "a lock is released while its transaction goes on",
        "missed-first-updater": "a row is changed although it changed since the snapshot",
        "missed-certifier": "a transaction commits although the certifier should refuse it",
        "lost-version": "a write disappears with its commit",
        "missing-row": "a range read leaves out a row",
    }
)


_SHARES = (
    "reads",
    "ranges",
    "for_update",
    "for_share",
    "updates_after_reads",
    "inserts",
    "deletes",
    "rollbacks",
    "lost_answers",
)


class Profile(Protocol):
    """The mechanisms of a database, as `isoscope.profiles.Profile` has them."""

    @property
    def name(self) -> str:
        """`database/level`."""

    @property
    def native(self) -> _native.Profile:
        """The profile as the native core takes it."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The result of a run: the history, and the true times."""

    history: History
    truth: Truth

    def struck(self) -> Mapping[str, tuple[int, int]]:
        """How often each fault struck, and how often it can have been seen."""
        all_ = Counter(struck.fault for struck in self.truth.faults)
        seen = Counter(struck.fault for struck in self.truth.faults if struck.is_visible)
        return {fault: (all_[fault], seen[fault]) for fault in sorted(all_)}


def run(database: Profiled, load: Load, *, truth: bool = True) -> Run:
    """Runs `load`; raises `UsageError` if it is impossible. Faults are recorded even without `truth`."""
    native = _native_run(database, load, truth=truth)
    history = _history(database, native.next(load.transactions))
    return Run(history=history, truth=native.truth())


def slices(database: Profiled, load: Load, size: int) -> Iterator[History]:
    """The same history in parts of `size` transactions, in the order in which they end."""
    native = _native_run(database, load, truth=False)
    while True:
        history = _history(database, native.next(size))
        if not history.counts["transactions"]:
            return
        yield history


def _history(database: Profiled, columns: _native.Columns) -> History:
    return History(columns, Source(path=f"<{database.profile.name}>", format="simulated"))


def _native_run(database: Profiled, load: Load, *, truth: bool) -> _native.ProfiledRun:
    for name, share in database.faults.items():
        refuse_unknown("fault", name, FAULTS)
        _refuse_share(f"the rate of {name}", share)
    for name in _SHARES:
        _refuse_share(name, getattr(load, name))
    try:
        return _native.ProfiledRun(
            database.profile.native,
            load,
            database.delays,
            seed=database.seed,
            faults=list(database.faults.items()),
            truth=truth,
        )
    except (TypeError, ValueError) as error:
        # A number that does not fit is the cause of a TypeError.
        raise UsageError(f"{error.__cause__ or error}, in {load}") from error


def _refuse_share(name: str, share: float) -> None:
    if not 0 <= share <= 1:
        raise UsageError(f"{name}: a share lies between 0 and 1, not at {share}")
