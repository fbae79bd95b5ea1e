"""A timeline as the inside of an SVG picture: `svg` puts it into one.

Kinds of bars differ in shape as well as in colour: a commit or abort is hollow.
"""

from __future__ import annotations

from html import escape
from itertools import accumulate
from typing import TYPE_CHECKING

from isoscope.reports.charts import bar as rectangle
from isoscope.reports.charts import text
from isoscope.reports.picture.box_content import lane_name, title_of
from isoscope.reports.picture.labels import measure
from isoscope.reports.plain_text import printable
from isoscope.reports.relations import RELATIONS
from isoscope.reports.timeline import LEGEND, tracks_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.reports.timeline import Bar, Track, Tracks
    from isoscope.verdict import Anomaly

__all__ = ["STYLE", "draw_timeline"]

STYLE = (
    ".isoscope .bar{fill:var(--rim)}"
    ".isoscope .bar.matters{fill:var(--wr)}"
    ".isoscope .bar.snapshot{fill:var(--wr);fill-opacity:.45;stroke:var(--wr);stroke-width:2}"
    ".isoscope .dependency path{fill:none;stroke:currentColor;stroke-width:1.6}"
    ".isoscope .dependency text{fill:currentColor;font-weight:600;"
    "paint-order:stroke;stroke:var(--band);stroke-width:3}"
    ".isoscope .bar.end{fill:var(--card);stroke:var(--rw);stroke-width:2}"
    ".isoscope .instant{stroke:var(--rim);stroke-width:.6;stroke-dasharray:2 3}"
    ".isoscope .band{fill:var(--band)}"
    ".isoscope .when{fill:var(--faint)}"
)
_GAP, _HEAD, _ROW, _BAR, _BELOW, _BETWEEN = 16, 24, 20, 12, 6, 8
#: Width of the bars: for each instant, and the least and the most in all.
_EACH, _NARROWEST, _WIDEST = 34, 220, 560
#: The least width of a bar.
_SHORTEST = 4
_SAMPLE = 34


def draw_timeline(anomaly: Anomaly, *, top: int) -> tuple[str, int, int]:
    """The marks below `top`, and the width and height of the picture with them."""
    found = tracks_of(anomaly)
    bars = [bar for track in found.tracks for bar in track.bars]
    left = 2 * _GAP + max(measure(bar.label, monospaced=True) for bar in bars)
    heads = max(_GAP + measure(_title(track), size=13, monospaced=True) for track in found.tracks)
    left = max(left, heads + _GAP)
    room = min(_WIDEST, max(_NARROWEST, _EACH * (found.instants - 1)))
    behind = [_length(found.length), *(bar.when for bar in bars)]
    width = left + room + 2 * _GAP + max(map(measure, behind))
    return _Drawing(left, room, width).all(found, top)


