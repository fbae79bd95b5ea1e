"""Why one transaction comes before another: a reason for each step of a proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from isoscope.explain.clock import clock_reason
from isoscope.explain.operation_text import assignment, at, read_text, sentence, session_name
from isoscope.explain.value_text import key_in_words, same, shown
from isoscope.explain.version_order import missed_reason, real_time_reason, replaced_reason
from isoscope.history import OperationKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from isoscope.verdict import Step, Witness

__all__ = ["MissedWrite", "after_a_colon", "because", "chain", "missed_write"]


def because(step: Step, *, in_full: bool = True) -> str:
    """Why the step's first transaction comes before its second.

    `in_full` adds how a missed write came into sight, if that took several steps.
    """
    if step.relation == "session":
        return f"both ran in {session_name(step.session)}"
    if step.relation == "real-time":
        return real_time_reason(step)
    if step.relation == "clock":
        return clock_reason(step)
    if step.relation == "cm" and step.witnesses:
        stale, served, write = step.witnesses
        return missed_write(
            MissedWrite(stale, served, write, step.sight), how=_in_brackets if in_full else None
        )
    if step.relation in _REASONS and step.witnesses:
        return _REASONS[step.relation](step)
    return f"the history shows it by `{step.relation}`"


def chain(steps: Sequence[Step]) -> str:
    """Every step with its reason."""
    return "; ".join(f"{step.before} before {step.after}, because {because(step)}" for step in steps)


def _write_read(step: Step) -> str:
    seen, write = step.witnesses
    start = read_text(seen, write.value)
    is_before = seen.asked is None and seen.value is None and write.kind == OperationKind.INSERT
    if is_before and write.value is not None:
        return f"{sentence(write)}, and is a first transaction: it comes before all that see its rows"
    if write.kind == OperationKind.APPEND:
        return f"{start}, to which {write.transaction} appended {shown(write.value)}{at(write)}"
    return f"{start}, which {write.transaction} wrote{at(write)}"


def _in_brackets(steps: Sequence[Step]) -> str:
    """How, inside a chain."""
    return f" ({chain(steps)})"


def after_a_colon(steps: Sequence[Step]) -> str:
    """How, at the end of a sentence."""
    return f": {chain(steps)}"


class MissedWrite(NamedTuple):
    """A read that shows the write `served`, None for the initial value, instead of `write`.

    `sight` are the steps from the writer of `write` to the reader.
    """

    stale: Witness
    served: Witness | None
    write: Witness
    sight: Sequence[Step]


def missed_write(
    found: MissedWrite,
    *,
    when: str = "also",
    overwrote: bool = False,
    how: Callable[[Sequence[Step]], str] | None = None,
) -> str:
    """A transaction read a key from one writer although another writer of the key was in its sight.

    `when`: whether the reader saw the other writer `already`, only `then`, or at some time `also`.
    `overwrote`: the other writer is known to have come later. `how` tells the steps by which it came into
    sight, if they are several.
    """
    stale, served, write, sight = found
    start, writer = f"{read_text(stale)}{_origin(stale, served)}", write.transaction
    known = _known(write, overwrote=overwrote and served is not None, too=not overwrote)
    if len(sight) == 1 and sight[0].relation == "wr":
        return f"{start} {_by_read(sight[0], write, when=when, known=known)}"
    if len(sight) == 1:
        return f"{start} although {writer}, which {known}, ran before it in {session_name(sight[0].session)}"
    told = how(sight) if how else ""
    return f"{start} although {writer}, which {known}, happened before it{told}"


def _by_read(step: Step, write: Witness, *, when: str, known: str) -> str:
    """The reader read `write`, or something else from its writer."""
    seen, shows = step.witnesses
    source = f"{assignment(seen)}{at(seen)} {_shows(shows)}"
    clause = f"and then {source}" if when == "then" else f"although it had {when} read {source}"
    is_it = same(seen.key, write.key) and same(shows.value, write.value)
    return clause if is_it else f"{clause}, which {known}"


def _origin(stale: Witness, served: Witness | None) -> str:
    """Where the value of a read comes from: words that follow the read."""
    if served is not None and served.kind != OperationKind.APPEND:
        return f" from {served.transaction}"
    values = stale.value if isinstance(stale.value, tuple) else ()
    if served is None:
        return ", with nothing but its own appends," if values else ", the initial value,"
    if same(values[-1], served.value):
        return f", up to {shown(served.value)} of {served.transaction},"
    return f", where only its own appends follow {shown(served.value)} of {served.transaction},"


def _shows(write: Witness) -> str:
    if write.kind == OperationKind.APPEND:
        return f"with {shown(write.value)} of {write.transaction}"
    return f"from {write.transaction}"


def _known(write: Witness, *, overwrote: bool, too: bool) -> str:
    """The write that was missed, as far as it is known."""
    key, value = key_in_words(write.key), shown(write.value)
    if write.kind == OperationKind.APPEND:
        return f"appended {value} to {key}{at(write)}"
    if overwrote:
        return f"overwrote {key} with {value}{at(write)}"
    return f"wrote {assignment(write)}{at(write)}{' too' if too else ''}"


_REASONS: Mapping[str, Callable[[Step], str]] = {
    "wr": _write_read,
    "ww": replaced_reason,
    "rw": missed_reason,
}
