"""Sentences about reads, writes and sessions that contradict the database's own clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.explain.operation_text import (
    at,
    owned_value,
    read_text,
    sentence,
    session_name,
    write_noun,
    wrote,
)
from isoscope.explain.value_text import key_in_words, same, shown, shown_around
from isoscope.explain.wording import Wording
from isoscope.history import OperationKind
from isoscope.verdict import ABSENT, ClockFacts, StaleReadFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isoscope.verdict import Anomaly, Step, Witness

__all__ = ["WORDINGS", "clock_reason"]

_EVENTS = {"start": "started", "commit": "committed"}


def clock_reason(step: Step) -> str:
    """One event came before another by the database's clock."""
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
    # Two equal times in the other order belong to transactions that start and commit at one time.
    return (
        f"{step.before} and {step.after} both committed at {_reading(earlier)}, "
        f"{step.before} first by the rule for equal times"
    )


def _reading(timestamp: tuple[int, int]) -> str:
    physical, logical = timestamp
    return f"{physical}.{logical}" if logical else str(physical)


def _stale(anomaly: Anomaly) -> str:
    seen, elements = anomaly.witnesses[0], _differing_elements(anomaly)
    demand = f"{read_text(seen, *elements)}, but by the database's clock {_due(anomaly, in_full=True)}"
    return f"{demand}. {_ORIGINS[anomaly.facts.case](anomaly)}."


def _due(anomaly: Anomaly, *, in_full: bool = False) -> str:
    """The value of the key when the transaction read it; `in_full`: and the transaction that wrote it."""
    facts = anomaly.facts_as(StaleReadFacts)
    seen, when = anomaly.witnesses[0], "committed" if facts.is_serial else "started"
    key, time = key_in_words(seen.key), f"when {seen.transaction} {when}"
    if facts.expected is ABSENT:
        return f"{key} still had its initial value {time}"
    writer = _write_of_expected(anomaly) if in_full else None
    by = f", written by {writer.transaction}{at(writer)}," if writer else ""
    return f"{key} was {shown_around(facts.expected, _differing_elements(anomaly))}{by} {time}"


def _write_of_expected(anomaly: Anomaly) -> Witness | None:
    """The write that a read of a register should have shown; None if that is the initial value."""
    seen, *others = anomaly.witnesses
    if isinstance(seen.value, tuple) or not others:
        return None
    is_due = anomaly.facts.case in ("older-version", "never-written") or len(others) > 1
    return others[0] if is_due else None


def _differing_elements(anomaly: Anomaly) -> list[object]:
    """The elements around the place where a list that was read differs from the expected list."""
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
        return f"It read an older version, {up_to}{owned_value(version)}"
    if isinstance(anomaly.witnesses[0].value, tuple):
        return "It read an older version, with nothing that others appended"
    return "It read the initial value"


def _newer(anomaly: Anomaly) -> str:
    clock = next(step for step in anomaly.steps if step.relation == "clock")
    return f"It read a newer version, {owned_value(anomaly.witnesses[-1])}: {clock_reason(clock)}"


def _uncommitted(anomaly: Anomaly) -> str:
    write = anomaly.witnesses[-1]
    why = _UNFINISHED[anomaly.facts_as(StaleReadFacts).unfinished]
    clocks = [step for step in anomaly.steps if step.relation == "clock"]
    when = clock_reason(clocks[0]) if clocks else ""
    return why.format(
        change=write_noun(write),
        did=wrote(write),
        value=shown(write.value),
        version=owned_value(write),
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
        return f"No transaction wrote {shown(found)} to {key_in_words(anomaly.keys[0])}"
    place = _place(found, due)
    instead = f"instead of {shown(due[place])}" if place < len(due) else "where the list should end"
    return f"The list never was like that: element {place + 1} is {shown(found[place])} {instead}"


def _forgotten(anomaly: Anomaly) -> str:
    """The online check drops transactions that are final from memory."""
    return f"No transaction that is still in memory wrote {shown(anomaly.witnesses[0].value)}"


_ORIGINS: Mapping[str, Callable[[Anomaly], str]] = {
    "older-version": _older,
    "newer-version": _newer,
    "uncommitted": _uncommitted,
    "never-written": _never,
    "": _forgotten,
}


def _unseen(anomaly: Anomaly) -> str:
    """Why the steps of a stale read contradict each other, or which version was read."""
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
        f"{together.after} follows {together.before} in {session_name(together.session)}, but by the "
        f"database's clock {clock_reason(clock)}."
    )


def _out_of_session(anomaly: Anomaly) -> str:
    together, _ = anomaly.steps
    return (
        f"So {together.after} cannot have seen {together.before} by the database's clock, although "
        f"{together.before} ran before it in {session_name(together.session)}."
    )


def _conflict(anomaly: Anomaly) -> str:
    writes = anomaly.witnesses
    one, other = anomaly.facts_as(ClockFacts).times
    how = (
        "by the database's clock at the same time"
        if one[1] == other[1]
        else "although by the database's clock neither had committed when the other started"
    )
    spans = [f"from {_reading(start)} to {_reading(commit)}" for start, commit in (one, other)]
    ran = f"{writes[0].transaction} ran {spans[0]} and {writes[1].transaction} {spans[1]}"
    return f"{sentence(writes[0])} and {sentence(writes[1])}, and both committed, {how}: {ran}."


def _inversion(anomaly: Anomaly) -> str:
    [name], [(start, commit)] = anomaly.transactions, anomaly.facts_as(ClockFacts).times
    return (
        f"By the database's clock {name} committed at {_reading(commit)}, before it started at "
        f"{_reading(start)}."
    )


WORDINGS: Mapping[str, Wording] = {
    "stale-read": Wording(_stale, _unseen),
    "session-order": Wording(_session, _out_of_session),
    "write-conflict": Wording(_conflict),
    "timestamp-inversion": Wording(_inversion),
}
