"""Orders of versions compared with the history, one source at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope.history import Status
from isoscope.reference import reads
from isoscope.reference.reads import token
from isoscope.verdict import START

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isoscope.history import History, Transaction


@dataclass(frozen=True)
class Version:
    """The transaction that wrote it, and the value."""

    writer: str
    value: object


@dataclass
class Orders:
    """Asks each source alone whether one version comes before another."""

    history: History
    counted: frozenset[int]

    def __post_init__(self) -> None:
        self.transactions = list(self.history)

    def has(self, source: str, key: object, older: Version, newer: Version) -> bool:
        """Whether that source puts one version before the other."""
        sources: dict[str, Callable[[object, Version, Version], bool]] = {
            "log": self.log,
            "declared": self.declared,
            "timestamps": self.timestamps,
            "initial": self.initial_first,
            "read-then-write": self.read_then_write,
            "session": self.session,
            "real-time": self.real_time,
            "assume writes-follow-reads": self.read_then_write,
            "assume sequential-keys": self.sequential,
            "assume linearizable-keys": self.linearizable,
            "supposed": lambda _, one, other: one.writer != other.writer,
        }
        versions = [version for version in (older, newer) if version.writer != START]
        return all(self.is_one(key, version) for version in versions) and sources[source](key, older, newer)

    def is_one(self, key: object, version: Version) -> bool:
        """Whether it stayed: of a register the last write, of a list every append."""
        kept = [t for t in self.transactions if t.number in self.counted]
        first = 0 if reads.shape(kept, key) == "list" else -1
        return version.value in reads.installed(self.writer(version), key)[first:]

    def canonical(self, key: object) -> list[object]:
        """What the longest read shows; nothing if two such reads differ."""
        longest = reads.longest_lists(self.transactions, self.counted, key)
        return longest[0] if len(longest) == 1 else []

    def initial(self, key: object) -> object:
        return reads.initial_value(self.history, self.transactions, self.counted, key)

    def log(self, key: object, older: Version, newer: Version) -> bool:
        return self.recorded("log", key, older, newer)

    def declared(self, key: object, older: Version, newer: Version) -> bool:
        return self.recorded("declared", key, older, newer)

    def recorded(self, source: str, key: object, older: Version, newer: Version) -> bool:
        versions = [
            token(value)
            for order in self.history.version_orders
            for other, values in order.versions.items()
            for value in values
            if order.source == source and token(other) == token(key)
        ]
        values = [older.value, newer.value]
        return {*values} <= {*versions} and versions.index(values[0]) < versions.index(values[1])

    def timestamps(self, key: object, older: Version, newer: Version) -> bool:
        first, second = self.writer(older).commit, self.writer(newer).commit
        return first is not None and second is not None and first < second

    def initial_first(self, key: object, older: Version, newer: Version) -> bool:
        return older.value == self.initial(key) and newer.writer != START

    def read_then_write(self, key: object, older: Version, newer: Version) -> bool:
        writer = self.writer(newer)
        return any(
            token(read.value) == older.value and not reads.installed_before(writer, key, place)
            for place, read in reads.reads_of(writer, key)
        )

    def session(self, key: object, older: Version, newer: Version) -> bool:
        return self.same_session(self.writer(older), self.writer(newer))

    def real_time(self, key: object, older: Version, newer: Version) -> bool:
        return self.apart(self.writer(older), self.writer(newer)) is not None

    def sequential(self, key: object, older: Version, newer: Version) -> bool:
        return any(
            self.same_session(first, second) and (last, start) == (older.value, newer.value)
            for first, last, second, start in self.pairs(key)
        )

    def linearizable(self, key: object, older: Version, newer: Version) -> bool:
        return any(
            self.apart(first, second) is not None and (last, start) == (older.value, newer.value)
            for first, last, second, start in self.pairs(key)
        )

    def writer(self, version: Version) -> Transaction:
        [writer] = [t for t in self.transactions if t.label == version.writer]
        return writer

    def pairs(self, key: object) -> Iterator[tuple[Transaction, object, Transaction, object]]:
        """Every two transactions that touch the key: with the last value of one, the first of the other."""
        touching = [(t, self.touched(t, key)) for t in self.transactions if t.number in self.counted]
        for first, values in touching:
            for second, others in touching:
                if values and others and first is not second:
                    yield first, values[-1], second, others[0]

    def touched(self, transaction: Transaction, key: object) -> list[object]:
        """The external read of the key, if there is one, and the last write, if there is one."""
        external = [
            token(read.value)
            for place, read in reads.reads_of(transaction, key)
            if not reads.installed_before(transaction, key, place)
        ]
        return [*external[:1], *reads.installed(transaction, key)[-1:]]

    def same_session(self, first: Transaction, second: Transaction) -> bool:
        """Whether they ran in one session, in this order."""
        [session] = [s.transactions for s in self.history.sessions if first.number in s.transactions]
        return second.number in session and session.index(first.number) < session.index(second.number)

    def apart(self, first: Transaction, second: Transaction) -> tuple[int, int] | None:
        """When one had completed and the other began, if in this order and if that is known."""
        if first.status is Status.INDETERMINATE:
            return None
        for one, other in ((first.positions, second.positions), (first.interval, second.interval)):
            if one and other and one.complete is not None and other.invoke is not None:
                return (one.complete, other.invoke) if one.complete < other.invoke else None
        return None
