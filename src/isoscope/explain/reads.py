"""Sentences about reads that are wrong by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.explain.phrases import assignment, at, did, key_in_words, same, shown
from isoscope.explain.phrases import read as read_in_words
from isoscope.history import UNKNOWN, OperationKind
from isoscope.verdict import ReadFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isoscope.verdict import Anomaly, Witness

__all__ = ["CONTRADICTIONS", "HINTS", "SENTENCES"]


def _element(anomaly: Anomaly) -> str:
    """What is wrong with the read: `it`, or one element of the list."""
    value = anomaly.witnesses[0].value
    return shown(anomaly.facts_as(ReadFacts).value) if isinstance(value, tuple) else "that value"


def _thin_air(anomaly: Anomaly) -> str:
    read, *learned = anomaly.witnesses
    key = key_in_words(read.key)
    if isinstance(read.value, tuple):
        return f"{read_in_words(read)}, but nobody ever appended {_element(anomaly)} to {key}."
    sentence = f"{read_in_words(read)}, but nobody ever wrote {shown(read.value)} to {key}"
    if learned:
        return f"{sentence}, and it did not start with it either: {read_in_words(learned[0])}."
    initial = anomaly.facts_as(ReadFacts).initial
    return f"{sentence}." if initial is UNKNOWN else f"{sentence}, whose initial value is {shown(initial)}."


def _aborted(anomaly: Anomaly) -> str:
    read, write = anomaly.witnesses
    which = "which" if not isinstance(read.value, tuple) else f"whose element {_element(anomaly)}"
    start = f"{read_in_words(read)}, {which} {write.transaction} {did(write)}{at(write)}"
    if not anomaly.facts_as(ReadFacts).is_logged:
        return f"{start} and then rolled back."
    return f"{start}; the {_wrong_outcome(write)}."


def _wrong_outcome(write: Witness) -> str:
    return (
        f"history has {write.transaction} as failed, but the log shows that it committed: "
        "its client has recorded the wrong outcome"
    )


def _rolled_back(anomaly: Anomaly) -> str:
    _, write = anomaly.witnesses
    if anomaly.facts_as(ReadFacts).is_logged:
        return f"The {_wrong_outcome(write)}."
    return f"But {write.transaction} aborted: nobody should ever see what it {did(write)}."


def _future(anomaly: Anomaly) -> str:
    read, write = anomaly.witnesses
    return f"{read_in_words(read)} before it {did(write)} {_element(anomaly)} itself{at(write)}."


def _not_own(anomaly: Anomaly) -> str:
    read, write = anomaly.witnesses
    if write.kind == OperationKind.APPEND:
        return (
            f"{read_in_words(read)}, although the list had to end with what it had appended itself, "
            f"up to {shown(write.value)}{at(write)}."
        )
    return f"{read_in_words(read)} although it had itself written {shown(write.value)} before{at(write)}."


def _not_last(anomaly: Anomaly) -> str:
    read, write = anomaly.witnesses
    verb = "append" if write.kind == OperationKind.APPEND else "write"
    return (
        f"{read_in_words(read)}, an earlier {verb} of its own, although its last {verb} before was "
        f"{shown(write.value)}{at(write)}."
    )


def _intermediate(anomaly: Anomaly) -> str:
    read, write, _ = anomaly.witnesses
    if write.kind == OperationKind.APPEND:
        is_end = isinstance(read.value, tuple) and same(read.value[-1], write.value)
        ends = "which ends with" if is_end else "where only its own appends follow"
        return (
            f"{read_in_words(read)}, {ends} {shown(write.value)} of {write.transaction}{at(write)}; "
            f"but {write.transaction} {_went_on(anomaly)}."
        )
    return f"{read_in_words(read)}, which {write.transaction} wrote{at(write)} but {_went_on(anomaly)}."


def _went_on(anomaly: Anomaly, what: str = "") -> str:
    """What the writer did next; `what` it replaced, if that is not clear."""
    *_, replacement = anomaly.witnesses
    append = replacement.kind == OperationKind.APPEND
    next_ = "went on and appended" if append else f"replaced {what}by"
    return f"{next_} {shown(replacement.value)}{at(replacement)} before it committed"


def _half_done(anomaly: Anomaly) -> str:
    read, write, _ = anomaly.witnesses
    return f"But {write.transaction} {_went_on(anomaly, 'it ')}: {read.transaction} saw it half done."


def _non_repeatable(anomaly: Anomaly) -> str:
    later, first = anomaly.witnesses
    return (
        f"{read_in_words(first)} and later {assignment(later)}{at(later)}: "
        f"something changed {key_in_words(later.key)} under a transaction that was still running."
    )


HINTS: Mapping[str, str] = {
    "aborted-read": "a client that reports a time-out as a failure may have made this up; record what timed "
    "out as indeterminate (Jepsen: :info, not :fail)",
}

SENTENCES: Mapping[str, Callable[[Anomaly], str]] = {
    "thin-air-read": _thin_air,
    "aborted-read": _aborted,
    "future-read": _future,
    "not-my-own-write": _not_own,
    "not-my-last-write": _not_last,
    "intermediate-read": _intermediate,
    "non-repeatable-read": _non_repeatable,
}

CONTRADICTIONS: Mapping[str, Callable[[Anomaly], str]] = {
    "aborted-read": _rolled_back,
    "intermediate-read": _half_done,
}
