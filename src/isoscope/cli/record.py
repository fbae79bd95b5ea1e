"""`isoscope record`: a program that uses a database, recorded without any change of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from isoscope import checkers, formats
from isoscope.cli import terminal
from isoscope.cli.exit_status import status
from isoscope.cli.options import parse_levels
from isoscope.errors import UsageError
from isoscope.reports import render_text
from isoscope.reports.plain_text import counted

if TYPE_CHECKING:
    from isoscope.record import Recorded

__all__ = ["command"]


@click.command("record")
@click.argument("program", nargs=-1, metavar="-- COMMAND...", type=click.UNPROCESSED)
@click.option("--output", "-o", default="recorded.program", show_default=True,
              type=click.Path(dir_okay=False), help="File that the history is written to.")  # fmt: skip
@click.option("--level", "names", multiple=True, metavar="LEVEL",
              help="Check this level at once; may be repeated.")  # fmt: skip
@click.option("--folder", type=click.Path(file_okay=False, exists=True),
              help="Run no command: merge what processes recorded into this folder.")  # fmt: skip
def command(program: tuple[str, ...], *, output: str, names: tuple[str, ...], folder: str | None) -> int:
    """Record a program that uses a database, unchanged.

    COMMAND is run as it is. Every Python process of it records the connections that it makes with psycopg 3,
    psycopg2, PyMySQL, sqlite3 or DuckDB, also through SQLAlchemy and Django: transactions, the rows that they
    read and wrote, and the file and line of each statement. Isoscope must be installed in the Python that the
    command uses.

    \b
    Exits with the status of the command if that is not 0. With --level: 1 if a level is violated, 3 if one is
    unknown, else 0. 2 if nothing was recorded.

    \b
    Examples:
        isoscope record -- python app.py
        isoscope record -o shop.program --level serializable -- pytest tests/test_shop.py
        isoscope record --folder /var/tmp/traces -o shop.program
        isoscope check recorded.program --level snapshot-isolation --report report.html
    """
    levels = parse_levels(names)
    ended = _recorded(program, folder, Path(output))
    history = formats.load(output)
    click.echo(
        f"recorded {counted(len(history), 'transaction')} of {counted(history.counts['sessions'], 'session')}"
        f" in {output}",
        err=bool(levels),
    )
    for kind in _untried(Path(output)):
        click.echo(f"note: {kind} is recorded by its documentation; this was never run on one", err=True)
    if ended:
        click.echo(f"note: the command ended with status {ended}", err=True)
    if not levels:
        return ended
    report = checkers.check(history, levels)
    terminal.echo(render_text(report, width=terminal.width(), colour=terminal.has_colour()))
    return ended or status(report)


def _untried(output: Path) -> list[str]:
    """The databases of a recording on which the recorder was never run."""
    with output.open(encoding="utf-8") as file:
        kinds = json.loads(file.readline())["databases"]
    return [kind for kind in kinds if kind in ("cockroachdb", "yugabytedb")]


def _recorded(program: tuple[str, ...], folder: str | None, output: Path) -> int:
    """Writes what a command, or processes before, recorded; the status of the command."""
    from isoscope.record import Recorded, recorded_command  # noqa: PLC0415 - it needs an extra

    if bool(program) is (folder is not None):
        raise UsageError(
            "expected a command behind `--`, or a folder that processes recorded into\n\n"
            "hint: `isoscope record -- python app.py`, or `isoscope record --folder FOLDER`"
        )
    if folder is not None:
        recorded = Recorded(Path(folder))
        if not recorded.count:
            raise UsageError(f"no transaction was recorded into {folder}")
        _save(recorded, output)
        return 0
    with recorded_command(program) as (ended, recorded):
        _save(recorded, output)
    return ended


def _save(recorded: Recorded, path: Path) -> None:
    try:
        recorded.save(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
