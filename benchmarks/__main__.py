"""`python -m benchmarks [--record]`: measures, prints a table, and records it with the commit."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import loading, startup

if TYPE_CHECKING:
    from benchmarks.loading import Row

RESULTS = Path(__file__).with_name("results.md")


def main() -> None:
    rows: list[Row] = []
    for suite in (startup, loading):
        for row in suite.rows():
            rows.append(row)
            print(_line(row), flush=True)
    if "--record" in sys.argv[1:]:
        RESULTS.write_text(_page(rows), encoding="utf-8")


def _line(row: Row) -> str:
    figures = ", ".join(f"{name} {figure}" for name, figure in row.figures.items())
    return f"{row.name:<28} {figures}"


def _page(rows: list[Row]) -> str:
    head = [
        "# Measured",
        "",
        "`make bench` prints these figures and `make bench RECORD=--record` writes this page. The yardstick",
        "is the time in which Python iterates over the lines of the text file; the ratio is the median of",
        "load time by yardstick of the same run. Memory is the peak above that after the imports.",
        "",
        f"- commit: {_commit()}",
        f"- machine: {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "",
        "| measurement | figures |",
        "|---|---|",
    ]
    body = [f"| {row.name} | {', '.join(f'{n} **{f}**' for n, f in row.figures.items())} |" for row in rows]
    return "\n".join([*head, *body]) + "\n"


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


main()