class _Drawing:
    """The horizontal positions of everything."""

    def __init__(self, left: int, room: int, width: int) -> None:
        self._left, self._room = left, room
        self._width = max(width, _GAP + _SAMPLE + max(map(measure, LEGEND.values())) + _GAP)

    def all(self, found: Tracks, top: int) -> tuple[str, int, int]:
        """The marks of everything, bands and instants behind the rest; its width and its lower end."""
        tracks = found.tracks
        tops = [*accumulate((_height(track) + _BETWEEN for track in tracks), initial=top)]
        placed = [*zip(tracks, tops, strict=False)]
        instants = sorted({x for track in tracks for bar in track.bars for x in self._ends(bar)})
        kinds = {bar.kind for track in tracks for bar in track.bars}
        below = tops[-1] + _BETWEEN
        parts = [
            *(rectangle(0, y, (self._width, _height(track)), "band") for track, y in placed),
            *(_upright(x, top, tops[-1] - _BETWEEN) for x in instants),
            *(part for track, y in placed for part in self._track(track, y)),
            *self._arrows(found, placed),
            *self._axis(found.length, below),
            *_legend([kind for kind in LEGEND if kind in kinds], below + _HEAD),
        ]
        return "".join(parts), self._width, below + _HEAD + _ROW * len(kinds)

    def _track(self, track: Track, top: int) -> Iterator[str]:
        name = printable(track.participant.transaction)
        yield f'<g class="track" data-transaction="{escape(name)}">'
        yield text(_GAP, top + _HEAD / 2, _title(track), style="title")
        for place, bar in enumerate(track.bars):
            yield from self._operation(name, bar, top + _HEAD + _ROW * place)
        if track.left_out:
            y = top + _HEAD + _ROW * len(track.bars) + _ROW / 2
            yield text(_GAP, y, f"... {track.left_out:,} more", style="when")
        yield "</g>"

    def _operation(self, transaction: str, bar: Bar, y: int) -> Iterator[str]:
        name = "operation" if bar.kind == "other" else "operation matters"
        start, stop = self._ends(bar)
        yield f'<g class="{name}" data-operation="{escape(transaction)}:{bar.index}">'
        yield rectangle(_GAP - 4, y + 1, (self._left - 2 * _GAP + 8, _ROW - 2), "")
        yield text(_GAP, y + _ROW / 2, bar.label) + "</g>"
        size = (max(stop - start, _SHORTEST), _BAR)
        yield rectangle(start, y + (_ROW - _BAR) / 2, size, f"bar {bar.kind}")
        yield text(self._left + self._room + _GAP, y + _ROW / 2, bar.when, style="when")

    def _arrows(self, found: Tracks, placed: Sequence[tuple[Track, int]]) -> Iterator[str]:
        """An arrow for each dependency, from the middle of one bar to the middle of the other."""
        places = {
            (track.participant.transaction, bar.index): (
                self._middle(bar),
                y + _HEAD + _ROW * row + _ROW / 2,
            )
            for track, y in placed
            for row, bar in enumerate(track.bars)
        }
        for arrow in found.arrows:
            yield from _arrow(arrow.relation, places[arrow.start], places[arrow.stop])

    def _middle(self, bar: Bar) -> float:
        start, stop = self._ends(bar)
        return start + max(stop - start, _SHORTEST) / 2

    def _ends(self, bar: Bar) -> tuple[float, float]:
        return self._left + bar.start * self._room, self._left + bar.stop * self._room

    def _axis(self, length: str, y: int) -> Iterator[str]:
        right = self._left + self._room
        way = f"M{self._left} {y}H{right}M{right - 5} {y - 4}L{right} {y}L{right - 5} {y + 4}"
        yield f'<g class="axis"><path d="{way}"/>'
        yield text(right + _GAP, y, _length(length)) + "</g>"


def _legend(kinds: Sequence[str], top: int) -> Iterator[str]:
    for place, kind in enumerate(kinds):
        y = top + _ROW * place
        yield rectangle(_GAP, y + (_ROW - _BAR) / 2, (_SAMPLE - 10, _BAR), f"bar {kind}")
        yield f'<g class="legend">{text(_GAP + _SAMPLE, y + _ROW / 2, LEGEND[kind])}</g>'


def _arrow(relation: str, start: tuple[float, float], stop: tuple[float, float]) -> Iterator[str]:
    """It leaves and enters bars upright: tracks are below each other, and bars may overlap in time."""
    (x, y), (to, below) = start, stop
    way = 1 if below > y else -1
    y, below = y + way * _BAR / 2, below - way * _BAR / 2
    bend = (below - y) / 2
    curve = f"M{x:g} {y:g}C{x:g} {y + bend:g} {to:g} {below - bend:g} {to:g} {below:g}"
    head = f"M{to - 4:g} {below - way * 6:g}L{to:g} {below:g}L{to + 4:g} {below - way * 6:g}"
    yield f'<g class="dependency {relation}"><title>{escape(RELATIONS[relation].legend)}</title>'
    yield f'<path d="{curve}{head}"/>'
    # A quarter of the way, where arrows that cross each other are still apart.
    beside = 6 if to >= x else -20
    yield text(x + (to - x) * 0.16 + beside, y + (below - y) / 4, relation) + "</g>"


def _length(length: str) -> str:
    """The text behind the axis."""
    return f"{length}, not to scale"


def _height(track: Track) -> int:
    return _HEAD + _ROW * (len(track.bars) + bool(track.left_out)) + _BELOW


def _title(track: Track) -> str:
    one = track.participant
    facts = [lane_name(one)] if one.session is not None else []
    facts += [one.status] if one.status != "committed" else []
    return "  ".join([title_of(one), ", ".join(facts)]).rstrip()


def _upright(x: float, top: float, bottom: float) -> str:
    return f'<path class="instant" d="M{x:.1f} {top}V{bottom}"/>'
