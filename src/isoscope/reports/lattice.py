"""The lattice of levels as SVG; shapes and words show the outcomes as well as colours do.

`levels` holds the lattice. A level stands above those that it implies; the families with and without session
order stand side by side. The page that shows the picture has the style.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from isoscope.levels import DEFINITIONS, Family, Level, implied
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["render_lattice"]

_WIDTH, _HEIGHT = 156, 54
_GAP, _ROW, _APART = 12, 84, 30
_MARGIN, _TOP = 8, 34
#: A longer name takes two lines.
_LETTERS = 21
_TITLES = ("with session order", "without sessions")
#: Signs of 14 by 14 pixels; they need no font.
_SIGNS = {
    Outcome.HOLDS: '<circle class="sign" r="7"/><path class="mark" d="M-3.5 0L-1 3L3.5 -3"/>',
    Outcome.VIOLATED: '<path class="sign" d="M-7 -7H7V7H-7Z"/><path class="mark" d="M-3 -3L3 3M3 -3L-3 3"/>',
    Outcome.UNKNOWN: '<path class="sign" d="M0 -8L8 0L0 8L-8 0Z"/><path class="mark" d="M-3 0H3"/>',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Box:
    """The place of a level: the middle of its upper edge."""

    x: float
    y: float


def render_lattice(
    outcomes: Mapping[Level, Outcome | None], *, links: Mapping[Level, str] | None = None
) -> str:
    """The levels of `outcomes`, of which some may have none; `links` are the targets of levels."""
    below = {level: _directly_below(level, outcomes) for level in outcomes}
    groups = [group for group in _groups(outcomes) if group[1]]
    boxes, width = _placed(groups, below)
    height = max((box.y for box in boxes.values()), default=_TOP) + _HEIGHT + _MARGIN
    return "".join(
        [
            f'<svg class="lattice" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" '
            'role="group" aria-label="The levels; a stronger one stands above those that it implies">',
            *_headings(groups, below),
            *(_line(boxes, level, weaker) for level in below for weaker in below[level]),
            *(_level(level, outcomes[level], boxes[level], (links or {}).get(level)) for level in boxes),
            "</svg>",
        ]
    )


def _directly_below(level: Level, shown: Iterable[Level]) -> list[Level]:
    """The strongest of the shown levels that `level` implies."""
    weaker = [other for other in shown if other in implied(level) and other is not level]
    return [one for one in weaker if not any(one in implied(other) for other in weaker if other is not one)]


def _groups(shown: Iterable[Level]) -> list[tuple[str, list[Level]]]:
    """The two families; a level of the clock stands with those that it implies."""
    sessions = [level for level in shown if _has_sessions(level)]
    return list(zip(_TITLES, (sessions, [level for level in shown if level not in sessions]), strict=True))


def _has_sessions(level: Level) -> bool:
    return any(DEFINITIONS[one].family in (Family.SESSION, Family.REAL_TIME) for one in implied(level))


def _heights(below: Mapping[Level, Sequence[Level]]) -> dict[Level, int]:
    """For each level the number of levels on the longest way down."""
    heights: dict[Level, int] = {}
    for level in reversed(Level):
        if level in below:
            heights[level] = 1 + max((heights[weaker] for weaker in below[level]), default=-1)
    return heights


def _rows(levels: Sequence[Level], heights: Mapping[Level, int]) -> dict[int, list[Level]]:
    rows: dict[int, list[Level]] = defaultdict(list)
    for level in levels:
        rows[heights[level]].append(level)
    return rows


def _group_width(levels: Sequence[Level], heights: Mapping[Level, int]) -> int:
    widest = max(map(len, _rows(levels, heights).values()))
    return widest * (_WIDTH + _GAP) - _GAP


def _placed(
    groups: Sequence[tuple[str, list[Level]]], below: Mapping[Level, Sequence[Level]]
) -> tuple[dict[Level, _Box], float]:
    """A place for each level, row by row from the strongest, and the width of all."""
    heights, boxes, left = _heights(below), dict[Level, _Box](), float(_MARGIN)
    top = max(heights.values(), default=0)
    for _, levels in groups:
        width = _group_width(levels, heights)
        for height, row in sorted(_rows(levels, heights).items(), reverse=True):
            ordered = sorted(row, key=lambda level: _pull(level, below, boxes, left + width / 2))
            start = left + (width - len(row) * (_WIDTH + _GAP) + _GAP + _WIDTH) / 2
            y = _TOP + (top - height) * _ROW
            boxes |= {one: _Box(x=start + n * (_WIDTH + _GAP), y=y) for n, one in enumerate(ordered)}
        left += width + _APART
    return boxes, left - _APART + _MARGIN


def _pull(
    level: Level, below: Mapping[Level, Sequence[Level]], boxes: Mapping[Level, _Box], middle: float
) -> float:
    """The mean x of the levels that imply it."""
    above = [boxes[one].x for one in boxes if level in below[one]]
    return sum(above) / len(above) if above else middle


def _headings(
    groups: Sequence[tuple[str, list[Level]]], below: Mapping[Level, Sequence[Level]]
) -> Iterator[str]:
    heights, left = _heights(below), float(_MARGIN)
    for title, levels in groups:
        width = _group_width(levels, heights)
        yield f'<text class="family" x="{left + width / 2:g}" y="16">{title}</text>'
        left += width + _APART


def _line(boxes: Mapping[Level, _Box], stronger: Level, weaker: Level) -> str:
    """A line from one level down to another, around the levels between them."""
    start, end = boxes[stronger], boxes[weaker]
    x, y = start.x, start.y + _HEIGHT
    path = [f"M{x:g} {y:g}"]
    for row in sorted({box.y for box in boxes.values() if start.y < box.y < end.y}):
        straight = start.x + (end.x - start.x) * (row - start.y) / (end.y - start.y)
        way = _free(straight, [box.x for box in boxes.values() if box.y == row])
        path.append(f"{_curve(x, y, way, row)}V{row + _HEIGHT}")
        x, y = way, row + _HEIGHT
    name = "implies" if _has_sessions(stronger) == _has_sessions(weaker) else "implies across"
    return f'<path class="{name}" d="{"".join(path)}{_curve(x, y, end.x, end.y)}"/>'


def _free(x: float, taken: Sequence[float]) -> float:
    """The x nearest to `x` that is beside every box of a row."""
    beside = (_WIDTH + _GAP) / 2
    sides = [x, *(middle + side for middle in taken for side in (-beside, beside))]
    free = [side for side in sides if all(abs(side - middle) >= beside for middle in taken)]
    return min(free, key=lambda side: abs(side - x))


def _curve(x: float, y: float, to_x: float, to_y: float) -> str:
    middle = (y + to_y) / 2
    return f"C{x:g} {middle:g} {to_x:g} {middle:g} {to_x:g} {to_y:g}"


def _level(level: Level, outcome: Outcome | None, box: _Box, link: str | None) -> str:
    lines = _lines(level)
    first = (18 if len(lines) == 1 else 13) if outcome else (27 if len(lines) == 1 else 21)
    words = "".join(
        f'<text class="level" y="{first + 13 * n}">{escape(line)}</text>' for n, line in enumerate(lines)
    )
    drawn = (
        f'<g class="{outcome or "open"}" transform="translate({box.x:g} {box.y:g})">'
        f"<title>{level}: {f'{outcome}. ' if outcome else ''}{escape(DEFINITIONS[level].meaning)}</title>"
        f'<rect class="box" x="{-_WIDTH / 2:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="5"/>{words}'
        f"{_sign(outcome) if outcome else ''}</g>"
    )
    return drawn if link is None else f'<a href="{escape(link)}">{drawn}</a>'


def _sign(outcome: Outcome) -> str:
    sign = f'<g transform="translate(-30 41) scale(.8)">{_SIGNS[outcome]}</g>'
    return f'{sign}<text class="outcome" x="8" y="42">{outcome}</text>'


def _lines(level: Level) -> list[str]:
    """The name, a long one broken behind a hyphen near its middle."""
    if len(level) <= _LETTERS:
        return [level]
    hyphens = [place + 1 for place, letter in enumerate(level) if letter == "-"]
    cut = min(hyphens, key=lambda place: abs(place - len(level) / 2))
    return [level[:cut], level[cut:]]
