"""`isoscope demo`: everything once, on databases that need no server, with reports to open."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from isoscope import formats
from isoscope.anomalies import CATALOGUE
from isoscope.checkers import check
from isoscope.checkers.values import NAMES
from isoscope.cli import run_text, terminal
from isoscope.errors import UsageError
from isoscope.history import Initial
from isoscope.levels import Level
from isoscope.reports import paragraph, render_counterexample, render_json, render_text
from isoscope.reports.html import render_html
from isoscope.reports.text import in_short
from isoscope.run import Limits, Plan, execute
from isoscope.workloads import Workload, generate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.verdict import Report

__all__ = ["command"]

#: The time of a run; on a busy machine, which shows less in that time, of a second and a third one.
_SECONDS = (1.5, 5.0, 15.0)
_WORKLOAD = "list-append"
#: Few keys and short transactions, so that a counterexample is small enough to read.
_PARAMETERS = {
    "sessions": 4,
    "min_txn_length": 2,
    "max_txn_length": 3,
    "active_keys": 10,
    "max_writes_per_key": 16,
}
_SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Show:
    """A database at one isolation, and what its run shows."""

    database: str
    isolation: str
    text: str
    has_anomalies: bool = True

    def plan(self, seconds: float) -> Plan:
        """A run of this time."""
        return Plan.of(
            self.database,
            isolation=self.isolation,
            workload=_WORKLOAD,
            parameters=_PARAMETERS,
            seed=_SEED,
            limits=Limits(seconds=seconds),
        )

    @property
    def name(self) -> str:
        """The name of its files."""
        return f"{self.database}-{self.isolation}"

    @property
    def arguments(self) -> str:
        """The arguments of `isoscope` for the same run."""
        parameters = {"isolation": self.isolation, "workload": _WORKLOAD, **_PARAMETERS, "seed": _SEED}
        given = [f"--{name.replace('_', '-')} {value}" for name, value in parameters.items()]
        return " ".join(["run", self.database, *given])


_SHOWS = (
    _Show(
        database="sqlite",
        isolation="serializable",
        text="SQLite with its defaults: one writer at a time.",
        has_anomalies=False,
    ),
    _Show(
        database="sqlite",
        isolation="read-uncommitted",
        text="SQLite with a shared cache, where reads show what is not committed yet. It promises no more.",
    ),
    _Show(
        database="duckdb",
        isolation="snapshot-isolation",
        text="DuckDB: transactions read a snapshot. Two that each read what the other writes both commit.",
    ),
)
_SUFFIXES = {"plume": "txt", "jepsen": "edn", "aion": "json"}
_VALID = {
    "valid-registers.txt": Workload(transactions=20_000, sessions=20, keys=1000, seed=1),
    "valid-lists.edn": Workload(
        transactions=2_000, lists=True, max_writes_per_key=16, min_operations=2, seed=2
    ),
    "valid-timestamps.json": Workload(transactions=5_000, timestamps=True, initial=Initial(), seed=3),
    "valid-registers.parquet": Workload(transactions=50_000, distribution="zipfian", seed=4),
}
_BROKEN = Workload(
    transactions=300, sessions=5, keys=12, level=Level.PL_2, min_operations=5, max_operations=5, seed=5
)


@click.command("demo")
@click.option("--out", default="isoscope-demo", show_default=True, help="Folder for histories and report.")
def command(out: str) -> None:
    """Run embedded databases and show what a violation looks like.

    Nothing is needed: no server, no network. Histories and reports are left in a folder, to be looked at
    and checked again.
    """
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to {out}: {error.strerror or error}") from None
    click.echo("1. Did these databases keep their promise?\n")
    shown = [_run(show, folder) for show in _SHOWS]
    click.echo("2. Histories of a correct database, one in each format\n")
    reports = [_valid(folder / name, workload) for name, workload in _VALID.items()]
    click.echo("\n3. Small histories with one anomaly each\n")
    reports += [_violated(folder, name) for name in NAMES]
    _write_reports(folder, [*shown, *reports])
    _page(folder / "broken.txt", folder / "report.html")
    click.echo(
        f"\n{_program()} explain NAME says what each of them is.\n\n"
        f"All of it in words: {folder / 'report.txt'} and, for machines, {folder / 'report.jsonl'}\n"
        f"Pages to open in a browser:\n"
        f"  {_page_of(_SHOWS[1], folder)}, what SQLite did\n"
        f"  {_page_of(_SHOWS[2], folder)}, what DuckDB did\n"
        f"  {folder / 'report.html'}, a history with most of what can go wrong\n"
        f"Next: {_program()} {_SHOWS[1].arguments}"
    )


def _run(show: _Show, folder: Path) -> Report:
    """Runs the database, prints the result and one counterexample, and writes a page about it."""
    path = folder / f"{show.name}.parquet"
    for seconds in _SECONDS:
        completed = execute(show.plan(seconds))
        formats.save(completed.history, path)
        report = completed.check(formats.load(path))
        if report.findings or not show.has_anomalies:
            break
    click.echo(f"{show.text}\n")
    terminal.echo(paragraph(report.answer.sentence, width=terminal.width(), head="  ", margin=2))
    lines = [
        run_text.description(completed),
        run_text.rate_line(completed),
        ("in short", next(in_short(report), "nothing")),
    ]
    for head, text in lines:
        terminal.echo(paragraph(text, width=terminal.width(), head=f"  {head}: ", margin=4))
    _print_counterexample(report, folder)
    _page_of(show, folder).write_text(render_html(report, folder=str(folder)), encoding="utf-8")
    return report


def _page_of(show: _Show, folder: Path) -> Path:
    return folder / f"{show.name}.html"


def _print_counterexample(report: Report, folder: Path) -> None:
    """Prints the shortest counterexample."""
    width, colour = terminal.width(), terminal.has_colour()
    texts = {
        f"{finding.name}: {finding.count:,} found": render_counterexample(
            finding.anomalies[0], width=width, colour=colour, folder=str(folder)
        )
        for finding in report.findings
    }
    if texts:
        head = min(texts, key=lambda head: len(texts[head]))
        terminal.echo(f"\n  {head}\n\n{texts[head]}")
    click.echo()


def _write_reports(folder: Path, reports: Sequence[Report]) -> None:
    texts = "\n".join(render_text(report, everything=True) for report in reports)
    (folder / "report.txt").write_text(texts, encoding="utf-8")
    documents = "".join(render_json(report) + "\n" for report in reports)
    (folder / "report.jsonl").write_text(documents, encoding="utf-8")


def _program() -> str:
    """How to call the command from here: by its name if it is on the path, else by its file."""
    return "isoscope" if shutil.which("isoscope") else os.path.relpath(sys.argv[0])


def _valid(path: Path, workload: Workload) -> Report:
    formats.save(generate(workload), path)
    report = check(formats.load(path))
    holds = ", ".join(map(str, report.strongest_holding))
    click.echo(f"{path.name:<26} {report.history['transactions']:>7,} transactions   holds: {holds}")
    return report


def _page(history: Path, page: Path) -> None:
    """Writes a report with pictures, of a history with many anomalies."""
    formats.save(generate(_BROKEN), history)
    report = check(formats.load(history))
    page.write_text(render_html(report, folder=str(page.parent)), encoding="utf-8")


def _violated(folder: Path, name: str) -> Report:
    example = CATALOGUE[name].example
    if example is None:
        raise AssertionError(f"{name} has no example")
    path = folder / f"{name}.{_SUFFIXES[example.format]}"
    path.write_text(example.text, encoding="utf-8")
    report = check(formats.load(path))
    broken = ", ".join(report.weakest_violated)
    click.echo(f"{path.name:<30} violated: {broken}")
    return report
