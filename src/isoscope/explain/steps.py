"""Why one transaction comes before another: a reason for each step of a proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from isoscope.explain.clock import on_the_clock
from isoscope.explain.orders import in_time, overwritten, replaced
from isoscope.explain.phrases import assignment, at, key_in_words, read, same, session, shown
from isoscope.history import OperationKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from isoscope.verdict import Step, Witness

__all__ = ["Missed", "after_a_colon", "because", "chain", "missed"]


def because(step: Step, *, in_full: bool = True) -> str:
    """Why the step's first transaction comes before its second.

    Not `in_full`: what came to a reader's sight by several steps is said to have come, not how.
    """
    if step.relation == "session":
        return f"both ran in {session(step.session)}"
    if step.relation == "real-time":
        return in_time(step)
    if step.relation == "clock":
        return on_the_clock(step)
    if step.relation == "cm" and step.witnesses:
        stale, served, write = step.witnesses
        return missed(Missed(stale, served, write, step.sight), how=_in_brackets if in_full else None)
    if step.relation in _REASONS and step.witnesses:
        return _REASONS[step.relation](step)
    return f"the history shows it by `{step.relation}`"


def chain(steps: Sequence[Step]) -> str:
    """Every link with its reason."""
    return "; ".join(f"{step.before} before {step.after}, because {because(step)}" for step in steps)


def _write_read(step: Step) -> str:
    seen, write = step.witnesses
    start = read(seen, write.value)
    if write.kind == OperationKind.APPEND:
        return f"{start}, to which {write.transaction} appended {shown(write.value)}{at(write)}"
    return f"{start}, which {write.transaction} wrote{at(write)}"


def _in_brackets(steps: Sequence[Step]) -> str:
    """How, inside a chain."""
    return f" ({chain(steps)})"


def after_a_colon(steps: Sequence[Step]) -> str:
    """How, at the end of a sentence."""
    return f": {chain(steps)}"


class Missed(NamedTuple):
    """A read that shows the write `served`, None for the initial value, instead of `write`.

    `sight` is how the writer of the latter came to the reader.
    """

    stale: Witness
    served: Witness | None
    write: Witness
    sight: Sequence[Step]


def missed(
    found: Missed,
    *,
    when: str = "also",
    overwrote: bool = False,
    how: Callable[[Sequence[Step]], str] | None = None,
) -> str:
    """Somebody read a key from one transaction although another that wrote it too was in sight.

    `when`: whether the reader saw the other `already`, only `then`, or at some time `also`. `overwrote`: it
    is known to have come later. `how` tells the steps by which the other came to sight, if they are several.
    """
    stale, served, write, sight = found
    start, writer = f"{read(stale)}{_origin(stale, served)}", write.transaction
    known = _known(write, overwrote=overwrote and served is not None, too=not overwrote)
    if len(sight) == 1 and sight[0].relation == "wr":
        return f"{start} {_by_read(sight[0], write, when=when, known=known)}"
    if len(sight) == 1:
        return f"{start} although {writer}, which {known}, ran before it in {session(sight[0].session)}"
    told = how(sight) if how else ""
    return f"{start} although {writer}, which {known}, happened before it{told}"


def _by_read(step: Step, write: Witness, *, when: str, known: str) -> str:
    """That the reader read something else from the writer of `write`, or that very write."""
    seen, shows = step.witnesses
    source = f"{assignment(seen)}{at(seen)} {_shows(shows)}"
    clause = f"and then {source}" if when == "then" else f"although it had {when} read {source}"
    is_it = same(seen.key, write.key) and same(shows.value, write.value)
    return clause if is_it else f"{clause}, which {known}"


def _origin(stale: Witness, served: Witness | None) -> str:
    """From whom a read is: words that go behind it."""
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
    """What is known of the write that was not read."""
    key, value = key_in_words(write.key), shown(write.value)
    if write.kind == OperationKind.APPEND:
        return f"appended {value} to {key}{at(write)}"
    if overwrote:
        return f"overwrote {key} with {value}{at(write)}"
    return f"wrote {assignment(write)}{at(write)}{' too' if too else ''}"


_REASONS: Mapping[str, Callable[[Step], str]] = {
    "wr": _write_read,
    "ww": replaced,
    "rw": overwritten,
}
