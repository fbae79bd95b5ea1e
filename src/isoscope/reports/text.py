"""The verdicts as text for a terminal; colour only on request."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from isoscope.explain import harmless, hint
from isoscope.levels import DEFINITIONS, LADDER, PLAIN_LADDER, Level
from isoscope.reports import mechanisms
from isoscope.reports.counterexample import render_counterexample
from isoscope.reports.fault_times import fault_facts
from isoscope.reports.findings import sizes_in_words
from isoscope.reports.plain_text import counted
from isoscope.reports.terminal import Paint, paragraph
from isoscope.reports.witness import witness_rows
from isoscope.verdict import Decision, Outcome, Presence, Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from isoscope.verdict import Finding, Ordered, Search

__all__ = ["in_short", "ordered", "render_text", "shown_findings"]

_MARGIN = 12
#: Heads of rows that are no outcome.
_NO_OUTCOMES = ("in short", "", "note", *mechanisms.HEADS)
#: More names than this are counted instead of listed.
_MAX_LISTED = 4
#: The names that stand for a longer list: the weakest of the ladder, and the strongest without sessions.
_WELL_KNOWN = (*LADDER[:3], *PLAIN_LADDER[-2:])
#: Levels without sessions and the same with them.
_WITH_SESSIONS = {plain: strong for plain in Level for strong in Level if strong == f"strong-session-{plain}"}
#: What each source of a version order does; other sources are claims.
_SOURCES = {
    "list read": "list reads order",
    "log": "the log orders",
    "declared": "a declaration orders",
    "intervals": "intervals and mechanisms order",
    "timestamps": "timestamps order",
    "initial": "the first state orders",
}


def render_text(  # noqa: PLR0913 - all but the first are seldom needed
    report: Report | Search,
    *,
    width: int = 100,
    colour: bool = False,
    everything: bool = False,
    shown: int = 1,
    facts: Sequence[tuple[str, str]] = (),
) -> str:
    """The report, the answer first; another line is longer than `width` only if a single word is.

    Anomalies that break what was promised or asked come with `shown` counterexamples each, the others with
    their number, unless `everything` is asked for. `facts` are further lines below the answer.
    """
    page = _Page(width=width, paint=Paint(colour), path=str(report.history["path"]))
    if isinstance(report, Report):
        blocks = [*_report(report, page, None if everything else shown, facts)]
    else:
        rows = "\n".join(page.row(head, text) for head, text in _sightings(report))
        blocks = [_heading(report, width), rows, *(page.finding(one) for one in report.findings)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _report(
    report: Report, page: _Page, shown: int | None, facts: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """The answer, the first counterexample, the verdicts, and then the other counterexamples."""
    yield "\n".join([page.answer(report), *(page.fact(head, text) for head, text in facts)])
    chosen = shown_findings(report)
    findings = [*report.findings] if shown is None else chosen
    for finding in findings[:1]:
        yield page.finding(finding, shown)
    if report.mechanisms is not None:
        yield "\n".join(page.row(head, text) for head, text in mechanisms.rows(report.mechanisms))
    yield _heading(report, page.width)
    rows = [*_outcomes(report)]
    rows += _notes([report.answer.sentence, *(text for _, text in rows)])
    yield "\n".join(page.row(head, text) for head, text in rows)
    yield "\n".join(page.fact(f"witness of {levels}", said) for levels, said in witness_rows(report))
    for finding in findings[1:]:
        yield page.finding(finding, shown)
    if shown is not None:
        yield paragraph(_left_out(report, chosen), width=page.width, margin=2)


def shown_findings(report: Report) -> list[Finding]:
    """The anomalies that break what was promised or asked; without a question one for each weakest level."""
    answer, findings = report.answer, report.findings
    if answer.outcome is not Decision.NOT_ASKED:
        return [one for one in findings if one.name in answer.broken_by]
    firsts = {
        next((one.name for one in findings if level in one.levels), "") for level in report.weakest_violated
    }
    return [one for one in findings if one.name in firsts]


def _left_out(report: Report, chosen: Sequence[Finding]) -> str:
    """The anomalies of which no counterexample is shown."""
    rest = ", ".join(f"{one.name} {one.count:,}" for one in report.findings if one not in chosen)
    is_asked = report.answer.outcome is not Decision.NOT_ASKED
    what = "allowed at this level" if is_asked else "also found"
    return f"{what}: {rest} (--all shows them)" if rest else ""


def _notes(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What names of levels mean here that vendors use for other levels, if the texts have such names."""
    told = [
        definition.note
        for level, definition in DEFINITIONS.items()
        if definition.note and any(re.search(rf"(?<![\w-]){level}(?![\w-])", text) for text in texts)
    ]
    if told:
        names = "these names" if len(told) > 1 else "the name"
        yield "note", f"{', '.join(told)}; databases use {names} otherwise: `isoscope levels NAME`"


