"""Anomalies of versions that are in a known order: cycles, and what the sources of the order show.

Adya 1999 and Kingsbury and Alvaro 2020; every anomaly carries the steps that prove it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from isoscope.checkers.participants import named_by, with_participants
from isoscope.checkers.steps import (
    cycle,
    each_key,
    shown_by,
    step_keys,
    transactions_of,
    turned,
    with_fewer_readers,
)
from isoscope.checkers.witnesses import installs, token, witness, witness_of
from isoscope.history import OperationKind
from isoscope.verdict import START, AlternativesFacts, Anomaly, LostUpdateFacts, Step, Witness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope._native import ProofStep
    from isoscope.checkers.witnesses import Recorded
    from isoscope.history import Interval, Transaction

__all__ = ["anomaly"]

#: Anomalies whose steps are shown as the native core gives them: each step is the evidence of one source, or
#: the first is the row that was not seen.
_KEEPS_ALL_STEPS = ("dirty-update", "cyclic-versions", "contradictory-evidence", "phantom")


def anomaly(
    history: Recorded,
    name: str,
    proof: Sequence[ProofStep],
    alternatives: Sequence[Sequence[ProofStep]] = (),
    level: str = "",
) -> Anomaly:
    """Steps of the native core as data for reports.

    `alternatives`: a cycle for each order of versions, none of which satisfies `level`.
    """
    found = _anomaly(history, name, proof, alternatives, level)
    every = [*proof, *(step for steps in alternatives for step in steps)]
    return with_participants(history, found, named_by(history, every))


def _anomaly(
    history: Recorded,
    name: str,
    proof: Sequence[ProofStep],
    alternatives: Sequence[Sequence[ProofStep]],
    level: str,
) -> Anomaly:
    if name == "no-commit-order":
        return _without_order(name, [_steps(history, each) for each in alternatives], level)
    steps = _steps(history, proof)
    if name in _KEEPS_ALL_STEPS:
        return cycle(name, steps)
    found = cycle(name, _ending_with_rw(with_fewer_readers(_missing_later(turned(steps), name))))
    return _with_rival(history, found, proof) if name == "lost-update" else found


def _without_order(name: str, alternatives: Sequence[tuple[Step, ...]], level: str) -> Anomaly:
    every = [step for steps in alternatives for step in steps]
    return Anomaly(
        name=name,
        transactions=transactions_of(every),
        keys=each_key(step_keys(every)),
        witnesses=shown_by(every),
        steps=tuple(every),
        facts=AlternativesFacts(alternatives=tuple(alternatives), level=level),
    )


def _missing_later(circle: Sequence[Step], name: str) -> tuple[Step, ...]:
    """The cycle with one step in the place of a missed version and the versions that follow it.

    A reader that missed a version missed all later ones. In a long fork where another read follows, the
    steps stay: the reader may have begun before the writer of the later version did, and snapshot isolation
    would not forbid the shorter cycle.
    """
    steps = list(circle)
    for place in range(len(steps)):
        first, second, third = (steps[(place + n) % len(steps)] for n in range(3))
        is_last = third.relation == "rw" and name.startswith("long-fork")
        if _misses_both(first, second) and not is_last:
            read, _, *served = first.witnesses
            missed = replace(first, after=second.after, witnesses=(read, second.witnesses[-1], *served))
            rest = [steps[(place + n) % len(steps)] for n in range(2, len(steps))]
            return _missing_later([missed, *rest], name)
    return tuple(steps)


def _misses_both(first: Step, second: Step) -> bool:
    return (
        (first.relation, second.relation) == ("rw", "ww")
        and first.before != second.after
        and bool(first.witnesses and second.witnesses)
        and token(first.key) == token(second.key)
        and first.source in (second.source, "initial")
        and first.source in ("list read", "log", "declared", "timestamps", "initial")
    )


def _ending_with_rw(circle: Sequence[Step]) -> tuple[Step, ...]:
    """The cycle, turned so that it ends with a read that missed a version."""
    for place in range(len(circle)):
        if circle[place - 1].relation == "rw" and circle[place].relation != "rw":
            return (*circle[place:], *circle[:place])
    return tuple(circle)


def _with_rival(history: Recorded, found: Anomaly, proof: Sequence[ProofStep]) -> Anomaly:
    """A lost update, with the read of the rival, where it read the same version."""
    missed = next(step for step in found.steps if step.relation == "rw")
    ends = (end for step in proof for end in (step.before, step.after))
    numbers = {number for number in ends if number is not None}
    rivals = [rival for rival in map(history.transaction, numbers) if rival.label == missed.after]
    reads = [read for rival in rivals for read in _first_reads(history, rival, missed.key)]
    same = tuple(read for read in reads if token(read.value) == token(missed.witnesses[0].value))
    others = [read for read in same if read not in found.witnesses]
    facts = LostUpdateFacts(rival=same[0] if same else None)
    return replace(found, witnesses=(*found.witnesses, *others), facts=facts)


def _first_reads(history: Recorded, transaction: Transaction, key: object) -> list[Witness]:
    """The first read of the key by the transaction before it wrote the key, if there is one."""
    written = installs(transaction, key)
    for operation in transaction.operations:
        if operation in written:
            return []
        if operation.kind is OperationKind.READ and token(operation.key) == token(key):
            return [witness_of(history, transaction, operation)]
    return []


def _steps(history: Recorded, proof: Sequence[ProofStep]) -> tuple[Step, ...]:
    return tuple(_step(history, step) for step in proof)


def _step(history: Recorded, found: ProofStep) -> Step:
    ends = (found.before, found.after)
    first, second = (None if end is None else history.transaction(end) for end in ends)
    step = Step(
        before=START if first is None else first.label,
        after=START if second is None else second.label,
        relation=found.relation,
        key=found.key,
        witnesses=tuple(witness(history, operation) for operation in found.operations),
        source=found.source,
    )
    if "session" in (step.relation, step.source) and second is not None:
        return replace(step, session=second.session_id)
    if step.source == "assume sequential-keys" and found.operations:
        observer, _ = history.columns.locate(found.operations[-1])
        return replace(step, session=history.transaction(observer).session_id)
    if step.relation == "real-time" and first is not None and second is not None:
        return _timed(step, first, second)
    return step


def _timed(step: Step, first: Transaction, second: Transaction) -> Step:
    """By the places of events where the input has them, else by the clock."""
    if times := _between(first.positions, second.positions):
        return replace(step, times=times, source="events")
    if times := _between(first.interval, second.interval):
        return replace(step, times=times, source="clock")
    return step


def _between(first: Interval | None, second: Interval | None) -> tuple[int, int] | None:
    if first is None or second is None or first.complete is None or second.invoke is None:
        return None
    return first.complete, second.invoke
