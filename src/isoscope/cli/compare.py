"""`isoscope compare`: two runs side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from isoscope import checkers, formats
from isoscope.activity import activity
from isoscope.cli import terminal
from isoscope.cli.exit_status import VIOLATED
from isoscope.cli.options import format_option, initial_option, parse_levels
from isoscope.levels import MINIMUM
from isoscope.reports import Comparison, dumps
from isoscope.reports.comparison import Run

if TYPE_CHECKING:
    from isoscope.history import Initial
    from isoscope.levels import Level

__all__ = ["command"]


@click.command("compare")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--level", "names", multiple=True, metavar="LEVEL", help="Compare this level; may be repeated.")
@format_option("both histories")
@initial_option()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    a: str,
    b: str,
    *,
    names: tuple[str, ...],
    format_: str | None,
    initial: Initial | None,
    as_json: bool,
) -> int:
    """Compare two runs: verdicts, anomalies, latency, throughput.

    A is the run to compare with, B the new one. Without --level, every level that the evidence of one of
    them speaks of; the tables show the levels on which they differ.

    \b
    Exits 1 if B violates a named level that A does not violate, 2 on bad input, else 0.
    Without --level: 1 if that is so of pl-2, read-committed or cut-isolation.

    \b
    Examples:
        isoscope compare yesterday.edn today.edn
        isoscope compare before.parquet after.parquet --level snapshot-isolation --json
    """
    asked = parse_levels(names)
    runs = [_run(path, asked, format_, initial) for path in (a, b)]
    comparison = Comparison(a=runs[0], b=runs[1])
    if as_json:
        click.echo(dumps(comparison.document()))
    else:
        width = terminal.width()
        click.echo(comparison.render_text(width=width), nl=False)
    return VIOLATED if {*comparison.regressions} & {*(asked or MINIMUM)} else 0


def _run(path: str, asked: tuple[Level, ...], format_: str | None, initial: Initial | None) -> Run:
    history = formats.load(path, format=format_, initial=initial)
    report = checkers.check(history, asked or None, max_anomalies=1)
    return Run(report=report, activity=activity(history))
