"""The verdicts as text for a terminal; colour only on request."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from isoscope.explain import harmless, hint
from isoscope.levels import LADDER, PLAIN_LADDER, Level
from isoscope.reports import mechanisms
from isoscope.reports.counterexample import render_counterexample
from isoscope.reports.findings import findings, sizes_in_words
from isoscope.reports.plain_text import counted
from isoscope.reports.terminal import Paint, paragraph
from isoscope.verdict import Outcome, Presence, Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from isoscope.verdict import Ordered, Search

__all__ = ["in_short", "ordered", "render_text"]

_MARGIN = 12
#: Heads of rows that are no outcome.
_NO_OUTCOMES = ("in short", "", *mechanisms.HEADS)
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


def render_text(report: Report | Search, *, width: int = 100, colour: bool = False) -> str:
    """The report; a line is longer than `width` only if a single word is."""
    rows = _outcomes(report) if isinstance(report, Report) else _sightings(report)
    blocks = [
        *_mechanisms(report, width, Paint(colour)),
        _heading(report, width),
        "\n".join(_row(head, text, width, Paint(colour)) for head, text in rows),
        *_anomalies(report, width, Paint(colour)),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _mechanisms(report: Report | Search, width: int, paint: Paint) -> Iterator[str]:
    """Whether the mechanisms of a profile were at work, and how much of them was checked."""
    if isinstance(report, Report) and report.mechanisms is not None:
        yield paint.name(harmless(mechanisms.answer(report)))
        rows = mechanisms.rows(report.mechanisms)
        yield "\n".join(_row(head, text, width, paint) for head, text in rows)


def _heading(report: Report | Search, width: int) -> str:
    history = report.history
    ends = "".join(f", {history[name]:,} {name}" for name in ("aborted", "indeterminate") if history[name])
    evidence = ", ".join(map(str, history["evidence"]))  # type: ignore[call-overload]
    lines = [
        (f"{harmless(str(history['path']))} ({history['format']})", f"{sizes_in_words(history)}{ends}"),
        ("evidence", evidence),
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
    yield from zip(("in short", ""), in_short(report), strict=False)
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


def _row(head: str, text: str, width: int, paint: Paint) -> str:
    painted = head if head in _NO_OUTCOMES else paint.outcome(head)
    return paragraph(text, width=width, head=f"  {painted}", margin=_MARGIN)


def _anomalies(report: Report | Search, width: int, paint: Paint) -> Iterator[str]:
    """Each name once, with its count and its counterexamples."""
    folder = os.path.split(str(report.history["path"]))[0]
    for finding in findings(report):
        name, count = finding.name, finding.count
        told = [
            render_counterexample(anomaly, width=width, colour=paint.colour, folder=folder)
            for anomaly in finding.anomalies
        ]
        if len(told) > 1:
            told = [f"  {number} of {count:,}:\n{text}" for number, text in enumerate(told, start=1)]
        rest = "\n".join(_rest(name, count - len(told), width))
        yield "\n\n".join(filter(None, [f"{paint.name(name)}: {count:,} found", *told, rest]))


def _rest(name: str, more: int, width: int) -> Iterator[str]:
    """The lines below the counterexamples: the number of those not shown, and a hint."""
    if more > 0:
        yield f"  ... and {more:,} more"
    if advice := hint(name):
        yield paragraph(advice, width=width, head="  hint: ", margin=8)
