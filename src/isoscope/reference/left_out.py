"""Keys that a predicate read leaves out: the transactions that may have left them in such a state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.reference.accesses import asked, left
from isoscope.reference.initial_states import may_be_left_out
from isoscope.reference.predicates import asks_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.history import History, Operation, Transaction

__all__ = ["hides", "left_unmatched"]


def hides(
    history: History,
    transactions: list[Transaction],
    count: frozenset[int],
    reader: Transaction,
    read: Operation,
) -> list[int | None]:
    """The possible writers of what a predicate read leaves out; None is the initial state."""
    predicate = asked(read) or ""
    is_initial = may_be_left_out(history, transactions, count, read.key, predicate)
    return [*([None] if is_initial else []), *left_unmatched(transactions, reader, read)]


def left_unmatched(transactions: Iterable[Transaction], reader: Transaction, read: Operation) -> list[int]:
    """The other transactions that left the key with a value that the predicate does not ask for."""
    predicate = asked(read) or ""
    values = left([*transactions], reader, read.key)
    return [number for number, value in values.items() if not asks_for(predicate, value)]
