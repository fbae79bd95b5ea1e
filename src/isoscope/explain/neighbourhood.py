"""Where a search for a small counterexample starts: at an anomaly, then at more and more around it."""

from __future__ import annotations

import re
from ast import literal_eval
from contextlib import suppress
from typing import TYPE_CHECKING

from isoscope._native import with_transactions_on_same_keys, with_transactions_read_from
from isoscope.history import Term, label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.history import History, Scalar
    from isoscope.verdict import Anomaly, Step

__all__ = ["neighbourhoods"]


def neighbourhoods(history: History, near: Iterable[Anomaly]) -> Iterator[History]:
    """Parts of the history around the smallest anomaly, each larger; the last is the whole history."""
    named = (sorted(_named(history, anomaly)) for anomaly in near)
    if smallest := min(filter(None, named), key=lambda numbers: _weight(history, numbers), default=None):
        known = 0
        for chosen in _selections(history, smallest):
            if known < len(chosen) < len(history):
                known = len(chosen)
                yield history.part(chosen)
    yield history


def _weight(history: History, numbers: list[int]) -> int:
    """How many transactions may be needed: these, and a writer of every element that their lists show."""
    operations = (operation for number in numbers for operation in history.transaction(number).operations)
    lists = (operation.value for operation in operations if isinstance(operation.value, tuple))
    return len(numbers) + sum(map(len, lists))


def _selections(history: History, chosen: list[int]) -> Iterator[list[int]]:
    """The transactions and the writers of their reads, one and two reads back; then all that share a key."""
    served = with_transactions_read_from(history.columns, chosen)
    yield served
    yield with_transactions_read_from(history.columns, served)
    yield with_transactions_on_same_keys(history.columns, chosen)


def _named(history: History, anomaly: Anomaly) -> set[int]:
    """Numbers of the transactions that an anomaly names."""
    labels = {*anomaly.transactions, *(witness.transaction for witness in anomaly.witnesses)}
    labels |= {name for step in anomaly.steps for name in _labels(step)}
    return {number for name in labels for number in _numbers(history, name)}


def _labels(step: Step) -> Iterator[str]:
    yield from (step.before, step.after, *(witness.transaction for witness in step.witnesses))
    for seen in step.sight:
        yield from _labels(seen)


def _numbers(history: History, name: str) -> Iterator[int]:
    """All transactions with this label: two ids may have the same label."""
    for candidate in _ids(name):
        number = history.columns.find(candidate)
        if number is not None and label(history.transaction(number).id) == name:
            yield number


def _ids(name: str) -> Iterator[Scalar]:
    """Ids whose label may be `name`."""
    yield name
    if re.fullmatch(r"T-?\d+", name):
        yield int(name[1:])
    with suppress(ValueError):
        yield Term(name)
    with suppress(ValueError, SyntaxError):
        literal = literal_eval(name)
        if literal is None or isinstance(literal, bool | float | str):
            yield literal
