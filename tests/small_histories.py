"""Short ways to write the small histories that explanations are tested on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from isoscope import Recorder
from isoscope.history import Interval
from isoscope.recorder import build

if TYPE_CHECKING:
    from isoscope import History


def in_sessions(*transactions: tuple[Any, list[tuple[Any, ...]]], initial: Any = 0) -> History:
    """The history of `transactions`, each with its session."""
    recorder = Recorder(initial=initial)
    for session, operations in transactions:
        with recorder.transaction(session=session) as t:
            for kind, *arguments in operations:
                getattr(t, kind)(*arguments)
    return recorder.history()


def w(key: Any, value: Any) -> tuple[Any, ...]:
    return ("write", key, value)


def a(key: Any, value: Any) -> tuple[Any, ...]:
    return ("append", key, value)


def r(key: Any, value: Any) -> tuple[Any, ...]:
    return ("read", key, value)


def timed(history: History, *places: tuple[int, int], events: bool = False) -> History:
    """The history, its transactions in these intervals."""
    transactions = []
    for transaction, place in zip(history, places, strict=True):
        interval = Interval(*place)
        transactions.append(
            replace(transaction, positions=interval) if events else replace(transaction, interval=interval)
        )
    return build(transactions, initial=history.initial)
