"""The texts of a transaction's box, and the size that they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope.explain import shown
from isoscope.reports.picture.labels import measure, operation
from isoscope.reports.plain_text import shortened
from isoscope.verdict import START

if TYPE_CHECKING:
    from isoscope.verdict import Participant

__all__ = ["HEADING", "PADDING", "ROW", "BoxContent", "RowContent", "box_content", "lane_name", "title_of"]

#: Heights of an operation and of the heading above them, and the free width on either side.
ROW, HEADING, PADDING = 18, 22, 9


@dataclass(frozen=True, slots=True)
class RowContent:
    """An operation; `index` is None for the row that counts the operations left out."""

    text: str
    index: int | None
    matters: bool


@dataclass(frozen=True, slots=True)
class BoxContent:
    """A box that has a size and no place yet."""

    participant: Participant
    title: str
    note: str
    rows: tuple[RowContent, ...]
    width: int
    height: int


def box_content(participant: Participant, *, is_end: bool, full: bool) -> BoxContent:
    """The box of a transaction; `full` adds its operations, and `is_end` says that an arrow ends at it."""
    title = title_of(participant)
    note = "" if participant.status == "committed" else participant.status
    if not note and not is_end and participant.matters:
        note = "witness"
    rows = _rows(participant) if full else ()
    widths = [measure(row.text, monospaced=True) for row in rows]
    heading = measure(title, size=13, monospaced=True) + (measure(note) + 10 if note else 0)
    width = max([heading, *widths]) + 2 * PADDING
    height = HEADING + len(rows) * ROW + (5 if rows else 0)
    return BoxContent(participant, title, note, rows, width, height)


def _rows(participant: Participant) -> tuple[RowContent, ...]:
    rows = [
        RowContent(operation(each), each.index, each.index in participant.matters)
        for each in participant.operations
    ]
    if participant.left_out:
        rows.append(RowContent(f"... {participant.left_out:,} more", None, matters=False))
    return tuple(rows)


def title_of(participant: Participant) -> str:
    """The name of a transaction, short enough for a picture."""
    return shortened(participant.transaction, 24)


def lane_name(participant: Participant) -> str:
    """The name of a transaction's session, short enough for a picture."""
    if participant.transaction == START:
        return ""
    if participant.session is None:
        return "unnamed session"
    return f"session {shortened(shown(participant.session), 14)}{participant.at}"
