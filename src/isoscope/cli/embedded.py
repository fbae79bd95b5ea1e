"""Runs of the databases that are always there, for the demo: short, and small enough to be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from isoscope import checkers, databases, formats
from isoscope.cli import screen
from isoscope.cli.keeping import called
from isoscope.cli.promises import Ran, verdict_line
from isoscope.reports import paragraph, render_counterexample
from isoscope.reports.findings import findings
from isoscope.reports.html import render_html
from isoscope.reports.text import in_short
from isoscope.run import Limits, run
from isoscope.workloads import client_workload

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.verdict import Report

__all__ = ["Show", "Shown", "show"]

_SECONDS = 1.5
_PARAMETERS = {
    "sessions": 4,
    "min_txn_length": 2,
    "max_txn_length": 3,
    "active_keys": 10,
    "max_writes_per_key": 16,
    "seed": 1,
}
_WORKLOAD = "list-append"


@dataclass(frozen=True, slots=True, kw_only=True)
class Show:
    """A database, and what is to be seen there."""

    database: str
    isolation: str
    says: str

    @property
    def name(self) -> str:
        """Of its files."""
        return f"{self.database}-{self.isolation}"

    @property
    def arguments(self) -> str:
        """How anybody runs the same."""
        parameters = {"isolation": self.isolation, "workload": _WORKLOAD, **_PARAMETERS}
        given = [f"--{name.replace('_', '-')} {value}" for name, value in parameters.items()]
        return " ".join(["run", self.database, *given])


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What was seen, and the page about it."""

    report: Report
    page: Path


def show(asked: Show, folder: Path) -> Shown:
    """Runs the database, says what came of it and shows one counterexample, if there is any."""
    ran = _ran(asked)
    history = folder / f"{asked.name}.parquet"
    if ran.run.history is None:
        raise AssertionError("a run that records leaves a history")
    formats.save(ran.run.history, history)
    report = checkers.check(called(ran.run.history, str(history), "parquet"), max_anomalies=1)
    click.echo(f"{asked.says}\n")
    lines = [*ran.lines(), verdict_line(ran, report), ("in short", next(in_short(report), "nothing"))]
    for head, text in lines:
        screen.echo(paragraph(text, width=screen.width(), head=f"  {head}: ", margin=4))
    _show_one(report, folder)
    page = folder / f"{asked.name}.html"
    page.write_text(render_html(report, folder=str(folder)), encoding="utf-8")
    return Shown(report=report, page=page)


def _ran(asked: Show) -> Ran:
    database = databases.connect(asked.database, isolation=asked.isolation)
    clients = client_workload(_WORKLOAD, _PARAMETERS)
    return Ran(
        run=run(database, clients, Limits(seconds=_SECONDS)),
        isolation=asked.isolation,
        workload=_WORKLOAD,
        sessions=clients.sessions,
        seed=_PARAMETERS["seed"],
        settings={},
        promises=database.ISOLATIONS[asked.isolation].promises,
    )


def _show_one(report: Report, folder: Path) -> None:
    """The counterexample that is told in the fewest words."""
    width, colour = screen.width(), screen.has_colour()
    texts = {
        f"{finding.name}: {finding.count:,} found": render_counterexample(
            finding.anomalies[0], width=width, colour=colour, folder=str(folder)
        )
        for finding in findings(report)
    }
    if texts:
        head = min(texts, key=lambda head: len(texts[head]))
        screen.echo(f"\n  {head}\n\n{texts[head]}")
    click.echo()
