"""`isoscope run DATABASE --workload hermitage`: directed scripts, what was found beside what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from isoscope import databases, directed
from isoscope.cli import screen
from isoscope.cli.progress import Line
from isoscope.reports import HermitageRow, render_hermitage
from isoscope.workloads.published import Cell, expectation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.databases.database import Database
    from isoscope.workloads.published import Expectation

__all__ = ["NAME", "run_scripts"]

NAME = "hermitage"
_WEAKER = 1


def run_scripts(target: str, *, isolation: str | None, settings: Mapping[str, str]) -> int:
    """Prints the table for one isolation, or for all; 1 if something is weaker than is known."""
    first = databases.connect(target, isolation=isolation, settings=settings)
    isolations = [isolation] if isolation is not None else list(first.ISOLATIONS)
    name, rows = "", []
    for asked in isolations:
        database = databases.connect(target, isolation=asked, settings=settings)
        ran = _ran(database)
        name = ran.database
        rows.append(_row(asked, ran, expectation(first.NAME, asked, database.promises)))
    click.echo(render_hermitage(name, rows, width=screen.width()), nl=False)
    return _WEAKER if any(_is_weaker(row) for row in rows) else 0


def _ran(database: Database) -> directed.Directed:
    with Line() as line:
        line.show(f"opening {database.NAME} ...")
        return directed.run(
            database, progress=lambda result: line.show(f"{database.isolation}: {result.script.name}")
        )


def _row(isolation: str, ran: directed.Directed, known: Expectation | None) -> HermitageRow:
    if known is None:
        return HermitageRow(isolation=isolation, found=ran.found)
    return HermitageRow(
        isolation=isolation,
        found=ran.found,
        expected=known.cells,
        kind=known.kind,
        source=known.source,
    )


def _is_weaker(row: HermitageRow) -> bool:
    """Whether an anomaly can occur that is known to be prevented, or prevented for more."""
    strength = list(reversed(Cell))
    known = row.expected or {}
    return any(
        strength.index(Cell(row.found[name])) < strength.index(Cell(known[name])) for name in row.differences
    )
