"""`isoscope demo`: everything once, with something to look at afterwards."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from isoscope import formats
from isoscope.anomalies import CATALOGUE
from isoscope.checkers import check
from isoscope.checkers.values import NAMES
from isoscope.cli import screen
from isoscope.errors import UsageError
from isoscope.history import Initial
from isoscope.levels import Level
from isoscope.reports import render_counterexample, render_json, render_text
from isoscope.reports.html import render_html
from isoscope.verdict import Report
from isoscope.workloads import Workload, generate

if TYPE_CHECKING:
    from isoscope.verdict import Report

__all__ = ["command"]

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
    """Generate histories, check them and show what a violation looks like.

    Nothing is needed: no server, no network. Histories and reports are left in a folder, to be looked at
    and checked again.
    """
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to {out}: {error.strerror or error}") from None
    click.echo("1. Histories of a correct database, one in each format\n")
    reports = [_valid(folder / name, workload) for name, workload in _VALID.items()]
    click.echo("\n2. Small histories with one anomaly each\n")
    reports += [_violated(folder, name) for name in NAMES]
    click.echo("3. What `isoscope check` says of the last one\n")
    screen.echo(render_text(reports[-1], width=screen.width(), colour=screen.has_colour()))
    texts = "\n".join(render_text(report) for report in reports)
    (folder / "report.txt").write_text(texts, encoding="utf-8")
    documents = "".join(render_json(report) + "\n" for report in reports)
    (folder / "report.jsonl").write_text(documents, encoding="utf-8")
    _page(folder / "broken.txt", folder / "report.html")
    click.echo(
        f"All reports: {folder / 'report.txt'} and, for machines, {folder / 'report.jsonl'}\n"
        f"A page to open in a browser, of a history with many anomalies: {folder / 'report.html'}\n"
        f"Next: {_program()} check {folder / 'aborted-read.txt'}"
    )


def _program() -> str:
    """How to call the command from here: by its name, or by its path where no search finds it."""
    return "isoscope" if shutil.which("isoscope") else os.path.relpath(sys.argv[0])


def _valid(path: Path, workload: Workload) -> Report:
    formats.save(generate(workload), path)
    report = check(formats.load(path))
    holds = ", ".join(map(str, report.strongest_holding))
    click.echo(f"{path.name:<26} {report.history['transactions']:>7,} transactions   holds: {holds}")
    return report


def _page(history: Path, page: Path) -> None:
    """A report with pictures, of a history that shows most of what can go wrong."""
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
    found = [a for verdict in report.verdicts for a in verdict.anomalies if a.name == name]
    click.echo(f"{path.name:<26} violated: {broken}\n{textwrap.indent(example.text, '    ')}")
    colour = screen.has_colour()
    text = render_counterexample(found[0], width=screen.width(), colour=colour, folder=str(folder))
    screen.echo(f"{text}\n")
    return report
