"""Sentences about what contradicts the database's own clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.explain.phrases import (
    act,
    around,
    at,
    change,
    did,
    key_in_words,
    possession,
    read,
    same,
    session,
    shown,
)
from isoscope.history import OperationKind
from isoscope.verdict import ABSENT, ClockFacts, StaleReadFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isoscope.verdict import Anomaly, Step, Witness

__all__ = ["CONTRADICTIONS", "SENTENCES", "on_the_clock"]

_EVENTS = {"start": "started", "commit": "committed"}


def on_the_clock(step: Step) -> str:
    """That one event came before another by the database's clock."""
    first, second = step.source.split()
    assert step.timestamps is not None
    earlier, later = step.timestamps
    if earlier != later:
        start = f"{step.before} {_EVENTS[first]} at {_reading(earlier)}"
        return f"{start}, before {step.after} {_EVENTS[second]} at {_reading(later)}"
    if (first, second) == ("commit", "start"):
        return (
            f"{step.before} committed at {_reading(earlier)}, when {step.after} started: at one time commits "
            "come first"
        )
    # A start that is as early as a commit and comes first is that of a transaction at one instant.
    return (
        f"{step.before} and {step.after} both committed at {_reading(earlier)}, "
        f"{step.before} first by the rule for equal times"
    )


def _reading(timestamp: tuple[int, int]) -> str:
    physical, logical = timestamp
    return f"{physical}.{logical}" if logical else str(physical)


def _stale(anomaly: Anomaly) -> str:
    seen, elements = anomaly.witnesses[0], _parting(anomaly)
    demand = f"{read(seen, *elements)}, but by the database's clock {_due(anomaly, in_full=True)}"
    return f"{demand}. {_ORIGINS[anomaly.facts.case](anomaly)}."


def _due(anomaly: Anomaly, *, in_full: bool = False) -> str:
    """What the key was when the transaction read it; `in_full`: and who had written that."""
    facts = anomaly.facts_as(StaleReadFacts)
    seen, when = anomaly.witnesses[0], "committed" if facts.is_serial else "started"
    key, time = key_in_words(seen.key), f"when {seen.transaction} {when}"
    if facts.expected is ABSENT:
        return f"{key} still had its initial value {time}"
    writer = _wrote_what_was_due(anomaly) if in_full else None
    by = f", written by {writer.transaction}{at(writer)}," if writer else ""
    return f"{key} was {around(facts.expected, _parting(anomaly))}{by} {time}"


def _wrote_what_was_due(anomaly: Anomaly) -> Witness | None:
    """The write that a read of a register should have shown; None if that is the initial value."""
    seen, *others = anomaly.witnesses
    if isinstance(seen.value, tuple) or not others:
        return None
    is_due = anomaly.facts.case in ("older-version", "never-written") or len(others) > 1
    return others[0] if is_due else None


def _parting(anomaly: Anomaly) -> list[object]:
    """The elements around which a list that was read and the one that was due part."""
    found, due = anomaly.witnesses[0].value, anomaly.facts_as(StaleReadFacts).expected
    if not isinstance(found, tuple) or not isinstance(due, tuple):
        return []
    place = _place(found, due)
    return [*found[max(place - 1, 0) : place + 1], *due[place : place + 1]]


def _place(found: tuple[object, ...], due: tuple[object, ...]) -> int:
    pairs = enumerate(zip(found, due, strict=False))
    return next((n for n, (one, other) in pairs if not same(one, other)), min(len(found), len(due)))


def _older(anomaly: Anomaly) -> str:
    if len(anomaly.witnesses) > 2:
        version = anomaly.witnesses[2]
        up_to = "up to " if version.kind == OperationKind.APPEND else ""
        return f"It read an older version, {up_to}{possession(version)}"
    if isinstance(anomaly.witnesses[0].value, tuple):
        return "It read an older version, with nothing that others appended"
    return "It read the initial value"


def _newer(anomaly: Anomaly) -> str:
    clock = next(step for step in anomaly.steps if step.relation == "clock")
    return f"It read a newer version, {possession(anomaly.witnesses[-1])}: {on_the_clock(clock)}"


