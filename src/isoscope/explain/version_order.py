"""How the order of two versions is known: which one replaced the other, which one a read missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.explain.operation_text import (
    assignment,
    at,
    owned_value,
    read_text,
    sentence,
    session_name,
    write_noun,
)
from isoscope.explain.value_text import duration, same, shown
from isoscope.history import OperationKind
from isoscope.verdict import START

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.verdict import Step, Witness

__all__ = [
    "CLAIM",
    "missed_reason",
    "order_reason",
    "real_time_reason",
    "replaced_reason",
    "version_names",
    "version_writes",
]

#: Sources that the user claimed begin with this.
CLAIM = "assume "
_READ_THEN_WRITE = ("read-then-write", f"{CLAIM}writes-follow-reads")
_SOURCE_REASONS = {
    "list read": "reads of the list have {} before {}",
    "log": "the log has {} before {}",
    "declared": "the declared order has {} before {}",
    "intervals": "by the clients' clocks and the mechanisms {} comes before {}",
    "timestamps": "by commit timestamps {} comes before {}",
    "initial": "every key starts with it",
}


def real_time_reason(step: Step) -> str:
    """One transaction had ended before the other began."""
    if step.times is None:
        return f"{step.before} had completed before {step.after} began"
    ended, began = step.times
    if step.source == "events":
        return f"{step.before} had completed (event {ended}) before {step.after} was invoked (event {began})"
    return f"{step.before} had completed {duration(began - ended)} before {step.after} began"


def missed_reason(step: Step, subject: str = "") -> str:
    """A read missed a write; `subject` replaces the name of the reader."""
    seen, missed, *served = step.witnesses
    writer, value = missed.transaction, f"{shown(missed.value)}{at(missed)}"
    if isinstance(seen.value, tuple):
        start = read_text(seen, *seen.value[-1:], subject=subject)
        return f"{start} and did not see {writer}'s {write_noun(missed)} of {value}"
    if seen.asked is not None:
        done = "delete" if missed.kind == OperationKind.DELETE else f"{missed.kind} of {shown(missed.value)}"
        return f"{read_text(seen, subject=subject)} and did not see {writer}'s {done}{at(missed)}"
    if step.source == "initial":
        return f"{read_text(seen, subject=subject)}, the initial value, which {writer} overwrote with {value}"
    start = (
        f"{read_text(seen, subject=subject)} from {served[0].transaction}"
        if served
        else read_text(seen, subject=subject)
    )
    if step.source in _READ_THEN_WRITE:
        return f"{start}, which {writer} read too and overwrote with {value}"
    if step.source == "supposed":
        return f"{start}, which {writer} would then have overwritten with {value}"
    older = served[0].transaction if served else f"the writer of {shown(seen.value)}"
    return f"{start}, which {writer} overwrote with {value}{_known(step, older)}"


def replaced_reason(step: Step) -> str:
    """One write came after another."""
    if isinstance(step.witnesses[0].value, tuple) or START in (step.before, step.after):
        return order_reason(step)
    first, second = version_writes(step)
    writer, value = second.transaction, f"{shown(second.value)}{at(second)}"
    if step.source in _READ_THEN_WRITE:
        source = f"{assignment(first)}, which {first.transaction} wrote{at(first)}"
        return f"{writer} read {source}, and then wrote {value}"
    then = (
        f" and {writer} {value}"
        if second.kind == OperationKind.APPEND
        else f", which {writer} overwrote with {value}"
    )
    return f"{sentence(first)}{then}{_known(step, step.before)}"


def order_reason(step: Step) -> str:
    """Why one version comes before the other."""
    if isinstance(step.witnesses[0].value, tuple):
        return _in_a_list(*step.witnesses)
    if step.source in _READ_THEN_WRITE:
        return replaced_reason(step)
    older, newer = version_names(step)
    return _reason(step, step.before) or f"{older} comes before {newer}"


def version_names(step: Step) -> tuple[str, str]:
    """The two versions whose order a step tells, as sentences call them."""
    values = [shown(write.value) for write in version_writes(step)]
    older = "the initial value" if step.before == START else values.pop(0)
    return older, "the initial value" if step.after == START else values.pop(0)


def version_writes(step: Step) -> Sequence[Witness]:
    """Those two versions; of a read that missed something, the read stands for the write that it shows."""
    if step.relation == "ww" and isinstance(step.witnesses[0].value, tuple):
        return step.witnesses[1:]
    return step.witnesses[: 2 - (step.before, step.after).count(START)]


def _known(step: Step, older: str) -> str:
    reason = _reason(step, older)
    return f": {reason}" if reason else ""


def _reason(step: Step, older: str) -> str:
    """How the order is known, if it has to be said; `older` is the writer of the earlier version."""
    if step.source in _SOURCE_REASONS:
        return _SOURCE_REASONS[step.source].format(*version_names(step))
    if step.source == "session":
        return f"{older} ran before {step.after} in {session_name(step.session)}"
    if step.source == "real-time":
        return f"{older} had completed before {step.after} began"
    return _claimed(step) if step.source.startswith(CLAIM) else ""


def _claimed(step: Step) -> str:
    """How a claim of the user orders two versions: by two operations that saw them, if these are known."""
    seen = step.witnesses[len(version_writes(step)) :] if step.relation == "ww" else ()
    if len(seen) < 2:
        older, newer = version_names(step)
        return f"by the claim {step.source.removeprefix(CLAIM)} {older} comes before {newer}"
    first, second = (operation.transaction for operation in seen)
    is_session = step.source.endswith("sequential-keys")
    how = (
        f"ran before {second} in {session_name(step.session)}"
        if is_session
        else f"had completed before {second} began"
    )
    return f"{sentence(seen[0])} and {sentence(seen[1])}, and {first} {how}"


def _in_a_list(seen: Witness, first: Witness, second: Witness) -> str:
    earlier, later = owned_value(first), owned_value(second)
    if not _holds(seen.value, second.value):
        return f"{read_text(seen, first.value)}, which shows {earlier} and not yet {later}"
    return f"{read_text(seen, first.value, second.value)}, where {earlier} stands before {later}"


def _holds(values: object, element: object) -> bool:
    return isinstance(values, tuple) and any(same(value, element) for value in values)
