"""Steps by hand, as if the native core had found them."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from isoscope._native import ProofStep
from isoscope.checkers import cycles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope import History
    from isoscope.verdict import Anomaly

#: From, relation and to, as in "T1 rw T2"; the key; operations as "T1.0" for the first of T1; the source.
Told = tuple[str, Any, str, str]


def found(history: History, name: str, *told: Told, alternatives: Sequence[Sequence[Told]] = ()) -> Anomaly:
    """The anomaly of these steps, as if the native core had found it."""
    return cycles.anomaly(
        history, name, steps(history, told), [steps(history, each) for each in alternatives]
    )


def steps(history: History, told: Sequence[Told]) -> list[ProofStep]:
    return [_step(history, *each) for each in told]


def _step(history: History, ends: str, key: Any, operations: str, source: str) -> ProofStep:
    numbers = {transaction.label: transaction.number for transaction in history}
    starts = [0, *accumulate(len(transaction.operations) for transaction in history)]
    before, relation, after = ends.split()
    places = (word.split(".") for word in operations.split())
    return ProofStep(
        before=numbers.get(before),
        after=numbers.get(after),
        relation=relation,
        key=key,
        operations=[starts[numbers[label]] + int(place) for label, place in places],
        source=source,
    )
