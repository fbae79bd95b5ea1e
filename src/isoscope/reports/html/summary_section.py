"""The top of the page: sizes of the history, the verdicts, and a table of the anomalies.

This module computes the values; `templates/summary.html.j2` has the markup.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from isoscope.anomalies import CATALOGUE
from isoscope.explain import hint, message
from isoscope.levels import DEFINITIONS, weakest
from isoscope.reports import mechanisms
from isoscope.reports.fault_times import fault_facts, render_fault_times
from isoscope.reports.findings import OUTCOMES, SIZES
from isoscope.reports.html.short_names import with_short_names
from isoscope.reports.lattice import render_lattice
from isoscope.reports.template_engine import render_template
from isoscope.reports.text import in_short, ordered
from isoscope.reports.witness import witness_rows
from isoscope.verdict import Decision, Outcome, Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isoscope.reports.html.embedded_counterexamples import EmbeddedCounterexamples
    from isoscope.verdict import Finding, Search

__all__ = ["render_summary_section"]

_FAILURES = ("aborted", "indeterminate")


def render_summary_section(
    report: Report | Search, found: Sequence[Finding], embedded: EmbeddedCounterexamples
) -> Markup:
    """The HTML of the section."""
    if isinstance(report, Report):
        summary = render_template("verdicts.html.j2", **_verdicts(report, found))
    else:
        sightings = [(one, OUTCOMES[one.presence]) for one in report.sightings]
        summary = render_template("sightings.html.j2", facts=_facts(report), sightings=sightings)
    held = Counter(example.anomaly.name for example in embedded.examples)
    return render_template(
        "summary.html.j2",
        answer=_answer(report, held) if isinstance(report, Report) else "",
        sizes=[(name, report.history[name]) for name in (*SIZES, *filter(report.history.get, _FAILURES))],
        faults=Markup(render_fault_times(report.history)),
        summary=summary,
        anomalies=[_anomaly(finding, held[finding.name]) for finding in found],
    )


def _answer(report: Report, held: Mapping[str, int]) -> Markup:
    """The head of the page: yes, no or not decided, in words, with an icon and a colour."""
    answer = report.answer
    word, stop, rest = re.fullmatch(
        r"(Yes|Not decided|No|)([.:]?) ?(.*)", answer.sentence, re.DOTALL
    ).groups()  # type: ignore[union-attr]
    example, origin = answer.example, answer.origin
    has_page = example is not None and bool(held.get(example.name))
    return render_template(
        "answer.html.j2",
        answer=answer,
        word=f"{word}{stop}",
        rest=rest,
        promised=", ".join(report.promises) if answer.is_promise else "",
        documented=origin.documented if origin else "",
        example=message(with_short_names(example)) if example is not None and has_page else "",
        target=f"{example.name}-1" if example else "",
        allowed=", ".join(f"{name} {count:,}" for name, count in answer.allowed.items()),
    )


def _in_short(report: Report) -> Iterator[str]:
    """The border of what holds, unless that is the answer."""
    return islice(in_short(report), report.answer.outcome is Decision.NOT_ASKED, None)


def _verdicts(report: Report, found: Sequence[Finding]) -> dict[str, Any]:
    links = {level: f"#{one.name}-1" for one in reversed(found) for level in one.levels}
    outcomes = {verdict.level: verdict.outcome for verdict in report.verdicts}
    return {
        "short": [*filter(None, [mechanisms.answer(report)]), *_in_short(report)],
        "notes": [DEFINITIONS[level].note for level in outcomes if DEFINITIONS[level].note],
        "facts": {**dict(_deciding(report)), **_facts(report)},
        "mechanisms": [
            (verdict, mechanisms.units(verdict))
            for verdict in (report.mechanisms.verdicts if report.mechanisms else ())
        ],
        "dependencies": _dependencies(report),
        "lattice": Markup(render_lattice(outcomes, links=links)),
        "verdicts": report.verdicts,
        "witnesses": [*witness_rows(report)],
    }


def _dependencies(report: Report) -> dict[str, str]:
    """The dependencies that the intervals show, and what they leave open."""
    if report.mechanisms is None:
        return {}
    said = {row.kind: mechanisms.depends(row) for row in report.mechanisms.dependencies}
    if left := mechanisms.unverified(report.mechanisms):
        said["not verified"] = left
    return said


def _deciding(report: Report) -> Iterator[tuple[str, str]]:
    """The levels from which the verdicts on the others follow, and the order of versions."""
    unknown = report.levels(Outcome.UNKNOWN)
    for head, levels in (
        ("weakest violated", report.weakest_violated),
        ("strongest that holds", report.strongest_holding),
        ("strongest that may hold", [one for one in report.strongest_possible if one in unknown]),
    ):
        if levels:
            yield head, ", ".join(levels)
    if report.version_order:
        yield "version order", "; ".join(filter(None, map(ordered, report.version_order)))


def _facts(report: Report | Search) -> dict[str, str]:
    history: Mapping[str, Any] = report.history
    return {
        "history": f"{history['path']} ({history['format']})",
        "evidence": ", ".join(history["evidence"]),
        **fault_facts(history),
        "assumed": "; ".join(report.assumptions),
    }


def _anomaly(finding: Finding, held: int) -> dict[str, Any]:
    """A row of the table of anomalies; `held` are its counterexamples in this file."""
    entry = CATALOGUE[finding.name]
    return {
        "name": finding.name,
        "count": finding.count,
        "held": held,
        "levels": ", ".join(weakest(finding.levels or entry.breaks)),
        "meaning": entry.meaning,
        "hint": hint(finding.name),
    }
