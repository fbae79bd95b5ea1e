"""What keys hold before the first write, as far as a history says it.

`docs/explanation/semantics.md` has the rules: initial values, unknown ones, keys that may not exist at first,
first transactions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.history import UNKNOWN, OperationKind, Status
from isoscope.reference.accesses import (
    NIL,
    ON_A_KEY,
    asked,
    installed,
    installed_before,
    reads_of,
    token,
    writers,
)
from isoscope.reference.predicates import asks_for

if TYPE_CHECKING:
    from isoscope.history import History, Transaction

__all__ = [
    "declared_initial",
    "initial_value",
    "is_first",
    "is_inserted_first",
    "is_open",
    "may_be_absent",
    "may_be_left_out",
]

#: The statement kind of what a first transaction inserts.
INIT = "init"


def is_first(transaction: Transaction) -> bool:
    """Whether it comes before all others that see its keys: it committed, and only fills the database."""
    on_keys = [o for o in transaction.operations if o.kind in (OperationKind.RANGE_READ, *ON_A_KEY)]
    kinds = {(o.kind, o.statement) for o in on_keys}
    return transaction.status is Status.COMMITTED and kinds == {(OperationKind.INSERT, INIT)}


def is_inserted_first(transactions: list[Transaction], key: object) -> bool:
    """Whether a first transaction takes the place of the initial state of the key."""
    return any(is_first(t) and installed(t, key) for t in transactions)


def declared_initial(history: History, key: object) -> object:
    """What the history says a register holds before the first write; `UNKNOWN` if it does not say it."""
    of_key = {token(other): own for other, own in history.initial.of_key.items()}
    return of_key.get(token(key), history.initial.value)


def initial_value(
    history: History, transactions: list[Transaction], count: frozenset[int], key: object
) -> object:
    """What a register holds before the first write; None, which equals no value, if nothing can be it."""
    initial = declared_initial(history, key)
    if is_inserted_first(transactions, key):
        # A read showed the state before the first transaction only if nothing else can have been shown.
        is_written = initial is UNKNOWN or any(token(initial) in installed(t, key) for t in transactions)
        return None if is_written else token(initial)
    if initial is UNKNOWN:
        return _learned_initial(transactions, count, key)
    kept = [t for t in transactions if t.number in count]
    is_replaced = history.initial.replaceable and any(token(initial) in installed(t, key) for t in kept)
    return None if is_replaced else token(initial)


def _learned_initial(transactions: list[Transaction], count: frozenset[int], key: object) -> object:
    """The first value that was read and that no transaction wrote."""
    for reader in transactions:
        for place, read in reads_of(reader, key) if reader.number in count else ():
            value = token(read.value)
            is_own = installed_before(reader, key, place)
            is_value = asked(read) is None
            if is_value and not is_own and not writers(transactions, reader, place, key, value):
                return value
    return None


def is_open(history: History, transactions: list[Transaction], count: frozenset[int], key: object) -> bool:
    """Whether the initial value is unknown and no read shows it."""
    is_unknown = declared_initial(history, key) is UNKNOWN and not is_inserted_first(transactions, key)
    return is_unknown and _learned_initial(transactions, count, key) is None


def may_be_absent(
    history: History, transactions: list[Transaction], count: frozenset[int], key: object
) -> bool:
    """Whether a register that is deleted at some time may not have existed at first."""
    is_deleted = any(NIL in installed(t, key) for t in transactions)
    return is_deleted and is_open(history, transactions, count, key)


def may_be_left_out(
    history: History, transactions: list[Transaction], count: frozenset[int], key: object, predicate: str
) -> bool:
    """Whether a read by the predicate may leave the key out because of its initial state."""
    if is_open(history, transactions, count, key):
        return True
    if is_inserted_first(transactions, key):
        return False
    initial = initial_value(history, transactions, count, key)
    return initial is not None and not asks_for(predicate, initial)
