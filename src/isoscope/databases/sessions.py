"""The simulated database, one session at a time: a multi-version store in memory, used by real threads.

Isolations and faults have the names and meanings of `isoscope.databases.simulated`, which schedules by itself;
here the threads decide. Every transaction keeps its writes to itself until it commits. One lock guards
everything, and one clock counts begins and commits: those are the timestamps.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from random import Random
from threading import Lock
from time import sleep
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from isoscope.databases.database import Aborted, Isolation, refuse_unknown
from isoscope.databases.simulated import BUGS
from isoscope.databases.simulated import ISOLATIONS as SIMULATED
from isoscope.errors import UsageError
from isoscope.history import Timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isoscope.databases.database import Content, Found

__all__ = ["DATABASE"]

_SNAPSHOTS = ("serializable", "snapshot-isolation")
#: The clock hands out even numbers: what a fault makes up is odd, and never one of its.
_STRIDE = 2
#: So far the clock goes until the second half of a fractured commit is visible.
_LATER = 32
#: So many versions a key has before old ones are dropped.
_CROWD = 16


class _Change(NamedTuple):
    """What a transaction does to a row: `content` takes its place if it `replaces`; then comes `appended`."""

    replaces: bool
    content: Found = None
    appended: tuple[int, ...] = ()

    def applied(self, before: Found) -> Found:
        content = self.content if self.replaces else before
        if not self.appended:
            return content
        return (*content, *self.appended) if isinstance(content, tuple) else self.appended

    def after(self, earlier: _Change | None) -> _Change:
        """Both together."""
        if earlier is None or self.replaces:
            return self
        return _Change(earlier.replaces, earlier.content, earlier.appended + self.appended)


class _Version(NamedTuple):
    """What a row held from `commit` on; by a fault it can be found only when the clock is at `visible`."""

    commit: int
    content: Found
    visible: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rules:
    """What was asked for."""

    isolation: str
    bug: str | None
    bug_rate: float
    latency: float
    seed: int

    @property
    def has_snapshots(self) -> bool:
        return self.isolation in _SNAPSHOTS


class _Store:
    """Versions of every key, as far back as an open transaction may look, in the order of commits."""

    def __init__(self, rules: _Rules) -> None:
        self.rules = rules
        self.lock = Lock()
        self.random = Random(rules.seed)
        self.clock = 0
        self.open: set[_Transaction] = set()
        #: The last open transaction that wrote a key.
        self.holders: dict[int, _Transaction] = {}
        #: What was rolled back, if a fault needs it.
        self.ghosts: dict[int, _Change] = {}
        self.log: list[tuple[int, int]] = []
        self._keys: list[int] = []
        self._versions: dict[int, list[_Version]] = {}

    def tick(self) -> int:
        self.clock += _STRIDE
        return self.clock

    def shown(self, key: int, snapshot: float) -> Found:
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

    def install(self, key: int, change: _Change, commit: int, *, visible: int = 0) -> None:
        versions = self._versions.get(key)
        if versions is None:
            versions = self._versions[key] = []
            insort(self._keys, key)
        content = change.applied(versions[-1].content if versions else None)
        versions.append(_Version(commit, content, visible))
        if len(versions) > _CROWD:
            self._forget(versions)

    def _forget(self, versions: list[_Version]) -> None:
        """Drops what nobody can see any more."""
        horizon = min((transaction.snapshot for transaction in self.open), default=self.clock)
        visible = [
            place
            for place, version in enumerate(versions)
            if version.commit <= horizon and version.visible <= self.clock
        ]
        del versions[: visible[-1] if visible else 0]


class _Transaction:
    """One that is open; `fault` may strike in it. The lock is held by whoever calls."""

    __slots__ = ("_view", "fault", "own", "ranges", "shown", "snapshot", "start", "store", "tick")

    def __init__(self, store: _Store, last_commit: int) -> None:
        self.store = store
        self.tick = self.start = self.snapshot = store.tick()
        self.own: dict[int, _Change] = {}
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
        oldest = min((other.tick for other in self.store.open), default=self.tick)
        if self.fault == "stale-snapshot":
            self.snapshot = oldest
        elif self.fault == "reordered-session" and oldest + 1 < last_commit:
            self.start = self.snapshot = oldest + 1

    def read(self, key: int) -> Found:
        change = self.own.get(key)
        if change is None or self.fault == "forgotten-write":
            return self._observed(key)
        return change.content if change.replaces and not change.appended else change.applied(self._observed(key))

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
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

    def _uncommitted(self, key: int) -> _Change | None:
        """What another wrote and did not commit, if it is to be shown."""
        if self.fault == "aborted-read":
            return self.store.ghosts.pop(key, None)
        if self.store.rules.isolation != "read-uncommitted" and self.fault != "dirty-read":
            return None
        holder = self.store.holders.get(key)
        return None if holder is None or holder is self else holder.own[key]

    def change(self, key: int, change: _Change, *, is_new: bool = False) -> None:
        holder = self.store.holders.get(key)
        if self.store.rules.isolation == "read-uncommitted" and holder not in {None, self}:
            raise Aborted("another open transaction has written the row")
        own = self.own.get(key)
        found = self.store.shown(key, self._view)
        if ((own.applied(found) if own else found) is None) != is_new:
            raise Aborted("the row is already there" if is_new else "there is no such row")
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
        fractured = len(self.own) // 2 if self.fault == "fractured-commit" else 0
        lost = self.store.random.randrange(len(self.own)) if self.fault == "dropped-write" and self.own else -1
        for place, (key, change) in enumerate(self.own.items()):
            visible = self.store.clock + _LATER if fractured and place >= fractured else 0
            # What is lost leaves a version that is like the one before.
            kept = _Change(replaces=False) if place == lost else change
            self.store.install(key, kept, commit, visible=visible)
            if change.replaces and isinstance(change.content, int):
                self.store.log.append((key, change.content))

    def rollback(self) -> None:
        self.store.open.discard(self)
        if self.store.rules.bug == "aborted-read":
            self.store.ghosts.update(self.own)
        self._release()

    def _release(self) -> None:
        for key in self.own:
            if self.store.holders.get(key) is self:
                del self.store.holders[key]


class _Session:
    """One client of the store."""

    def __init__(self, store: _Store, content: Content) -> None:
        self._store = store
        self._is_list = content == "list"
        self._open: _Transaction | None = None
        self._last_commit = 0

    def begin(self) -> None:
        self.rollback()
        sleep(self._store.rules.latency)
        with self._store.lock:
            self._open = _Transaction(self._store, self._last_commit)

    def read(self, key: int) -> Found:
        with self._transaction() as transaction:
            return transaction.read(key)

    def write(self, key: int, value: int) -> None:
        with self._transaction() as transaction:
            transaction.change(key, _Change(replaces=True, content=value))

    def append(self, key: int, value: int) -> None:
        with self._transaction() as transaction:
            transaction.change(key, _Change(replaces=False, appended=(value,)))

    def insert(self, key: int, value: int) -> None:
        content = (value,) if self._is_list else value
        with self._transaction() as transaction:
            transaction.change(key, _Change(replaces=True, content=content), is_new=True)

    def delete(self, key: int) -> None:
        with self._transaction() as transaction:
            transaction.change(key, _Change(replaces=True))

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        with self._transaction() as transaction:
            return transaction.range_read(low, high)

    def commit(self) -> tuple[Timestamp, Timestamp]:
        with self._transaction() as transaction:
            start, commit = transaction.commit()
        self._open, self._last_commit = None, commit
        return Timestamp(start), Timestamp(commit)

    def rollback(self) -> None:
        transaction, self._open = self._open, None
        if transaction is not None:
            with self._store.lock:
                transaction.rollback()

    def close(self) -> None:
        self.rollback()

    @contextmanager
    def _transaction(self) -> Iterator[_Transaction]:
        """The open transaction, with everybody else waiting."""
        if self._open is None:
            raise Aborted("no transaction is open")
        sleep(self._store.rules.latency)
        with self._store.lock:
            yield self._open


class _Sessions:
    """The database: a store that is new with every `open`."""

    NAME: ClassVar[str] = "simulated"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = {
        name: Isolation(meaning=isolation.meaning, promises=isolation.promises)
        for name, isolation in SIMULATED.items()
    }
    SETTINGS: ClassVar[Mapping[str, str]] = {
        "bug": "one named fault, as `isoscope generate --bug` has them",
        "bug_rate": "share of transactions in which the fault may strike",
        "latency": "microseconds that every statement takes at least",
        "seed": "decides in which transactions the fault may strike",
    }

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        if url is not None:
            raise UsageError(f"the simulated database has no address, but `{url}` has one")
        self._rules = _rules(isolation, settings)
        self._content: Content = "register"
        self._store = _Store(self._rules)

    def open(self, content: Content) -> str:
        self._content = content
        self._store = _Store(self._rules)
        return "simulated database"

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        # As old as the database: who has begun already finds them too.
        with self._store.lock:
            for key, value in rows:
                content = () if self._content == "list" else value
                self._store.install(key, _Change(replaces=True, content=content), 0)

    def session(self) -> _Session:
        return _Session(self._store, self._content)

    def version_order(self) -> Iterable[tuple[int, int]] | None:
        return None if self._content == "list" else self._store.log

    def close(self) -> None:
        self._store = _Store(self._rules)


DATABASE = _Sessions


def _rules(isolation: str, settings: Mapping[str, str]) -> _Rules:
    bug = settings.get("bug")
    if bug is not None:
        _refuse_bug(bug, isolation)
    elif "bug_rate" in settings:
        raise UsageError("`bug_rate` is the rate of a bug\n\nhint: --set bug=NAME")
    usual = BUGS[bug].rate if bug else 0.0
    rate = _number("bug_rate", settings, usual)
    if rate > 1:
        raise UsageError(f"a share of transactions lies between 0 and 1, not at {rate:g}")
    return _Rules(
        isolation=isolation,
        bug=bug,
        bug_rate=rate,
        latency=_number("latency", settings, 0) / 1e6,
        seed=int(_number("seed", settings, 0)),
    )


def _refuse_bug(name: str, isolation: str) -> None:
    refuse_unknown("bug", name, BUGS)
    if name == "clock-skew":
        raise UsageError("clock-skew takes several clocks, and these sessions share one\n\nhint: isoscope generate --clock hybrid")
    if isolation not in BUGS[name].isolations:
        possible = [bug for bug, entry in BUGS.items() if isolation in entry.isolations and bug != "clock-skew"]
        raise UsageError(
            f"{isolation} cannot show {name}: it promises nothing that this would break\n\n"
            f"hint: {', '.join(BUGS[name].isolations)} can; or inject {', '.join(possible)}"
        )


def _number(name: str, settings: Mapping[str, str], usual: float) -> float:
    try:
        number = float(settings.get(name, usual))
    except ValueError:
        number = -1.0
    if not 0 <= number < inf:
        raise UsageError(f"`{name}` is a number from 0 on, not `{settings[name]}`")
    return number
