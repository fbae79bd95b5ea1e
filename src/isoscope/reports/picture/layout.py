"""A counterexample as a picture: sessions as lanes, transactions as boxes, steps as arrows.

Pure data, the same for the same anomaly; `svg` writes it down.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from isoscope.explain import parted
from isoscope.reports.picture.horizontal_layout import GAP
from isoscope.reports.picture.labels import key, measure
from isoscope.reports.picture.links import closing, links
from isoscope.reports.picture.model import Area, Picture, Text
from isoscope.reports.picture.panel_layout import lay_out_panel
from isoscope.reports.plain_text import shortened
from isoscope.reports.relations import RELATIONS
from isoscope.verdict import START, Participant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.reports.picture.links import Link
    from isoscope.reports.picture.model import Panel
    from isoscope.verdict import Anomaly, Step

__all__ = ["LEGEND", "MANY", "TOO_MANY", "circles", "lay_out_picture", "participants_of", "titled"]

#: With more transactions than this, their operations are left out.
MANY = 50
#: More transactions than this are not drawn.
TOO_MANY = 200
#: A line for each kind of arrow.
LEGEND = {
    **{name: relation.legend for name, relation in RELATIONS.items()},
    "inferred": "dashed: follows from other things",
}
_LINE = 20
_SAMPLE = 44


def lay_out_picture(anomaly: Anomaly) -> Picture:
    """The picture of an anomaly."""
    title = titled(anomaly)
    top = title.area.bottom + GAP // 2
    participants = participants_of(anomaly)
    if not participants or len(participants) > TOO_MANY:
        return _in_words(title, _refusal(len(participants)), top)
    panels: list[Panel] = []
    for caption, circle in circles(anomaly):
        taking_part = participants_of(anomaly, circle if caption else None)
        panel = _panel(caption, taking_part, circle, top=top, full=len(participants) <= MANY)
        panels.append(panel)
        top = panel.area.bottom + GAP
    return _with_legend(title, panels)


def titled(anomaly: Anomaly) -> Text:
    """The name above a picture."""
    return Text(text=anomaly.name, area=_line(GAP, GAP // 2, anomaly.name, size=15))


def participants_of(anomaly: Anomaly, circle: Sequence[Link] | None = None) -> tuple[Participant, ...]:
    """The transactions that take part; with `circle` only those that its arrows name.

    An anomaly without participants has no more than the names of its transactions.
    """
    found = anomaly.participants or tuple(
        map(_by_name, range(len(anomaly.transactions)), anomaly.transactions)
    )
    if circle is None:
        return found
    named = {
        label for link in circle for label in (link.before, link.after, *(t for t, _ in link.operations))
    }
    return tuple(participant for participant in found if participant.transaction in named)


def _by_name(lane: int, label: str) -> Participant:
    return Participant(
        transaction=label,
        lane=lane,
        session=None,
        position=0,
        status="committed",
        operations=(),
        matters=frozenset(),
    )


def _refusal(count: int) -> str:
    if not count:
        return "no transaction to draw: the proof looked at every order of the versions"
    return f"{count:,} transactions take part: too many to draw"


def circles(anomaly: Anomaly) -> Iterator[tuple[str, tuple[Link, ...]]]:
    """The caption and the arrows of each panel: one, or one for every order of some versions."""
    alternatives = anomaly.alternatives
    if not alternatives:
        yield "", (*links(anomaly.steps), *closing(anomaly))
        return
    firsts = accumulate(map(len, alternatives), initial=0)
    for steps, first in zip(alternatives, firsts, strict=False):
        yield _supposed(parted(steps)[0]), links(steps, first=first)


def _supposed(steps: Sequence[Step]) -> str:
    said = []
    for step in steps:
        before, after = (shortened(label, 24) for label in (step.before, step.after))
        said.append(f"the version of {before} comes before that of {after} in {key(step.key)}")
    return f"if {' and '.join(said)}:"


def _panel(
    caption: str, participants: Sequence[Participant], circle: Sequence[Link], *, top: int, full: bool
) -> Panel:
    known = {START, *(participant.transaction for participant in participants)}
    arrows = [link for link in circle if link.before in known and link.after in known]
    if not caption:
        return lay_out_panel(participants, arrows, top=top, with_operations=full)
    line = _line(GAP, top, caption)
    panel = lay_out_panel(participants, arrows, top=line.bottom, with_operations=full)
    return replace(panel, caption=Text(text=caption, area=line))


def _with_legend(title: Text, panels: Sequence[Panel]) -> Picture:
    arrows = [arrow for panel in panels for arrow in panel.arrows]
    kinds = {arrow.relation for arrow in arrows} | {"inferred" for arrow in arrows if arrow.inferred}
    width = max(title.area.right, *(_right(panel) for panel in panels))
    texts = [(kind, text) for kind, text in LEGEND.items() if kind in kinds]
    width = max([width, *(GAP + _SAMPLE + measure(text) for _, text in texts)])
    legend, bottom = _legend(texts, panels[-1].area.bottom + GAP, width)
    area = Area(x=0, y=0, width=width + GAP, height=bottom + GAP)
    return Picture(area=area, title=title, panels=tuple(panels), legend=legend)


def _right(panel: Panel) -> int:
    texts = [panel.axis.area.x + measure(panel.axis.text) + 2 * GAP]
    if panel.caption:
        texts.append(panel.caption.area.right)
    return max(panel.area.width, *texts)


def _legend(
    texts: Sequence[tuple[str, str]], top: int, width: int
) -> tuple[tuple[tuple[str, Text], ...], int]:
    """Samples in as many columns as there is room for."""
    each = max((_SAMPLE + measure(text) + GAP for _, text in texts), default=width)
    columns = max(1, (width - GAP) // each)
    found = tuple(
        (
            kind,
            Text(
                text=text,
                area=_line(GAP + place % columns * each + _SAMPLE, top + place // columns * _LINE, text),
            ),
        )
        for place, (kind, text) in enumerate(texts)
    )
    return found, max([top, *(text.area.bottom for _, text in found)])


def _in_words(title: Text, words: str, top: int) -> Picture:
    remark = Text(text=words, area=_line(GAP, top, words))
    width = max(title.area.right, remark.area.right) + GAP
    area = Area(x=0, y=0, width=width, height=remark.area.bottom + GAP)
    return Picture(area=area, title=title, panels=(), remarks=(remark,))


def _line(x: int, y: int, text: str, *, size: int = 12) -> Area:
    return Area(x=x, y=y, width=measure(text, size=size), height=_LINE)
