"""Online checks: the options that `serve` and `watch` share, the exit status and a short answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from isoscope.cli.exit_status import status
from isoscope.cli.options import chosen_profile, parse_levels, refuse_given
from isoscope.history import UNKNOWN
from isoscope.live.check_settings import CheckSettings, clock_levels
from isoscope.reports.plain_text import counted
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import Initial
    from isoscope.verdict import MechanismVerdict, Report, Verdict

__all__ = ["check_settings", "online_status", "short_answer"]

_SECOND = 1_000_000_000
_CLOCK_OPTIONS = ("names", "keep", "spill")


def check_settings(
    *,
    names: tuple[str, ...],
    profile: str | None,
    clock_error: int,
    timeout: float,
    keep: float,
    max_anomalies: int,
    initial: Initial | None,
    spill: Path | None = None,
) -> CheckSettings:
    """The settings that the options ask for. Raises UsageError if options contradict each other."""
    shared: dict[str, Any] = {
        "timeout": int(timeout * _SECOND),
        "max_anomalies": max_anomalies,
        "initial": UNKNOWN if initial is None else initial.value,
    }
    chosen = chosen_profile(profile, None, clock_error)
    if chosen is None:
        return CheckSettings(
            levels=clock_levels(parse_levels(names)), keep=int(keep * _SECOND), spill=spill, **shared
        )
    known = {option.name for option in click.get_current_context().command.params}
    refuse_given(
        tuple(name for name in _CLOCK_OPTIONS if name in known),
        "{options} says nothing about the mechanisms of a profile",
        "leave one of them out",
    )
    return CheckSettings(levels=(), profile=chosen, clock_error=clock_error, **shared)


def online_status(report: Report) -> int:
    """The exit status; an undecided mechanism is no failure."""
    if report.mechanisms is None:
        return status(report)
    return int(any(verdict.outcome is Outcome.VIOLATED for verdict in report.mechanisms.verdicts))


def short_answer(report: Report) -> str:
    """The answer in one line."""
    count = int(str(report.history["transactions"]))
    if report.mechanisms is None:
        return f"{'; '.join(map(_level, report.verdicts))} ({counted(count, 'transaction')})"
    verdicts = "; ".join(map(_mechanism, report.mechanisms.verdicts))
    return f"{report.mechanisms.profile}: {verdicts} ({counted(count, 'transaction')})"


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
