"""Brute force on states: can a store have run the transactions so that every read returns what it returned?

Serializable: the transactions run one after the other. Snapshot isolation: they begin and commit in any
order, each reads the store as it was at its begin, and a commit is refused if another one has changed a key
of its writes since. Values may repeat: only values are compared, so no writer is ever named. An
indeterminate transaction ran or did not. Recorded orders and timestamps must agree with the order of
commits. Nothing of `isoscope.reference` is used. For a handful of transactions on registers and lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, permutations, product
from typing import TYPE_CHECKING, Any, TypeAlias

from isoscope.history import UNKNOWN, OperationKind, Status, VersionSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from isoscope.history import History, Transaction

__all__ = ["is_serializable", "is_snapshot_isolated"]

_WRITES = (OperationKind.WRITE, OperationKind.INSERT, OperationKind.APPEND)
#: A state that no read shows.
_NOTHING = object()
#: What each key holds: a value, or a tuple for a list.
Store: TypeAlias = dict[Any, Any]


def is_serializable(history: History) -> bool:
    """Whether the transactions can have run one after the other."""
    return any(run.serially(run.store, ()) for run in _runs(history))


def is_snapshot_isolated(history: History) -> bool:
    """Whether a store with snapshots and first-committer-wins can have run the transactions."""
    return any(run.with_snapshots(run.store, {}, (), set()) for run in _runs(history))


def _runs(history: History) -> Iterator[_Run]:
    every = [t for t in history if t.operations]
    certain = [t for t in every if t.status is Status.COMMITTED]
    open_ = [t for t in every if t.status is Status.INDETERMINATE]
    subsets = chain.from_iterable(combinations(open_, size) for size in range(len(open_) + 1))
    for chosen in subsets:
        ran = [*certain, *chosen]
        for values in product(*(_starts(history, every, ran, key) for key in history.keys)):
            yield _Run(history, ran, dict(zip(history.keys, values, strict=True)))


def _starts(history: History, every: list[Transaction], ran: list[Transaction], key: Any) -> list[Any]:
    """What a key may have held before the first write."""
    if any(_is_list(t, key) for t in ran):
        return [()]
    value = history.initial.of_key.get(key, history.initial.value)
    written = [_written(t, key) for t in every]
    if value is not UNKNOWN:
        is_replaced = history.initial.replaceable and any(value in _written(t, key) for t in ran)
        return [_NOTHING if is_replaced else value]
    shown = [(reader, value) for reader in ran for value in _shown(reader, key)]
    unwritten = [value for _, value in shown if not any(value in values for values in written)]
    if unwritten:
        return unwritten[:1]
    repeated = {
        value
        for reader, value in shown
        if sum(value in values for values in written) > 1
        and any(
            _written(t, key)[-1:] == [value]
            for t in every
            if t is not reader and t.status is not Status.ABORTED
        )
    }
    return [_NOTHING, *repeated]


@dataclass(frozen=True)
class _Run:
    history: History
    ran: list[Transaction]
    store: Store

    def serially(self, store: Store, order: tuple[Transaction, ...]) -> bool:
        """Whether the others can run after those in `order`, which left `store`."""
        if len(order) == len(self.ran):
            return self.agrees_with_evidence(order)
        return any(
            (after := _after(t, store)) is not None and self.serially(after, (*order, t))
            for t in self.ran
            if t not in order
        )

    def with_snapshots(
        self,
        store: Store,
        running: dict[int, frozenset[int]],
        order: tuple[Transaction, ...],
        tried: set[object],
    ) -> bool:
        """The same with snapshots; `running` has the commits that each of those that began can see."""
        if len(order) == len(self.ran):
            return self.agrees_with_evidence(order)
        state = (tuple(t.number for t in order), frozenset(running.items()))
        if state in tried:
            return False
        tried.add(state)
        committed = frozenset(t.number for t in order)
        for t in self.ran:
            if t.number in running:
                rest = {n: seen for n, seen in running.items() if n != t.number}
                overlapping = [o for o in order if o.number not in running[t.number]]
                is_refused = any(_keys(t) & _keys(o) for o in overlapping)
                if not is_refused and self.with_snapshots(_write(t, store), rest, (*order, t), tried):
                    return True
            elif t not in order and _after(t, store) is not None:
                began = {**running, t.number: committed}
                if self.with_snapshots(store, began, order, tried):
                    return True
        return False

    # Evidence.

    def agrees_with_evidence(self, order: Sequence[Transaction]) -> bool:
        return self.agrees_with_timestamps(order) and all(
            self.agrees_with_rows(order, source, key, values) for source, key, values in self.recorded
        )

    def agrees_with_timestamps(self, order: Sequence[Transaction]) -> bool:
        return all(
            before.commit is None or after.commit is None or before.commit <= after.commit
            for before, after in combinations(order, 2)
            if _keys(before) & _keys(after)
        )

    @cached_property
    def recorded(self) -> list[tuple[VersionSource, Any, tuple[Any, ...]]]:
        orders = self.history.version_orders
        return [(o.source, key, values) for o in orders for key, values in o.versions.items()]

    def agrees_with_rows(
        self, order: Sequence[Transaction], source: VersionSource, key: Any, values: tuple[Any, ...]
    ) -> bool:
        """Whether the rows can be different writes, in the order of commits as far as they are versions."""
        place = {t.number: at for at, t in enumerate(order)}
        rows = [*enumerate(values)]
        can_start = values[0] == self.store[key] and self.store[key] != ()
        for kept in (rows, rows[1:]) if can_start else (rows,):
            by_value = [self.writers(source, key, value, kept) for value in dict.fromkeys(values)]
            for chosen in product(*by_value):
                writers = dict(chain.from_iterable(chosen))
                if source is VersionSource.LOG and not {*writers.values()} <= place.keys():
                    continue
                if self.are_in_order([(at, writers[at]) for at in sorted(writers)], key, values, place):
                    return True
        return False

    def writers(
        self, source: VersionSource, key: Any, value: Any, rows: list[tuple[int, Any]]
    ) -> list[list[tuple[int, int]]]:
        """Every way to name the writers of the rows with this value, of which the last ones count."""
        pool = [
            t.number
            for t in self.history
            if source is VersionSource.DECLARED or t.status is not Status.ABORTED
            for written in _written(t, key)
            if written == value
        ]
        places = [at for at, other in rows if other == value]
        kept = places[max(0, len(places) - len(pool)) :]
        return [[*zip(kept, chosen, strict=True)] for chosen in {*permutations(pool, len(kept))}]

    def are_in_order(
        self, rows: list[tuple[int, int]], key: Any, values: tuple[Any, ...], place: dict[int, int]
    ) -> bool:
        committed = [(at, number) for at, number in rows if number in place]
        if self.store[key] != ():
            last = {n: _written(t, key)[-1] for t in self.ran if _keys(t) & {key} for n in [t.number]}
            final = {number: at for at, number in committed if values[at] == last[number]}
            committed = [(at, number) for number, at in final.items()]
        turns = [place[number] for _, number in sorted(committed)]
        return turns == sorted(turns)


def _after(t: Transaction, store: Store) -> Store | None:
    """The store after the transaction; None if one of its reads shows another value."""
    state = dict(store)
    for operation in t.operations:
        if operation.kind is OperationKind.READ:
            if operation.value is not UNKNOWN and operation.value != state[operation.key]:
                return None
        elif operation.kind is OperationKind.APPEND:
            state[operation.key] = (*state[operation.key], operation.value)
        elif operation.kind in _WRITES:
            state[operation.key] = operation.value
    return state


def _write(t: Transaction, store: Store) -> Store:
    """The store after the writes of a transaction that began earlier."""
    state = dict(store)
    for operation in t.operations:
        if operation.kind is OperationKind.APPEND:
            state[operation.key] = (*state[operation.key], operation.value)
        elif operation.kind in _WRITES:
            state[operation.key] = operation.value
    return state


def _shown(reader: Transaction, key: Any) -> Iterator[Any]:
    """What the reads of a register show before the reader's first write of it."""
    for operation in reader.operations:
        if operation.key == key and operation.kind in _WRITES:
            return
        if operation.key == key and operation.kind is OperationKind.READ and operation.value is not UNKNOWN:
            yield operation.value


def _written(t: Transaction, key: Any) -> list[Any]:
    return [o.value for o in t.operations if o.kind in _WRITES and o.key == key]


def _keys(t: Transaction) -> set[Any]:
    return {o.key for o in t.operations if o.kind in _WRITES}


def _is_list(t: Transaction, key: Any) -> bool:
    of_key: Iterable[Any] = (o for o in t.operations if o.key == key)
    return any(o.kind is OperationKind.APPEND or isinstance(o.value, tuple) for o in of_key)
