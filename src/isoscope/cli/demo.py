"""`isoscope demo`: everything once, with something to look at afterwards."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from isoscope import formats
from isoscope.anomalies import CATALOGUE
from isoscope.checkers import check
from isoscope.checkers.values import NAMES
from isoscope.cli.embedded import Show, show
from isoscope.errors import UsageError
from isoscope.history import Initial
from isoscope.levels import Level
from isoscope.reports import render_json, render_text
from isoscope.reports.html import render_html
from isoscope.verdict import Report
from isoscope.workloads import Workload, generate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.verdict import Report

__all__ = ["command"]

_SHOWS = (
    Show(
        database="sqlite",
        isolation="serializable",
        says="SQLite, as everybody uses it: one writer at a time.",
    ),
    Show(
        database="sqlite",
        isolation="read-uncommitted",
        says="SQLite with a shared cache, where reads show what is not committed yet. It promises no more.",
    ),
    Show(
        database="duckdb",
        isolation="snapshot-isolation",
        says="DuckDB: everybody reads a snapshot. Two who read what the other then writes both commit.",
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
    shown = [show(asked, folder) for asked in _SHOWS]
    click.echo("2. Histories of a correct database, one in each format\n")
    reports = [_valid(folder / name, workload) for name, workload in _VALID.items()]
    click.echo("\n3. Small histories with one anomaly each\n")
    reports += [_violated(folder, name) for name in NAMES]
    _write_reports(folder, [*(one.report for one in shown), *reports])
    _page(folder / "broken.txt", folder / "report.html")
    click.echo(
        f"\n{_program()} explain NAME says what each of them is.\n\n"
        f"All of it in words: {folder / 'report.txt'} and, for machines, {folder / 'report.jsonl'}\n"
        f"Pages to open in a browser:\n"
        f"  {shown[1].page}, what SQLite did\n"
        f"  {shown[2].page}, what DuckDB did\n"
        f"  {folder / 'report.html'}, a history with most of what can go wrong\n"
        f"Next: {_program()} {_SHOWS[1].arguments}"
    )


def _write_reports(folder: Path, reports: Sequence[Report]) -> None:
    texts = "\n".join(render_text(report) for report in reports)
    (folder / "report.txt").write_text(texts, encoding="utf-8")
    documents = "".join(render_json(report) + "\n" for report in reports)
    (folder / "report.jsonl").write_text(documents, encoding="utf-8")


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
    click.echo(f"{path.name:<30} violated: {broken}")
    return report
