"""Transactions as boxes that have a size and no place yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope.explain import shown
from isoscope.reports.picture.labels import measure, operation
from isoscope.reports.plain_text import shortened
from isoscope.verdict import START

if TYPE_CHECKING:
    from isoscope.verdict import Participant

__all__ = ["HEADING", "PADDING", "ROW", "BoxContent", "box_content", "lane_name"]

#: Heights of an operation and of the line above them, and what is left free on either side.
ROW, HEADING, PADDING = 18, 22, 9


@dataclass(frozen=True, slots=True)
class BoxContent:
    """A box before it has a place."""

    participant: Participant
    title: str
    note: str
    rows: tuple[tuple[str, int | None, bool], ...]
    width: int
    height: int


def box_content(participant: Participant, *, is_end: bool, full: bool) -> BoxContent:
    """A transaction; `full` with its operations, and a word if it stands at the end of no arrow."""
    title = shortened(participant.transaction, 24)
    note = "" if participant.status == "committed" else participant.status
    if not note and not is_end and participant.matters:
        note = "witness"
    rows = _rows(participant) if full else ()
    widths = [measure(text, monospaced=True) for text, _, _ in rows]
    heading = measure(title, size=13, monospaced=True) + (measure(note) + 10 if note else 0)
    width = max([heading, *widths]) + 2 * PADDING
    height = HEADING + len(rows) * ROW + (5 if rows else 0)
    return BoxContent(participant, title, note, rows, width, height)


def _rows(participant: Participant) -> tuple[tuple[str, int | None, bool], ...]:
    rows: list[tuple[str, int | None, bool]] = [
        (operation(each), each.index, each.index in participant.matters) for each in participant.operations
    ]
    if participant.left_out:
        rows.append((f"... {participant.left_out:,} more", None, False))
    return tuple(rows)


def lane_name(participant: Participant) -> str:
    """What the session of a transaction is called."""
    if participant.transaction == START:
        return ""
    if participant.session is None:
        return "unnamed session"
    return f"session {shortened(shown(participant.session), 14)}"
