"""Sentences about anomalies between transactions: a read missed what was in sight, or lists disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.explain.phrases import at, key_in_words, listed, read, same, shown
from isoscope.explain.steps import Missed, after_a_colon, because, chain, missed
from isoscope.history import OperationKind
from isoscope.verdict import ConflictFacts, ReadFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from isoscope.verdict import Anomaly, Step

__all__ = ["CONTRADICTIONS", "SENTENCES"]

_TIMES = {2: "twice", 3: "three times", 4: "four times"}


def _by_causal_order(anomaly: Anomaly) -> str:
    """The reader's value is older: what it missed came later by sessions and reads alone."""
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
    """By this read one came first, by the reads of others the other."""
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
    found = Missed(anomaly.witnesses[0], served, facts.write, facts.sight)
    return missed(found, when=when, overwrote=overwrote, how=after_a_colon)


def _overtaken(anomaly: Anomaly) -> str:
    """The reader came after what it missed."""
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
    seen = read(stale, who="it")
    if write.kind == OperationKind.APPEND:
        return f"{seen} without {write.transaction}'s append of {shown(write.value)}"
    initial = ", the initial value" if facts.older is None else ""
    return f"{seen}{initial}, which {write.transaction} had overwritten with {shown(write.value)}"


def _no_commit_order(anomaly: Anomaly) -> str:
    facts = anomaly.facts_as(ConflictFacts)
    ends = [step.before for step in facts.order]
    who = listed([*ends, facts.newer])
    if len(ends) == 1:
        return f"So {who} must each have committed before the other."
    return f"So none of {who} can have committed first."


def _incompatible(anomaly: Anomaly) -> str:
    one, other = anomaly.witnesses
    if other.kind == OperationKind.APPEND:
        return _torn(anomaly)
    return (
        f"{read(one)}, but {read(other)}: neither list is a beginning of the other, so one of them shows "
        f"a state that {key_in_words(one.key)} never had."
    )


def _torn(anomaly: Anomaly) -> str:
    """A list without, or before, an earlier append of a transaction that is in it."""
    seen, append = anomaly.witnesses
    return (
        f"{read(seen)}, which shows {shown(anomaly.facts_as(ReadFacts).value)} of {append.transaction} where "
        f"{shown(append.value)}{at(append)} had to stand: {append.transaction} appended that one first, and "
        "what a transaction appends comes all together and in order."
    )


def _duplicate(anomaly: Anomaly) -> str:
    seen, append = anomaly.witnesses
    element = anomaly.facts_as(ReadFacts).value
    values = seen.value if isinstance(seen.value, tuple) else ()
    often = sum(same(value, element) for value in values)
    return (
        f"{read(seen)}, which shows {shown(element)} {_TIMES.get(often, f'{often} times')}, more often than "
        f"it was appended (first by {append.transaction}{at(append)})."
    )


SENTENCES: Mapping[str, Callable[[Anomaly], str]] = {
    "non-monotonic-read-co": _by_causal_order,
    "non-monotonic-read-cm": _by_commit_order,
    "fractured-read-co": _by_causal_order,
    "fractured-read-cm": _by_commit_order,
    "causal-conflict": _by_causal_order,
    "commit-order-conflict": _by_commit_order,
    "incompatible-order": _incompatible,
    "duplicate-elements": _duplicate,
}

CONTRADICTIONS: Mapping[str, Callable[[Anomaly], str]] = {
    "non-monotonic-read-co": _overtaken,
    "non-monotonic-read-cm": _no_commit_order,
    "fractured-read-co": _overtaken,
    "fractured-read-cm": _no_commit_order,
    "causal-conflict": _overtaken,
    "commit-order-conflict": _no_commit_order,
}
