"""What `--certificate` adds to a check: the same histories checked with and without it, in turn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import process_time
from typing import TYPE_CHECKING

from benchmarks.measure import measured_command, time_of_lines
from benchmarks.suite import DATA, Measurement, Suite
from isoscope import formats
from isoscope.history import Initial
from isoscope.levels import Level
from isoscope.workloads import Workload, generate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["CASES", "SUITE", "measurements", "write_case"]

TRANSACTIONS = 100_000
REPEATS = 5
GOAL = "20 %"
HOW = (
    "Histories of 100,000 transactions by 100 sessions, registers (Plume text) and lists (Jepsen EDN), that "
    "hold at every level and that break some: write skew by snapshot isolation, one long fork, and reads of "
    "any version. Each is checked at all levels without and with `--certificate`, packed with gzip, in turn. "
    "CPU is that of the process with its start; *added* is the median of the differences by the "
    "median of the check without a certificate. The yardstick is the time to iterate over the lines of the "
    "history in Python."
)
REGISTERS = Workload(
    sessions=100, transactions=TRANSACTIONS, min_operations=4, max_operations=4, keys=100_000, seed=1
)
LISTS = Workload(
    sessions=100,
    transactions=TRANSACTIONS,
    min_operations=4,
    max_operations=4,
    lists=True,
    max_writes_per_key=16,
    initial=Initial(value=None),
    seed=9,
)


@dataclass(frozen=True, slots=True)
class Case:
    """A workload, and the ending of its file."""

    workload: Workload
    ending: str


CASES = {
    "registers that hold": Case(REGISTERS, "txt"),
    "registers, snapshot isolation": Case(replace(REGISTERS, level=Level.SNAPSHOT_ISOLATION), "txt"),
    "registers, read committed": Case(replace(REGISTERS, level=Level.READ_COMMITTED), "txt"),
    "lists that hold": Case(LISTS, "edn"),
    "lists, snapshot isolation": Case(replace(LISTS, level=Level.SNAPSHOT_ISOLATION), "edn"),
    "lists, one long fork": Case(replace(LISTS, breaks=Level.PREFIX, lag=1), "edn"),
    "lists, read committed": Case(replace(LISTS, level=Level.READ_COMMITTED), "edn"),
}


def write_case(name: str, folder: Path, *, size: int = TRANSACTIONS) -> Path:
    """The history of a case; one that is there already is used again."""
    case = CASES[name]
    path = folder / f"certify-{name.replace(', ', '-').replace(' ', '-')}-{size}.{case.ending}"
    if not path.is_file():
        formats.save(generate(replace(case.workload, transactions=size)), path)
    return path


def measurements(*, size: int = TRANSACTIONS, repeats: int = REPEATS) -> Iterator[Measurement]:
    """The seconds of each case, without and with a certificate."""
    DATA.mkdir(exist_ok=True)
    for name in CASES:
        path = write_case(name, DATA, size=size)
        certificate = path.with_suffix(".certificate.gz")
        runs = [_run(path, certificate) for _ in range(repeats)]
        plain = median(run["plain"] for run in runs)
        added = median(run["certified"] - run["plain"] for run in runs)
        figures = {
            "transactions": f"{size:,}",
            "check": f"{plain:.2f} s",
            "with the certificate": f"{median(run['certified'] for run in runs):.2f} s",
            "added": f"{added / plain:.0%}",
            "goal": GOAL,
            "ratio to the yardstick": f"{median(run['certified'] / run['yardstick'] for run in runs):.0f}",
            "certificate": f"{certificate.stat().st_size / 1e6:.2f} MB",
        }
        yield Measurement(f"Certify {name}", figures)


def _run(path: Path, certificate: Path) -> dict[str, float]:
    yardstick = time_of_lines(path, process_time)
    plain = _cpu("check", str(path))
    certified = _cpu("check", str(path), "--certificate", str(certificate))
    return {"yardstick": yardstick, "plain": plain, "certified": certified}


def _cpu(*arguments: str) -> float:
    before = _cpu_of_children()
    measured_command(*arguments)
    return _cpu_of_children() - before


def _cpu_of_children() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


SUITE = Suite(
    title="What certificates add to a check",
    how=HOW,
    full=measurements,
    quick=lambda: measurements(size=3_000, repeats=1),
)
