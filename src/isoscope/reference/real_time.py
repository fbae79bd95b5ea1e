"""Real time: which transactions were over before others began (Herlihy and Wing 1990)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.history import Interval, Status
from isoscope.reference.reads import is_empty

if TYPE_CHECKING:
    from isoscope.history import History, Transaction
    from isoscope.reference.relation import Relation

__all__ = ["life", "real_time"]

_NEVER = Interval(None, None)


def real_time(history: History, count: frozenset[int]) -> Relation:
    """One transaction was over before the other began.

    An indeterminate transaction may take effect at any time later, so nothing comes after it.
    """
    transactions = [t for t in history if t.number in count]
    lives = {t.number: life(history, t) for t in transactions}
    ends = {t.number: lives[t.number].complete for t in transactions if t.status is Status.COMMITTED}
    return frozenset(
        (before, after)
        for before, end in ends.items()
        for after, other in lives.items()
        if end is not None and other.invoke is not None and end < other.invoke
    )


def life(history: History, transaction: Transaction) -> Interval:
    """Begin and end, as far as they are known: by places of events if the history has any, else by clock."""
    if any(t.positions is not None for t in history if not is_empty(t)):
        return transaction.positions or _NEVER
    return _interval(transaction)


def _interval(transaction: Transaction) -> Interval:
    """From the first invocation to the last completion."""
    if transaction.interval is not None:
        return transaction.interval
    intervals = [o.interval for o in transaction.operations if o.interval is not None]
    begins = [i.invoke for i in intervals if i.invoke is not None]
    ends = [i.complete for i in intervals if i.complete is not None]
    return Interval(min(begins, default=None), max(ends, default=None))
