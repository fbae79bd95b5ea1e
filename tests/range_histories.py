"""Small histories with inserts, deletes, range reads and predicates: run on a real store, and then changed.

A store runs transactions one after the other, so that what it shows satisfies every level. A change of one
result may break that. `explained` tries every order of the transactions: it knows nothing of versions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, permutations, product
from typing import TYPE_CHECKING, TypeAlias

from isoscope.history import UNKNOWN, Initial, Operation, OperationKind, Range, Status, Transaction

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

READ, WRITE, INSERT = OperationKind.READ, OperationKind.WRITE, OperationKind.INSERT
DELETE, RANGE_READ = OperationKind.DELETE, OperationKind.RANGE_READ

KEYS = range(4)
#: An unknown initial value that no read shows, and that no predicate matches.
OTHER = object()
PREDICATES = (None, None, ":true", "[:= 1]", "[:mod 2 1]", "[:in 1 12 31]")

Store: TypeAlias = dict[int, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeHistory:
    """Transactions, and what keys hold at first."""

    transactions: list[Transaction]
    initial: Initial


def matches(predicate: str | None, value: object) -> bool:
    """Whether a row with this value is asked for."""
    if value is None or value is OTHER or predicate is None or not isinstance(value, int):
        return value is not None and value is not OTHER and predicate in (None, ":true")
    words = predicate.strip("[]").split()
    match words[0]:
        case ":true":
            return True
        case ":=":
            return value == int(words[1])
        case ":mod":
            return value % int(words[1]) == int(words[2])
        case _:
            return str(value) in words[1:]


def serial(rng: Random) -> RangeHistory:
    """What a store shows that runs transactions one after the other."""
    kind = rng.choice(("nil", "zero", "unknown"))
    store: Store = {key: {"nil": None, "zero": 0}.get(kind) for key in KEYS}
    if kind == "unknown":
        store = {key: rng.choice((None, 90 + key)) for key in KEYS}
    made = [_run(rng, number, store, is_unique=kind == "unknown") for number in range(1, rng.randint(3, 6))]
    values = {"nil": None, "zero": 0, "unknown": UNKNOWN}
    return RangeHistory(transactions=made, initial=Initial(value=values[kind]))


def _run(rng: Random, number: int, store: Store, *, is_unique: bool) -> Transaction:
    status = rng.choice((*[Status.COMMITTED] * 5, Status.ABORTED, Status.INDETERMINATE))
    own = dict(store)
    operations = tuple(
        _step(rng, own, 10 * number + place if is_unique or rng.random() < 0.6 else rng.randint(1, 2))
        for place in range(rng.randint(1, 3))
    )
    if status is Status.COMMITTED or (status is Status.INDETERMINATE and rng.random() < 0.5):
        store.update(own)
    return Transaction(
        number=0, id=number, session=0, session_id=number % 3, status=status, operations=operations
    )


def _step(rng: Random, store: Store, value: int) -> Operation:
    key = rng.choice(KEYS)
    match rng.choice((READ, WRITE, INSERT, DELETE, RANGE_READ, RANGE_READ)):
        case OperationKind.READ:
            return Operation(kind=READ, key=key, value=store[key])  # type: ignore[arg-type]
        case OperationKind.DELETE:
            store[key] = None
            return Operation(kind=DELETE, key=key)
        case OperationKind.RANGE_READ:
            return _range_read(rng, store)
        case kind:
            store[key] = value
            return Operation(kind=kind, key=key, value=value)


def _range_read(rng: Random, store: Store) -> Operation:
    low = rng.choice((None, *KEYS))
    high = rng.choice((None, *(key for key in KEYS if low is None or key >= low)))
    predicate = rng.choice(PREDICATES)
    between = [key for key in KEYS if _is_between(key, low, high)]
    rows = tuple((key, store[key]) for key in between if matches(predicate, store[key]))
    return Operation(kind=RANGE_READ, value=Range(low=low, high=high, rows=rows), predicate=predicate)  # type: ignore[arg-type]


def _is_between(key: int, low: object, high: object) -> bool:
    return (low is None or key >= low) and (high is None or key <= high)  # type: ignore[operator]


def changed(rng: Random, history: RangeHistory) -> RangeHistory:
    """The same history with another result of one read, if there is one."""
    places = [
        (t, o)
        for t, one in enumerate(history.transactions)
        for o, operation in enumerate(one.operations)
        if operation.kind in (READ, RANGE_READ)
    ]
    if not places:
        return history
    t, o = rng.choice(places)
    transactions = list(history.transactions)
    operations = list(transactions[t].operations)
    operations[o] = _changed(rng, operations[o], _written(history))
    transactions[t] = replace(transactions[t], operations=tuple(operations))
    return replace(history, transactions=transactions)


def _written(history: RangeHistory) -> list[object]:
    every = (operation for one in history.transactions for operation in one.operations)
    return [None, 0, 77, *(o.value for o in every if o.kind in (WRITE, INSERT))]


def _changed(rng: Random, operation: Operation, values: Sequence[object]) -> Operation:
    if not isinstance(operation.value, Range):
        return replace(operation, value=rng.choice(values))  # type: ignore[arg-type]
    rows = dict(operation.value.rows)
    key = rng.choice(KEYS)
    if key in rows and rng.random() < 0.6:
        del rows[key]
    else:
        rows[key] = rng.choice([value for value in values if value is not None])  # type: ignore[assignment]
    return replace(operation, value=replace(operation.value, rows=tuple(sorted(rows.items()))))


def explained(history: RangeHistory, *, with_sessions: bool) -> bool:
    """Whether the transactions can have run one after the other, with some that are indeterminate."""
    committed = [one for one in history.transactions if one.status is Status.COMMITTED]
    doubtful = [one for one in history.transactions if one.status is Status.INDETERMINATE]
    for count in range(len(doubtful) + 1):
        for chosen in combinations(doubtful, count):
            if _has_an_order(history, [*committed, *chosen], with_sessions=with_sessions):
                return True
    return False


def _has_an_order(history: RangeHistory, ran: Sequence[Transaction], *, with_sessions: bool) -> bool:
    known = {key for key in KEYS if _is_mentioned(history, key)}
    starts = [*_starts(history, ran)]
    for order in permutations(ran):
        ids = [one.id for one in order]
        if with_sessions and any(
            one.session_id == other.session_id and one.id > other.id  # type: ignore[operator]
            for one, other in combinations(order, 2)
        ):
            continue
        assert len({*ids}) == len(ids)
        if any(_shows_all(order, dict(start), known) for start in starts):
            return True
    return False


def _is_mentioned(history: RangeHistory, key: int) -> bool:
    """Whether the history says anything of the key: a range read cannot leave out what nothing knows of."""
    return any(
        operation.key == key or (isinstance(operation.value, Range) and key in dict(operation.value.rows))
        for one in history.transactions
        for operation in one.operations
    )


def _starts(history: RangeHistory, ran: Sequence[Transaction]) -> Iterator[Store]:
    """What keys may hold at first."""
    if history.initial.value is not UNKNOWN:
        yield dict.fromkeys(KEYS, history.initial.value)
        return
    for values in product(*(_first_values(history, ran, key) for key in KEYS)):
        yield dict(zip(KEYS, values, strict=True))


def _first_values(history: RangeHistory, ran: Sequence[Transaction], key: int) -> list[object]:
    """The value that no transaction wrote and some read shows, or one that no read shows, or nothing."""
    every = [operation for one in history.transactions for operation in one.operations]
    written = {o.value for o in every if o.key == key and o.kind in (WRITE, INSERT)}
    is_deleted = any(o.key == key and o.kind is DELETE for o in every)
    shown = {value for one in ran for value in _external(one, key)} - written
    if others := shown - ({None} if is_deleted else set()):
        return [*others]
    return [OTHER, None] if is_deleted else [OTHER]


def _external(one: Transaction, key: int) -> Iterator[object]:
    """What a transaction is shown of a key before it writes it; nothing of what a predicate leaves out."""
    for operation in one.operations:
        if operation.key == key and operation.kind is not READ:
            return
        if operation.key == key:
            yield operation.value
        if isinstance(operation.value, Range):
            rows = dict(operation.value.rows)
            if key in rows:
                yield rows[key]
            elif operation.predicate is None and _is_between(key, operation.value.low, operation.value.high):
                yield None


def _shows_all(order: Sequence[Transaction], store: Store, known: set[int]) -> bool:
    return all(_is_shown(operation, store, known) for one in order for operation in one.operations)


def _is_shown(operation: Operation, store: Store, known: set[int]) -> bool:
    match operation.kind:
        case OperationKind.READ:
            return store[operation.key] == operation.value  # type: ignore[index]
        case OperationKind.RANGE_READ:
            return _is_range_shown(operation, store, known)
        case OperationKind.DELETE:
            store[operation.key] = None  # type: ignore[index]
        case _:
            store[operation.key] = operation.value  # type: ignore[index]
    return True


def _is_range_shown(operation: Operation, store: Store, known: set[int]) -> bool:
    assert isinstance(operation.value, Range)
    rows = dict(operation.value.rows)
    between = {key for key in known if _is_between(key, operation.value.low, operation.value.high)}
    if any(store[key] != value for key, value in rows.items()):  # type: ignore[index]
        return False
    left_out = [store[key] for key in between - {*rows}]
    if operation.predicate is None:
        return all(value is None for value in left_out)
    return not any(matches(operation.predicate, value) for value in left_out)
