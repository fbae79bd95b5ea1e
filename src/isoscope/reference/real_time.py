"""Real time: which transactions were over before others began (Herlihy and Wing 1990)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.history import Interval, Status

if TYPE_CHECKING:
    from isoscope.history import History, Transaction
    from isoscope.reference.weak import Relation

__all__ = ["real_time"]

_NEVER = Interval(None, None)


def real_time(history: History, count: frozenset[int]) -> Relation:
    """One transaction was over before the other began: by places of events if there are any, else by clock.

    An indeterminate transaction may take effect at any time later, so nothing comes after it.
    """
    transactions = [t for t in history if t.number in count]
    by_place = any(t.positions is not None for t in history)
    lives = {t.number: (t.positions or _NEVER) if by_place else _interval(t) for t in transactions}
    ends = {t.number: lives[t.number].complete for t in transactions if t.status is Status.COMMITTED}
    return frozenset(
        (before, after)
        for before, end in ends.items()
        for after, life in lives.items()
        if end is not None and life.invoke is not None and end < life.invoke
    )


def _interval(transaction: Transaction) -> Interval:
    """From the first invocation to the last completion."""
    if transaction.interval is not None:
        return transaction.interval
    intervals = [o.interval for o in transaction.operations if o.interval is not None]
    begins = [i.invoke for i in intervals if i.invoke is not None]
    ends = [i.complete for i in intervals if i.complete is not None]
    return Interval(min(begins, default=None), max(ends, default=None))
