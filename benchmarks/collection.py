"""Clock levels in memory and from a disk: what the stages take, and memory while they run.

As Figures 9 and 10 of Li et al. 2025 show it for CHRONOS, which drops transactions that it has processed.
From a disk only the versions of the keys and the open transactions are kept, so there is nothing to drop.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING

from benchmarks.clock import SNAPSHOT, save
from benchmarks.plot import Panel
from benchmarks.suite import DATA, Measurement, Plot, Suite, summarised
from isoscope.workloads import TABLE_1

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SUITE", "Run", "measure_all", "measurement", "plots"]

HOW = (
    "Snapshot isolation by the clock, of one AION JSON file: in memory, and with `--streaming`. Memory is "
    "that of the whole process, looked at every 20 ms, over the share of the run that has passed."
)
SIZES = (200_000, 500_000, 1_000_000)
WAYS = {"in memory": (), "streaming": ("--streaming",)}
_MOMENTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One command: seconds by stage, and megabytes at moments that are equally far apart."""

    transactions: int
    way: str
    stages: dict[str, float]
    memory: tuple[float, ...]


def measure_all(sizes: tuple[int, ...] = SIZES) -> list[Run]:
    """Both ways for each size."""
    DATA.mkdir(exist_ok=True)
    found = []
    for size in sizes:
        file = DATA / f"collection-{size}.json"
        save(replace(TABLE_1, transactions=size, seed=13), SNAPSHOT, file)
        found += [measure(file, size, way) for way in WAYS]
        file.unlink()
    return found


def measure(file: Path, transactions: int, way: str) -> Run:
    """Checks the file in one of `WAYS`, in a process of its own that is watched."""
    question = ("--level", SNAPSHOT, "--method", "timestamps", "--timings", *WAYS[way])
    line = [sys.executable, "-m", "isoscope", "check", str(file), *question]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        seen = []
        while process.poll() is None:
            seen.append(_memory(process.pid))
            sleep(0.02)
        output = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise AssertionError(f"{file.name}, {way}: exit status {process.returncode}")
    stages = {stage: float(seconds) for stage, seconds in re.findall(r"(\w+): ([\d.]+) s", output)}
    seen = [megabytes for megabytes in seen if megabytes] or [0.0]
    moments = tuple(seen[place * len(seen) // _MOMENTS] for place in range(_MOMENTS))
    return Run(transactions=transactions, way=way, stages=stages, memory=(*moments, max(seen)))


def _memory(process: int) -> float:
    """Megabytes that a process has in memory; none if it has just ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    resident = re.search(r"VmRSS:\s+(\d+)", status)
    return int(resident[1]) / 1000 if resident else 0.0


def measurement(run: Run) -> Measurement:
    """Stages and peak."""
    figures = {stage: _seconds(run, stage) for stage in ("load", "sort", "check")}
    name = f"{run.transactions:,} transactions, {run.way}"
    return Measurement(name, {**figures, "peak": f"{max(run.memory):.0f} MB"})


def _seconds(run: Run, stage: str) -> str:
    return f"{run.stages[stage]:.2f} s" if stage in run.stages else "in check"


def plots(runs: list[Run]) -> Iterator[Plot]:
    """Memory over the course of each run."""
    panels = [
        Panel(
            title=f"{size:,} transactions: MB",
            across="share of the run",
            labels=[f"{100 * place // _MOMENTS} %" if place % 5 == 0 else "" for place in range(_MOMENTS)],
            series={run.way: run.memory[:-1] for run in runs if run.transactions == size},
        )
        for size in dict.fromkeys(run.transactions for run in runs)
    ]
    title = "Memory of the clock levels, in memory and from a disk"
    yield Plot(name="collection", title=title, panels=panels)


SUITE = Suite(
    title="The clock levels in memory and from a disk",
    how=HOW,
    full=lambda: summarised(measure_all(), measurement, plots),
    quick=lambda: summarised(measure_all((5_000,)), measurement, plots),
)
