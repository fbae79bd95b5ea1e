"""Anomalies between transactions: TAP-g to TAP-i and TAP-k to TAP-n, and cycles of list appends.

Liu et al. 2024 (Plume), Table 1, named by DESIGN section 4; `reference/weak.py` is the specification,
`rust/kernel/src/weak` the engine. Every anomaly carries the steps that prove it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.checkers.participants import named_by, with_participants
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
from isoscope.checkers.witnesses import installs, same, witness, witness_of
from isoscope.levels import Level
from isoscope.verdict import Anomaly, ConflictFacts, Step, Witness

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from isoscope.checkers.steps import StepRow
    from isoscope.history import History, Transaction

    #: Number of the name; reader, older (None: the initial one) and newer; key; read; order; sight.
    Finding: TypeAlias = tuple[
        int, tuple[int, int | None, int] | None, Any, int, list[StepRow], list[StepRow]
    ]

__all__ = ["NAMES", "anomaly", "breaks", "split"]

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
#: Circles of list appends: with a session they are called something else.
_OF_APPENDS = ("write-cycle", "circular-information-flow")


def breaks(anomaly: Anomaly) -> tuple[Level, ...]:
    """The weakest levels that an anomaly breaks: without sessions, a causal order in a circle breaks PL-2.

    Whether the order of appends breaks PL-1 and PL-2 is for the method of version orders to say.
    """
    if anomaly.name != "cyclic-causal-order":
        return (NAMES.get(anomaly.name, Level.READ_COMMITTED),)
    if any(step.relation == "session" for step in anomaly.steps):
        return (Level.STRONG_SESSION_PL_2, Level.READ_COMMITTED)
    return (Level.PL_2,)


def split(counts: dict[str, int], anomalies: Sequence[Anomaly]) -> dict[str, int]:
    """The counts, circles of appends with a session apart, as far as they are shown."""
    found = dict(counts)
    for name in _OF_APPENDS:
        with_session = [anomaly for anomaly in anomalies if anomaly.name == f"{name}-session"]
        plain = [anomaly for anomaly in anomalies if anomaly.name == name]
        if with_session and found.get(name):
            found[f"{name}-session"] = found.pop(name) - len(plain)
            found |= {name: len(plain)} if plain else {}
    return found


def anomaly(history: History, finding: Finding) -> Anomaly:
    """A finding of the native core as data for reports."""
    number, conflict, _, read, order, sight = finding
    name = list(NAMES)[number]
    if conflict is None:
        return with_participants(history, _circle(history, name, order), named_by(history, order))
    ends = (end for end in conflict if end is not None)
    numbers = [*ends, *named_by(history, [*order, *sight], read)]
    return with_participants(history, _conflict(history, name, finding, conflict), numbers)


def _circle(history: History, name: str, order: Sequence[StepRow]) -> Anomaly:
    steps = with_fewer_readers(turned(chain(history, order)))
    is_of_session = name in _OF_APPENDS and any(step.relation == "session" for step in steps)
    return cycle(f"{name}-session" if is_of_session else name, steps)


def _conflict(
    history: History, name: str, finding: Finding, conflict: tuple[int, int | None, int]
) -> Anomaly:
    _, _, key, read, order, sight = finding
    _, older, newer = conflict
    stale = witness(history, read)
    seen = chain(history, sight)
    steps = with_fewer_readers(chain(history, order), [stale, *shown_by(seen)])
    served = None if older is None else _served(history, history.transaction(older), stale)
    writer = history.transaction(newer)
    every = tuple(flat((*steps, *seen, *([served] if served else []))))
    write = witness_of(history, writer, installs(writer, key)[-1])
    ends = [*([served.before] if served else []), writer.label, stale.transaction]
    return Anomaly(
        name=name,
        transactions=transactions_of(every, ends),
        keys=each_key([key, *step_keys(every)]),
        witnesses=(stale, *(served.witnesses[1:] if served else ()), write, *shown_by(seen)),
        steps=every,
        facts=ConflictFacts(served=served, write=write, order=steps, sight=seen),
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
