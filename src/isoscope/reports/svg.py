"""A counterexample as SVG: no script, and nothing is loaded from elsewhere; a page may restyle it.

Kinds of arrows differ in their heads and labels as well as in colour (see `relations`). An inferred arrow is
dashed. Every text of the history goes through `_escaped` or `_written`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

from isoscope.explain import is_timed, message
from isoscope.reports.picture.box_content import PADDING
from isoscope.reports.picture.horizontal_layout import GAP
from isoscope.reports.picture.labels import measure
from isoscope.reports.picture.layout import TOO_MANY, lay_out_picture, titled
from isoscope.reports.picture.model import Area, Picture
from isoscope.reports.plain_text import printable
from isoscope.reports.relations import RELATIONS
from isoscope.reports.timeline_svg import STYLE as TIMELINE
from isoscope.reports.timeline_svg import draw_timeline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.reports.picture.model import Arrow, Box, Lane, Panel, Row, Text
    from isoscope.verdict import Anomaly

__all__ = ["STYLE", "render_svg"]

_LIGHT = (
    "--paper:#fff;--band:#f4f5f7;--card:#fff;--ink:#1a1a1a;--faint:#5f6670;--rim:#8a919c;--mark:#fff3c4;"
) + ";".join(f"--{name}:{relation.light}" for name, relation in RELATIONS.items())
_DARK = (
    "--paper:#16181d;--band:#1f232a;--card:#262b34;--ink:#eceff4;--faint:#a3acba;--rim:#79828f;--mark:#4a4222;"
) + ";".join(f"--{name}:{relation.dark}" for name, relation in RELATIONS.items())
#: The style of every picture. A page with several has it once (`render_svg(styled=False)`).
STYLE = (
    f".isoscope{{{_LIGHT};background:var(--paper);font:12px system-ui,sans-serif}}"
    f"@media(prefers-color-scheme:dark){{.isoscope{{{_DARK}}}}}"
    f"[data-theme=light] .isoscope{{{_LIGHT}}}[data-theme=dark] .isoscope{{{_DARK}}}"
    ".isoscope text{fill:var(--ink);dominant-baseline:central;white-space:pre;direction:ltr}"
    ".isoscope .name{font-size:15px;font-weight:600}"
    ".isoscope .lane rect{fill:var(--band)}"
    ".isoscope .lane text,.isoscope .axis text,.isoscope .legend text,.isoscope .note{fill:var(--faint)}"
    ".isoscope .axis path{stroke:var(--faint);fill:none}"
    ".isoscope .rim{stroke:var(--rim);stroke-width:1.3;fill:none}"
    ".isoscope .fill{fill:var(--card)}"
    ".isoscope .title,.isoscope .operation{font-family:ui-monospace,Menlo,Consolas,monospace}"
    ".isoscope .title{font-size:13px;font-weight:700}"
    ".isoscope .operation text{fill:var(--faint)}"
    ".isoscope .operation rect{fill:none}"
    ".isoscope .matters text{fill:var(--ink);font-weight:700}"
    ".isoscope .matters rect{fill:var(--mark)}"
    ".isoscope .aborted .rim{stroke-dasharray:7 4}"
    ".isoscope .indeterminate .rim{stroke-dasharray:1.5 3;stroke-width:2}"
    ".isoscope .step path{stroke:currentColor;stroke-width:1.8;fill:none;stroke-linejoin:round}"
    ".isoscope .step .head{fill:currentColor;stroke-width:1.3;stroke-dasharray:none}"
    ".isoscope .rw .head,.isoscope .cm .head{fill:var(--paper)}"
    ".isoscope .step rect{fill:var(--paper)}"
    ".isoscope .step text{fill:currentColor;font-weight:600}"
    ".isoscope .inferred .line{stroke-dasharray:6 4}"
) + "".join(f".isoscope .{name}{{color:var(--{name})}}" for name in RELATIONS)
#: Words of a script that runs to the left. A mark behind them keeps the text that follows in its place.
_LEFTWARD = re.compile(
    "[{0}](?:[{0} ]*[{0}])?".format(
        r"\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
    )
)
_MARK = "\N{LEFT-TO-RIGHT MARK}"
_ROUND = 6


def render_svg(anomaly: Anomaly, *, ids: str = "", styled: bool = True) -> str:
    """The picture of an anomaly; `ids` go before every id, for several in one page."""
    if is_timed(anomaly) and 0 < len(anomaly.participants) <= TOO_MANY:
        title = titled(anomaly)
        marks, width, bottom = draw_timeline(anomaly, top=title.area.bottom + GAP // 2)
        area = Area(x=0, y=0, width=max(width, title.area.right + GAP), height=bottom + GAP)
        picture = Picture(area=area, title=title, panels=())
    else:
        picture, marks = lay_out_picture(anomaly), ""
    return "".join(_svg(picture, message(anomaly), marks, ids=_escaped(ids), styled=styled))


def _svg(picture: Picture, description: str, marks: str, *, ids: str, styled: bool) -> Iterator[str]:
    width, height = picture.area.width, picture.area.height
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="isoscope" role="img" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" aria-labelledby="{ids}name {ids}what">'
        f'<title id="{ids}name">{_escaped(picture.title.text)}</title>'
        f'<desc id="{ids}what">{_escaped(description)}</desc>'
    )
    if styled:
        yield f"<style>{STYLE}{TIMELINE if marks else ''}</style>"
    yield f'<rect width="{width}" height="{height}" fill="var(--paper)"/>'
    yield _text(picture.title, name="name")
    yield marks
    for panel in picture.panels:
        yield from _panel(panel, width)
    yield from (_text(remark) for remark in picture.remarks)
    yield from (_sample(kind, text) for kind, text in picture.legend)
    yield "</svg>\n"


def _panel(panel: Panel, width: int) -> Iterator[str]:
    yield '<g class="panel">'
    if panel.caption:
        yield _text(panel.caption, name="caption")
    yield from (_lane(lane, width) for lane in panel.lanes)
    yield _axis(panel.axis)
    yield from ("".join(_box(box)) for box in panel.boxes)
    yield from (_line(arrow) for arrow in panel.arrows)
    yield "</g>"


def _lane(lane: Lane, width: int) -> str:
    band = Area(x=0, y=lane.area.y, width=width, height=lane.area.height)
    return f'<g class="lane">{_rect(band)}{_text(lane.label)}</g>'


def _axis(axis: Text) -> str:
    """An arrow to the right, and before it the meaning of that direction."""
    y, x = _middle(axis.area), axis.area.x
    words = measure(axis.text)
    end = max(axis.area.right, x + words + 24)
    return (
        f'<g class="axis"><text x="{x}" y="{y}">{_escaped(axis.text)}</text>'
        f'<path d="M{x + words + 6} {y}H{end}M{end - 5} {y - 4}L{end} {y}L{end - 5} {y + 4}"/></g>'
    )


def _box(box: Box) -> Iterator[str]:
    status = "committed" if not box.status else _escaped(box.status)
    yield f'<g class="box {status}" data-transaction="{_escaped(box.transaction)}">'
    yield f'<rect class="fill" {_size(box.area)} rx="4"/>'
    yield from (_operation(box, row) for row in box.rows)
    yield _rim(box)
    x, y = box.heading.x, _middle(box.heading)
    yield f'<text class="title" x="{x}" y="{y}">{_written(box.title)}</text>'
    if box.note:
        after = x + measure(box.title, size=13, monospaced=True) + 8
        yield f'<text class="note" x="{after}" y="{y}">{_escaped(box.note)}</text>'
    yield "</g>"


def _rim(box: Box) -> str:
    """The border, without the sides whose time is unknown."""
    area = box.area
    if not box.open_left and not box.open_right:
        return f'<rect class="rim" {_size(area)} rx="4"/>'
    parts = [f"M{area.x} {area.y}H{area.right}M{area.x} {area.bottom}H{area.right}"]
    parts += [f"M{area.x} {area.y}V{area.bottom}"] * (not box.open_left)
    parts += [f"M{area.right} {area.y}V{area.bottom}"] * (not box.open_right)
    return f'<path class="rim" d="{"".join(parts)}"/>'


def _operation(box: Box, row: Row) -> str:
    place = "" if row.index is None else f' data-operation="{_escaped(box.transaction)}:{row.index}"'
    name = "operation matters" if row.matters else "operation"
    inner = Area(x=row.area.x + 3, y=row.area.y + 1, width=row.area.width - 6, height=row.area.height - 2)
    text = f'<text x="{row.area.x + PADDING}" y="{_middle(row.area)}">{_written(row.text)}</text>'
    return f'<g class="{name}"{place}>{_rect(inner)}{text}</g>'


def _line(arrow: Arrow) -> str:
    """An arrow, its head and its label."""
    (before, _), (x, y) = arrow.points[-2:]
    names = f"step {arrow.relation}{' inferred' if arrow.inferred else ''}"
    ends = f'data-from="{_escaped(arrow.before)}" data-to="{_escaped(arrow.after)}"'
    operations = _escaped(" ".join(f"{transaction}:{index}" for transaction, index in arrow.operations))
    return (
        f'<g class="{names}" data-step="{arrow.step}" {ends} data-operations="{operations}">'
        f'<path class="line" d="{_rounded(arrow.points)}"/>{_head(arrow.relation, x, y, flip=x < before)}'
        f"{_rect(arrow.label.area)}{_label(arrow.label)}</g>"
    )


def _rounded(points: Sequence[tuple[int, int]]) -> str:
    """A path with round corners."""
    corners = [point for place, point in enumerate(points) if place == 0 or point != points[place - 1]]
    parts = [f"M{corners[0][0]} {corners[0][1]}"]
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        parts.append(f"L{_towards(corner, before)}Q{corner[0]} {corner[1]} {_towards(corner, after)}")
    return "".join([*parts, f"L{corners[-1][0]} {corners[-1][1]}"])


def _towards(corner: tuple[int, int], other: tuple[int, int]) -> str:
    """A point near a corner, at most half of the way to the other point."""
    (x, y), (to_x, to_y) = corner, other
    length = abs(to_x - x) + abs(to_y - y)
    near = min(_ROUND, length // 2)
    return f"{x + (to_x - x) * near // length} {y + (to_y - y) * near // length}"


def _head(relation: str, x: int, y: int, *, flip: bool) -> str:
    shape = RELATIONS.get(relation, RELATIONS["wr"]).svg_head
    turned = " scale(-1 1)" if flip else ""
    return f'<path class="head" transform="translate({x} {y}){turned}" d="{shape}"/>'


def _sample(kind: str, text: Text) -> str:
    y, end = _middle(text.area), text.area.x - 8
    name, start = ("step session inferred" if kind == "inferred" else f"step {kind}"), end - 32
    head = "" if kind == "inferred" else _head(kind, end, y, flip=False)
    line = f'<g class="{name}"><path class="line" d="M{start} {y}H{end}"/>{head}</g>'
    return f'<g class="legend">{line}{_text(text)}</g>'


def _label(text: Text) -> str:
    x = text.area.x + text.area.width // 2
    return f'<text x="{x}" y="{_middle(text.area)}" text-anchor="middle">{_written(text.text)}</text>'


def _written(text: str) -> str:
    return _LEFTWARD.sub(lambda words: f"{words[0]}{_MARK}", _escaped(text))


def _text(text: Text, *, name: str = "") -> str:
    kind = f' class="{name}"' if name else ""
    return f'<text{kind} x="{text.area.x}" y="{_middle(text.area)}">{_written(text.text)}</text>'


def _rect(area: Area) -> str:
    return f"<rect {_size(area)}/>"


def _size(area: Area) -> str:
    return f'x="{area.x}" y="{area.y}" width="{area.width}" height="{area.height}"'


def _middle(area: Area) -> int:
    return area.y + area.height // 2


@lru_cache(maxsize=1024)
def _escaped(text: str) -> str:
    return escape(printable(text))
