"""One counterexample as text: the transactions and their operations, the proof, the contradiction."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING

from isoscope.explain import (
    abbreviated,
    action,
    contradiction,
    harmless,
    is_timed,
    proof,
    same,
    shown,
    trimmed,
)
from isoscope.reports.places import Place
from isoscope.reports.program_text import prevention, statements
from isoscope.reports.terminal import GLUE, Paint, columns, padded, paragraph
from isoscope.reports.timeline_text import render_timeline
from isoscope.verdict import ABSENT, ReadFacts, StaleReadFacts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.explain import Part
    from isoscope.verdict import Anomaly, Participant, Witness

__all__ = ["render_counterexample"]

_MARGIN = 2
#: The left column of a table takes at most this share of the width; a wider one stands above the text.
_LEFT = 0.4
_READS = ("read", "range-read")
#: These operations are no rows: the end of a transaction has words of its own.
_BRACKETS = ("begin", "commit", "abort")
_ENDS = {"aborted": "then aborted", "indeterminate": "then no answer came (indeterminate)"}
#: An operation stays on its line: a verb with its key, that with its value, a list, a place.
_TOGETHER = re.compile(
    r" = |\b(key|read|wrote|inserted|deleted) |\bappended \S+ to |\[[^][]*\]"
    r"| \((byte|event|line) |\.\.\. \S+ more|\d (ns|us|ms|s)\b"
)


def render_counterexample(
    anomaly: Anomaly, *, width: int = 100, colour: bool = False, folder: str = ""
) -> str:
    """The transactions, each step with its reason, and the contradiction; no newline at the end.

    `folder` is left out of the places of operations.
    """
    paint = Paint(colour)
    told = trimmed(anomaly) if anomaly.participants else anomaly
    parts = proof(told)
    blocks = [
        "\n".join(_participants(anomaly, parts, _Places(folder), width, paint)),
        "\n".join([*_steps(parts, width), _filled(contradiction(told), width)]),
        "\n".join(_statements(told, folder, width)),
        _filled(f"to prevent it: {advice}", width) if (advice := prevention(anomaly)) else "",
    ]
    return "\n\n".join(block for block in blocks if block)


def _participants(
    anomaly: Anomaly, parts: Sequence[Part], places: _Places, width: int, paint: Paint
) -> Iterator[str]:
    """The operations of each transaction, with their times if the anomaly is about time."""
    if is_timed(anomaly) and anomaly.participants:
        return render_timeline(anomaly, places.of, width=width, paint=paint)
    return _transactions(anomaly, parts, places, width, paint)


def _transactions(
    anomaly: Anomaly, parts: Sequence[Part], places: _Places, width: int, paint: Paint
) -> Iterator[str]:
    """One row each: its name, the name of its session if there is one, its operations."""
    rows = []
    for participant in _in_order(anomaly, parts):
        name = paint.name(abbreviated(participant.transaction))
        session = (
            "" if participant.session is None else f"session {shown(participant.session)}{participant.at}"
        )
        rows.append((name, session, ", ".join(_deeds(participant, anomaly, places, paint))))
    names, sessions = (max((columns(row[side]) for row in rows), default=0) for side in (0, 1))
    heads = [f"{padded(name, names)}  {padded(session, sessions)}".rstrip() for name, session, _ in rows]
    stacked = [", ".join(filter(None, row[:2])) for row in rows]
    yield from _table(heads, stacked, [row[2] for row in rows], width)


def _in_order(anomaly: Anomaly, parts: Sequence[Part]) -> list[Participant]:
    """By the time when they began if one clock has it for all, else in the order of the proof."""
    by_lane = sorted(anomaly.participants, key=lambda one: (one.lane, one.position))
    if len({one.clock for one in by_lane}) == 1 and all(one.times[0] is not None for one in by_lane):
        return sorted(by_lane, key=lambda one: one.times[0] or 0)
    named = [end for part in parts for reason in part.reasons for end in (reason.before, reason.after)]
    by_proof = sorted(by_lane, key=lambda one: _rank(one, named))
    # A session's transactions keep their order, even if the proof begins with a later one.
    of_lane = {one.lane: iter([p for p in by_lane if p.lane == one.lane]) for one in by_lane}
    return [next(of_lane[one.lane]) for one in by_proof]


def _rank(participant: Participant, named: Sequence[str]) -> int:
    """Its place among the names in the proof; else a transaction that wrote comes first, others last."""
    if (name := abbreviated(participant.transaction)) in named:
        return named.index(name)
    reads = all(one.kind in _READS for one in participant.operations if one.index in participant.matters)
    return len(named) if reads else -1


def _deeds(participant: Participant, anomaly: Anomaly, places: _Places, paint: Paint) -> Iterator[str]:
    """Its operations; a place that several in a row share stands once, behind the last of them."""
    done = list(_with_gaps(participant))
    for (left_out, operation), following in zip_longest(done, done[1:]):
        if left_out:
            yield paint.faint(f"... {left_out:,} more")
        if operation is not None:
            is_last = following is None or following[1] is None or following[1].place != operation.place
            said = action(operation, *_elements(anomaly, operation)) + (
                places.of(operation) if is_last else ""
            )
            yield said if operation.index in participant.matters else paint.faint(said)
    if end := _ENDS.get(participant.status):
        yield end


def _with_gaps(participant: Participant) -> Iterator[tuple[int, Witness | None]]:
    """Its operations, each with the number left out before it; None stands for the end."""
    left_out, after = 0, -1
    for operation in participant.operations:
        left_out += operation.index - after - 1
        after = operation.index
        if operation.kind not in _BRACKETS:
            yield left_out, operation
            left_out = 0
    yield left_out + participant.left_out + len(participant.operations) - after - 1, None


def _elements(anomaly: Anomaly, operation: Witness) -> list[object]:
    """The elements of a list that matter: the wrong one, and those that a participant appended."""
    appended = [
        write.value
        for one in anomaly.participants
        for write in one.operations
        if write.kind == "append" and write.index in one.matters and same(write.key, operation.key)
    ]
    facts = anomaly.facts
    wrong = facts.value if isinstance(facts, ReadFacts | StaleReadFacts) else ABSENT
    return appended if wrong is ABSENT else [*appended, wrong]


class _Places:
    """Places of operations: the name of a file once, then only lines or bytes of it."""

    def __init__(self, folder: str) -> None:
        self._folder = f"{folder.rstrip('/')}/" if folder else ""
        self._path = ""

    def of(self, operation: Witness) -> str:
        place = Place.parse(operation.place)
        if place is None:
            return f" ({harmless(operation.place)})" if operation.place else ""
        if place.path == self._path:
            return f" ({place.unit} {place.number})"
        self._path = place.path
        return f" ({harmless(operation.place.removeprefix(self._folder))})"


def _steps(parts: Sequence[Part], width: int) -> Iterator[str]:
    """A row for each step; a supposition stands above its steps."""
    for part in parts:
        if part.supposed:
            yield _filled(f"{part.supposed}:", width)
        heads = [f"{reason.before} before {reason.after} ({reason.relation})" for reason in part.reasons]
        reasons = [reason.because for reason in part.reasons]
        yield from _table(heads, heads, reasons, width, margin=_MARGIN * (2 if part.supposed else 1))


def _statements(anomaly: Anomaly, folder: str, width: int) -> Iterator[str]:
    """The statements of a recorded program, in the order of time."""
    rows = statements(anomaly)
    if not rows:
        return
    yield " " * _MARGIN + "statements, in the order of time:"
    prefix = f"{folder.rstrip('/')}/" if folder else ""
    heads = [f"{name}  {place.removeprefix(prefix)}" for name, place, _ in rows]
    longest = max(map(columns, heads))
    yield from _table([padded(one, longest) for one in heads], heads, [sql for _, _, sql in rows], width)


def _table(
    heads: Sequence[str], stacked: Sequence[str], texts: Sequence[str], width: int, *, margin: int = _MARGIN
) -> Iterator[str]:
    """Rows of a head and a text beside it, or below `stacked` if there is too little room beside."""
    left = margin + max(map(columns, heads), default=0) + 2
    longest = max((columns(word) for text in texts for word in text.split(" ")), default=0)
    has_room = left <= width * _LEFT and left + longest <= width
    for head, above, text in zip(heads, stacked, texts, strict=True):
        if has_room:
            yield _filled(text, width, head=" " * margin + head, margin=left)
        else:
            yield _filled(f"{above}:", width, margin=margin)
            yield _filled(text, width, margin=margin + 2)


def _filled(text: str, width: int, *, head: str = "", margin: int = _MARGIN) -> str:
    glued = _TOGETHER.sub(lambda part: part[0].replace(" ", GLUE), text)
    return paragraph(glued, width=width, head=head, margin=margin)
