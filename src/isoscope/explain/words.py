"""Sentences about anomalies, for people who know databases and have not read the papers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from isoscope.history import UNKNOWN, OperationKind, Term

if TYPE_CHECKING:
    from isoscope.verdict import Anomaly, Step, Witness

__all__ = ["because", "message", "shown"]

_LONGEST = 60


def message(anomaly: Anomaly) -> str:
    """What happened, in one or two sentences."""
    sentence = _SENTENCES.get(anomaly.name)
    if sentence is None:
        return f"{anomaly.name} between {', '.join(anomaly.transactions)}."
    return sentence(anomaly)


def because(step: Step) -> str:
    """Why the step's first transaction comes before its second."""
    reads = [witness for witness in step.witnesses if witness.kind == OperationKind.READ]
    if step.relation == "wr" and reads:
        if isinstance(reads[0].value, tuple):
            appended = ", ".join(shown(w.value) for w in step.witnesses if w is not reads[0])
            return f"{step.after} read {_assignment(reads[0])}, to which {step.before} appended {appended}"
        return f"{step.after} read {_assignment(reads[0])}, which {step.before} wrote"
    return f"{step.relation} on {_key(step.key)}"


def shown(value: object) -> str:
    """A key or value as messages show it: short, on one line, harmless on a terminal."""
    text = f"[{' '.join(map(_scalar, value))}]" if isinstance(value, tuple) else _scalar(value)
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2
    return f"{text[:half]} ... {text[-half:]}"


def _scalar(value: object) -> str:
    if value is None:
        return "nil"
    if isinstance(value, str) and (not value.isidentifier() or value in ("nil", "True", "False")):
        return json.dumps(value, ensure_ascii=not value.isprintable())
    if isinstance(value, Term) and not value.text.isprintable():
        return json.dumps(value.text)
    return str(value)


def _key(key: object) -> str:
    """A key inside a sentence: a bare number would read like a value."""
    return f"key {shown(key)}" if isinstance(key, int | float | None) else shown(key)


def _assignment(witness: Witness) -> str:
    return f"{_key(witness.key)} = {shown(witness.value)}"


def _at(witness: Witness) -> str:
    return f" ({witness.place})" if witness.place else ""


def _read(witness: Witness) -> str:
    return f"{witness.transaction} read {_assignment(witness)}{_at(witness)}"


def _element(anomaly: Anomaly) -> str:
    """What is wrong with the read: `it`, or one element of the list."""
    value = anomaly.witnesses[0].value
    return shown(anomaly.facts["value"]) if isinstance(value, tuple) else "that value"


def _did(witness: Witness) -> str:
    return "appended" if witness.kind == OperationKind.APPEND else "wrote"


def _thin_air(anomaly: Anomaly) -> str:
    read, *learned = anomaly.witnesses
    key = _key(read.key)
    if isinstance(read.value, tuple):
        return f"{_read(read)}, but nobody ever appended {_element(anomaly)} to {key}."
    sentence = f"{_read(read)}, but nobody ever wrote {shown(read.value)} to {key}"
    if learned:
        return f"{sentence}, and it did not start with it either: {_read(learned[0])}."
    initial = anomaly.facts["initial"]
    return f"{sentence}." if initial is UNKNOWN else f"{sentence}, whose initial value is {shown(initial)}."


def _aborted(anomaly: Anomaly) -> str:
    read, write = anomaly.witnesses
    which = "which" if not isinstance(read.value, tuple) else f"whose element {_element(anomaly)}"
    return f"{_read(read)}, {which} {write.transaction} {_did(write)}{_at(write)} and then rolled back."


def _future(anomaly: Anomaly) -> str:
    read, write = anomaly.witnesses
    return f"{_read(read)} before it {_did(write)} {_element(anomaly)} itself{_at(write)}."


def _not_own(anomaly: Anomaly) -> str:
    read, write = anomaly.witnesses
    if write.kind == OperationKind.APPEND:
        return (
            f"{_read(read)}, although the list had to end with what it had appended itself, "
            f"up to {shown(write.value)}{_at(write)}."
        )
    return f"{_read(read)} although it had itself written {shown(write.value)} before{_at(write)}."


def _not_last(anomaly: Anomaly) -> str:
    read, write = anomaly.witnesses
    verb = "append" if write.kind == OperationKind.APPEND else "write"
    return (
        f"{_read(read)}, an earlier {verb} of its own, although its last {verb} before was "
        f"{shown(write.value)}{_at(write)}."
    )


def _intermediate(anomaly: Anomaly) -> str:
    read, write, replacement = anomaly.witnesses
    if write.kind == OperationKind.APPEND:
        return (
            f"{_read(read)}, which ends with {shown(write.value)} of {write.transaction}{_at(write)}; "
            f"but {write.transaction} went on and appended {shown(replacement.value)}"
            f"{_at(replacement)} before it committed."
        )
    return (
        f"{_read(read)}, which {write.transaction} wrote{_at(write)} but replaced by "
        f"{shown(replacement.value)}{_at(replacement)} before it committed."
    )


def _non_repeatable(anomaly: Anomaly) -> str:
    later, first = anomaly.witnesses
    return (
        f"{_read(first)} and later {_assignment(later)}{_at(later)}: "
        f"something changed {_key(later.key)} under a transaction that was still running."
    )


_SENTENCES = {
    "thin-air-read": _thin_air,
    "aborted-read": _aborted,
    "future-read": _future,
    "not-my-own-write": _not_own,
    "not-my-last-write": _not_last,
    "intermediate-read": _intermediate,
    "non-repeatable-read": _non_repeatable,
}
