"""Sentences about the versions of a key themselves: their order is wrong, or there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.explain.orders import CLAIM, ordered, versions, writes
from isoscope.explain.phrases import at, key_in_words, listed, possession, read, shown
from isoscope.explain.steps import chain
from isoscope.verdict import AlternativesFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from isoscope.verdict import Anomaly, Step

__all__ = ["CONTRADICTIONS", "SENTENCES", "supposed"]

_TAKEN_BACK = "a committed update is built on one that was taken back"


def _dirty_update(anomaly: Anomaly) -> str:
    seen, aborted, committed = anomaly.witnesses
    return (
        f"{read(seen, aborted.value, committed.value)}, where {possession(committed)} stands behind "
        f"{shown(aborted.value)}, which {aborted.transaction} appended{at(aborted)} and then rolled back: "
        f"{_TAKEN_BACK}."
    )


def _built_on_sand(anomaly: Anomaly) -> str:
    _, aborted, _ = anomaly.witnesses
    return f"But {aborted.transaction} aborted: {_TAKEN_BACK}."


def _cyclic_versions(anomaly: Anomaly) -> str:
    """The versions of one key in a circle, each step by its own source."""
    links = "; ".join("{} before {}, because {}".format(*versions(s), ordered(s)) for s in anomaly.steps)
    sentence = f"The {_in_a_circle(anomaly)}: {links}."
    return f"{sentence} {_untrue(anomaly)}" if _claimed(anomaly) else sentence


def _in_a_circle(anomaly: Anomaly) -> str:
    [key] = map(key_in_words, anomaly.keys)
    return f"versions of {key} come before each other in a circle"


def _claimed(anomaly: Anomaly) -> list[str]:
    claims = dict.fromkeys(step.source for step in anomaly.steps if step.source.startswith(CLAIM))
    return [f"`{claim.removeprefix(CLAIM)}`" for claim in claims]


def _untrue(anomaly: Anomaly) -> str:
    """Who said so was wrong, if somebody did."""
    [key] = map(key_in_words, anomaly.keys)
    if claims := _claimed(anomaly):
        return f"So what was claimed, {listed(claims)}, is not true of {key}."
    return f"So the {_in_a_circle(anomaly)}."


def _contradictory(anomaly: Anomaly) -> str:
    """Two sources order the same versions differently."""
    *said, last = map(ordered, anomaly.steps)
    return f"The {_disagreement(anomaly)}: {'; '.join(said)}; but {last}."


def _disagreement(anomaly: Anomaly) -> str:
    [key] = map(key_in_words, anomaly.keys)
    return f"sources disagree on the versions of {key}"


def _wrong_source(anomaly: Anomaly) -> str:
    return f"So the {_disagreement(anomaly)}, and one of them is wrong."


def _without_order(anomaly: Anomaly) -> str:
    """One circle for every way to order two versions, if it takes no more than two."""
    proofs = (f"{supposed(steps)}: {chain(steps[1:])}." for steps in anomaly.alternatives)
    return " ".join([_whatever(anomaly), *proofs])


def _whatever(anomaly: Anomaly) -> str:
    level = anomaly.facts_as(AlternativesFacts).level
    if not anomaly.alternatives:
        if level:
            return f"No order of the versions satisfies {level}: each that they can have closes a circle."
        return "Every order that the versions can have was tried, and each of them closes a circle."
    if level:
        return f"No order of the versions satisfies {level}: each closes a circle."
    return "Whatever the order of the versions, there is a circle."


def _so_whatever(anomaly: Anomaly) -> str:
    said = _whatever(anomaly)
    return f"So {said[0].lower()}{said[1:]}"


def supposed(steps: Sequence[Step]) -> str:
    """What the first of the steps of an alternative supposes."""
    first, second = map(possession, writes(steps[0]))
    return f"If {first} came before {second} in {key_in_words(steps[0].key)}"


def _predicate_read_miss(anomaly: Anomaly) -> str:
    """A read by a predicate, and the last version of what it does not show, if anybody wrote it."""
    [key] = map(key_in_words, anomaly.keys)
    seen, *written = anomaly.witnesses
    matches = f"every version of {key} that it can have met matches, among them"
    why = f"{matches} {possession(written[0])}" if written else f"the initial value of {key} matches"
    return f"{seen.transaction} read by a predicate{at(seen)} and was not shown {key}, although {why}."


SENTENCES: Mapping[str, Callable[[Anomaly], str]] = {
    "dirty-update": _dirty_update,
    "cyclic-versions": _cyclic_versions,
    "contradictory-evidence": _contradictory,
    "no-commit-order": _without_order,
    "predicate-read-miss": _predicate_read_miss,
}

CONTRADICTIONS: Mapping[str, Callable[[Anomaly], str]] = {
    "dirty-update": _built_on_sand,
    "cyclic-versions": _untrue,
    "contradictory-evidence": _wrong_source,
    "no-commit-order": _so_whatever,
}
