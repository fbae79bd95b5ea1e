"""What is judged online: options that several commands share, and the answer in short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from isoscope.checkers.timestamps import ASKED_AS, LEVELS
from isoscope.cli.check import exit_status
from isoscope.cli.options import chosen_profile, parse_levels, refuse_given
from isoscope.errors import UsageError
from isoscope.history import UNKNOWN
from isoscope.live.check_settings import CheckSettings
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import Initial
    from isoscope.levels import Level
    from isoscope.verdict import MechanismVerdict, Report, Verdict

__all__ = ["clock_levels", "in_one_line", "judging_of", "online_status"]

_SECOND = 1_000_000_000
_OF_THE_CLOCK = ("names", "keep", "spill")


def judging_of(
    *,
    names: tuple[str, ...],
    profile: str | None,
    clock_error: int,
    timeout: float,
    keep: float,
    most: int,
    initial: Initial | None,
    spill: Path | None = None,
) -> CheckSettings:
    """What was asked for. Raises UsageError if it does not go together."""
    shared: dict[str, Any] = {
        "timeout": int(timeout * _SECOND),
        "max_anomalies": most,
        "initial": UNKNOWN if initial is None else initial.value,
    }
    chosen = chosen_profile(profile, None, clock_error)
    if chosen is None:
        return CheckSettings(levels=clock_levels(names), keep=int(keep * _SECOND), spill=spill, **shared)
    known = {option.name for option in click.get_current_context().command.params}
    refuse_given(
        tuple(name for name in _OF_THE_CLOCK if name in known),
        "{options} says nothing about the mechanisms of a profile",
        "leave one of them out",
    )
    return CheckSettings(levels=(), profile=chosen, clock_error=clock_error, **shared)


def clock_levels(names: tuple[str, ...]) -> tuple[Level, ...]:
    """The levels of the database's clock that are asked for; plain names stand for them."""
    asked = tuple(dict.fromkeys(ASKED_AS.get(level, level) for level in parse_levels(names)))
    if other := [level for level in asked if level not in LEVELS]:
        raise UsageError(
            f"{other[0]} cannot be checked online\n\n"
            f"hint: the levels of the database's own clock can: {', '.join(LEVELS)}"
        )
    return asked or tuple(LEVELS)


def online_status(report: Report, judging: CheckSettings) -> int:
    """The status to exit with; a mechanism of which something stays open is none that failed."""
    if report.mechanisms is None:
        return exit_status([report], judging.levels)
    return int(any(verdict.outcome is Outcome.VIOLATED for verdict in report.mechanisms.verdicts))


def in_one_line(report: Report) -> str:
    """The answer in short."""
    count = report.history["transactions"]
    if report.mechanisms is None:
        return f"{'; '.join(map(_level, report.verdicts))} ({count:,} transactions)"
    said = "; ".join(map(_mechanism, report.mechanisms.verdicts))
    return f"{report.mechanisms.profile}: {said} ({count:,} transactions)"


def _level(verdict: Verdict) -> str:
    if verdict.outcome is Outcome.UNKNOWN:
        return f"{verdict.level}: unknown, {verdict.reason}"
    found = ", ".join(f"{count:,} {name}" for name, count in verdict.anomaly_counts.items())
    return f"{verdict.level}: {verdict.outcome}" + (f" by {found}" if found else "")


def _mechanism(verdict: MechanismVerdict) -> str:
    if verdict.outcome is Outcome.VIOLATED:
        found = ", ".join(f"{count:,} {name}" for name, count in verdict.anomaly_counts.items())
        return f"{verdict.mechanism} violated by {found}"
    if verdict.outcome is Outcome.HOLDS:
        return f"{verdict.mechanism} holds"
    return f"{verdict.mechanism} not violated, {verdict.reason}"
