"""One counterexample of the page: its picture, and beside it what each transaction did and the proof.

This module computes the values; `templates/counterexample.html.j2` has the markup.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from isoscope.anomalies import CATALOGUE
from isoscope.explain import action, because, client_times_of, contradiction, is_timed, one_line, proof, shown
from isoscope.levels import weakest
from isoscope.reports.html.short_names import with_short_names
from isoscope.reports.picture.links import MISSED, closing, links
from isoscope.reports.program_text import prevention
from isoscope.reports.svg import render_svg
from isoscope.reports.template_engine import render_template

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.explain import ClientTimes
    from isoscope.levels import Level
    from isoscope.reports.html.embedded_counterexamples import Example
    from isoscope.reports.html.place_links import PlaceLink, PlaceLinks, Sentence
    from isoscope.reports.picture.links import Link
    from isoscope.verdict import Anomaly, Participant, Step, Witness

__all__ = ["render_counterexample_section"]

#: More transactions than this have no picture: it would be too large to read.
_MAX_DRAWN = 60
#: Inferred steps are open from the start if there are fewer than this.
_MANY_INFERRED = 6
#: A wider picture stands above the prose instead of beside it.
_WIDEST = 680
_WIDTH = re.compile(r' width="(\d+)"')
#: How the order of two versions is known if the history does not record it.
_KNOWN_BY = {
    "initial": "Inferred: every key starts with its initial value, so whatever was written came later.",
    "read-then-write": "Inferred: a transaction that reads a key and then writes it replaces what it read.",
    "session": "Inferred: of two versions of one session the later one replaces the earlier.",
    "real-time": "Inferred: the one had been completed before the other was begun.",
    "supposed": "Supposed: no order of these versions is recorded, so each is tried.",
}
_DEMANDED = (
    "Inferred: a reader that has a write in sight and reads the key from another transaction shows that this "
    "other one came later."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _OperationRow:
    """An operation; `left_out` counts the operations before it that are not shown."""

    text: str
    sql: str
    index: int
    matters: bool
    place: PlaceLink | None
    when: str
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _ParticipantRow:
    """A transaction; `left_out` counts the operations behind the last one that is shown."""

    transaction: str
    facts: str
    operations: list[_OperationRow]
    left_out: int


@dataclass(frozen=True, slots=True)
class _Highlight:
    """What lights up together with a sentence: its arrow in the picture, and its operations."""

    step: str
    operations: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _StepRow:
    """A step with its reason; an inferred one has `known_by`, and below it the facts that it rests on."""

    before: str
    after: str
    relation: str
    label: str
    reason: Sentence
    highlight: _Highlight
    known_by: str
    sight: list[_StepRow]
    witnesses: list[tuple[str, PlaceLink | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProofPart:
    """Steps that lead to a contradiction; `first` is the number of the first one."""

    supposed: str
    first: int
    steps: list[_StepRow]


def render_counterexample_section(example: Example, places: PlaceLinks) -> Markup:
    """The HTML of one counterexample."""
    anomaly = with_short_names(example.anomaly)
    rows = _Rows(places)
    parts = list(rows.proof(anomaly))
    picture = _picture(anomaly, example.id)
    width = _WIDTH.search(picture)
    missed = next((link for link in closing(anomaly) if link.step == MISSED), None)
    return render_template(
        "counterexample.html.j2",
        example=example,
        meaning=CATALOGUE[anomaly.name].meaning,
        levels=_weakest(tuple(example.finding.levels or CATALOGUE[anomaly.name].breaks)),
        picture=picture,
        count=len(anomaly.participants),
        is_wide=width is None or int(width[1]) > _WIDEST,
        participants=rows.participants(anomaly),
        has_steps=bool(anomaly.steps),
        circle=one_line(anomaly) if anomaly.steps else "",
        parts=parts,
        are_open=sum(bool(step.known_by) for part in parts for step in part.steps) < _MANY_INFERRED,
        closing=None if missed is None else _highlight(missed),
        contradiction=places.sentence(contradiction(anomaly), set(_named_places(anomaly))),
        prevention=prevention(anomaly),
    )


@lru_cache(maxsize=256)
def _weakest(levels: tuple[Level, ...]) -> str:
    """The weakest of the levels that an anomaly breaks: the same for all anomalies of a name."""
    return ", ".join(weakest(levels))


def _picture(anomaly: Anomaly, own: str) -> Markup:
    """The SVG; empty if too many transactions take part."""
    if len(anomaly.participants) > _MAX_DRAWN:
        return Markup()
    return Markup(render_svg(anomaly, ids=f"{own}-", styled=False))


class _Rows:
    """The rows of a section, with links to the input."""

    def __init__(self, places: PlaceLinks) -> None:
        self._places = places

    def participants(self, anomaly: Anomaly) -> list[_ParticipantRow]:
        times = client_times_of(anomaly) if is_timed(anomaly) else None
        return [self._participant(participant, times) for participant in anomaly.participants]

    def _participant(self, participant: Participant, times: ClientTimes | None) -> _ParticipantRow:
        facts = (
            [] if participant.session is None else [f"session {shown(participant.session)}{participant.at}"]
        )
        facts += [participant.status] if participant.status != "committed" else []
        rows, after = [], -1
        for one in participant.operations:
            row = _OperationRow(
                text=action(one),
                sql=one.sql,
                index=one.index,
                matters=one.index in participant.matters,
                place=self._place(one),
                when=f" ({times.between(one.interval)})" if times else "",
                left_out=one.index - after - 1,
            )
            rows.append(row)
            after = one.index
        return _ParticipantRow(
            transaction=participant.transaction,
            facts=", ".join(facts),
            operations=rows,
            left_out=participant.left_out + len(participant.operations) - after - 1,
        )

    def _place(self, one: Witness) -> PlaceLink | None:
        return self._places.link(one.place) if one.place else None

    def proof(self, anomaly: Anomaly) -> Iterator[_ProofPart]:
        first = 0
        for supposed, steps in _circles(anomaly):
            arrows = {link.step: link for link in links(steps, first=first)}
            rows = [self._step(step, arrows[str(number)]) for number, step in enumerate(steps, start=first)]
            yield _ProofPart(supposed=supposed, first=first + 1, steps=rows)
            first += len(steps)

    def _step(self, step: Step, arrow: Link | None = None) -> _StepRow:
        """The row of a step; one that only explains another has no arrow in the picture."""
        link = arrow or links((step,))[0]
        named = {witness.place for witness in _witnesses(step)}
        return _StepRow(
            before=step.before,
            after=step.after,
            relation=step.relation,
            label=link.label,
            reason=self._places.sentence(because(step, in_full=False), named),
            highlight=_highlight(link, has_arrow=arrow is not None),
            known_by=_known_by(step) if link.inferred else "",
            sight=[self._step(one) for one in step.sight] if link.inferred else [],
            witnesses=self._witnesses(step) if link.inferred and not step.sight else [],
        )

    def _witnesses(self, step: Step) -> list[tuple[str, PlaceLink | None]]:
        return [(f"{one.transaction}: {action(one)}", self._place(one)) for one in step.witnesses]


def _circles(anomaly: Anomaly) -> Iterator[tuple[str, Sequence[Step]]]:
    """The steps; if each order of two versions has its own steps, also the order that they suppose."""
    if anomaly.alternatives:
        yield from zip((part.supposed for part in proof(anomaly)), anomaly.alternatives, strict=True)
    elif anomaly.steps:
        yield "", anomaly.steps


def _named_places(anomaly: Anomaly) -> Iterator[str]:
    """The places that a sentence about the anomaly may name."""
    yield from (one.place for participant in anomaly.participants for one in participant.operations)
    yield from (witness.place for witness in anomaly.witnesses)


def _highlight(link: Link, *, has_arrow: bool = True) -> _Highlight:
    operations = " ".join(f"{transaction}:{index}" for transaction, index in link.operations)
    return _Highlight(link.step if has_arrow else "", operations)


def _known_by(step: Step) -> str:
    if step.relation == "cm":
        return _DEMANDED
    if step.source.startswith("assume "):
        return f"Claimed, not shown by the history: {step.source.removeprefix('assume ')}."
    return _KNOWN_BY[step.source]


def _witnesses(step: Step) -> Iterator[Witness]:
    yield from step.witnesses
    for one in step.sight:
        yield from _witnesses(one)
