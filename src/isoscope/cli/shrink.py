"""`isoscope shrink`: the few transactions that break a level, as a history of their own."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from isoscope import formats
from isoscope.api import Question
from isoscope.cli import terminal
from isoscope.cli.options import FormatName, format_option, initial_option, parse_level
from isoscope.errors import UsageError
from isoscope.reports import render_counterexample
from isoscope.reports.plain_text import counted
from isoscope.verdict import Claim, Method

if TYPE_CHECKING:
    from isoscope.history import History, Initial
    from isoscope.levels import Level
    from isoscope.verdict import Verdict

__all__ = ["command"]

#: Not intervals: they judge mechanisms, and OUT must break a level.
_METHODS = [str(method) for method in Method if method is not Method.INTERVALS]


@click.command("shrink")
@click.argument("path", metavar="HISTORY")
@click.argument("target", metavar="OUT")
@click.option("--level", metavar="LEVEL", callback=parse_level,
              help="Level that OUT still breaks; by default the weakest that HISTORY breaks.")  # fmt: skip
@click.option("--method", type=click.Choice(_METHODS), help="Use this method only.")
@click.option("--assume", multiple=True, type=click.Choice([str(claim) for claim in Claim]),
              help="Claim of yours about the order of versions; may be repeated.")  # fmt: skip
@format_option("HISTORY")
@initial_option()
@click.option("--to", type=FormatName(), help="Format of OUT.")
@click.option("--lossy", is_flag=True, help="Write what OUT can hold, and say what is lost.")
def command(
    path: str,
    target: str,
    *,
    level: Level | None,
    method: str | None,
    assume: tuple[str, ...],
    format_: str | None,
    initial: Initial | None,
    to: str | None,
    lossy: bool,
) -> None:
    """Shrink a history to the few transactions that break a level.

    What is left breaks the level, and does not without any one of its transactions or operations. It is
    a part of what was recorded: nothing is renamed, moved or changed. With a transaction go the reads
    that it served.

    The format of OUT follows from its name, as in `isoscope convert`. Exits 2 if the level is not
    violated.

    \b
    Examples:
        isoscope shrink run.edn small.edn --level snapshot-isolation
        isoscope shrink run.txt.gz small.txt
    """
    if to is None:
        formats.for_path(target)  # an unknown format is refused before the work
    if target != "-" and os.path.realpath(path) == os.path.realpath(target):
        raise UsageError(f"{target} would replace the history that it is a part of")
    question = Question(method, assume, progress=_show_size)
    history = formats.load(path, format=format_, initial=initial)
    try:
        small, broken = question.shrunk(history, level)
    except ValueError as error:
        raise UsageError(str(error)) from None
    _show_progress("")
    for loss in formats.save(small, target, format=to, lossy=lossy):
        click.echo(f"lost: {loss}", err=True)
    # Standard output must hold nothing but the history.
    click.echo(_summary(history, small, question.verdict(small, broken)), err=target == "-")


def _summary(history: History, small: History, verdict: Verdict) -> str:
    """The sizes before and after, and the counterexamples that are left."""
    sizes = (
        f"{counted(len(history), 'transaction')} -> {len(small):,}, "
        f"{counted(history.columns.operations, 'operation')} -> {small.columns.operations:,}"
    )
    shown = [
        f"{anomaly.name}\n\n{render_counterexample(anomaly, width=terminal.width())}"
        for anomaly in verdict.anomalies
    ]
    return "\n\n".join([f"{sizes}: breaks {verdict.level}", *shown])


def _show_size(part: History) -> None:
    _show_progress(f"{counted(len(part), 'transaction')}, {counted(part.columns.operations, 'operation')}")


def _show_progress(text: str) -> None:
    """Replaces the last line of a terminal; elsewhere prints nothing."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{text}", err=True, nl=False)
