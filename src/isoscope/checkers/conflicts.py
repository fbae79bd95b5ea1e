"""Anomalies between transactions: TAP-g to TAP-i and TAP-k to TAP-n, and cycles of list appends.

Liu et al. 2024 (Plume), Table 1, named by DESIGN section 4; `reference/weak.py` is the specification,
`rust/kernel/src/weak` the engine. Every anomaly carries the steps that prove it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.checkers.reads import installs, same, witness, witness_of
from isoscope.checkers.steps import (
    chain,
    cycle,
    each_key,
    flat,
    shown_by,
    step_keys,
    transactions_of,
    turned,
    with_fewer_readers,
)
from isoscope.levels import Level
from isoscope.verdict import Anomaly, Step, Witness

if TYPE_CHECKING:
    from typing import TypeAlias

    from isoscope.checkers.steps import StepRow
    from isoscope.history import History, Transaction

    #: Number of the name; reader, older (None: the initial one) and newer; key; read; order; sight.
    Finding: TypeAlias = tuple[
        int, tuple[int, int | None, int] | None, Any, int, list[StepRow], list[StepRow]
    ]

__all__ = ["NAMES", "anomaly", "breaks"]

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
#: What a cycle breaks if it needs no session, and what if it does (beside read committed).
_CYCLES = {
    "cyclic-causal-order": (Level.PL_2, Level.STRONG_SESSION_PL_2),
    "write-cycle": (Level.PL_1, Level.STRONG_SESSION_PL_1),
    "circular-information-flow": (Level.PL_2, Level.STRONG_SESSION_PL_2),
}


def breaks(anomaly: Anomaly) -> tuple[Level, ...]:
    """The weakest levels that an anomaly breaks: for a cycle that depends on whether it needs a session."""
    if anomaly.name not in _CYCLES:
        return (NAMES[anomaly.name],)
    without, with_sessions = _CYCLES[anomaly.name]
    if any(step.relation == "session" for step in anomaly.steps):
        return (with_sessions, Level.READ_COMMITTED)
    return (without,)


def anomaly(history: History, finding: Finding) -> Anomaly:
    """A finding of the native core as data for reports."""
    number, conflict, key, read, order, sight = finding
    name = list(NAMES)[number]
    if conflict is None:
        return cycle(name, with_fewer_readers(turned(chain(history, order))))
    _, older, newer = conflict
    stale = witness(history, read)
    seen = chain(history, sight)
    steps = with_fewer_readers(chain(history, order), [stale, *shown_by(seen)])
    served = () if older is None else (_served(history, history.transaction(older), stale),)
    writer = history.transaction(newer)
    labels = {
        "older": served[0].before if served else None,
        "newer": writer.label,
        "reader": stale.transaction,
    }
    every = tuple(flat((*steps, *seen, *served)))
    write = witness_of(history, writer, installs(writer, key)[-1])
    return Anomaly(
        name=name,
        transactions=transactions_of(every, [label for label in labels.values() if label is not None]),
        keys=each_key([key, *step_keys(every)]),
        witnesses=(stale, *(w for step in served for w in step.witnesses[1:]), write, *shown_by(seen)),
        steps=every,
        facts={**labels, "served": served, "write": write, "order": steps, "sight": seen},
    )


def _served(history: History, older: Transaction, stale: Witness) -> Step:
    """The stale read as a step: the older transaction comes before its reader."""
    writes = installs(older, stale.key)
    shown = [write for write in writes if same(write.value, stale.value)]
    return Step(
        before=older.label,
        after=stale.transaction,
        relation="wr",
        key=stale.key,
        witnesses=(stale, witness_of(history, older, (shown or writes)[-1])),
    )
