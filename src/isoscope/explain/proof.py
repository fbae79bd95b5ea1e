"""A proof in reading order: each step with its reason, after the steps that the reason rests on."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from isoscope.explain.steps import because
from isoscope.explain.value_text import abbreviated
from isoscope.explain.version_order import CLAIM, order_reason, version_names
from isoscope.explain.versions import parted, supposition
from isoscope.verdict import ConflictFacts, Step, Witness

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.verdict import Anomaly

__all__ = ["Part", "Reason", "proof", "trimmed"]

#: The steps of these anomalies are between versions of one key, not between transactions.
_OF_VERSIONS = ("cyclic-versions", "contradictory-evidence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One step in words: `before` comes before `after` by `relation`, because of `because`."""

    before: str
    after: str
    relation: str
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Reasons that belong together; `supposed` is the order that they suppose, empty if they suppose none."""

    supposed: str
    reasons: tuple[Reason, ...]


def proof(anomaly: Anomaly) -> tuple[Part, ...]:
    """The steps of an anomaly in words; several parts if it takes one for each order of versions."""
    if anomaly.alternatives:
        parts = map(parted, anomaly.alternatives)
        return tuple(
            Part(supposed=supposition(supposed), reasons=_reasons(anomaly, circle))
            for supposed, circle in parts
        )
    return (Part(supposed="", reasons=_reasons(anomaly, _steps(anomaly))),) if anomaly.steps else ()


def _steps(anomaly: Anomaly) -> Iterator[Step]:
    """The steps of the proof, without the steps of `sight` that a reason already tells."""
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
    """The step that the read of a conflict demands: the writer in sight comes before the writer it read."""
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
        older, newer = version_names(step)
        how = "claimed" if step.source.startswith(CLAIM) else step.source or step.relation
        return Reason(before=older, after=newer, relation=how, because=order_reason(step))
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
