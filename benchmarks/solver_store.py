"""A store in memory that runs the programs of interleaved sessions, and the file that its history becomes.

Each transaction reads the store as it was at its begin. A serializable store refuses a commit if a key that
the transaction read has changed since; a store with snapshot isolation, if a key that it wrote has. A
refused transaction is dropped, and its session tries it again: the file has committed transactions only.
The same seed gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ISOLATIONS", "Isolation", "Operation", "Program", "Recorded", "Step", "read", "run", "write"]

Isolation: TypeAlias = Literal["serializable", "snapshot-isolation"]
ISOLATIONS: tuple[Isolation, ...] = ("serializable", "snapshot-isolation")
#: Whether it writes; the key; the value written or read, None for what no transaction wrote.
Operation: TypeAlias = tuple[bool, Hashable, Hashable]
#: A transaction: it yields operations, and is sent what its reads return.
Step: TypeAlias = Generator[Operation, Hashable, None]
#: Makes the next transaction of a session.
Program: TypeAlias = Callable[[Random], Step]


def read(key: Hashable) -> Operation:
    """A read that a program yields."""
    return False, key, None


def write(key: Hashable, value: Hashable) -> Operation:
    """A write that a program yields."""
    return True, key, value


@dataclass
class Recorded:
    """The committed transactions of each session, in its order."""

    sessions: list[list[list[Operation]]]

    @property
    def repeated(self) -> float:
        """The share of last writes whose value another transaction wrote to the same key too."""
        counts: dict[tuple[Hashable, Hashable], int] = {}
        for transactions in self.sessions:
            for operations in transactions:
                for pair in {key: value for is_write, key, value in operations if is_write}.items():
                    counts[pair] = counts.get(pair, 0) + 1
        return sum(n for n in counts.values() if n > 1) / max(1, sum(counts.values()))

    def save(self, path: Path) -> None:
        """Plume text, session by session; keys and values are numbered, and 0 is the initial value."""
        keys: dict[Hashable, int] = {}
        values: dict[Hashable, int] = {None: 0}
        numbers = count(1)
        with path.open("w", encoding="ascii") as file:
            for session, transactions in enumerate(self.sessions, start=1):
                for operations in transactions:
                    number = next(numbers)
                    for is_write, key, value in operations:
                        place = keys.setdefault(key, len(keys))
                        shown = values.setdefault(value, len(values))
                        file.write(f"{'w' if is_write else 'r'}({place},{shown},{session},{number})\n")


@dataclass
class _Attempt:
    """A transaction under way."""

    steps: Step
    began: int
    operations: list[Operation] = field(default_factory=list)
    read: set[Hashable] = field(default_factory=set)
    written: dict[Hashable, Hashable] = field(default_factory=dict)
    answer: Hashable = None


class _Store:
    """Versions of each key with the numbers of their commits."""

    def __init__(self, isolation: Isolation) -> None:
        self.isolation = isolation
        self.commits = 0
        self.versions: dict[Hashable, list[tuple[int, Hashable]]] = {}

    def read(self, attempt: _Attempt, key: Hashable) -> Hashable:
        if key in attempt.written:
            return attempt.written[key]
        attempt.read.add(key)
        for number, value in reversed(self.versions.get(key, ())):
            if number <= attempt.began:
                return value
        return None

    def commit(self, attempt: _Attempt) -> bool:
        """Installs the writes, unless the isolation refuses."""
        guarded = attempt.read if self.isolation == "serializable" else attempt.written
        if any(self.changed(key) > attempt.began for key in guarded):
            return False
        self.commits += 1
        for key, value in attempt.written.items():
            self.versions.setdefault(key, []).append((self.commits, value))
        return True

    def changed(self, key: Hashable) -> int:
        versions = self.versions.get(key)
        return versions[-1][0] if versions else 0


def run(program: Program, *, sessions: int, transactions: int, isolation: Isolation, seed: str) -> Recorded:
    """Lets each session commit so many transactions, one operation of any session at a time."""
    turn = Random(seed)
    first = turn.getrandbits(64)
    store = _Store(isolation)
    recorded = Recorded([[] for _ in range(sessions)])

    def attempt(session: int) -> _Attempt:
        # The same draws again if the commit before was refused: otherwise long transactions would be rare.
        place = session * transactions + len(recorded.sessions[session])
        return _Attempt(program(Random(first + place)), store.commits)

    running = [attempt(session) for session in range(sessions)]
    alive = [*range(sessions)]
    while alive:
        place = int(turn.random() * len(alive))
        session = alive[place]
        if _advance(store, running[session]):
            continue
        if store.commit(running[session]):
            recorded.sessions[session].append(running[session].operations)
        if len(recorded.sessions[session]) < transactions:
            running[session] = attempt(session)
        else:
            alive[place] = alive[-1]
            alive.pop()
    return recorded


def _advance(store: _Store, attempt: _Attempt) -> bool:
    """Runs one operation; False if there is none left."""
    try:
        is_write, key, value = attempt.steps.send(attempt.answer)
    except StopIteration:
        return False
    if is_write:
        attempt.written[key] = value
    else:
        value = store.read(attempt, key)
    attempt.answer = value
    attempt.operations.append((is_write, key, value))
    return True
