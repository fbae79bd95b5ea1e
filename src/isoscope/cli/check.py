"""`isoscope check`: the main job."""

from __future__ import annotations

import shutil
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

import click

from isoscope import __version__, formats, levels
from isoscope.checkers import check
from isoscope.cli import BAD_INPUT
from isoscope.cli.options import format_option, initial_option
from isoscope.errors import IsoscopeError, UsageError
from isoscope.levels import Level
from isoscope.reports import dumps, render_json, render_text
from isoscope.verdict import Method, Outcome, Report

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.history import Initial

__all__ = ["command", "exit_status"]

VIOLATED, UNDECIDED = 1, 3
#: Without --level, these decide the exit status: no database should break them.
MINIMUM = (Level.PL_2, Level.READ_COMMITTED, Level.CUT_ISOLATION)


@click.command("check")
@click.argument("histories", nargs=-1, required=True, metavar="HISTORY...")
@click.option("--level", "names", multiple=True, metavar="LEVEL", help="Level to check; may be repeated.")
@click.option("--method", type=click.Choice([str(method) for method in Method]), help="Use this method only.")
@format_option("the histories")
@initial_option()
@click.option("--max-anomalies", default=10, show_default=True, type=click.IntRange(1, 2**31),
              help="Counterexamples shown of each anomaly; all are counted.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document a history.")
@click.option("--timings", is_flag=True, help="Add the seconds that each stage took.")
def command(
    histories: tuple[str, ...],
    *,
    names: tuple[str, ...],
    method: str | None,
    format_: str | None,
    initial: Initial | None,
    max_anomalies: int,
    as_json: bool,
    timings: bool,
) -> int:
    """Check recorded histories against isolation levels.

    HISTORY is a file, a directory of session files, or `-` for standard input; `.gz` and `.zst` are
    unpacked and the format is recognised. Without --level, every level that the evidence speaks of.

    \b
    Exits 0 if all named levels hold, 1 if one is violated, 3 if one is unknown, 2 on bad input.
    Without --level: 1 if pl-2, read-committed or cut-isolation is violated, else 0.

    \b
    Examples:
        isoscope check history.txt
        isoscope check run.edn.gz --level read-atomic --json
    """
    asked = _levels(names)
    reports: list[Report] = []
    for path in histories:
        started = perf_counter()
        try:
            history = formats.load(path, format=format_, initial=initial)
        except IsoscopeError as error:
            _report_error(path, error, as_json=as_json)
            continue
        loaded = perf_counter() - started
        report = check(history, asked or None, method=method, max_anomalies=max_anomalies)
        report = replace(report, seconds={"load": loaded, **(report.seconds or {})})
        _print(report, as_json=as_json, timings=timings)
        reports.append(report)
    return BAD_INPUT if len(reports) < len(histories) else exit_status(reports, asked)


def exit_status(reports: Iterable[Report], asked: tuple[Level, ...]) -> int:
    """1 if a named level is violated, else 3 if one is unknown, else 0."""
    named = asked or MINIMUM
    verdicts = [v for report in reports for v in report.verdicts if v.level in named]
    outcomes = {verdict.outcome for verdict in verdicts}
    if Outcome.VIOLATED in outcomes:
        return VIOLATED
    return UNDECIDED if asked and Outcome.UNKNOWN in outcomes else 0


def _levels(names: tuple[str, ...]) -> tuple[Level, ...]:
    try:
        return tuple(dict.fromkeys(levels.parse(name) for name in names))
    except ValueError as error:
        raise UsageError(f"{error}\n\nhint: `isoscope levels` lists them") from None


def _report_error(path: str, error: IsoscopeError, *, as_json: bool) -> None:
    click.echo(f"error: {error}", err=True)
    if as_json:
        document = {"isoscope": __version__, "history": {"path": path}, "error": str(error)}
        click.echo(dumps(document))


def _print(report: Report, *, as_json: bool, timings: bool) -> None:
    if as_json:
        click.echo(render_json(report, timings=timings))
        return
    width = max(60, min(100, shutil.get_terminal_size((100, 24)).columns))
    click.echo(render_text(report, width=width))
    if timings and report.seconds is not None:
        click.echo("  ".join(f"{stage}: {seconds:.3f} s" for stage, seconds in report.seconds.items()))
