"""Anomalies between transactions: TAP-g to TAP-i and TAP-k to TAP-n, and cycles of list appends.

Liu et al. 2024 (Plume), Table 1, named by DESIGN section 4; `reference/weak.py` is the specification,
`rust/kernel/src/weak` the engine. Every anomaly carries the steps that prove it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.checkers.reads import witness
from isoscope.levels import Level
from isoscope.verdict import Anomaly, Step

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from isoscope.history import History

    #: Numbers of the transactions before and after, and of the relation; the key; numbers of operations.
    StepRow: TypeAlias = tuple[int, int, int, Any, list[int]]
    #: Number of the name; reader, older (None: the initial one) and newer; key; read; order; sight.
    Finding: TypeAlias = tuple[
        int, tuple[int, int | None, int] | None, Any, int, list[StepRow], list[StepRow]
    ]

__all__ = ["NAMES", "anomaly"]

#: The anomalies and the level whose axiom each breaks, by the numbers that the native core gives them.
NAMES = {
    "non-monotonic-read-co": Level.READ_COMMITTED,
    "non-monotonic-read-cm": Level.READ_COMMITTED,
    "fractured-read-co": Level.READ_ATOMIC,
    "fractured-read-cm": Level.READ_ATOMIC,
    "causal-conflict": Level.CAUSAL,
    "commit-order-conflict": Level.CAUSAL,
    "cyclic-causal-order": Level.READ_COMMITTED,
    "write-cycle": Level.READ_COMMITTED,
    "circular-information-flow": Level.READ_COMMITTED,
}
_RELATIONS = ("session", "wr", "ww", "cm")


def anomaly(history: History, finding: Finding) -> Anomaly:
    """A finding of the native core as data for reports."""
    name, conflict, key, read, order, sight = finding
    steps = tuple(_step(history, step) for step in order)
    called = list(NAMES)[name]
    if conflict is None:
        return _cycle(called, steps)
    reader, older, newer = conflict
    seen = tuple(_step(history, step) for step in sight)
    stale = witness(history, read)
    labels = {
        "reader": history.transaction(reader).label,
        "older": None if older is None else history.transaction(older).label,
        "newer": history.transaction(newer).label,
    }
    served = () if older is None else (_served(history, older, reader, key, read),)
    every = (*steps, *seen, *served)
    named = [label for label in (labels["older"], labels["newer"], labels["reader"]) if label is not None]
    return Anomaly(
        name=called,
        transactions=tuple(dict.fromkeys([*named, *_transactions(every)])),
        keys=tuple(dict.fromkeys([key, *(step.key for step in every if step.witnesses)])),
        witnesses=(stale, *(w for step in seen for w in step.witnesses)),
        steps=every,
        facts={**labels, "order": steps, "sight": seen},
    )


def _cycle(name: str, steps: tuple[Step, ...]) -> Anomaly:
    return Anomaly(
        name=name,
        transactions=tuple(dict.fromkeys(_transactions(steps))),
        keys=tuple(dict.fromkeys(step.key for step in steps if step.witnesses)),
        witnesses=tuple(dict.fromkeys(w for step in steps for w in step.witnesses)),
        steps=steps,
        facts={"order": steps},
    )


def _transactions(steps: Sequence[Step]) -> list[str]:
    """Everyone who takes part: at the ends of a step, or as the reader who shows it."""
    return [
        label
        for step in steps
        for label in (step.before, step.after, *(w.transaction for w in step.witnesses))
    ]


def _step(history: History, step: StepRow) -> Step:
    before, after, relation, key, operations = step
    first, second = history.transaction(before), history.transaction(after)
    return Step(
        before=first.label,
        after=second.label,
        relation=_RELATIONS[relation],
        key=key,
        session=first.session_id if _RELATIONS[relation] == "session" else None,
        witnesses=tuple(witness(history, operation) for operation in operations),
    )


def _served(history: History, older: int, reader: int, key: Any, read: int) -> Step:
    """The stale read as a step: the older transaction comes before its reader."""
    return Step(
        before=history.transaction(older).label,
        after=history.transaction(reader).label,
        relation="wr",
        key=key,
        witnesses=(witness(history, read),),
    )
