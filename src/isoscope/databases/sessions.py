"""The simulated database, one session at a time, for clients in threads of their own.

`isoscope.databases.simulated` schedules its sessions itself; here the threads decide. The store, its
isolations and its faults are the same (`rust/kernel/src/simulate/store`).
"""

from __future__ import annotations

from contextlib import contextmanager
from random import Random
from time import sleep
from typing import TYPE_CHECKING, ClassVar

from isoscope import _native
from isoscope.databases.database import Aborted, Database, Isolation, refuse_unknown
from isoscope.databases.simulated import BUGS, impossible_bug
from isoscope.databases.simulated import ISOLATIONS as SIMULATED
from isoscope.errors import UsageError
from isoscope.history import Timestamp

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from isoscope.databases.database import Content, Found

__all__ = ["DATABASE"]


#: Nodes of a run with faults whose user names no number, and ticks by which a clock steps.
_USUAL_NODES, _STEP = 3, 1000


class _Clock:
    """The clock of a node: right, but for a step that a fault makes."""

    def __init__(self) -> None:
        self.offset = 0


class _Session:
    """One client of the store; timestamps are read from the clock of its node."""

    def __init__(self, store: _native.SimulatedStore, latency: float, clock: _Clock) -> None:
        self._store = store
        self._latency = latency
        self._clock = clock
        self._offset = 0
        self._number = store.add_session()

    def begin(self) -> None:
        self.rollback()
        sleep(self._latency)
        self._offset = self._clock.offset
        self._store.begin(self._number)

    def read(self, key: int) -> Found:
        with self._statement():
            return self._store.read(self._number, key)

    def write(self, key: int, value: int) -> None:
        with self._statement():
            self._store.write(self._number, key, value)

    def append(self, key: int, value: int) -> None:
        with self._statement():
            self._store.append(self._number, key, value)

    def insert(self, key: int, value: int) -> None:
        with self._statement():
            self._store.insert(self._number, key, value)

    def delete(self, key: int) -> None:
        with self._statement():
            self._store.delete(self._number, key)

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        with self._statement():
            return self._store.range_read(self._number, low, high)

    def commit(self) -> tuple[Timestamp, Timestamp]:
        with self._statement():
            start, commit = self._store.commit(self._number)
        return Timestamp(start + self._offset), Timestamp(commit + self._clock.offset)

    def rollback(self) -> None:
        self._store.abort(self._number)

    def close(self) -> None:
        self.rollback()

    @contextmanager
    def _statement(self) -> Iterator[None]:
        """Gives the other threads a turn; a refused step aborts the transaction."""
        sleep(self._latency)
        try:
            yield
        except _native.Refused as refused:
            raise Aborted(str(refused)) from None


class _Sessions(Database):
    """The database: every `open` makes a new store."""

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
        self.isolation = isolation
        self._bug = _bug(isolation, settings)
        usual = BUGS[self._bug].rate if self._bug else 0
        self._bug_rate = _number("bug_rate", settings, usual=usual, largest=1)
        self._latency = _number("latency", settings, usual=0, largest=1_000_000) / 1e6
        self._seed = _seed(settings.get("seed", "0"))
        self._content: Content = "register"
        self._clocks: dict[str, _Clock] = {}
        self._steps = Random(self._seed)
        self._store = self._new_store()

    def _new_store(self) -> _native.SimulatedStore:
        return _native.SimulatedStore(
            self.isolation,
            lists=self._content == "list",
            bug=self._bug,
            bug_rate=self._bug_rate,
            seed=self._seed,
        )

    def open(self, content: Content) -> str:
        self._content = content
        self._store = self._new_store()
        return "simulated database"

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        # As old as the database: a transaction that has already begun finds them too.
        for key, value in rows:
            self._store.add_row(key, value)

    def session(self) -> _Session:
        return _Session(self._store, self._latency, _Clock())

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(self._clocks)

    def session_at(self, node: str) -> _Session:
        return _Session(self._store, self._latency, self._clocks[node])

    def use_nodes(self, count: int) -> None:
        self._clocks = {f"n{number}": _Clock() for number in range(1, count + 1)}

    def use_faults(self, kinds: Collection[str]) -> _Sessions:
        for kind in kinds:
            refuse_unknown("fault for simulated", kind, ("clock",))
        if not self._clocks:
            self.use_nodes(_USUAL_NODES)
        return self

    def inject(self, kind: str, node: str) -> None:  # noqa: ARG002 - there is one kind
        """The clock of a node steps forwards or backwards."""
        self._clocks[node].offset = self._steps.choice((-_STEP, _STEP))

    def heal(self, kind: str, node: str) -> str:  # noqa: ARG002
        """The clock is right again."""
        self._clocks[node].offset = 0
        return ""

    def version_order(self) -> Iterable[tuple[int, int]] | None:
        return None if self._content == "list" else self._store.log()

    def close(self) -> None:
        self._store = self._new_store()


DATABASE = _Sessions


def _bug(isolation: str, settings: Mapping[str, str]) -> str | None:
    bug = settings.get("bug")
    if bug is None:
        if "bug_rate" in settings:
            raise UsageError("`bug_rate` is the rate of a bug\n\nhint: --set bug=NAME")
        return None
    refuse_unknown("bug", bug, BUGS)
    if bug == "clock-skew":
        raise UsageError(
            "clock-skew takes several clocks, and these sessions share one\n\n"
            "hint: isoscope generate --clock hybrid"
        )
    if isolation not in BUGS[bug].isolations:
        raise impossible_bug(isolation, bug, besides="clock-skew")
    return bug


def _number(name: str, settings: Mapping[str, str], *, usual: float, largest: int) -> float:
    try:
        number = float(settings.get(name, usual))
    except ValueError:
        number = -1.0
    if not 0 <= number <= largest:
        raise UsageError(f"`{name}` is a number from 0 to {largest}, not `{settings[name]}`")
    return number


def _seed(text: str) -> int:
    try:
        # A seed of any size and sign: the store takes 64 bits.
        return int(text) % 2**64
    except ValueError:
        raise UsageError(f"`seed` is an integer, not `{text}`") from None
