"""Sentences about reads that are wrong by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.explain.operation_text import assignment, at, owned_value, range_text, read_text, wrote
from isoscope.explain.value_text import key_in_words, same, shown
from isoscope.explain.wording import Wording
from isoscope.history import UNKNOWN, OperationKind
from isoscope.verdict import ReadFacts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.verdict import Anomaly, Witness

__all__ = ["WORDINGS"]


def _element(anomaly: Anomaly) -> str:
    """The wrong part of the read: its value, or one element of its list."""
    value = anomaly.witnesses[0].value
    return shown(anomaly.facts_as(ReadFacts).value) if isinstance(value, tuple) else "that value"


def _thin_air(anomaly: Anomaly) -> str:
    read, *learned = anomaly.witnesses
    key = key_in_words(read.key)
    if isinstance(read.value, tuple):
        return f"{read_text(read)}, but no transaction appended {_element(anomaly)} to {key}."
    sentence = f"{read_text(read)}, but no transaction wrote {shown(read.value)} to {key}"
    if learned:
        return f"{sentence}, and it did not start with it either: {read_text(learned[0])}."
    initial = anomaly.facts_as(ReadFacts).initial
    return f"{sentence}." if initial is UNKNOWN else f"{sentence}, whose initial value is {shown(initial)}."


def _aborted(anomaly: Anomaly) -> str:
    read, write = anomaly.witnesses
    which = "which" if not isinstance(read.value, tuple) else f"whose element {_element(anomaly)}"
    start = f"{read_text(read)}, {which} {write.transaction} {wrote(write)}{at(write)}"
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
    return f"But {write.transaction} aborted: no transaction may see what it {wrote(write)}."


def _future(anomaly: Anomaly) -> str:
    read, write = anomaly.witnesses
    return f"{read_text(read)} before it {wrote(write)} {_element(anomaly)} itself{at(write)}."


def _not_own(anomaly: Anomaly) -> str:
    read, write = anomaly.witnesses
    if write.kind == OperationKind.APPEND:
        return (
            f"{read_text(read)}, although the list had to end with what it had appended itself, "
            f"up to {shown(write.value)}{at(write)}."
        )
    return f"{read_text(read)} although it had itself written {shown(write.value)} before{at(write)}."


def _not_last(anomaly: Anomaly) -> str:
    read, write = anomaly.witnesses
    verb = "append" if write.kind == OperationKind.APPEND else "write"
    return (
        f"{read_text(read)}, an earlier {verb} of its own, although its last {verb} before was "
        f"{shown(write.value)}{at(write)}."
    )


def _intermediate(anomaly: Anomaly) -> str:
    read, write, _ = anomaly.witnesses
    if write.kind == OperationKind.APPEND:
        is_end = isinstance(read.value, tuple) and same(read.value[-1], write.value)
        ends = "which ends with" if is_end else "where only its own appends follow"
        return (
            f"{read_text(read)}, {ends} {shown(write.value)} of {write.transaction}{at(write)}; "
            f"but {write.transaction} {_went_on(anomaly)}."
        )
    return f"{read_text(read)}, which {write.transaction} wrote{at(write)} but {_went_on(anomaly)}."


def _went_on(anomaly: Anomaly, what: str = "") -> str:
    """The next write of the writer; `what` names the version that it replaced, if that is not clear."""
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
        f"{read_text(first)} and later {assignment(later)}{at(later)}: "
        f"something changed {key_in_words(later.key)} under a transaction that was still running."
    )


def _predicate_read_miss(anomaly: Anomaly) -> str:
    """A read by a predicate, and the last version of the key that it does not show, if one was written."""
    [key] = map(key_in_words, anomaly.keys)
    seen, *written = anomaly.witnesses
    matches = f"every version of {key} that it can have met matches, among them"
    why = f"{matches} {owned_value(written[0])}" if written else f"the initial value of {key} matches"
    asked = range_text(seen.asked) if seen.asked is not None else "rows by a predicate"
    return f"{seen.transaction} read {asked}{at(seen)} and was not shown {key}, although {why}."


_WRONG_OUTCOME = (
    "a client that reports a time-out as a failure may have made this up; record what timed out as "
    "indeterminate (Jepsen: :info, not :fail)"
)

WORDINGS: Mapping[str, Wording] = {
    "thin-air-read": Wording(_thin_air),
    "predicate-read-miss": Wording(_predicate_read_miss),
    "aborted-read": Wording(_aborted, _rolled_back, hint=_WRONG_OUTCOME),
    "future-read": Wording(_future),
    "not-my-own-write": Wording(_not_own),
    "not-my-last-write": Wording(_not_last),
    "intermediate-read": Wording(_intermediate, _half_done),
    "non-repeatable-read": Wording(_non_repeatable),
}
