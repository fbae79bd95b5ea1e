"""One counterexample of the page: the picture, and beside it who did what, each step, the contradiction."""

from __future__ import annotations

import os
import re
from html import escape
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from isoscope.anomalies import CATALOGUE
from isoscope.explain import because, contradiction, deed, instants_of, is_timed, one_line, proof, shown
from isoscope.levels import weakest
from isoscope.reports.html.short_names import with_short_names
from isoscope.reports.picture.labels import printable
from isoscope.reports.picture.links import MISSED, closing, links
from isoscope.reports.svg import render_svg

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Set

    from isoscope.explain import Instants
    from isoscope.reports.html.embedded_counterexamples import Example
    from isoscope.reports.picture.links import Link
    from isoscope.verdict import Anomaly, Participant, Step, Witness

__all__ = ["Places", "escaped", "render_article"]

#: More transactions than this have no picture: nobody could read it.
_MOST_DRAWN = 60
#: A wider picture stands above the prose instead of beside it.
_WIDEST = 680
_PLACE = re.compile(r"(?P<path>.*?):(?P<byte> byte )?(?P<number>\d+)", re.DOTALL)
_UNREADABLE = (".parquet", ".bincode", ".gz", ".zst")
_WIDTH = re.compile(r' width="(\d+)"')
#: How the order of two versions is known, where nobody recorded it.
_KNOWN_BY = {
    "initial": "Inferred: every key starts with its initial value, so whatever was written came later.",
    "read-then-write": "Inferred: who reads a version and then writes the key replaces what it read.",
    "session": "Inferred: of two versions of one session the later one replaces the earlier.",
    "real-time": "Inferred: the one had been completed before the other was begun.",
    "supposed": "Supposed: no order of these versions is recorded, so each is tried.",
}
_DEMANDED = (
    "Inferred: a reader that has a write in sight and reads the key from another transaction shows that this "
    "other one came later."
)


def escaped(text: str) -> str:
    """The text as HTML: nothing in it is markup, nothing turns the direction of what follows."""
    return escape(printable(text))


class Places:
    """Places of the input as links from the folder in which the page is; no links if that is None."""

    def __init__(self, path: str, folder: str | None) -> None:
        self._path, self._folder = path, folder
        self._in_brackets = re.compile(rf"(\({re.escape(path)}[^()]*:(?: byte )?\d+\))")
        self._hrefs: dict[str, str] = {}

    def link(self, place: str) -> str:
        """`line 3`, which leads to the file with the line as the fragment; of several files also the name."""
        found = _PLACE.fullmatch(place)
        if found is None:
            return f'<bdi class="place">{escaped(place)}</bdi>'
        path, unit, number = found["path"], "byte" if found["byte"] else "line", found["number"]
        inside = f"{os.path.relpath(path, self._path)}, " if path != self._path else ""
        name = f"<bdi>{escaped(inside)}{unit} {number}</bdi>"
        if path not in self._hrefs:
            self._hrefs[path] = self._href(path)
        if not self._hrefs[path] or found["byte"]:
            return f'<span class="place">{name}</span>'
        return f'<a class="place" href="{self._hrefs[path]}#L{number}">{name}</a>'

    def in_text(self, text: str, places: Set[str]) -> str:
        """A sentence as HTML, with links where it names one of the places."""
        parts = self._in_brackets.split(text)
        return "".join(
            f"({self.link(part[1:-1])})" if part[1:-1] in places else escaped(part) for part in parts
        )

    def _href(self, path: str) -> str:
        """From the page to the file; nothing if there is no way, or if a browser could not show it."""
        if self._folder is None or path.endswith(_UNREADABLE):
            return ""
        try:
            way = os.path.relpath(path, self._folder)
        except ValueError:  # on another drive
            return ""
        return quote(way.replace(os.sep, "/").encode("utf-8", "surrogateescape"))


def render_article(example: Example, places: Places) -> str:
    """The picture and the prose of one counterexample."""
    anomaly, finding, own = with_short_names(example.anomaly), example.finding, example.id
    entry = CATALOGUE[anomaly.name]
    levels = ", ".join(weakest(finding.levels or entry.breaks))
    breaks = f" Breaks {levels}." if levels else ""
    picture, is_wide = _picture(anomaly, own)
    return "".join(
        [
            f'<article class="counterexample" id="{own}" aria-labelledby="{own}-head" tabindex="-1">',
            f'<header><h3 id="{own}-head">{anomaly.name} '
            f"<small>{example.number:,} of {finding.count:,}</small></h3>",
            f'<p class="meaning">{escaped(entry.meaning)}{breaks}</p></header>',
            f'<div class="{"stacked" if is_wide else "sides"}">{picture}<div class="prose"><div>',
            *_transactions(anomaly, places),
            "</div><div>",
            *_proof(anomaly, places),
            "</div></div></div></article>",
        ]
    )


def _picture(anomaly: Anomaly, own: str) -> tuple[str, bool]:
    """The picture, and whether it is too wide to have something beside it."""
    count = len(anomaly.participants)
    if count > _MOST_DRAWN:
        return f'<p class="picture none">{count:,} transactions are too many for a picture.</p>', True
    svg = render_svg(anomaly, ids=f"{own}-", styled=False)
    width = _WIDTH.search(svg)
    figure = f'<figure class="picture" role="region" aria-label="picture" tabindex="0">{svg}</figure>'
    return figure, width is not None and int(width[1]) > _WIDEST


def _transactions(anomaly: Anomaly, places: Places) -> Iterator[str]:
    """Who takes part and what each did."""
    yield '<h4>What each transaction did</h4><ul class="participants">'
    times = instants_of(anomaly) if is_timed(anomaly) else None
    yield from (_participant(participant, places, times) for participant in anomaly.participants)
    yield "</ul>"


