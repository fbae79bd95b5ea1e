"""The report as one HTML file: nothing is loaded from elsewhere, nothing of the history is run.

Names, keys and values come from histories that anybody may have written. All of them are escaped, and the
page's own policy lets only its own script and style run.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from pathlib import PurePath
from string import Template
from typing import TYPE_CHECKING, Any

from isoscope import __version__
from isoscope.anomalies import CATALOGUE
from isoscope.explain import hint, is_timed, shown
from isoscope.levels import weakest
from isoscope.reports import mechanisms
from isoscope.reports.findings import findings
from isoscope.reports.html.counterexample_section import Places, escaped, render_article
from isoscope.reports.html.embedded_counterexamples import embed, pack
from isoscope.reports.html.short_names import with_short_names
from isoscope.reports.lattice import render_lattice
from isoscope.reports.svg import STYLE
from isoscope.reports.text import in_short, ordered
from isoscope.reports.timeline_svg import STYLE as TIMELINE
from isoscope.verdict import Outcome, Presence, Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isoscope.levels import Level
    from isoscope.reports.findings import Finding
    from isoscope.reports.html.embedded_counterexamples import Embedded
    from isoscope.verdict import Anomaly, Mechanisms, MechanismVerdict, Search

__all__ = ["render_html"]

_SIZES = ("sessions", "transactions", "operations", "keys", "aborted", "indeterminate")


def render_html(report: Report | Search, *, folder: str | None = None) -> str:
    """The page; `folder` is where it will be, for links to the input (None: no links)."""
    path = str(report.history["path"])
    places = Places(path, folder)
    found = list(findings(report))
    embedded = embed(found, lambda example: render_article(example, places))
    has_timelines = any(is_timed(anomaly) for one in found for anomaly in one.anomalies)
    style = _file("page.css") + STYLE + (TIMELINE if has_timelines else "")
    script = _file("page.js")
    return Template(_file("page.html")).substitute(
        title=escaped(f"{PurePath(path).name}: isolation report"),
        path=escaped(path),
        version=escaped(__version__),
        policy=f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        script=script,
        summary="".join(_summary(report, found, embedded)),
        shown=f"{len(embedded.examples):,}",
        contents="".join(_contents(found, embedded)),
        articles="".join(embedded.plain[one.id] for one in embedded.examples if one.id in embedded.plain),
        index=pack(_index(embedded, places)),
        parts="".join(f'<script type="text/plain" class="part">{part}</script>\n' for part in embedded.parts),
    )


def _file(name: str) -> str:
    return files("isoscope.reports").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _broken(finding: Finding) -> Sequence[Level]:
    """The levels that it breaks: of those that were asked about, else by the catalogue."""
    return finding.levels or CATALOGUE[finding.name].breaks


def _summary(report: Report | Search, found: Sequence[Finding], embedded: Embedded) -> Iterator[str]:
    yield _sizes(report.history)
    if isinstance(report, Report):
        yield from _answers(report, found)
    else:
        yield from _sightings(report)
    yield from _table_of_anomalies(found, embedded)


def _sizes(history: Mapping[str, Any]) -> str:
    tiles = "".join(
        f"<div><dt>{name}</dt><dd>{history[name]:,}</dd></div>"
        for name in _SIZES
        if history[name] or name not in ("aborted", "indeterminate")
    )
    return f'<dl class="sizes">{tiles}</dl>'


def _answers(report: Report, found: Sequence[Finding]) -> Iterator[str]:
    """The answer in short, what it rests on, mechanisms, the lattice, and the same as a table."""
    if report.mechanisms is not None:
        yield f'<p class="short">{escaped(mechanisms.answer(report))}.</p>'
    for short in in_short(report):
        yield f'<p class="short">{escaped(short)}.</p>'
    yield _facts(report, dict(_outcomes(report)))
    if report.mechanisms is not None:
        yield from _mechanisms(report.mechanisms)
    links = {level: f"#{one.name}-1" for one in reversed(found) for level in one.levels}
    outcomes = {verdict.level: verdict.outcome for verdict in report.verdicts}
    yield (
        '<h2>Levels</h2><div class="wide" role="region" aria-label="lattice of levels" tabindex="0">'
        f"{render_lattice(outcomes, links=links)}</div>"
    )
    rows = "".join(
        f'<tr><th scope="row">{verdict.level}</th><td class="{verdict.outcome}">{verdict.outcome}</td>'
        f"<td>{verdict.method}</td><td>{escaped(verdict.reason)}</td></tr>"
        for verdict in report.verdicts
    )
    yield (
        '<details><summary>The levels as a table</summary><div class="wide"><table><thead><tr>'
        '<th scope="col">level</th><th scope="col">outcome</th><th scope="col">method</th>'
        f'<th scope="col">reason</th></tr></thead><tbody>{rows}</tbody></table></div></details>'
    )


def _mechanisms(found: Mechanisms) -> Iterator[str]:
    """Which were at work, and what of the dependencies the intervals show."""
    rows = "".join(
        f'<tr><th scope="row">{one.mechanism}</th><td class="{one.outcome}">{one.outcome}</td>'
        f'<td class="number">{mechanisms.units(one)}</td><td class="number">{one.undecided:,}</td>'
        f"<td>{_wrong(one)}</td><td>{escaped(one.reason)}</td></tr>"
        for one in found.verdicts
    )
    yield (
        '<h2>Mechanisms</h2><div class="wide"><table><thead><tr><th scope="col">mechanism</th>'
        '<th scope="col">outcome</th><th scope="col" class="number">checked</th>'
        '<th scope="col" class="number">undecided</th><th scope="col">found</th>'
        f'<th scope="col">reason</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )
    said = {row.kind: mechanisms.depends(row) for row in found.dependencies}
    if open_ := mechanisms.unverified(found):
        said["not verified"] = open_
    facts = "".join(f"<dt>{head}</dt><dd>{escaped(text)}</dd>" for head, text in said.items())
    yield f'<dl class="facts">{facts}</dl>' if facts else ""


def _wrong(verdict: MechanismVerdict) -> str:
    """Links to the counterexamples."""
    counts = verdict.anomaly_counts.items()
    return ", ".join(f'<a href="#{name}-1">{name}</a> ({count:,})' for name, count in counts)


def _outcomes(report: Report) -> Iterator[tuple[str, str]]:
    """The levels that decide: others follow from them."""
    for head, levels in (
        ("weakest violated", report.weakest_violated),
        ("strongest that holds", report.strongest_holding),
    ):
        if levels:
            yield head, ", ".join(levels)
    possible = [level for level in report.strongest_possible if level in report.levels(Outcome.UNKNOWN)]
    if possible:
        yield "strongest that may hold", ", ".join(possible)
    if report.version_order:
        yield "version order", "; ".join(filter(None, map(ordered, report.version_order)))


def _facts(report: Report | Search, facts: Mapping[str, str]) -> str:
    history = report.history
    evidence = ", ".join(map(str, history["evidence"]))  # type: ignore[call-overload]
    every = {
        **facts,
        "history": f"{history['path']} ({history['format']})",
        "evidence": evidence,
        "assumed": "; ".join(report.assumptions),
    }
    rows = "".join(f"<dt>{head}</dt><dd><bdi>{escaped(text)}</bdi></dd>" for head, text in every.items())
    return f'<dl class="facts">{rows}</dl>'


def _sightings(search: Search) -> Iterator[str]:
    """Which of the anomalies that were looked for are there."""
    yield _facts(search, {})
    rows = "".join(
        f'<tr><th scope="row">{one.name}</th><td class="{_AS_OUTCOME[one.presence]}">{one.presence}</td>'
        f"<td>{one.method}</td><td>{escaped(one.reason)}</td></tr>"
        for one in search.sightings
    )
    yield (
        '<h2>What was looked for</h2><div class="wide"><table><thead><tr><th scope="col">anomaly</th>'
        '<th scope="col">answer</th><th scope="col">method</th><th scope="col">reason</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


_AS_OUTCOME = {
    Presence.FOUND: Outcome.VIOLATED,
    Presence.ABSENT: Outcome.HOLDS,
    Presence.UNKNOWN: Outcome.UNKNOWN,
}


def _table_of_anomalies(found: Sequence[Finding], embedded: Embedded) -> Iterator[str]:
    yield "<h2>Anomalies</h2>"
    if not found:
        yield "<p>No anomaly was found.</p>"
        return
    held = [example.anomaly.name for example in embedded.examples]
    rows = "".join(_anomaly_row(one, held.count(one.name)) for one in found)
    yield (
        '<div class="wide"><table class="anomalies"><thead><tr><th scope="col">name</th>'
        '<th scope="col" class="number">found</th><th scope="col" class="number">in this file</th>'
        '<th scope="col">weakest level that it breaks</th><th scope="col">meaning</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _anomaly_row(finding: Finding, held: int) -> str:
    name, advice = finding.name, hint(finding.name)
    said = escaped(CATALOGUE[finding.name].meaning) + (
        f"<br><em>Hint: {escaped(advice)}.</em>" if advice else ""
    )
    link = f'<a href="#{name}-1">{name}</a>' if held else name
    return (
        f'<tr><th scope="row">{link}</th><td class="number">{finding.count:,}</td>'
        f'<td class="number">{held:,}</td><td>{", ".join(weakest(_broken(finding)))}</td><td>{said}</td></tr>'
    )


def _contents(found: Sequence[Finding], embedded: Embedded) -> Iterator[str]:
    """Links to the counterexamples that are there without a script."""
    there = {example.anomaly.name for example in embedded.examples if example.number == 1}
    for one in found:
        if one.name in there:
            yield f'<li><a href="#{one.name}-1">{one.name}</a></li>'


def _index(embedded: Embedded, places: Places) -> dict[str, Any]:
    """What the script lists and searches: the counterexamples, and the transactions that take part."""
    transactions: dict[str, list[Any]] = {}
    rows = []
    for number, example in enumerate(embedded.examples):
        anomaly = with_short_names(example.anomaly)
        keys = ", ".join(shown(key) for key in anomaly.keys)
        who = " ".join(anomaly.transactions)
        rows.append([example.id, anomaly.name, who, keys, embedded.parts_of[example.id]])
        for row in _transaction_rows(anomaly, places):
            transactions.setdefault(row[0], row)[-1].append(number)
    return {"examples": rows, "transactions": list(transactions.values())}


def _transaction_rows(anomaly: Anomaly, places: Places) -> Iterator[list[Any]]:
    for one in anomaly.participants:
        session = "" if one.session is None else shown(one.session)
        place = places.link(one.place) if one.place else ""
        operations = len(one.operations) + one.left_out
        yield [one.transaction, session, one.position + 1, one.status, operations, place, []]
