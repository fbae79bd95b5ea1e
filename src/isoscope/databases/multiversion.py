"""A multi-version store in memory: rows as they were at every commit, transactions, and one fault at a time.

Isolations and faults have the names and meanings of `isoscope.databases.simulated`, where a scheduler decides
whose turn it is; here threads do. A transaction keeps its writes to itself until it commits. One lock guards
everything, and one clock counts begins and commits: those are the timestamps.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass
from math import inf
from random import Random
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from isoscope.databases.database import Aborted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.databases.database import Found

__all__ = ["Change", "Rules", "Store", "Transaction"]

_SNAPSHOTS = ("serializable", "snapshot-isolation")
#: The clock hands out even numbers: what a fault makes up is odd, and never one of its.
_STRIDE = 2
#: So far the clock goes until the second half of a fractured commit is visible.
_LATER = 32
#: So many versions a key has before old ones are dropped.
_CROWD = 16


class Change(NamedTuple):
    """What a transaction does to a row: `content` takes its place if it `replaces`; then comes `appended`."""

    replaces: bool
    content: Found = None
    appended: tuple[int, ...] = ()

    def applied(self, before: Found) -> Found:
        """What the row holds then."""
        content = self.content if self.replaces else before
        if not self.appended:
            return content
        return (*content, *self.appended) if isinstance(content, tuple) else self.appended

    def after(self, earlier: Change | None) -> Change:
        """Both together."""
        if earlier is None or self.replaces:
            return self
        return Change(earlier.replaces, earlier.content, earlier.appended + self.appended)


_NOTHING = Change(replaces=False)


class Version(NamedTuple):
    """What a row held from `commit` on; by a fault it can be found only when the clock is at `visible`."""

    commit: int
    content: Found
    visible: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What was asked for."""

    isolation: str
    bug: str | None
    bug_rate: float
    latency: float
    seed: int

    @property
    def has_snapshots(self) -> bool:
        """Whether transactions read the state of their start."""
        return self.isolation in _SNAPSHOTS


