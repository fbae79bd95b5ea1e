"""Brute force on values: can the transactions have run so that every read returns what it returned?

No versions, no edges, no graphs: transactions are put in every order, and what each reads is compared with
what those before it left. An indeterminate transaction may have committed or not; what a log shows did.
For a handful of transactions whose values are unique, and initial values that are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations, permutations, product
from typing import TYPE_CHECKING

from isoscope.history import UNKNOWN, OperationKind, Status, VersionSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from isoscope.history import History, Transaction

    Order = tuple[Transaction, ...]

__all__ = ["is_parallel", "is_prefix", "is_serializable", "is_snapshot", "real_time", "session_order"]

_WRITES = (OperationKind.WRITE, OperationKind.APPEND)
Pairs = frozenset[tuple[int, int]]


def session_order(history: History) -> Pairs:
    """Pairs of transactions of which one came before the other in a session."""
    return frozenset(pair for session in history.sessions for pair in combinations(session.transactions, 2))


def real_time(history: History) -> Pairs:
    """Pairs of transactions of which one was over before the other began, or in session order."""
    by_place = any(t.positions for t in history)
    return session_order(history) | {
        (before.number, after.number)
        for before, after in permutations(history, 2)
        if before.status is Status.COMMITTED and _is_over(before, after, by_place=by_place)
    }


def _is_over(before: Transaction, after: Transaction, *, by_place: bool) -> bool:
    first, second = (t.positions if by_place else t.interval for t in (before, after))
    if first is None or second is None or first.complete is None or second.invoke is None:
        return False
    return first.complete < second.invoke


def is_serializable(history: History, given: Pairs = frozenset()) -> bool:
    """One after the other, each reads what all before it left."""
    return _some_order(history, given, lambda run, t: run.reads_from(t, run.before(t)))


def is_snapshot(history: History, given: Pairs = frozenset()) -> bool:
    """Each reads what a beginning of the order left; who commits in between writes none of its keys."""
    return _some_order(history, given, lambda run, t: run.has_snapshot(t, may_conflict=False))


def is_prefix(history: History) -> bool:
    """Each reads what a beginning of the order left."""
    given = session_order(history)
    return _some_order(history, given, lambda run, t: run.has_snapshot(t, may_conflict=True))


def is_parallel(history: History, given: Pairs = frozenset()) -> bool:
    """Cerone and Gotsman 2018: some visibility is transitive, and of two writers of a key one sees the other.

    Each transaction reads what those left that it sees, one key's writers in the order of visibility.
    """
    for committed in _committed(history):
        for visible in _partial_orders(len(committed)):
            sees = {(committed[before].number, committed[after].number) for before, after in visible}
            if _within(given, committed) <= sees and _explains(history, committed, sees):
                return True
    return False


def _explains(history: History, committed: Order, sees: set[tuple[int, int]]) -> bool:
    for before, after in combinations(committed, 2):
        shared = {*_keys(before)} & {*_keys(after)}
        if shared and not {(before.number, after.number), (after.number, before.number)} & sees:
            return False
    rank = {t.number: sum(after == t.number for _, after in sees) for t in committed}
    order = tuple(sorted(committed, key=lambda t: rank[t.number]))  # whoever sees another has a higher rank
    run = _Run(history, order, frozenset())
    is_seen = [(t, tuple(o for o in order if (o.number, t.number) in sees)) for t in order]
    return run.agrees_with_evidence() and all(run.reads_from(t, before) for t, before in is_seen)


@cache
def _partial_orders(size: int) -> list[frozenset[tuple[int, int]]]:
    """Every transitive relation of so many things in which nothing is related to itself."""
    pairs = list(combinations(range(size), 2))
    relations = (
        frozenset(pair if way == "<" else pair[::-1] for pair, way in zip(pairs, ways, strict=True) if way)
        for ways in product(("", "<", ">"), repeat=len(pairs))
    )
    return [r for r in relations if all((a, d) in r for a, b in r for c, d in r if b == c)]


def _some_order(history: History, given: Pairs, can_run: Callable[[_Run, Transaction], bool]) -> bool:
    return any(
        run.agrees_with_evidence() and all(can_run(run, t) for t in order)
        for committed in _committed(history)
        for order in permutations(committed)
        for run in [_Run(history, order, _within(given, committed))]
        if run.agrees_with_given()
    )


def _committed(history: History) -> Iterator[Order]:
    """Which transactions may have committed."""
    logged = {
        (key, value)
        for order in history.version_orders
        if order.source is VersionSource.LOG
        for key, values in order.versions.items()
        for value in values
    }
    open_ = [t for t in history if t.status is Status.INDETERMINATE]
    proven = [t for t in open_ if any((o.key, o.value) in logged and o.kind in _WRITES for o in t.operations)]
    certain = [t for t in history if t.status is Status.COMMITTED] + proven
    doubtful = [t for t in open_ if t not in proven]
    subsets = chain.from_iterable(combinations(doubtful, size) for size in range(len(doubtful) + 1))
    return ((*certain, *chosen) for chosen in subsets)


def _within(given: Pairs, committed: Order) -> Pairs:
    numbers = {t.number for t in committed}
    return frozenset(pair for pair in given if {*pair} <= numbers)


def _keys(transaction: Transaction) -> set[object]:
    return {o.key for o in transaction.operations if o.kind in _WRITES}


@dataclass(frozen=True)
class _Run:
    """Transactions in an order, in which `given` pairs must stand."""

    history: History
    order: Order
    given: Pairs

    def before(self, transaction: Transaction) -> Order:
        return self.order[: self.order.index(transaction)]

    def agrees_with_given(self) -> bool:
        place = {t.number: at for at, t in enumerate(self.order)}
        return all(place[before] < place[after] for before, after in self.given)

    def has_snapshot(self, reader: Transaction, *, may_conflict: bool) -> bool:
        """Whether the reader can have read from some beginning of the order."""
        earlier = self.before(reader)
        return any(
            self.reads_from(reader, earlier[:size])
            for size in range(len(earlier) + 1)
            if not any((t.number, reader.number) in self.given for t in earlier[size:])
            and (may_conflict or not any(_keys(t) & _keys(reader) for t in earlier[size:]))
        )

    def reads_from(self, reader: Transaction, order: Order) -> bool:
        """Whether every read returns what those in the order left, and then the reader itself."""
        store: dict[object, list[object]] = {}
        for transaction in order:
            for operation in transaction.operations:
                _apply(store, operation.kind, operation.key, operation.value)
        for operation in reader.operations:
            if operation.kind is OperationKind.READ and operation.value is not UNKNOWN:
                values = store.get(operation.key, [])
                is_list = isinstance(operation.value, tuple)
                if operation.value != (
                    tuple(values) if is_list else [self.history.initial.value, *values][-1]
                ):
                    return False
            _apply(store, operation.kind, operation.key, operation.value)
        return True

    def agrees_with_evidence(self) -> bool:
        """Whether logs, declared orders and timestamps say the same of what was written when."""
        return all(
            _is_within(values, self.installed(key))
            for recorded in self.history.version_orders
            for key, values in recorded.versions.items()
        ) and all(
            before.commit is None or after.commit is None or before.commit <= after.commit
            for before, after in combinations(self.order, 2)
            if _keys(before) & _keys(after)
        )

    def installed(self, key: object) -> list[object]:
        """The last write of each transaction to a register, or every append to a list."""
        found: list[object] = []
        for transaction in self.order:
            writes = [o for o in transaction.operations if o.kind in _WRITES and o.key == key]
            appended = [o.value for o in writes if o.kind is OperationKind.APPEND]
            found += appended or [o.value for o in writes][-1:]
        return found


def _apply(store: dict[object, list[object]], kind: OperationKind, key: object, value: object) -> None:
    if kind is OperationKind.APPEND:
        store[key] = [*store.get(key, []), value]
    elif kind is OperationKind.WRITE:
        store[key] = [value]


def _is_within(recorded: Iterable[object], installed: list[object]) -> bool:
    places = [installed.index(value) for value in recorded if value in installed]
    return places == sorted(places)
