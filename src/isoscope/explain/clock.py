"""Sentences about what contradicts the database's own clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from isoscope.explain.phrases import at, did, key_in_words, read, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isoscope.verdict import Anomaly, Step, Witness

__all__ = ["CONTRADICTIONS", "SENTENCES", "on_the_clock"]

_EVENTS = {"start": "started", "commit": "committed"}


def on_the_clock(step: Step) -> str:
    """That one event came before another by the database's clock."""
    first, second = step.source.split()
    earlier, later = cast("tuple[tuple[int, int], tuple[int, int]]", step.timestamps)
    when = "at the same time as" if earlier == later else "before"
    return (
        f"{step.before} {_EVENTS[first]} at {_reading(earlier)}, {when} {step.after} "
        f"{_EVENTS[second]} at {_reading(later)}"
    )


def _reading(timestamp: tuple[int, int]) -> str:
    physical, logical = timestamp
    return f"{physical}.{logical}" if logical else str(physical)


def _stale(anomaly: Anomaly) -> str:
    seen, *others = anomaly.witnesses
    facts = cast("Mapping[str, Any]", anomaly.facts)
    demand = f"{read(seen)}, but by the database's clock {_demand(anomaly, others)}"
    return f"{demand}: {_ORIGINS[facts['class']](anomaly, others)}."


def _demand(anomaly: Anomaly, others: list[Witness]) -> str:
    facts = cast("Mapping[str, Any]", anomaly.facts)
    when = "when it committed" if facts["serial"] else "when it started"
    key, value = key_in_words(anomaly.keys[0]), shown(facts["expected"])
    writers = [w for step in anomaly.steps for w in step.witnesses[1:2] if step.relation == "rw"]
    if facts["class"] == "older-version" and writers:
        return f"{key} was {value} {when}, as {writers[0].transaction} had written it{at(writers[0])}"
    if facts["expected"] is None and not others:
        return f"nothing had been written to {key} {when}"
    return f"{key} was {value} {when}"


def _older(anomaly: Anomaly, others: list[Witness]) -> str:  # noqa: ARG001 - one of several of its kind
    if len(others) < 2:
        return "what it read is the initial value"
    return f"what it read is an older version, of {others[1].transaction}{at(others[1])}"


def _not_yet(anomaly: Anomaly, others: list[Witness]) -> str:
    write = others[-1]
    clocks = [step for step in anomaly.steps if step.relation == "clock"]
    if clocks:
        return f"{write.transaction} {did(write)} that{at(write)}, and {on_the_clock(clocks[0])}"
    if write.transaction == anomaly.transactions[0]:
        return f"it {did(write)} that itself only later{at(write)}"
    return f"{write.transaction} {did(write)} that{at(write)}, but never committed it so"


def _never(anomaly: Anomaly, others: list[Witness]) -> str:  # noqa: ARG001 - one of several of its kind
    value = anomaly.witnesses[0].value
    return "the list never was like that" if isinstance(value, tuple) else "nobody ever wrote what it read"


_ORIGINS: Mapping[str, Callable[[Anomaly, list[Witness]], str]] = {
    "older-version": _older,
    "newer-version": _not_yet,
    "uncommitted": _not_yet,
    "never-written": _never,
}


def _session(anomaly: Anomaly) -> str:
    together, clock = anomaly.steps
    return (
        f"{together.after} follows {together.before} in its session, but by the database's clock "
        f"{on_the_clock(clock)}."
    )


def _out_of_order(anomaly: Anomaly) -> str:
    """The clock has them in one order, and what was read in the other."""
    if len(anomaly.steps) == 1:
        return _stale(anomaly)
    first, second = anomaly.steps
    if {first.relation, second.relation} == {"clock", "wr"}:
        seen = first if first.relation == "wr" else second
        return f"So {seen.after} saw what, by the database's clock, was not yet committed."
    if "session" in (first.relation, second.relation):
        return "So the clock does not follow the session."
    missed = first if first.relation == "rw" else second
    return f"So {missed.before} did not see what, by the database's clock, was committed before it."


def _conflict(anomaly: Anomaly) -> str:
    first, second = anomaly.witnesses
    times = cast("Mapping[str, tuple[tuple[int, int], tuple[int, int]]]", anomaly.facts["times"])
    ran = (
        f"{name} from {_reading(times[name][0])} to {_reading(times[name][1])}"
        for name in (first.transaction, second.transaction)
    )
    return (
        f"{first.transaction} and {second.transaction} both wrote {key_in_words(anomaly.keys[0])} "
        f"({shown(first.value)}{at(first)} and {shown(second.value)}{at(second)}) and both committed, though "
        f"they ran at the same time by the database's clock: {', '.join(ran)}."
    )


def _inversion(anomaly: Anomaly) -> str:
    times = cast("Mapping[str, tuple[tuple[int, int], tuple[int, int]]]", anomaly.facts["times"])
    [(name, (start, commit))] = times.items()
    return (
        f"By the database's clock {name} committed at {_reading(commit)}, before it started at "
        f"{_reading(start)}."
    )


SENTENCES: Mapping[str, Callable[[Anomaly], str]] = {
    "stale-read": _stale,
    "session-order": _session,
    "write-conflict": _conflict,
    "timestamp-inversion": _inversion,
}

CONTRADICTIONS: Mapping[str, Callable[[Anomaly], str]] = {
    "stale-read": _out_of_order,
    "session-order": _out_of_order,
}