class Store:
    """Versions of every key, as far back as an open transaction may look, in the order of commits."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.lock = Lock()
        self.random = Random(rules.seed)
        self.clock = 0
        self.open: set[Transaction] = set()
        #: The last open transaction that wrote a key.
        self.holders: dict[int, Transaction] = {}
        #: What was rolled back, if a fault needs it.
        self.ghosts: dict[int, Change] = {}
        self.log: list[tuple[int, int]] = []
        self._keys: list[int] = []
        self._versions: dict[int, list[Version]] = {}

    def tick(self) -> int:
        """A new timestamp."""
        self.clock += _STRIDE
        return self.clock

    def shown(self, key: int, snapshot: float) -> Found:
        """What a snapshot shows."""
        for version in reversed(self._versions.get(key, ())):
            if version.commit <= snapshot and version.visible <= self.clock:
                return version.content
        return None

    def newest(self, key: int) -> int:
        """When the newest version was committed."""
        versions = self._versions.get(key)
        return versions[-1].commit if versions else 0

    def keys(self, low: int, high: int) -> list[int]:
        """Those from `low` to `high` that ever had a row."""
        return self._keys[bisect_left(self._keys, low) : bisect_right(self._keys, high)]

    def install(self, key: int, change: Change, commit: int, *, visible: int = 0) -> None:
        """Adds the newest version of a row."""
        versions = self._versions.get(key)
        if versions is None:
            versions = self._versions[key] = []
            insort(self._keys, key)
        content = change.applied(versions[-1].content if versions else None)
        versions.append(Version(commit, content, visible))
        if len(versions) > _CROWD:
            self._forget(versions)

    def _forget(self, versions: list[Version]) -> None:
        """Drops what nobody can see any more."""
        horizon = min((transaction.snapshot for transaction in self.open), default=self.clock)
        visible = [
            place
            for place, version in enumerate(versions)
            if version.commit <= horizon and version.visible <= self.clock
        ]
        del versions[: visible[-1] if visible else 0]


class Transaction:
    """One that is open; `fault` may strike in it. The lock is held by whoever calls."""

    __slots__ = ("_view", "fault", "own", "ranges", "shown", "snapshot", "start", "store", "tick")

    def __init__(self, store: Store, last_commit: int) -> None:
        self.store = store
        self.tick = self.start = self.snapshot = store.tick()
        self.own: dict[int, Change] = {}
        #: What was found of others' writes.
        self.shown: dict[int, Found] = {}
        self.ranges: list[tuple[int, int]] = []
        rules = store.rules
        self.fault = rules.bug if rules.bug and store.random.random() < rules.bug_rate else None
        self._look_back(last_commit)
        has_snapshot = rules.has_snapshots and self.fault != "moving-snapshot"
        self._view: float = self.snapshot if has_snapshot else inf
        store.open.add(self)

    def _look_back(self, last_commit: int) -> None:
        """Faults that take the time of the oldest open transaction for the own one."""
        if self.fault is None:
            return
        oldest = min((other.tick for other in self.store.open), default=self.tick)
        if self.fault == "stale-snapshot":
            self.snapshot = oldest
        elif self.fault == "reordered-session" and oldest + 1 < last_commit:
            self.start = self.snapshot = oldest + 1

    def read(self, key: int) -> Found:
        """What it wrote itself, on top of what it finds of others."""
        change = self.own.get(key)
        if change is None or self.fault == "forgotten-write":
            return self._observed(key)
        return change.applied(None if change.replaces else self._observed(key))

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        """The same of every register of a range."""
        self.ranges.append((low, high))
        own = (key for key in self.own if low <= key <= high)
        found = ((key, self.read(key)) for key in sorted({*self.store.keys(low, high), *own}))
        return [(key, value) for key, value in found if isinstance(value, int)]

    def _observed(self, key: int) -> Found:
        """What others wrote; who has a snapshot looks once."""
        if key not in self.shown or not self.store.rules.has_snapshots:
            found = self.store.shown(key, self._view)
            change = self._uncommitted(key)
            self.shown[key] = found if change is None else change.applied(found)
        elif self.fault == "non-repeatable-read":
            self.shown[key] = self.store.shown(key, inf)
        return self.shown[key]

    def _uncommitted(self, key: int) -> Change | None:
        """What another wrote and did not commit, if it is to be shown."""
        if self.fault == "aborted-read":
            return self.store.ghosts.pop(key, None)
        if self.store.rules.isolation != "read-uncommitted" and self.fault != "dirty-read":
            return None
        holder = self.store.holders.get(key)
        return None if holder is None or holder is self else holder.own[key]

    def change(self, key: int, change: Change, *, is_new: bool = False) -> None:
        """Keeps a change until the commit; raises `Aborted` if the row is not there, or there and new."""
        holder = self.store.holders.get(key)
        if self.store.rules.isolation == "read-uncommitted" and holder not in {None, self}:
            raise Aborted("another open transaction has written the row")
        own = self.own.get(key)
        found = self.store.shown(key, self._view)
        if ((own.applied(found) if own else found) is None) != is_new:
            raise Aborted("the row is already there" if is_new else "the row is not there")
        self.own[key] = change.after(own)
        self.store.holders[key] = self

    def commit(self) -> tuple[int, int]:
        """Its start and commit timestamps; raises `Aborted` if it must not commit."""
        conflict = self._conflict()
        if conflict is not None:
            raise Aborted(conflict)
        start, commit = self._recorded(self.store.tick())
        self.store.open.discard(self)
        self._install(commit)
        self._release()
        return start, commit

    def _conflict(self) -> str | None:
        """First committer wins; to be serializable, what was read must still be the newest."""
        rules, newest = self.store.rules, self.store.newest
        if not rules.has_snapshots:
            return None
        # Who is shown an older snapshot by a fault is held to it: so nothing but the timestamp is wrong.
        limit = self.snapshot if rules.isolation == "snapshot-isolation" else self.start
        if self.fault != "lost-update" and any(newest(key) > limit for key in self.own):
            return "another transaction has written the row first"
        if rules.isolation == "snapshot-isolation" or self.fault == "write-skew":
            return None
        if any(newest(key) > limit for key in self._read_only()):
            return "another transaction has written what was read"
        return None

    def _read_only(self) -> Iterator[int]:
        """Keys that were read and not written; of ranges also those that had no row."""
        yield from self.shown.keys() - self.own.keys()
        for low, high in self.ranges:
            yield from (key for key in self.store.keys(low, high) if key not in self.own)

    def _recorded(self, now: int) -> tuple[int, int]:
        if self.fault == "timestamp-swap" and all(self.store.newest(key) < self.start for key in self.own):
            return now, self.start
        return self.start, now

    def _install(self, commit: int) -> None:
        late = len(self.own) // 2 if self.fault == "fractured-commit" else 0
        lost = self.store.random.choice([*self.own]) if self.own and self.fault == "dropped-write" else None
        for place, (key, change) in enumerate(self.own.items()):
            visible = self.store.clock + _LATER if late and place >= late else 0
            # What is lost leaves a version that is like the one before.
            self.store.install(key, _NOTHING if key == lost else change, commit, visible=visible)
            if isinstance(change.content, int):
                self.store.log.append((key, change.content))

    def rollback(self) -> None:
        """Gives its changes up."""
        self.store.open.discard(self)
        if self.store.rules.bug == "aborted-read":
            self.store.ghosts.update(self.own)
        self._release()

    def _release(self) -> None:
        for key in self.own:
            if self.store.holders.get(key) is self:
                del self.store.holders[key]
