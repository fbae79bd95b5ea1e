"""The report as one HTML file: nothing is loaded from elsewhere, and nothing of the history is run.

Names, keys and values come from histories of unknown origin. The template engine escapes all of them, and
the page's own policy lets only its own script and style run.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from isoscope import __version__
from isoscope.explain import is_timed, shown
from isoscope.reports.html.counterexample_section import render_counterexample_section
from isoscope.reports.html.embedded_counterexamples import embed, pack
from isoscope.reports.html.place_links import PlaceLinks
from isoscope.reports.html.short_names import with_short_names
from isoscope.reports.html.summary_section import render_summary_section
from isoscope.reports.svg import STYLE
from isoscope.reports.template_engine import asset, content_hash, environment, render_template
from isoscope.reports.timeline_svg import STYLE as TIMELINE
from isoscope.verdict import Decision, Search

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.reports.html.embedded_counterexamples import EmbeddedCounterexamples
    from isoscope.verdict import Anomaly, Report

__all__ = ["render_html"]


def render_html(report: Report | Search, *, folder: str | None = None) -> str:
    """The page; `folder` is where it will be, for links to the input (None: no links)."""
    path = str(report.history["path"])
    places = PlaceLinks(path, folder)
    found = report.findings
    embedded = embed(found, lambda example: render_counterexample_section(example, places))
    has_timelines = any(is_timed(anomaly) for one in found for anomaly in one.anomalies)
    style = asset("assets/page.css") + Markup(STYLE + (TIMELINE if has_timelines else ""))
    script = asset("assets/page.js")
    names = {example.anomaly.name for example in embedded.examples if example.number == 1}
    return render_template(
        "page.html.j2",
        title=f"{PurePath(path).name}: isolation report",
        path=path,
        version=__version__,
        policy=_policy(style, script),
        style=style,
        script=script,
        question=_question(report),
        summary=render_summary_section(report, found, embedded),
        count=len(embedded.examples),
        contents=[one.name for one in found if one.name in names],
        plain=[embedded.plain[one.id] for one in embedded.examples if one.id in embedded.plain],
        index=pack(_index(embedded, places)),
        parts=embedded.parts,
    )


def _question(report: Report | Search) -> str:
    """The question that the head of the page answers."""
    if isinstance(report, Search):
        return "Which anomalies does this history show?"
    if report.answer.outcome is Decision.NOT_ASKED:
        return "Which isolation levels does this history satisfy?"
    if report.answer.is_promise:
        return "Did this database keep its isolation promise?"
    return "Does this history satisfy the isolation level?"


def _policy(style: str, script: str) -> Markup:
    """The Content-Security-Policy; it holds no text of the history."""
    return Markup(
        f"default-src 'none'; style-src {content_hash(style)}; script-src {content_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _index(embedded: EmbeddedCounterexamples, places: PlaceLinks) -> dict[str, Any]:
    """The data that the script lists and searches: the counterexamples, and their transactions."""
    transactions: dict[str, list[Any]] = {}
    rows = []
    for number, example in enumerate(embedded.examples):
        anomaly = with_short_names(example.anomaly)
        keys = ", ".join(shown(key) for key in anomaly.keys)
        names = " ".join(anomaly.transactions)
        rows.append([example.id, anomaly.name, names, keys, embedded.parts_of[example.id]])
        for row in _transaction_rows(anomaly, places):
            transactions.setdefault(row[0], row)[-1].append(number)
    return {"examples": rows, "transactions": list(transactions.values())}


def _transaction_rows(anomaly: Anomaly, places: PlaceLinks) -> Iterator[list[Any]]:
    render_place: Any = environment().get_template("places.html.j2").module.place  # type: ignore[attr-defined]
    for one in anomaly.participants:
        session = "" if one.session is None else f"{shown(one.session)}{one.at}"
        place = str(render_place(places.link(one.place))) if one.place else ""
        operations = len(one.operations) + one.left_out
        yield [one.transaction, session, one.position + 1, one.status, operations, place, []]
