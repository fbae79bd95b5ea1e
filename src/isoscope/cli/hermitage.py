"""The table of `isoscope run --workload hermitage`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from isoscope.cli import terminal
from isoscope.cli.progress import Line
from isoscope.reports import HermitageRow, render_hermitage
from isoscope.run import run_hermitage
from isoscope.workloads.hermitage import ANOMALIES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.databases.database import Database
    from isoscope.run import IsolationResult, ScriptResult

__all__ = ["run_scripts"]


def run_scripts(target: str, isolation: str | None, settings: Mapping[str, str]) -> int:
    """Prints the table for one isolation, or for all; 1 if one is weaker than is known."""
    with Line() as line:

        def show(database: Database, result: ScriptResult | None) -> None:
            done = None if result is None else f"{database.isolation}: {result.script.name}"
            line.show(done or f"opening {database.NAME} ...")

        results = run_hermitage(target, isolation=isolation, settings=settings, progress=show)
    rows = [_row(result) for result in results]
    database = results[-1].scripted.database
    click.echo(render_hermitage(database, rows, names=ANOMALIES, width=terminal.width()), nl=False)
    return int(any(result.is_weaker for result in results))


def _row(result: IsolationResult) -> HermitageRow:
    found, known = result.scripted.found, result.expected
    if known is None:
        return HermitageRow(isolation=result.isolation, found=found)
    return HermitageRow(
        isolation=result.isolation, found=found, expected=known.cells, kind=known.kind, source=known.source
    )