def _participant(participant: Participant, places: Places, times: Instants | None) -> str:
    own = escaped(participant.transaction)
    facts = [] if participant.session is None else [f"session {escaped(shown(participant.session))}"]
    facts += [participant.status] if participant.status != "committed" else []
    rows = "".join(_operations(participant, places, times))
    return (
        f'<li data-transaction="{own}"><span class="who"><b><bdi>{own}</bdi></b> {", ".join(facts)}</span>'
        f'<ol class="operations">{rows}</ol></li>'
    )


def _operations(participant: Participant, places: Places, times: Instants | None) -> Iterator[str]:
    """The operations, and between them how many are left out."""
    after = -1
    for one in participant.operations:
        yield _left_out(one.index - after - 1)
        after = one.index
        name = "operation matters" if one.index in participant.matters else "operation"
        own = f"{escaped(participant.transaction)}:{one.index}"
        place = f" {places.link(one.place)}" if one.place else ""
        place += f" ({times.between(one.interval)})" if times else ""
        yield f'<li class="{name}" data-operation="{own}"><bdi>{escaped(deed(one))}</bdi>{place}</li>'
    yield _left_out(participant.left_out + len(participant.operations) - after - 1)


def _left_out(count: int) -> str:
    return f'<li class="left-out">{count:,} more</li>' if count > 0 else ""


def _proof(anomaly: Anomaly, places: Places) -> Iterator[str]:
    """The steps, if there are any, and what is wrong with them."""
    if anomaly.steps:
        yield f"<h4>Why</h4>{_circle(one_line(anomaly))}"
    first = 0
    for supposed, steps in _circles(anomaly):
        arrows = {link.step: link for link in links(steps, first=first)}
        yield f"<p>{escaped(supposed)}:</p>" if supposed else ""
        yield f'<ol class="steps" start="{first + 1}">'
        yield from (_step(step, places, arrows[str(n)]) for n, step in enumerate(steps, start=first))
        yield "</ol>"
        first += len(steps)
    missed = next((link for link in closing(anomaly) if link.step == MISSED), None)
    sentence = places.in_text(contradiction(anomaly), set(_places(anomaly)))
    head = "Contradiction" if anomaly.steps else "What happened"
    yield f'<h4>{head}</h4><p class="contradiction"{_highlights(missed)}>{sentence}</p>'


def _circles(anomaly: Anomaly) -> Iterator[tuple[str, Sequence[Step]]]:
    """The steps; where each order of two versions has its own, with what they suppose."""
    alternatives = cast("Sequence[Sequence[Step]]", anomaly.facts.get("alternatives", ()))
    if alternatives:
        yield from zip((part.supposed for part in proof(anomaly)), alternatives, strict=True)
    elif anomaly.steps:
        yield "", anomaly.steps


def _circle(text: str) -> str:
    return f'<p class="circle"><bdi>{escaped(text)}</bdi></p>' if text else ""


def _places(anomaly: Anomaly) -> Iterator[str]:
    """The places that sentences about the anomaly may name."""
    yield from (one.place for who in anomaly.participants for one in who.operations)
    yield from (witness.place for witness in anomaly.witnesses)


def _highlights(link: Link | None, *, arrow: bool = True) -> str:
    """What lights up together with a sentence: its arrow, if it has one, and its operations."""
    if link is None:
        return ""
    operations = " ".join(f"{escaped(who)}:{index}" for who, index in link.operations)
    step = f' data-step="{link.step}"' if arrow else ""
    return f' tabindex="0"{step} data-operations="{operations}"'


def _step(step: Step, places: Places, arrow: Link | None = None) -> str:
    """A step with its reason; an inferred one is opened to see what justifies it."""
    link = arrow or links((step,))[0]
    head = (
        f"<b><bdi>{escaped(step.before)}</bdi></b> before <b><bdi>{escaped(step.after)}</bdi></b> "
        f'<span class="relation {step.relation}">{escaped(link.label)}</span>'
    )
    named = {witness.place for witness in _witnesses(step)}
    reason = places.in_text(because(step, in_full=False), named)
    lit = _highlights(link, arrow=arrow is not None)
    if not link.inferred:
        return f"<li{lit}>{head} because {reason}.</li>"
    return (
        f'<li{lit}><details><summary>{head} <span class="inferred">inferred</span></summary>'
        f"<p>{_known_by(step)}</p><p>Here {reason}.</p>{_rests_on(step, places)}</details></li>"
    )


def _known_by(step: Step) -> str:
    if step.relation == "cm":
        return _DEMANDED
    if step.source.startswith("assume "):
        return f"Claimed, not shown by the history: {escaped(step.source.removeprefix('assume '))}."
    return _KNOWN_BY[step.source]


def _rests_on(step: Step, places: Places) -> str:
    """How one came to the sight of the reader, else the operations that the step rests on."""
    if step.sight:
        nested = "".join(_step(one, places) for one in step.sight)
        return f'<p>How it came into sight:</p><ol class="nested">{nested}</ol>'
    rows = "".join(
        f"<li><bdi>{escaped(one.transaction)}: {escaped(deed(one))}</bdi>"
        f"{f' ({places.link(one.place)})' if one.place else ''}</li>"
        for one in step.witnesses
    )
    return f'<p>It rests on:</p><ul class="nested">{rows}</ul>' if rows else ""


def _witnesses(step: Step) -> Iterator[Witness]:
    yield from step.witnesses
    for one in step.sight:
        yield from _witnesses(one)