@dataclass(frozen=True, slots=True)
class _Page:
    """How lines are broken and coloured, and the path of the history."""

    width: int
    paint: Paint
    path: str

    def answer(self, report: Report) -> str:
        """The answer on one line, however long, and where the promise is documented."""
        lines = [self.paint.answer(harmless(report.answer.sentence))]
        if (origin := report.answer.origin) and report.answer.is_promise and report.promises:
            where = f" ({origin.documented})" if origin.documented else ""
            lines.append(self.fact("promised", f"{', '.join(report.promises)}{where}"))
        return "\n".join(lines)

    def fact(self, head: str, text: str) -> str:
        return paragraph(harmless(text), width=self.width, head=f"  {head}: ", margin=4)

    def row(self, head: str, text: str) -> str:
        painted = head if head in _NO_OUTCOMES else self.paint.outcome(head)
        return paragraph(text, width=self.width, head=f"  {painted}", margin=_MARGIN)

    def finding(self, finding: Finding, shown: int | None = None) -> str:
        """The name, its count and its counterexamples."""
        name, count, folder = finding.name, finding.count, os.path.split(self.path)[0]
        told = [
            render_counterexample(anomaly, width=self.width, colour=self.paint.colour, folder=folder)
            for anomaly in finding.anomalies[:shown]
        ]
        if len(told) > 1:
            told = [f"  {number} of {count:,}:\n{text}" for number, text in enumerate(told, start=1)]
        rest = "\n".join(_rest(name, count - len(told), self.width))
        return "\n\n".join(filter(None, [f"{self.paint.name(name)}: {count:,} found", *told, rest]))


def _heading(report: Report | Search, width: int) -> str:
    history = report.history
    ends = "".join(f", {history[name]:,} {name}" for name in ("aborted", "indeterminate") if history[name])
    evidence = ", ".join(map(str, history["evidence"]))  # type: ignore[call-overload]
    lines = [
        (f"{harmless(str(history['path']))} ({history['format']})", f"{sizes_in_words(history)}{ends}"),
        ("evidence", evidence),
        *fault_facts(history).items(),
    ]
    if isinstance(report, Report) and report.version_order:
        lines.append(("version order", "; ".join(filter(None, map(ordered, report.version_order)))))
    lines += map(_assumed, report.assumptions)
    return "\n".join(paragraph(text, width=width, head=f"{head}: ", margin=2) for head, text in lines)


def ordered(row: Ordered) -> str:
    """The source of an order and the number of its keys; without a source, the keys that have no order."""
    if not row.source:
        left = row.keys - row.whole
        return f"{counted(left, 'key')} {'is' if left == 1 else 'are'} not ordered" if left else ""
    claim = row.source.removeprefix("assume ")
    orders = _SOURCES.get(row.source) or f"the claim {claim} orders"
    if row.whole == row.keys:
        return f"{orders} {counted(row.keys, 'key')} to the last version"
    if row.keys == 1:
        return f"{orders} 1 key, not to the last version"
    some = f"{row.whole:,}" if row.whole else "none"
    return f"{orders} {counted(row.keys, 'key')}, {some} of them to the last version"


def _assumed(assumption: str) -> tuple[str, str]:
    """The head and the text of an assumption; a claim is one that the user made."""
    claim = assumption.removeprefix("claimed: ")
    return "assumed" if claim == assumption else "claimed", harmless(claim)


