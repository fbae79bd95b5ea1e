"""Sentences about conflicts: a read missed a write that was in sight, or reads of a list disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.explain.operation_text import at, read_text
from isoscope.explain.steps import MissedWrite, after_a_colon, because, chain, missed_write
from isoscope.explain.value_text import enumeration, key_in_words, same, shown
from isoscope.explain.wording import Wording
from isoscope.history import OperationKind
from isoscope.verdict import ConflictFacts, ReadFacts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from isoscope.verdict import Anomaly, Step

__all__ = ["WORDINGS"]

_TIMES = {2: "twice", 3: "three times", 4: "four times"}


def _by_causal_order(anomaly: Anomaly) -> str:
    """The value that was read is older: by sessions and reads alone, the missed write came later."""
    facts = anomaly.facts_as(ConflictFacts)
    what = _missed(anomaly, overwrote=True)
    if anomaly.name == "fractured-read-co" and facts.sight[0].relation == "wr":
        what += f": it saw only part of what {facts.newer} wrote"
    if facts.older is None:
        return f"{what}."
    return f"{what}. {_comes_after(facts.newer, facts.older, facts.order)}."


def _comes_after(newer: str, older: str, order: Sequence[Step]) -> str:
    if len(order) == 1:
        return f"{newer} comes after {older} because {because(order[0])}"
    return f"{newer} comes after {older}: {chain(order)}"


def _by_commit_order(anomaly: Anomaly) -> str:
    """By this read one of two writers came first, by other reads the other."""
    facts = anomaly.facts_as(ConflictFacts)
    newer, older, order = facts.newer, facts.older, facts.order
    demand = f"{_missed(anomaly, overwrote=False)}. So {newer} must have committed before {older}."
    if len(order) == 1:
        return f"{demand} But {older} must have committed before {newer}, because {because(order[0])}."
    return f"{demand} But {older} must have committed before {newer}: {chain(order)}."


def _missed(anomaly: Anomaly, *, overwrote: bool) -> str:
    facts = anomaly.facts_as(ConflictFacts)
    served = facts.served.witnesses[1] if facts.served else None
    when = "already" if anomaly.name.startswith("non-monotonic") else "then"
    found = MissedWrite(anomaly.witnesses[0], served, facts.write, facts.sight)
    return missed_write(found, when=when, overwrote=overwrote, how=after_a_colon)


def _overtaken(anomaly: Anomaly) -> str:
    """The reader came after the write that it missed."""
    facts = anomaly.facts_as(ConflictFacts)
    reader, newer, by = anomaly.witnesses[0].transaction, facts.newer, facts.sight[0].relation
    if anomaly.name.startswith("non-monotonic"):
        how = f"went back: after it had seen {newer},"
    elif anomaly.name == "causal-conflict":
        how = f"comes after {newer}, and yet"
    elif by == "wr":
        how = f"saw only part of what {newer} wrote:"
    else:
        how = f"missed what {newer} had done before it in its own session:"
    return f"So {reader} {how} {_without(anomaly)}."


def _without(anomaly: Anomaly) -> str:
    """`it read x = 1, which T2 had overwritten with 2`."""
    facts = anomaly.facts_as(ConflictFacts)
    stale, write = anomaly.witnesses[0], facts.write
    seen = read_text(stale, subject="it")
    if write.kind == OperationKind.APPEND:
        return f"{seen} without {write.transaction}'s append of {shown(write.value)}"
    initial = ", the initial value" if facts.older is None else ""
    return f"{seen}{initial}, which {write.transaction} had overwritten with {shown(write.value)}"


def _no_commit_order(anomaly: Anomaly) -> str:
    facts = anomaly.facts_as(ConflictFacts)
    ends = [step.before for step in facts.order]
    all_of_them = enumeration([*ends, facts.newer])
    if len(ends) == 1:
        return f"So {all_of_them} must each have committed before the other."
    return f"So none of {all_of_them} can have committed first."


def _incompatible(anomaly: Anomaly) -> str:
    one, other = anomaly.witnesses
    if other.kind == OperationKind.APPEND:
        return _torn(anomaly)
    return (
        f"{read_text(one)}, but {read_text(other)}: neither list is a beginning of the other, so one of "
        f"them shows a state that {key_in_words(one.key)} never had."
    )


def _torn(anomaly: Anomaly) -> str:
    """A list that shows an append of a transaction, and not before it an earlier one."""
    seen, append = anomaly.witnesses
    element = shown(anomaly.facts_as(ReadFacts).value)
    return (
        f"{read_text(seen)}, which shows {element} of {append.transaction} where "
        f"{shown(append.value)}{at(append)} had to stand: {append.transaction} appended that one first, and "
        "what a transaction appends comes all together and in order."
    )


def _duplicate(anomaly: Anomaly) -> str:
    seen, append = anomaly.witnesses
    element = anomaly.facts_as(ReadFacts).value
    values = seen.value if isinstance(seen.value, tuple) else ()
    often = sum(same(value, element) for value in values)
    times = _TIMES.get(often, f"{often} times")
    return (
        f"{read_text(seen)}, which shows {shown(element)} {times}, more often than "
        f"it was appended (first by {append.transaction}{at(append)})."
    )


WORDINGS: Mapping[str, Wording] = {
    "non-monotonic-read-co": Wording(_by_causal_order, _overtaken),
    "non-monotonic-read-cm": Wording(_by_commit_order, _no_commit_order),
    "fractured-read-co": Wording(_by_causal_order, _overtaken),
    "fractured-read-cm": Wording(_by_commit_order, _no_commit_order),
    "causal-conflict": Wording(_by_causal_order, _overtaken),
    "commit-order-conflict": Wording(_by_commit_order, _no_commit_order),
    "incompatible-order": Wording(_incompatible),
    "duplicate-elements": Wording(_duplicate),
}
