"""A proof in the order in which it is read: each step with its reason, after what the reason rests on."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from isoscope.explain.orders import CLAIM, ordered, versions
from isoscope.explain.phrases import abbreviated
from isoscope.explain.steps import because
from isoscope.explain.versions import supposed
from isoscope.verdict import ConflictFacts, Step, Witness

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.verdict import Anomaly

__all__ = ["Part", "Reason", "proof", "trimmed"]

#: In these the versions of one key are in question, not the transactions that wrote them.
_OF_VERSIONS = ("cyclic-versions", "contradictory-evidence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One step in words: what comes before what, by which relation, and why."""

    before: str
    after: str
    relation: str
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Reasons that belong together; `supposed` is what they suppose, empty if that is nothing."""

    supposed: str
    reasons: tuple[Reason, ...]


def proof(anomaly: Anomaly) -> tuple[Part, ...]:
    """The steps of an anomaly in words; several parts if it takes one for each order of versions."""
    if anomaly.alternatives:
        return tuple(
            Part(supposed=supposed(steps), reasons=_reasons(anomaly, steps[1:]))
            for steps in anomaly.alternatives
        )
    return (Part(supposed="", reasons=_reasons(anomaly, _steps(anomaly))),) if anomaly.steps else ()


def _steps(anomaly: Anomaly) -> Iterator[Step]:
    """The steps, of those that brought somebody to sight only what the reason does not say itself."""
    facts = anomaly.facts
    if not isinstance(facts, ConflictFacts):
        yield from anomaly.steps
        return
    yield from _with_sight(facts.order)
    if anomaly.name.endswith("-co") or anomaly.name == "causal-conflict":
        yield from facts.sight
        yield from [facts.served] if facts.served else []
    elif facts.served:
        yield from _with_sight([_demand(facts, facts.served)])


def _with_sight(steps: Iterable[Step]) -> Iterator[Step]:
    for step in steps:
        if len(step.sight) > 1:
            yield from step.sight
        yield step


def _demand(facts: ConflictFacts, served: Step) -> Step:
    """What the read of a conflict asks for: the writer that was in sight came before the one that it read."""
    seen, shows = served.witnesses
    return Step(
        before=facts.newer,
        after=served.before,
        relation="cm",
        key=seen.key,
        witnesses=(seen, shows, facts.write),
        sight=facts.sight,
    )


def _reasons(anomaly: Anomaly, steps: Iterable[Step]) -> tuple[Reason, ...]:
    return tuple(_reason(step, of_versions=anomaly.name in _OF_VERSIONS) for step in steps)


def _reason(step: Step, *, of_versions: bool) -> Reason:
    if of_versions:
        older, newer = versions(step)
        how = "claimed" if step.source.startswith(CLAIM) else step.source or step.relation
        return Reason(before=older, after=newer, relation=how, because=ordered(step))
    why = because(step, in_full=False)
    return Reason(before=step.before, after=step.after, relation=step.relation, because=why)


def trimmed(anomaly: Anomaly) -> Anomaly:
    """The anomaly for sentences that stand below its participants, which say where each operation is.

    Names of transactions are short enough for a line.
    """
    facts = {one.name: _trimmed(getattr(anomaly.facts, one.name)) for one in fields(anomaly.facts)}
    return replace(
        anomaly,
        transactions=tuple(map(abbreviated, anomaly.transactions)),
        witnesses=_trimmed(anomaly.witnesses),
        steps=_trimmed(anomaly.steps),
        facts=replace(anomaly.facts, **facts),
    )


def _trimmed(part: Any) -> Any:
    if isinstance(part, tuple):
        return tuple(map(_trimmed, part))
    if isinstance(part, Witness):
        return replace(part, transaction=abbreviated(part.transaction), place="")
    if isinstance(part, Step):
        before, after = abbreviated(part.before), abbreviated(part.after)
        witnesses, sight = _trimmed(part.witnesses), _trimmed(part.sight)
        return replace(part, before=before, after=after, witnesses=witnesses, sight=sight)
    return part
