"""Checks on Apache Spark against the same check in memory and from a disk: time, memory, the start apart."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.loading import DATA, Row
from benchmarks.process_tree import run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["how", "rows"]

SIZES = (1_500_000, 15_000_000)
ENGINES = {
    "in memory": (),
    "from a disk": ("--streaming",),
    "Spark, local[2]": ("--engine", "spark=local[2]"),
}
#: A few reads are stale, so that reports have something to agree on.
_OPTIONS = ("--operations", "10", "--keys", "20000", "--seed", "1", "--timestamps", "--on-conflict", "read")
_FAULT = ("--isolation", "serializable", "--bug", "stale-snapshot", "--bug-rate", "0.05")


def how() -> str:
    """What the page measures; a busy machine is told."""
    one, five, fifteen = os.getloadavg()
    return (
        "Parquet of transactions with ten operations and timestamps, a few reads stale, judged at both clock "
        "levels by `isoscope check --method timestamps --json`; all engines gave the same bytes, or the "
        "benchmark ends. The check includes reading the file and excludes the start of Spark. The yardstick "
        "is the time in which Python iterates over the keys of all rows of the same file, just before each "
        "run; the ratio is check by yardstick. CPU and memory are those of all processes (Python, Java, "
        "workers), sampled twice a second, so that the last half second of CPU time may be missing; memory "
        "is the largest sum of their shares. Growth is the time of "
        f"this size by that of a tenth of it. The machine was shared: its load was {one:.1f}, {five:.1f} and "
        f"{fifteen:.1f} when the page was written, so compare CPU time and ratios, not seconds.{_priority()}"
    )


def _priority() -> str:
    """A sentence if the processes ran before all others of the machine."""
    if os.sched_getscheduler(0) == os.SCHED_OTHER:
        return ""
    return " Yardsticks and checks ran at real-time priority, before the other work of the machine."


@dataclass(frozen=True, slots=True)
class _Figures:
    document: str
    check: float
    start: float
    cpu: float
    peak: int
    yardstick: float


def rows(sizes: tuple[int, ...] = SIZES) -> Iterator[Row]:
    """Each engine on histories of these sizes, and how it grows."""
    DATA.mkdir(exist_ok=True)
    smaller: dict[str, _Figures] = {}
    for size in sizes:
        found = _measured(_history(size))
        for engine, figures in found.items():
            yield _row(engine, size, figures, smaller.get(engine))
        smaller = found


def _measured(path: Path) -> dict[str, _Figures]:
    """What each engine took; all must say the same."""
    found = {engine: _run(path, options) for engine, options in ENGINES.items()}
    assert len({one.document for one in found.values()}) == 1, f"engines differ on {path}"
    return found


def _history(operations: int) -> Path:
    path = DATA / f"spark-{operations}.parquet"
    if not path.exists():
        unfinished = path.with_name(f"unfinished-{path.name}")
        run("generate", str(unfinished), "--transactions", str(operations // 10), *_OPTIONS, *_FAULT)
        unfinished.rename(path)
    return path


def _run(path: Path, options: tuple[str, ...]) -> _Figures:
    yardstick = _iterated(path)
    ran = run("check", str(path), "--method", "timestamps", "--json", "--timings", *options)
    document = json.loads(ran.output)
    start = document.pop("seconds").get("start", 0.0)
    return _Figures(json.dumps(document), ran.seconds - start, start, ran.cpu, ran.peak, yardstick)


def _iterated(path: Path) -> float:
    import pyarrow.parquet as pq  # noqa: PLC0415 - heavy: only this benchmark pays for it

    started = perf_counter()
    for batch in pq.ParquetFile(path).iter_batches(columns=["key"]):
        for _ in batch["key"].to_pylist():
            pass
    return perf_counter() - started


def _row(name: str, operations: int, one: _Figures, smaller: _Figures | None) -> Row:
    figures = {
        "operations": f"{operations:,}",
        "check": f"{one.check:.1f} s",
        "start of Spark": f"{one.start:.1f} s",
        "yardstick": f"{one.yardstick:.2f} s",
        "ratio": f"{one.check / one.yardstick:.1f}",
        "CPU": f"{one.cpu:.1f} s",
        "operations per CPU second": f"{operations / one.cpu:,.0f}",
        "peak": f"{one.peak / 1e6:,.0f} MB",
    }
    if not one.start:
        del figures["start of Spark"]
    if smaller is not None:
        figures["growth"] = f"{one.check / smaller.check:.1f} (CPU {one.cpu / smaller.cpu:.1f})"
    return Row(name, figures)
