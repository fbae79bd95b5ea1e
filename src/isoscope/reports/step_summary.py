"""A summary in Markdown, as GitHub shows it below a job: the answer, levels by outcome, each anomaly.

GitHub shows nothing of a summary longer than 1 MiB, so parts that do not fit are left out and counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope.explain import message, one_line
from isoscope.reports.findings import Unreadable, rows, sizes_in_words
from isoscope.reports.plain_text import counted
from isoscope.reports.registry import STEP_SUMMARY_LIMIT
from isoscope.verdict import Outcome, Search

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.reports.findings import Result
    from isoscope.verdict import Finding, Report

__all__ = ["render_step_summary"]

#: Kept free for the sentence about what was left out.
_ROOM = 200
#: Characters with a meaning in Markdown or HTML; written as numbers they have none.
_SPECIAL = frozenset("\\`*_{}[]<>|#~!$@&\"':")
_WORDS = {
    Outcome.VIOLATED: ("violated", "found"),
    Outcome.HOLDS: ("holds", "absent"),
    Outcome.UNKNOWN: ("unknown", "unknown"),
}


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part that is shown as a whole or not at all."""

    text: str
    is_anomaly: bool

    @property
    def size(self) -> int:
        return len(self.text.encode()) + 2


def render_step_summary(results: Sequence[Result], *, limit: int = STEP_SUMMARY_LIMIT) -> str:
    """Markdown of at most `limit` bytes; if there is no room for all, tables go before anomalies."""
    pieces = [piece for result in results for piece in _pieces(result)]
    kept = _fitting(pieces, limit - _ROOM)
    blocks = [piece.text for place, piece in enumerate(pieces) if place in kept]
    left = [piece for place, piece in enumerate(pieces) if place not in kept]
    if left:
        blocks.append(_left_out(left))
    return "\n\n".join(blocks) + "\n"


def _fitting(pieces: Sequence[_Piece], room: int) -> set[int]:
    kept: set[int] = set()
    for place in sorted(range(len(pieces)), key=lambda place: pieces[place].is_anomaly):
        room -= pieces[place].size
        if room < 0:
            break
        kept.add(place)
    return kept


def _left_out(pieces: Sequence[_Piece]) -> str:
    anomalies = sum(piece.is_anomaly for piece in pieces)
    counts = {("history", "histories"): len(pieces) - anomalies, ("anomaly", "anomalies"): anomalies}
    what = " and ".join(counted(count, *nouns) for nouns, count in counts.items() if count)
    return f"Left out, because GitHub shows no more than 1 MiB: {what}."


def _pieces(result: Result) -> Iterator[_Piece]:
    if isinstance(result, Unreadable):
        text = f"### {_inert(result.path)}\n\ncould not be read: {_inert(result.message)}"
        yield _Piece(text, is_anomaly=False)
        return
    yield _Piece(_table(result), is_anomaly=False)
    for finding in result.findings:
        yield _Piece(_details(finding), is_anomaly=True)


def _table(report: Report | Search) -> str:
    """The levels by outcome; those that decide the exit status are bold."""
    history, is_search = report.history, isinstance(report, Search)
    lines = [
        *_head(report),
        "",
        sizes_in_words(history),
        "",
        f"| outcome | {_answered(report)} |",
        "|---|---|",
    ]
    every = list(rows(report))
    for outcome, words in _WORDS.items():
        names = [f"**{one.name}**" if one.counts else one.name for one in every if one.outcome is outcome]
        if names:
            lines.append(f"| {words[is_search]} | {', '.join(names)} |")
    reasons = dict.fromkeys(one.reason for one in every if one.reason)
    return "\n".join([*lines, *(f"\nunknown: {_inert(reason)}" for reason in reasons)])


def _head(report: Report | Search) -> list[str]:
    """The answer, then the history."""
    path = _inert(str(report.history["path"]))
    if isinstance(report, Search):
        return [f"### {path}"]
    return [f"### {_inert(report.answer.sentence)}", "", path]


def _answered(report: Report | Search) -> str:
    """The kind of names in the table."""
    if isinstance(report, Search):
        return "anomalies"
    return "levels" if report.mechanisms is None else "mechanisms and levels"


def _details(finding: Finding) -> str:
    lines = [f"<details><summary>{finding.name}: {finding.count:,} found</summary>", ""]
    for anomaly in finding.anomalies:
        circle = one_line(anomaly)
        lead = f"{_inert(circle)}<br>" if circle else ""
        lines.append(f"- {lead}{_inert(message(anomaly))}")
    more = finding.count - len(finding.anomalies)
    return "\n".join([*lines, *([f"- and {more:,} more"] if more > 0 else []), "", "</details>"])


def _inert(text: str) -> str:
    """The text on one line, without any markup in it."""
    return "".join(map(_shown, " ".join(text.split())))


def _shown(letter: str) -> str:
    if letter in _SPECIAL:
        return f"&#{ord(letter)};"
    return letter if letter.isprintable() else f"&#92;{letter.encode('unicode-escape').decode('ascii')[1:]}"
