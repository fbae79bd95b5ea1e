"""Brute force: does a commit order exist that explains every read? No patterns, no graphs, no names.

The levels are defined so (Biswas and Enea 2019, Section 2; Liu et al. 2024, Definitions 4 to 6): there is a
total order of the transactions, which contains session order and write-read, such that every read returns
what its level's axiom says. Here transactions commit one after the other, in every possible way, and each
must be able to read what it read from those before it. Written apart from `weak`, to be held against it.
An indeterminate transaction may have committed or not, and a repeated value may come from any of its
writers: one way to explain the history is enough. Logs, declared orders and timestamps say which of two
writers of a key came first, and a log that a transaction committed. For a handful of transactions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from typing import TYPE_CHECKING, NamedTuple

from isoscope.history import UNKNOWN, OperationKind, Status, VersionSource
from isoscope.levels import Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.history import History, Operation, Session, Transaction

__all__ = ["exists"]

_WRITES = (OperationKind.WRITE, OperationKind.INSERT, OperationKind.APPEND)


def exists(history: History, level: Level) -> bool:
    """Whether a commit order explains the history at read committed, read atomic or causal.

    Every key must be a register or a list; nothing is deleted, and there are no range reads.
    """
    logged = [t for t in history if t.status is Status.INDETERMINATE and _is_logged(history, t)]
    certain = [t for t in history if t.status is Status.COMMITTED] + logged
    doubtful = [t for t in history if t.status is Status.INDETERMINATE and t not in logged]
    return any(
        _Search(history, [*certain, *chosen], level).can_commit((), {}) for chosen in _subsets(doubtful)
    )


def _subsets(transactions: list[Transaction]) -> Iterable[tuple[Transaction, ...]]:
    return chain.from_iterable(combinations(transactions, size) for size in range(len(transactions) + 1))


class _Read(NamedTuple):
    """An external read: `source` is its writer, None for the initial state; `shown` are all writers in it."""

    key: object
    source: int | None
    shown: frozenset[int]


@dataclass(frozen=True)
class _Search:
    history: History
    committed: list[Transaction]
    level: Level

    @cached_property
    def transactions(self) -> list[Transaction]:
        return list(self.history)

    @cached_property
    def sessions(self) -> tuple[Session, ...]:
        return self.history.sessions

    def can_commit(self, order: tuple[Transaction, ...], past: dict[int, frozenset[int]]) -> bool:
        """Whether the others can commit after those in `order`; `past` is what happened before each."""
        waiting = [t for t in self.committed if t not in order]
        for transaction in waiting:
            mine = self.session_before(transaction)
            if any(other.number in mine for other in waiting):
                continue
            for reads in self.ways_to_read(transaction, order):
                direct = mine.union(*(read.shown for read in reads))
                before = direct.union(*(past[number] for number in direct))
                if self.axiom(order, reads, mine, before) and self.can_commit(
                    (*order, transaction), {**past, transaction.number: before}
                ):
                    return True
        return not waiting and self.agrees_with_evidence(order)

    def agrees_with_evidence(self, order: tuple[Transaction, ...]) -> bool:
        """Whether each recorded order, and the timestamps, say the same of the writers of each key."""
        clock = all(
            before.commit is None or after.commit is None or before.commit <= after.commit
            for before, after in combinations(order, 2)
            if {_plain(o.key) for o in before.operations if o.kind in _WRITES}
            & {_plain(o.key) for o in after.operations if o.kind in _WRITES}
        )
        return clock and all(
            _is_in_order(order, key, [_plain(value) for value in values])
            for recorded in self.history.version_orders
            for key, values in recorded.versions.items()
        )

    def axiom(
        self, order: tuple[Transaction, ...], reads: list[_Read], mine: frozenset[int], past: frozenset[int]
    ) -> bool:
        """No read misses a write that the level says is visible to it."""
        place = {transaction.number: index for index, transaction in enumerate(order)}
        everything = frozenset[int]().union(*(read.shown for read in reads))
        for index, read in enumerate(reads):
            visible = {
                Level.READ_COMMITTED: frozenset[int]().union(*(other.shown for other in reads[:index])),
                Level.READ_ATOMIC: mine | everything,
                Level.CAUSAL: past,
            }[self.level]
            writers = {t.number for t in order if t.number in visible and _written(t, read.key)}
            # Of a list, a read shows all writers up to its source: a later writer is missing.
            at = -1 if read.source is None else place[read.source]
            if any(place[writer] > at for writer in writers):
                return False
        return True

    def ways_to_read(
        self, reader: Transaction, order: tuple[Transaction, ...], start: int = 0
    ) -> Iterator[list[_Read]]:
        """Every way in which the operations from `start` on can have read from transactions in `order`."""
        if start == len(reader.operations):
            yield []
            return
        operation = reader.operations[start]
        own = [_plain(o.value) for o in reader.operations[:start] if _writes(o, operation.key)]
        for now in self.ways_of(operation, own, order):
            for later in self.ways_to_read(reader, order, start + 1):
                yield [*now, *later]

    def ways_of(
        self, operation: Operation, own: list[object], order: tuple[Transaction, ...]
    ) -> Iterator[list[_Read]]:
        """The same for one operation, after `own` writes of its key; one that reads nothing has one way."""
        if operation.kind is not OperationKind.READ or operation.value is UNKNOWN:
            yield []
        elif isinstance(operation.value, tuple):
            yield from self.list_reads(operation, own, order)
        elif not own:
            yield from ([read] for read in self.register_reads(operation, order))
        elif own[-1] == _plain(operation.value):
            yield []

    def register_reads(self, operation: Operation, order: tuple[Transaction, ...]) -> Iterator[_Read]:
        value = _plain(operation.value)
        if value in self.initial(operation.key):
            yield _Read(operation.key, None, frozenset())
        for writer in order:
            if _written(writer, operation.key)[-1:] == [value]:
                yield _Read(operation.key, writer.number, frozenset({writer.number}))

    def list_reads(
        self, operation: Operation, own: list[object], order: tuple[Transaction, ...]
    ) -> Iterator[list[_Read]]:
        """The list is what the transactions in `order` appended, each of them as a whole or not at all."""
        assert isinstance(operation.value, tuple)
        elements = [_plain(element) for element in operation.value]
        so_far: list[object] = []
        shown: list[int] = []
        for writer in (None, *order):
            appended = _written(writer, operation.key) if writer else []
            so_far += appended
            shown += [writer.number] if writer and appended else []
            if (appended or not writer) and elements == so_far + own:
                source = shown[-1] if shown else None
                yield [_Read(operation.key, source, frozenset(shown))]

    def session_before(self, transaction: Transaction) -> frozenset[int]:
        [session] = [s.transactions for s in self.sessions if transaction.number in s.transactions]
        earlier = session[: session.index(transaction.number)]
        return frozenset(t.number for t in self.committed if t.number in earlier)

    def initial(self, key: object) -> list[object]:
        """What a register starts with, if anything; if unknown, what was read and never written."""
        declared = [v for k, v in self.history.initial.of_key.items() if _plain(k) == _plain(key)]
        [value] = declared or [self.history.initial.value]
        written = [v for t in self.transactions for v in _written(t, key)]
        if value is UNKNOWN:
            unwritten = {_plain(o.value) for t in self.committed for o in _external(t, key)} - {*written}
            return [*unwritten] if len(unwritten) == 1 else []
        lasting = [v for t in self.committed for v in _written(t, key)]
        is_replaced = self.history.initial.replaceable and _plain(value) in lasting
        return [] if is_replaced else [_plain(value)]


def _is_logged(history: History, transaction: Transaction) -> bool:
    return any(
        recorded.source is VersionSource.LOG and _plain(value) in _written(transaction, key)
        for recorded in history.version_orders
        for key, values in recorded.versions.items()
        for value in values
    )


def _is_in_order(order: tuple[Transaction, ...], key: object, values: list[object]) -> bool:
    """Whether the recorded values that are left in the key at a commit are in the order of their writers."""
    left = [value for t in order for value in _left(t, key)]
    places = [left.index(value) for value in values if value in left]
    return places == sorted(places)


def _left(transaction: Transaction, key: object) -> list[object]:
    """What stays of a transaction in a key: everything that it appended, or its last write."""
    appended = [o.value for o in transaction.operations if o.kind is OperationKind.APPEND and _writes(o, key)]
    return [_plain(value) for value in appended] or _written(transaction, key)[-1:]


def _external(transaction: Transaction, key: object) -> Iterator[Operation]:
    for operation in transaction.operations:
        if _writes(operation, key):
            return
        is_of_key = _plain(operation.key) == _plain(key)
        if operation.kind is OperationKind.READ and is_of_key and operation.value is not UNKNOWN:
            yield operation


def _written(transaction: Transaction, key: object) -> list[object]:
    return [_plain(o.value) for o in transaction.operations if _writes(o, key)]


def _writes(operation: Operation, key: object) -> bool:
    return operation.kind in _WRITES and _plain(operation.key) == _plain(key)


def _plain(value: object) -> object:
    """Python takes 1, 1.0 and True for equal; here they are not."""
    return type(value), value
