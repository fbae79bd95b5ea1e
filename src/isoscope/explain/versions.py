"""Sentences about the versions of a key themselves: their order is wrong, or there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from isoscope.explain.orders import CLAIM, ordered, versions, writes
from isoscope.explain.phrases import at, key_in_words, listed, possession, read, shown
from isoscope.explain.steps import chain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from isoscope.verdict import Anomaly, Step

__all__ = ["SENTENCES"]


def _dirty_update(anomaly: Anomaly) -> str:
    seen, aborted, committed = anomaly.witnesses
    return (
        f"{read(seen, aborted.value, committed.value)}, where {possession(committed)} stands behind "
        f"{shown(aborted.value)}, which {aborted.transaction} appended{at(aborted)} and then rolled back: "
        "a committed update is built on one that was taken back."
    )


def _cyclic_versions(anomaly: Anomaly) -> str:
    """The versions of one key in a circle, each step by its own source."""
    [key] = map(key_in_words, anomaly.keys)
    claims = dict.fromkeys(step.source for step in anomaly.steps if step.source.startswith(CLAIM))
    links = "; ".join("{} before {}, because {}".format(*versions(s), ordered(s)) for s in anomaly.steps)
    sentence = f"The versions of {key} come before each other in a circle: {links}."
    if not claims:
        return sentence
    claimed = listed([f"`{claim.removeprefix(CLAIM)}`" for claim in claims])
    return f"{sentence} So what was claimed, {claimed}, is not true of {key}."


def _contradictory(anomaly: Anomaly) -> str:
    """Two sources order the same versions differently."""
    [key] = map(key_in_words, anomaly.keys)
    *said, last = map(ordered, anomaly.steps)
    return f"The sources disagree on the versions of {key}: {'; '.join(said)}; but {last}."


def _without_order(anomaly: Anomaly) -> str:
    """One circle for every way to order two versions, if it takes no more than two."""
    alternatives = cast("Sequence[Sequence[Step]]", anomaly.facts.get("alternatives", ()))
    level = anomaly.facts.get("level")
    if not alternatives:
        start = "Every order that the versions can have was tried, and each of them closes a circle."
        if level:
            start = f"No order of the versions satisfies {level}: each that they can have closes a circle."
    elif level:
        start = f"No order of the versions satisfies {level}: each closes a circle."
    else:
        start = "Whatever the order of the versions, there is a circle."
    return " ".join([start, *map(_if, alternatives)])


def _if(steps: Sequence[Step]) -> str:
    supposed, *rest = steps
    first, second = map(possession, writes(supposed))
    return f"If {first} came before {second} in {key_in_words(supposed.key)}: {chain(rest)}."


def _predicate_read_miss(anomaly: Anomaly) -> str:
    """A read by a predicate, and the last version of what it does not show."""
    [key] = map(key_in_words, anomaly.keys)
    seen, write = anomaly.witnesses
    return (
        f"{seen.transaction} read by a predicate{at(seen)} and was not shown {key}, although every version "
        f"of {key} that it can have met matches, among them {possession(write)}."
    )


SENTENCES: Mapping[str, Callable[[Anomaly], str]] = {
    "dirty-update": _dirty_update,
    "cyclic-versions": _cyclic_versions,
    "contradictory-evidence": _contradictory,
    "no-commit-order": _without_order,
    "predicate-read-miss": _predicate_read_miss,
}
