"""A report in a notebook: the answer, and a picture of the first counterexample. A report in one line."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from isoscope.explain import harmless, message
from isoscope.reports.findings import OUTCOMES, examples, sizes_in_words
from isoscope.reports.svg import render_svg
from isoscope.verdict import Decision, Outcome, Presence, Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.verdict import Search

__all__ = ["one_line", "render_notebook"]

#: More names than this are counted.
_MAX_NAMES = 3
#: Borders in colours that show on light and on dark paper.
_GREEN, _RED, _GREY = "#2f9e44", "#e03131", "#868e96"
_COLOURS = {Outcome.HOLDS: _GREEN, Outcome.VIOLATED: _RED, Outcome.UNKNOWN: _GREY}
_DECISIONS = {
    Decision.YES: _GREEN,
    Decision.NO: _RED,
    Decision.NOT_DECIDED: _GREY,
    Decision.NOT_ASKED: _GREY,
}


def one_line(report: Report | Search) -> str:
    """The answer of a report, or `<Search run.edn: found lost-update>`."""
    if isinstance(report, Report):
        return f"<Report {harmless(report.answer.sentence)}>"
    said = "; ".join(f"{word} {_names(names)}" for word, _, names in _answers(report))
    path = harmless(str(report.history["path"]))
    return f"<{type(report).__name__} {path}: {said or 'nothing was asked'}>"


def render_notebook(report: Report | Search) -> str:
    """A fragment of HTML without scripts: what was found, and the first counterexample with its picture."""
    rows = "".join(_row(word, outcome, _names(names)) for word, outcome, names in _answers(report))
    head = f"{report.history['path']}: {sizes_in_words(report.history)}"
    return f"<div>{_answer(report)}<p>{_escaped(head)}</p>{rows}{''.join(_example(report))}</div>"


def _answer(report: Report | Search) -> str:
    if not isinstance(report, Report):
        return ""
    answer = report.answer
    style = f"border-left:8px solid {_DECISIONS[answer.outcome]};padding-left:.5em;font-size:1.1em"
    return f'<p style="{style}"><b>{_escaped(answer.sentence)}</b></p>'


def _answers(report: Report | Search) -> Iterator[tuple[str, Outcome, list[str]]]:
    """The names that decide, broken ones first: weaker or stronger ones follow from them."""
    if isinstance(report, Report):
        levels = {
            Outcome.VIOLATED: report.weakest_violated,
            Outcome.HOLDS: report.strongest_holding,
            Outcome.UNKNOWN: report.levels(Outcome.UNKNOWN),
        }
        yield from ((str(outcome), outcome, [*map(str, found)]) for outcome, found in levels.items() if found)
        return
    for presence in Presence:
        if found := [sighting.name for sighting in report.sightings if sighting.presence is presence]:
            yield str(presence), OUTCOMES[presence], found


def _names(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= _MAX_NAMES else f"{', '.join(names[:_MAX_NAMES])}, ..."


def _row(word: str, outcome: Outcome, names: str) -> str:
    style = f"border-left:4px solid {_COLOURS[outcome]};padding-left:.5em;margin:.2em 0"
    return f'<p style="{style}"><b>{word}</b>: {_escaped(names)}</p>'


def _example(report: Report | Search) -> Iterator[str]:
    anomaly = next(examples(report), None)
    if anomaly is not None:
        yield f"<p>{_escaped(message(anomaly))}</p>"
        yield f'<div style="overflow-x:auto">{render_svg(anomaly)}</div>'


def _escaped(text: str) -> str:
    return escape(harmless(text))
