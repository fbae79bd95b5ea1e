"""Steps by hand, in the numbers of the native core."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from isoscope.checkers import cycles
from isoscope.checkers.cycles import SOURCES
from isoscope.checkers.steps import RELATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope import History
    from isoscope.checkers.cycles import StepRow
    from isoscope.verdict import Anomaly

#: From, relation and to, as in "T1 rw T2"; the key; operations as "T1.0" for the first of T1; the source.
Told = tuple[str, Any, str, str]


def found(history: History, name: str, *told: Told, alternatives: Sequence[Sequence[Told]] = ()) -> Anomaly:
    """The anomaly of these steps, as if the native core had found it."""
    return cycles.anomaly(history, name, rows(history, told), [rows(history, each) for each in alternatives])


def rows(history: History, told: Sequence[Told]) -> list[StepRow]:
    return [_row(history, *each) for each in told]


def _row(history: History, ends: str, key: Any, operations: str, source: str) -> StepRow:
    numbers = {transaction.label: transaction.number for transaction in history}
    starts = [0, *accumulate(len(transaction.operations) for transaction in history)]
    before, relation, after = ends.split()
    places = (word.split(".") for word in operations.split())
    return (
        numbers.get(before),
        numbers.get(after),
        RELATIONS.index(relation),
        key,
        [starts[numbers[label]] + int(place) for label, place in places],
        SOURCES.index(source),
    )
