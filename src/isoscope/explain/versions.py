"""Sentences about the versions of a key: their order is wrong, or no order is possible."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from isoscope.explain.operation_text import at, owned_value, read_text
from isoscope.explain.steps import chain
from isoscope.explain.value_text import enumeration, key_in_words, shown
from isoscope.explain.version_order import CLAIM, order_reason, version_names, version_writes
from isoscope.explain.wording import Wording
from isoscope.verdict import AlternativesFacts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from isoscope.verdict import Anomaly, Step

__all__ = ["WORDINGS", "parted", "supposition"]

#: Levels that ask for an order of commits.
_OF_COMMITS = ("read-committed", "read-atomic", "causal")
_TAKEN_BACK = "a committed update is built on one that was taken back"


def _dirty_update(anomaly: Anomaly) -> str:
    seen, aborted, committed = anomaly.witnesses
    return (
        f"{read_text(seen, aborted.value, committed.value)}, where {owned_value(committed)} stands behind "
        f"{shown(aborted.value)}, which {aborted.transaction} appended{at(aborted)} and then rolled back: "
        f"{_TAKEN_BACK}."
    )


def _built_on_aborted(anomaly: Anomaly) -> str:
    _, aborted, _ = anomaly.witnesses
    return f"But {aborted.transaction} aborted: {_TAKEN_BACK}."


def _cyclic_versions(anomaly: Anomaly) -> str:
    """The versions of one key come before each other; every step has its own source."""
    links = "; ".join(
        "{} before {}, because {}".format(*version_names(s), order_reason(s)) for s in anomaly.steps
    )
    sentence = f"The {_in_a_circle(anomaly)}: {links}."
    return f"{sentence} {_untrue_claim(anomaly)}" if _claimed(anomaly) else sentence


def _in_a_circle(anomaly: Anomaly) -> str:
    [key] = map(key_in_words, anomaly.keys)
    return f"versions of {key} come before each other in a circle"


def _claimed(anomaly: Anomaly) -> list[str]:
    claims = dict.fromkeys(step.source for step in anomaly.steps if step.source.startswith(CLAIM))
    return [f"`{claim.removeprefix(CLAIM)}`" for claim in claims]


def _untrue_claim(anomaly: Anomaly) -> str:
    """The claim that the user made is wrong, if one of the steps rests on a claim."""
    [key] = map(key_in_words, anomaly.keys)
    if claims := _claimed(anomaly):
        return f"So what was claimed, {enumeration(claims)}, is not true of {key}."
    return f"So the {_in_a_circle(anomaly)}."


def _contradictory(anomaly: Anomaly) -> str:
    """Two sources order the same versions differently."""
    *said, last = map(order_reason, anomaly.steps)
    return f"The {_disagreement(anomaly)}: {'; '.join(said)}; but {last}."


def _disagreement(anomaly: Anomaly) -> str:
    [key] = map(key_in_words, anomaly.keys)
    return f"sources disagree on the versions of {key}"


def _one_source_is_wrong(anomaly: Anomaly) -> str:
    return f"So the {_disagreement(anomaly)}, and one of them is wrong."


def _without_order(anomaly: Anomaly) -> str:
    """One cycle for each order of two versions, if the proof needs no more than two versions."""
    proofs = (_closed_by(*parted(steps)) for steps in anomaly.alternatives)
    return " ".join([_every_order_fails(anomaly), *proofs])


def _closed_by(supposed: Sequence[Step], circle: Sequence[Step]) -> str:
    """What is supposed, and the circle that it closes, or is by itself."""
    told = chain(circle) if circle else "these orders are a circle"
    return f"{supposition(supposed)}: {told}."


def _every_order_fails(anomaly: Anomaly) -> str:
    level = anomaly.facts_as(AlternativesFacts).level
    if any(step.relation == "wr" and step.source == "supposed" for step in anomaly.steps):
        return f"No choice of writers and orders satisfies {level}: each closes a circle."
    if level in _OF_COMMITS:
        return f"No choice of the writers of reads satisfies {level}: each leaves no order of commits."
    if not anomaly.alternatives:
        if level:
            return f"No order of the versions satisfies {level}: each that they can have closes a circle."
        return "Every order that the versions can have was tried, and each of them closes a circle."
    if level:
        return f"No order of the versions satisfies {level}: each closes a circle."
    return "Whatever the order of the versions, there is a circle."


def _so_every_order_fails(anomaly: Anomaly) -> str:
    said = _every_order_fails(anomaly)
    return f"So {said[0].lower()}{said[1:]}"


def parted(alternative: Sequence[Step]) -> tuple[Sequence[Step], Sequence[Step]]:
    """The orders and writers that an alternative supposes first, and the circle that they close."""
    is_supposed = (step.relation in ("ww", "wr") and step.source == "supposed" for step in alternative)
    count = sum(1 for _ in takewhile(bool, is_supposed))
    return alternative[:count], alternative[count:]


def supposition(supposed: Sequence[Step]) -> str:
    """The orders of two versions, and the writers of reads, that an alternative supposes."""
    return f"If {' and '.join(map(_supposed, supposed))}"


def _supposed(step: Step) -> str:
    if step.relation == "wr":
        read, *written = step.witnesses
        by = f"{written[0].transaction}'s write" if written else "the initial value"
        return f"{read.transaction}'s read of {key_in_words(step.key)} = {shown(read.value)} showed {by}"
    first, second = map(owned_value, version_writes(step))
    return f"{first} came before {second} in {key_in_words(step.key)}"


WORDINGS: Mapping[str, Wording] = {
    "dirty-update": Wording(_dirty_update, _built_on_aborted),
    "cyclic-versions": Wording(_cyclic_versions, _untrue_claim),
    "contradictory-evidence": Wording(_contradictory, _one_source_is_wrong),
    "no-commit-order": Wording(_without_order, _so_every_order_fails),
}
