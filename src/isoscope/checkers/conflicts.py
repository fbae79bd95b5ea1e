"""Anomalies between transactions: TAP-g to TAP-i and TAP-k to TAP-n, and cycles of list appends.

Liu et al. 2024 (Plume), Table 1, named by DESIGN section 4; `reference/weak.py` is the specification,
`rust/kernel/src/weak` the engine. Every anomaly carries the steps that prove it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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

    from isoscope._native import ConflictFinding, ProofStep, StaleRead
    from isoscope.checkers.witnesses import Recorded
    from isoscope.history import Transaction

__all__ = ["NAMES", "anomaly", "breaks", "split"]

#: The anomalies and the level whose axiom each breaks.
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
#: Cycles of list appends; a cycle with a session step has a name of its own.
_OF_APPENDS = ("write-cycle", "circular-information-flow")


def breaks(anomaly: Anomaly) -> tuple[Level, ...]:
    """The weakest levels that an anomaly breaks: a cyclic causal order without sessions breaks PL-2.

    The method of version orders decides whether the order of appends breaks PL-1 and PL-2.
    """
    if anomaly.name != "cyclic-causal-order":
        return (NAMES.get(anomaly.name, Level.READ_COMMITTED),)
    if any(step.relation == "session" for step in anomaly.steps):
        return (Level.STRONG_SESSION_PL_2, Level.READ_COMMITTED)
    return (Level.PL_2,)


def split(counts: dict[str, int], anomalies: Sequence[Anomaly]) -> dict[str, int]:
    """The counts, with shown cycles of appends that have a session step counted under their own name."""
    found = dict(counts)
    for name in _OF_APPENDS:
        with_session = [anomaly for anomaly in anomalies if anomaly.name == f"{name}-session"]
        plain = [anomaly for anomaly in anomalies if anomaly.name == name]
        if with_session and found.get(name):
            found[f"{name}-session"] = found.pop(name) - len(plain)
            found |= {name: len(plain)} if plain else {}
    return found


def anomaly(history: Recorded, finding: ConflictFinding) -> Anomaly:
    """A finding of the native core as data for reports."""
    name, order, stale = finding.anomaly, finding.order, finding.stale_read
    if stale is None:
        return with_participants(history, _cycle(history, name, order), named_by(history, order))
    ends = (end for end in (stale.reader, stale.older, stale.newer) if end is not None)
    numbers = [*ends, *named_by(history, [*order, *stale.sight], stale.read)]
    return with_participants(history, _conflict(history, name, order, stale), numbers)


def _cycle(history: Recorded, name: str, order: Sequence[ProofStep]) -> Anomaly:
    steps = with_fewer_readers(turned(chain(history, order)))
    is_of_session = name in _OF_APPENDS and any(step.relation == "session" for step in steps)
    return cycle(f"{name}-session" if is_of_session else name, steps)


def _conflict(history: Recorded, name: str, order: Sequence[ProofStep], found: StaleRead) -> Anomaly:
    stale = witness(history, found.read)
    seen = chain(history, found.sight)
    steps = with_fewer_readers(chain(history, order), [stale, *shown_by(seen)])
    served = None if found.older is None else _served(history, history.transaction(found.older), stale)
    writer = history.transaction(found.newer)
    every = tuple(flat((*steps, *seen, *([served] if served else []))))
    write = witness_of(history, writer, installs(writer, found.key)[-1])
    ends = [*([served.before] if served else []), writer.label, stale.transaction]
    return Anomaly(
        name=name,
        transactions=transactions_of(every, ends),
        keys=each_key([found.key, *step_keys(every)]),
        witnesses=(stale, *(served.witnesses[1:] if served else ()), write, *shown_by(seen)),
        steps=every,
        facts=ConflictFacts(served=served, write=write, order=steps, sight=seen),
    )


def _served(history: Recorded, older: Transaction, stale: Witness) -> Step:
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