def _outcomes(report: Report) -> Iterator[tuple[str, str]]:
    """The answer in short, then one line for each outcome; levels that decide stand for those that follow."""
    holds, violated, open_ = map(report.levels, Outcome)
    is_asked = report.answer.outcome is not Decision.NOT_ASKED
    yield from zip(("in short", ""), islice(in_short(report), not is_asked, None), strict=False)
    if violated:
        yield "violated", _with_rest(report.weakest_violated, violated, "stronger")
    if holds:
        yield "holds", _with_rest(report.strongest_holding, holds, "weaker")
    possible = [level for level in report.strongest_possible if level in open_]
    if set(possible) != set(open_):
        yield "possible", _with_rest(possible, open_, "weaker")
    unknown = ((verdict.reason, verdict.level) for verdict in report.verdicts if verdict.reason)
    yield from _unknown(unknown, "levels")


def in_short(report: Report) -> Iterator[str]:
    """The answer for the levels with session order; one line more if the others have another answer."""
    outcomes = {verdict.level: verdict.outcome for verdict in report.verdicts}
    if len(outcomes.keys() & set(LADDER)) < 2 or not (short := _border(outcomes, LADDER)):
        return
    yield short
    if _sessions_matter(outcomes) or _is_only_plain_broken(outcomes):
        yield f"without sessions: {_border(outcomes, PLAIN_LADDER)}"


def _border(outcomes: Mapping[Level, Outcome], ladder: Sequence[Level]) -> str:
    """The strongest level of a ladder that holds, the strongest that may, the weakest that is broken."""
    holds, violated, open_ = (
        [level for level in ladder if outcomes.get(level) is outcome] for outcome in Outcome
    )
    if not holds and not violated:
        return ""
    said = [f"{level} holds" for level in holds[-1:]]
    said += [f"{level} may hold" for level in open_[-1:]]
    return ", ".join([*said, *(f"{level} is violated" for level in violated[:1])])


def _sessions_matter(outcomes: Mapping[Level, Outcome]) -> bool:
    """Whether a level holds that is violated with session order."""
    return any(
        (outcomes.get(plain), outcomes.get(strong)) == (Outcome.HOLDS, Outcome.VIOLATED)
        for plain, strong in _WITH_SESSIONS.items()
    )


def _is_only_plain_broken(outcomes: Mapping[Level, Outcome]) -> bool:
    """Whether only levels without sessions are violated."""
    broken = {level for level, outcome in outcomes.items() if outcome is Outcome.VIOLATED}
    return bool(broken & set(PLAIN_LADDER)) and not broken & set(LADDER)


def _sightings(search: Search) -> Iterator[tuple[str, str]]:
    """The anomalies that were looked for, by presence."""
    found = [f"{s.name} ({s.count:,})" for s in search.sightings if s.presence is Presence.FOUND]
    absent = [s.name for s in search.sightings if s.presence is Presence.ABSENT]
    if found:
        yield "found", ", ".join(found)
    if absent:
        yield "absent", ", ".join(absent)
    unknown = ((sighting.reason, sighting.name) for sighting in search.sightings if sighting.reason)
    yield from _unknown(unknown, "anomalies")


def _unknown(reasons: Iterable[tuple[str, str]], what: str) -> Iterator[tuple[str, str]]:
    """One line for each reason."""
    unknown: dict[str, list[str]] = {}
    for reason, name in reasons:
        unknown.setdefault(reason, []).append(name)
    for reason, names in unknown.items():
        listed = ", ".join(names) if len(names) <= _MAX_LISTED else f"{len(names)} {what}"
        yield "unknown", f"{listed}: {reason}"


def _with_rest(first: Sequence[Level], every: Sequence[Level], side: str) -> str:
    """The levels that decide, and those that follow from them: all if they are few, else the best known."""
    rest = [level for level in every if level not in first]
    chosen = ", ".join(first)
    if not rest:
        return chosen
    if len(rest) <= _MAX_LISTED:
        return f"{chosen}, and so {', '.join(rest)}"
    known = [level for level in _WELL_KNOWN if level in rest] or rest[:1]
    return f"{chosen}, and so {len(rest)} {side} levels ({', '.join(known)}, ...)"


def _rest(name: str, more: int, width: int) -> Iterator[str]:
    """The lines below the counterexamples: the number of those not shown, and a hint."""
    if more > 0:
        yield f"  ... and {more:,} more"
    if advice := hint(name):
        yield paragraph(advice, width=width, head="  hint: ", margin=8)
