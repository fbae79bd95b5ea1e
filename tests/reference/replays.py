"""Brute force on values: can the transactions have run so that every read returns what it returned?

No versions, no edges, no graphs: transactions are put in every order, and what each reads is compared with
what those before it left. An indeterminate transaction may have committed or not; what a log shows did.
A transaction without operations is none. For a handful of transactions whose values are unique, and initial
values that are known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, combinations, permutations, product
from typing import TYPE_CHECKING

from isoscope.history import UNKNOWN, OperationKind, Status, VersionSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from isoscope.history import History, Transaction

    Order = tuple[Transaction, ...]

__all__ = [
    "is_committed",
    "is_cursor_stable",
    "is_parallel",
    "is_prefix",
    "is_serializable",
    "is_snapshot",
    "is_update_serializable",
    "keeps",
    "real_time",
    "session_order",
]

_WRITES = (OperationKind.WRITE, OperationKind.APPEND)
Pairs = frozenset[tuple[int, int]]


def session_order(history: History) -> Pairs:
    """Pairs of transactions of which one came before the other in a session."""
    return frozenset(pair for session in history.sessions for pair in combinations(session.transactions, 2))


def real_time(history: History) -> Pairs:
    """Pairs of transactions of which one was over before the other began, or in session order."""
    by_place = any(t.positions for t in history if t.operations)
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
    """Each reads a prefix of the order; a transaction that commits in between writes none of its keys."""
    return _some_order(history, given, lambda run, t: run.has_snapshot(t, may_conflict=False))


def is_prefix(history: History) -> bool:
    """Each reads what a beginning of the order left."""
    given = session_order(history)
    return _some_order(history, given, lambda run, t: run.has_snapshot(t, may_conflict=True))


def is_committed(history: History, given: Pairs = frozenset()) -> bool:
    """PL-2: each read by itself returns what some beginning of the order left."""
    return _some_order(history, given, lambda run, t: run.has_snapshots(t, may_conflict=True))


def is_cursor_stable(history: History) -> bool:
    """PL-2; no other write of a key comes between a read of it and the commit of a reader that writes it."""
    return _some_order(history, frozenset(), lambda run, t: run.has_snapshots(t, may_conflict=False))


def is_update_serializable(history: History) -> bool:
    """The writers are serializable; each reader fits into some such order with the same versions."""
    for committed in _committed(history):
        writing = [t for t in committed if _keys(t)]
        runs = [_Run(history, order, frozenset()) for order in permutations(writing)]
        serial = [run for run in runs if run.agrees_with_evidence() and run.is_serial()]
        reading = [t for t in committed if t not in writing]
        for versions in {run.versions() for run in serial}:
            same = [run.order for run in serial if run.versions() == versions]
            if all(_fits(history, reader, same) for reader in reading):
                return True
    return False


def _fits(history: History, reader: Transaction, orders: list[Order]) -> bool:
    return any(
        _Run(history, order, frozenset()).reads_from(reader, order[:size])
        for order in orders
        for size in range(len(order) + 1)
    )


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
    # A transaction that sees another has a higher rank.
    order = tuple(sorted(committed, key=lambda t: rank[t.number]))
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


def keeps(history: History, first: str, second: str) -> bool:
    """A session guarantee: key by key, some order in which what a session reads or writes never goes back.

    `first` and `second` are `read` or `write`, as two transactions of a session do to one key. No read may be
    one that only `pl-1` allows.
    """
    return any(
        all(_keeps_key(history, committed, key, (first, second)) for key in history.keys)
        for committed in _committed(history)
    )


def _keeps_key(history: History, committed: Order, key: object, uses: tuple[str, str]) -> bool:
    writers = [t for t in committed if key in _keys(t)]
    return any(
        run.agrees_with_evidence(key) and _never_goes_back(run, committed, key, uses)
        for order in permutations(writers)
        for run in [_Run(history, order, frozenset())]
    )


def _never_goes_back(run: _Run, committed: Order, key: object, uses: tuple[str, str]) -> bool:
    states = {t.number: {"read": run.states_read(t, key), "write": run.states_written(t)} for t in committed}
    if any(len(states[t.number]["read"]) < len(_external(t, key)) for t in committed):
        return False  # a read shows no state of this order
    return all(
        earlier <= later
        for before, after in _within(session_order(run.history), committed)
        for earlier in states[before][uses[0]]
        for later in states[after][uses[1]]
    )


def _external(reader: Transaction, key: object) -> list[int]:
    """Places of the reads of a key that show something of others."""
    places: list[int] = []
    for place, operation in enumerate(reader.operations):
        if operation.key == key and operation.kind is OperationKind.WRITE:
            return places
        if operation.key == key and operation.kind is OperationKind.READ:
            places.append(place)
    return places


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
    certain = [t for t in history if t.status is Status.COMMITTED and t.operations] + proven
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

    def has_snapshots(self, reader: Transaction, *, may_conflict: bool) -> bool:
        """Whether each read can have been from some beginning of the order, one by one."""
        earlier = self.before(reader)
        return all(
            any(
                self.reads_from(_with_only(reader, place), earlier[:size])
                for size in range(len(earlier) + 1)
                if may_conflict
                or read.key not in _keys(reader)
                or not any(read.key in _keys(t) for t in earlier[size:])
            )
            for place, read in enumerate(reader.operations)
            if read.kind is OperationKind.READ
        )

    def is_serial(self) -> bool:
        return all(self.reads_from(t, self.before(t)) for t in self.order)

    def versions(self) -> tuple[tuple[object, ...], ...]:
        """What was installed in each key, in order."""
        return tuple(tuple(self.installed(key)) for key in self.history.keys)

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

    def agrees_with_evidence(self, only: object = None) -> bool:
        """Whether logs, declared orders and timestamps say the same of what was written when."""
        return all(
            _is_within(values, self.installed(key))
            for recorded in self.history.version_orders
            for key, values in recorded.versions.items()
            if only in (None, key)
        ) and all(
            before.commit is None or after.commit is None or before.commit <= after.commit
            for before, after in combinations(self.order, 2)
            if _keys(before) & _keys(after)
        )

    def states_read(self, reader: Transaction, key: object) -> list[int]:
        """After which writer of a key, from 1, each read of others was; 0 is before all of them.

        A list that shows others alone is a beginning of the whole only if the reader's elements come later.
        """
        others = tuple(t for t in self.order if t is not reader)
        own = self.order.index(reader) if reader in self.order else len(others)
        return [
            self.order.index(others[size - 1]) + 1 if size else 0
            for place in _external(reader, key)
            for size in range(len(others) + 1)
            if size <= own or not isinstance(reader.operations[place].value, tuple)
            if self.reads_from(_with_only(reader, place), others[:size])
        ]

    def states_written(self, writer: Transaction) -> list[int]:
        return [self.order.index(writer) + 1] if writer in self.order else []

    def installed(self, key: object) -> list[object]:
        """The last write of each transaction to a register, or every append to a list."""
        found: list[object] = []
        for transaction in self.order:
            writes = [o for o in transaction.operations if o.kind in _WRITES and o.key == key]
            appended = [o.value for o in writes if o.kind is OperationKind.APPEND]
            found += appended or [o.value for o in writes][-1:]
        return found


def _with_only(reader: Transaction, place: int) -> Transaction:
    """The transaction with one of its reads, and all its writes."""
    kept = [o for at, o in enumerate(reader.operations) if at == place or o.kind is not OperationKind.READ]
    return replace(reader, operations=tuple(kept))


def _apply(store: dict[object, list[object]], kind: OperationKind, key: object, value: object) -> None:
    if kind is OperationKind.APPEND:
        store[key] = [*store.get(key, []), value]
    elif kind is OperationKind.WRITE:
        store[key] = [value]


def _is_within(recorded: Iterable[object], installed: list[object]) -> bool:
    places = [installed.index(value) for value in recorded if value in installed]
    return places == sorted(places)
