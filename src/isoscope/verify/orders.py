"""Checks that an order of transactions or of begins and commits is complete, with sessions and real time."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from isoscope.verify.explanation import takes_part
from isoscope.verify.history import INDETERMINATE, RANGE, READ, UNKNOWN, RejectedError

if TYPE_CHECKING:
    from isoscope.verify.explanation import Explanation
    from isoscope.verify.levels import Level

__all__ = ["check_events", "check_order", "commits", "refuse_ranges", "refuse_unjudged"]


def refuse_ranges(explanation: Explanation) -> None:
    """A level that holds needs every read judged; "Keys that are not judged" has range reads that are not."""
    history = explanation.history
    counting = (t for t in history.transactions if history.has_ranges and explanation.counting[t.number])
    if any(kind == RANGE for t in counting for kind, _, _ in t.operations):
        raise RejectedError(
            "the history has range reads of which the bounds, or the predicate, cannot be judged"
        )


def refuse_unjudged(explanation: Explanation) -> None:
    """Reads of keys that are used as lists, and also otherwise, are not judged."""
    history = explanation.history
    for t in history.transactions if history.unjudged else ():
        for place, (kind, key, value) in enumerate(t.operations if explanation.counting[t.number] else ()):
            if kind == READ and value is not UNKNOWN and key in history.unjudged:
                raise RejectedError(
                    f"operation {place} of {t} reads key {key}, which is not only a list: it is not judged"
                )


def commits(events: list[int]) -> list[int]:
    """The order of commits: the second place of each transaction."""
    begun: set[int] = set()
    order = []
    for number in events:
        if number in begun:
            order.append(number)
        begun.add(number)
    return order


def check_order(explanation: Explanation, order: list[int], level: Level) -> None:
    """Raise `RejectedError` unless the order is one of all transactions that take part."""
    _check_complete(explanation, order)
    transactions = explanation.history.transactions
    if level.sessions:
        last: dict[int, int] = {}
        for number in order:
            t = transactions[number]
            if last.get(t.session, -1) > t.place:
                raise RejectedError(f"the order puts {t} after a later transaction of its session")
            last[t.session] = t.place
    if level.real_time:
        _check_real_time(explanation, [(number, number) for number in order])


def check_events(explanation: Explanation, events: list[int], level: Level) -> None:
    """Raise `RejectedError` unless the events are a begin and a commit of each that takes part."""
    order = commits(events)
    _check_complete(explanation, order)
    if len(events) != 2 * len(order):
        raise RejectedError("the events do not have one begin and one commit of each transaction")
    if level.sessions:
        _check_sessions_of_events(explanation, events)
    if level.real_time:
        begun: set[int] = set()
        pairs: list[tuple[int | None, int | None]] = []
        for number in events:
            pairs.append((None, number) if number in begun else (number, None))
            begun.add(number)
        _check_real_time(explanation, pairs)


def _check_complete(explanation: Explanation, order: list[int]) -> None:
    transactions = explanation.history.transactions
    listed = bytearray(len(transactions))
    for number in order:
        if listed[number]:
            raise RejectedError(f"the order has {transactions[number]} twice")
        if not explanation.counting[number]:
            raise RejectedError(f"the order has {transactions[number]}, which did not take effect")
        listed[number] = 1
    for number, counts in enumerate(explanation.counting):
        if counts and not listed[number] and takes_part(transactions[number]):
            raise RejectedError(f"the order leaves out {transactions[number]}")


def _check_sessions_of_events(explanation: Explanation, events: list[int]) -> None:
    """The first commits before the second begins: a session has one open transaction at a time."""
    transactions = explanation.history.transactions
    open_in: dict[int, int] = {}
    last: dict[int, int] = {}
    for number in events:
        t = transactions[number]
        if open_in.get(t.session) == number:
            del open_in[t.session]
            continue
        if t.session in open_in:
            raise RejectedError(
                f"{t} begins before {transactions[open_in[t.session]]} of its session commits"
            )
        if last.get(t.session, -1) > t.place:
            raise RejectedError(f"{t} begins after a later transaction of its session")
        open_in[t.session] = number
        last[t.session] = t.place


def _check_real_time(
    explanation: Explanation, pairs: list[tuple[int | None, int | None]] | list[tuple[int, int]]
) -> None:
    """Each pair is a begin and a commit at one place; no commit behind a begin may have been over before it.

    Goes backward, so that the earliest end of all later commits is one number.
    """
    transactions = explanation.history.transactions
    earliest = inf
    for begin, commit in reversed(pairs):
        if begin is not None:
            t = transactions[begin]
            if t.begin is None:
                raise RejectedError(f"it is not known when {t} began")
            if earliest < t.begin:
                raise RejectedError(f"{t} stands before a transaction that was over when it began")
        if commit is not None:
            t = transactions[commit]
            if t.status != INDETERMINATE:
                if t.end is None:
                    raise RejectedError(f"it is not known when {t} ended")
                earliest = min(earliest, t.end)
