"""The simulated database, one session at a time, for clients in threads of their own.

`isoscope.databases.simulated` schedules its sessions by itself; here the threads decide, and isolations and
faults are the same. `isoscope.databases.multiversion` is the engine.
"""

from __future__ import annotations

from contextlib import contextmanager
from time import sleep
from typing import TYPE_CHECKING, ClassVar

from isoscope.databases.database import Aborted, Database, Isolation, refuse_unknown
from isoscope.databases.multiversion import Change, Rules, Store, Transaction
from isoscope.databases.simulated import BUGS
from isoscope.databases.simulated import ISOLATIONS as SIMULATED
from isoscope.errors import UsageError
from isoscope.history import Timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isoscope.databases.database import Content, Found

__all__ = ["DATABASE"]


class _Session:
    """One client of the store."""

    def __init__(self, store: Store, content: Content) -> None:
        self._store = store
        self._is_list = content == "list"
        self._open: Transaction | None = None
        self._last_commit = 0

    def begin(self) -> None:
        self.rollback()
        sleep(self._store.rules.latency)
        with self._store.lock:
            self._open = Transaction(self._store, self._last_commit)

    def read(self, key: int) -> Found:
        with self._transaction() as transaction:
            return transaction.read(key)

    def write(self, key: int, value: int) -> None:
        with self._transaction() as transaction:
            transaction.change(key, Change(replaces=True, content=value))

    def append(self, key: int, value: int) -> None:
        with self._transaction() as transaction:
            transaction.change(key, Change(replaces=False, appended=(value,)))

    def insert(self, key: int, value: int) -> None:
        content = (value,) if self._is_list else value
        with self._transaction() as transaction:
            transaction.change(key, Change(replaces=True, content=content), is_new=True)

    def delete(self, key: int) -> None:
        with self._transaction() as transaction:
            transaction.change(key, Change(replaces=True))

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
    def _transaction(self) -> Iterator[Transaction]:
        """The open transaction, with everybody else waiting."""
        if self._open is None:
            raise Aborted("no transaction is open")
        sleep(self._store.rules.latency)
        with self._store.lock:
            yield self._open


class _Sessions(Database):
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
        self.isolation = isolation
        self._rules = _rules(isolation, settings)
        self._content: Content = "register"
        self._store = Store(self._rules)

    def open(self, content: Content) -> str:
        self._content = content
        self._store = Store(self._rules)
        return "simulated database"

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        # As old as the database: who has begun already finds them too.
        with self._store.lock:
            for key, value in rows:
                content = () if self._content == "list" else value
                self._store.install(key, Change(replaces=True, content=content), 0)

    def session(self) -> _Session:
        return _Session(self._store, self._content)

    def version_order(self) -> Iterable[tuple[int, int]] | None:
        return None if self._content == "list" else self._store.log

    def close(self) -> None:
        self._store = Store(self._rules)


DATABASE = _Sessions


def _rules(isolation: str, settings: Mapping[str, str]) -> Rules:
    bug = settings.get("bug")
    if bug is not None:
        _refuse_bug(bug, isolation)
    elif "bug_rate" in settings:
        raise UsageError("`bug_rate` is the rate of a bug\n\nhint: --set bug=NAME")
    return Rules(
        isolation=isolation,
        bug=bug,
        bug_rate=_number("bug_rate", settings, usual=BUGS[bug].rate if bug else 0, most=1),
        latency=_number("latency", settings, usual=0, most=1_000_000) / 1e6,
        seed=_seed(settings.get("seed", "0")),
    )


def _refuse_bug(name: str, isolation: str) -> None:
    refuse_unknown("bug", name, BUGS)
    if name == "clock-skew":
        raise UsageError(
            "clock-skew takes several clocks, and these sessions share one\n\n"
            "hint: isoscope generate --clock hybrid"
        )
    if isolation not in BUGS[name].isolations:
        possible = [
            bug for bug, entry in BUGS.items() if isolation in entry.isolations and bug != "clock-skew"
        ]
        raise UsageError(
            f"{isolation} cannot show {name}: it promises nothing that this would break\n\n"
            f"hint: {', '.join(BUGS[name].isolations)} can; or inject {', '.join(possible)}"
        )


def _number(name: str, settings: Mapping[str, str], *, usual: float, most: int) -> float:
    try:
        number = float(settings.get(name, usual))
    except ValueError:
        number = -1.0
    if not 0 <= number <= most:
        raise UsageError(f"`{name}` is a number from 0 to {most}, not `{settings[name]}`")
    return number


def _seed(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"`seed` is an integer, not `{text}`") from None
