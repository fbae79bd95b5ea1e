"""Operations as parts of sentences: `T1 read x = 1 (h.txt:3)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.explain.value_text import harmless, key_in_words, shown, shown_around
from isoscope.history import UNKNOWN, OperationKind, Range
from isoscope.verdict import AskedRange

if TYPE_CHECKING:
    from isoscope.verdict import Witness

__all__ = [
    "action",
    "assignment",
    "at",
    "owned_value",
    "range_text",
    "read_text",
    "sentence",
    "session_name",
    "write_noun",
    "wrote",
]

_VERBS = {
    OperationKind.READ: "read",
    OperationKind.RANGE_READ: "read",
    OperationKind.WRITE: "wrote",
    OperationKind.INSERT: "inserted",
}


def assignment(witness: Witness, *elements: object) -> str:
    """`x = 1`, `rows 1 to 9 without x`; a long list is shown around the elements that matter."""
    if witness.asked is not None and witness.kind == OperationKind.READ:
        return f"{range_text(witness.asked)} without {key_in_words(witness.key)}"
    if isinstance(witness.value, Range):
        return f"{range_text(witness.asked or AskedRange())}: {shown(witness.value)}"
    return f"{key_in_words(witness.key)} = {shown_around(witness.value, elements)}"


def range_text(asked: AskedRange) -> str:
    """`rows 1 to 9`, `all rows of table t`, `rows that match [:= 1]`."""
    table = f" of table {harmless(asked.table)}" if asked.table is not None else ""
    match (asked.low is None, asked.high is None):
        case (True, True):
            bounds = ""
        case (False, True):
            bounds = f" from {shown(asked.low)} on"
        case (True, False):
            bounds = f" up to {shown(asked.high)}"
        case _:
            bounds = f" {shown(asked.low)} to {shown(asked.high)}"
    if asked.predicate is not None:
        return f"rows{bounds}{table} that match {harmless(asked.predicate)}"
    return f"rows{bounds}{table}" if bounds else f"all rows{table}"


def at(witness: Witness) -> str:
    """The operation's place in the input, if it has one."""
    return f" ({harmless(witness.place)})" if witness.place else ""


def read_text(witness: Witness, *elements: object, subject: str = "") -> str:
    """`T1 read x = 1 (h.txt:3)`."""
    return f"{subject or witness.transaction} read {assignment(witness, *elements)}{at(witness)}"


def wrote(witness: Witness) -> str:
    """`wrote` or `appended`."""
    return "appended" if witness.kind == OperationKind.APPEND else "wrote"


def write_noun(witness: Witness) -> str:
    """`write` or `append`."""
    return "append" if witness.kind == OperationKind.APPEND else "write"


def action(witness: Witness, *elements: object) -> str:
    """`read x = 1`, `wrote x = 1`, `appended 1 to x`; a long list around the elements that matter."""
    if witness.kind == OperationKind.APPEND:
        return f"appended {shown(witness.value)} to {key_in_words(witness.key)}"
    if witness.kind == OperationKind.DELETE:
        return f"deleted {key_in_words(witness.key)}"
    verb = _VERBS.get(OperationKind(witness.kind))
    if verb is None:
        return witness.kind
    if witness.value is UNKNOWN:
        return f"{verb} {key_in_words(witness.key)}, with an unknown result"
    return f"{verb} {assignment(witness, *elements)}"


def sentence(witness: Witness) -> str:
    """`T1 read x = 1 (h.txt:3)`, `T1 wrote x = 1`, `T1 appended 1 to x`."""
    return f"{witness.transaction} {action(witness)}{at(witness)}"


def owned_value(write: Witness) -> str:
    """`T1's 1 (h.txt:3)`."""
    return f"{write.transaction}'s {shown(write.value)}{at(write)}"


def session_name(name: object) -> str:
    """The session that two transactions share."""
    return "the same session" if name is None else f"session {shown(name)}"