def _uncommitted(anomaly: Anomaly) -> str:
    write = anomaly.witnesses[-1]
    why = _UNFINISHED[anomaly.facts_as(StaleReadFacts).unfinished]
    clocks = [step for step in anomaly.steps if step.relation == "clock"]
    when = on_the_clock(clocks[0]) if clocks else ""
    return why.format(
        change=change(write),
        did=did(write),
        value=shown(write.value),
        version=possession(write),
        when=when,
        writer=write.transaction,
        at=at(write),
    )


_UNFINISHED = {
    "running": "It read {version}, which was not yet committed: {when}",
    "aborted": "It read {version}, which was rolled back",
    "left out": "It read {version}, which is not known to have been committed",
    "replaced": "It read {version}, which {writer} itself replaced before it committed",
    "own": "It read its own {change} of {value}{at}, which came only later",
    "torn": "It read a part of what {writer} appended, without {value}{at}",
}


def _never(anomaly: Anomaly) -> str:
    found, due = anomaly.witnesses[0].value, anomaly.facts_as(StaleReadFacts).expected
    if not isinstance(found, tuple) or not isinstance(due, tuple):
        return f"Nobody ever wrote {shown(found)} to {key_in_words(anomaly.keys[0])}"
    place = _place(found, due)
    instead = f"instead of {shown(due[place])}" if place < len(due) else "where the list should end"
    return f"The list never was like that: element {place + 1} is {shown(found[place])} {instead}"


def _forgotten(anomaly: Anomaly) -> str:
    """Online, what is final leaves memory at some time."""
    return f"Nobody who is still in memory wrote {shown(anomaly.witnesses[0].value)}"


_ORIGINS: Mapping[str, Callable[[Anomaly], str]] = {
    "older-version": _older,
    "newer-version": _newer,
    "uncommitted": _uncommitted,
    "never-written": _never,
    "": _forgotten,
}


def _unseen(anomaly: Anomaly) -> str:
    """Why the steps of a stale read contradict each other, or what was read."""
    seen, facts = anomaly.witnesses[0], anomaly.facts_as(StaleReadFacts)
    reader, writer = seen.transaction, anomaly.witnesses[-1].transaction
    if facts.case == "older-version":
        return f"So {reader} did not see what, by the database's clock, was committed before it."
    if len(anomaly.steps) > 1:
        return f"So {reader} saw what, by the database's clock, was not yet committed; {_due(anomaly)}."
    ends = {"aborted": "aborted", "replaced": "itself replaced that before it committed"}
    end = ends.get(facts.unfinished, "is not known to have committed")
    return f"But {writer} {end}: by the database's clock {_due(anomaly)}."


def _session(anomaly: Anomaly) -> str:
    together, clock = anomaly.steps
    return (
        f"{together.after} follows {together.before} in {session(together.session)}, but by the database's "
        f"clock {on_the_clock(clock)}."
    )


def _out_of_session(anomaly: Anomaly) -> str:
    together, _ = anomaly.steps
    return (
        f"So {together.after} cannot have seen {together.before} by the database's clock, although "
        f"{together.before} ran before it in {session(together.session)}."
    )


def _conflict(anomaly: Anomaly) -> str:
    writes = anomaly.witnesses
    times = dict(zip(anomaly.transactions, anomaly.facts_as(ClockFacts).times, strict=False))
    one, other = (times[write.transaction] for write in writes)
    how = (
        "by the database's clock at the same time"
        if one[1] == other[1]
        else "although by the database's clock neither had committed when the other started"
    )
    spans = [f"from {_reading(start)} to {_reading(commit)}" for start, commit in (one, other)]
    ran = f"{writes[0].transaction} ran {spans[0]} and {writes[1].transaction} {spans[1]}"
    return f"{act(writes[0])} and {act(writes[1])}, and both committed, {how}: {ran}."


def _inversion(anomaly: Anomaly) -> str:
    [name], [(start, commit)] = anomaly.transactions, anomaly.facts_as(ClockFacts).times
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
    "stale-read": _unseen,
    "session-order": _out_of_session,
}
