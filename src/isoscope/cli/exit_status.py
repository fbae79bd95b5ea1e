"""The exit status of a check or a run, by rule, and the line that explains it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from isoscope.cli import BAD_INPUT
from isoscope.cli.options import parse_levels
from isoscope.explain.value_text import enumeration
from isoscope.levels import Level
from isoscope.reports.findings import rows
from isoscope.verdict import Outcome, Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from isoscope.verdict import Search

__all__ = ["UNDECIDED", "VIOLATED", "explained", "fail_on_option", "status", "worst"]

VIOLATED, UNDECIDED = 1, 3
#: More levels than this are not listed.
_MAX_NAMES = 3
_EVERY = frozenset(Level)


def fail_on_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--fail-on`, which replaces the rule for the exit status."""
    return click.option(
        "--fail-on",
        metavar="LEVEL|any|none",
        callback=lambda _ctx, _option, text: None if text is None else _parsed(text),
        help="Exit 1 if this level is violated, or any level, or never.",
        show_default="what is promised or named by --level, else pl-2, read-committed, cut-isolation",
    )(command)


def _parsed(text: str) -> frozenset[Level]:
    words = {"any": _EVERY, "none": frozenset[Level]()}
    return words[text] if text in words else frozenset(parse_levels([text]))


def status(report: Report | Search) -> int:
    """1 if a violation decides, else 3 if an unknown outcome does, else 0."""
    outcomes = {row.outcome for row in rows(report) if row.counts}
    if Outcome.VIOLATED in outcomes:
        return VIOLATED
    return UNDECIDED if Outcome.UNKNOWN in outcomes else 0


def worst(statuses: Iterable[int]) -> int:
    """The status of several histories together."""
    found = set(statuses)
    return next((one for one in (BAD_INPUT, VIOLATED, UNDECIDED) if one in found), 0)


def explained(number: int, reports: Sequence[Report | Search]) -> str:
    """Why the status is what it is; empty if the levels that decide it were named, or nothing was checked."""
    asked = [report for report in reports if isinstance(report, Report)]
    if not asked or (asked[0].asked and asked[0].fail_on is None) or number == BAD_INPUT:
        return ""
    return f"exit status {number}: {_cause(number, asked)} ({_rule(asked[0])})"


def _cause(number: int, reports: Sequence[Report]) -> str:
    outcome = {VIOLATED: Outcome.VIOLATED, UNDECIDED: Outcome.UNKNOWN}.get(number)
    deciding = [
        row.name for report in reports for row in rows(report) if row.counts and row.outcome is outcome
    ]
    names = [*dict.fromkeys(deciding)][:_MAX_NAMES]
    if names:
        return f"{enumeration(names)} {'is' if len(names) == 1 else 'are'} {outcome}"
    return "nothing was committed" if outcome else "no level that counts is violated"


def _rule(report: Report) -> str:
    if report.fail_on == _EVERY:
        return "--fail-on any: every level counts"
    if report.fail_on is not None:
        return f"--fail-on: {', '.join(sorted(report.fail_on)) or 'no level'} counts"
    if report.promises or report.mechanisms is not None:
        return "what is promised counts; --level and --fail-on name other levels"
    return "without --level, only pl-2, read-committed and cut-isolation count; --fail-on names others"
