"""Online checking as a stream of Apache Spark against one process: CPU time and memory.

`python -m benchmarks.spark_stream FOLDER CHECKPOINT` is one run in batches, measured from outside.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING

from benchmarks.measure import time_of_lines
from benchmarks.process_tree import run
from benchmarks.suite import DATA, Measurement, Suite
from isoscope import cluster
from isoscope.checkers.timestamps import LEVELS
from isoscope.reports import render_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchmarks.process_tree import Ran

__all__ = ["SUITE", "measurements"]

#: Numbers of transactions, and in how many batches they come: a batch takes long, so that many are few here.
SMALL = {2_000: (1,)}
CASES = {10_000: (1, 10), 100_000: (1,)}
#: Milliseconds of the database's clock: longer than any transaction runs.
_TIMEOUT, _KEEP = 1_000, 1_000
#: A few reads are stale, so that reports have something to agree on.
_OPTIONS = ("--operations", "10", "--keys", "2000", "--seed", "1", "--timestamps", "--on-conflict", "read")
_FAULT = ("--isolation", "serializable", "--bug", "stale-snapshot", "--bug-rate", "0.05")
HOW = (
    "Transactions of ten operations in the shape of AION, a few reads stale, one on each line and in the "
    "order of their commits, judged at both clock levels: by `isoscope watch --to-the-end --json` in one "
    "process, and as a stream of Spark with eight parts, in one batch or more; all found the same numbers "
    "of anomalies, or the benchmark ends. The yardstick is the CPU time in which Python iterates over the "
    "lines of the same file, just before each run; the ratio is CPU time by yardstick. CPU and memory are "
    "those of all processes (Python, Java, workers), with the start of Spark and of each program, sampled "
    "twice a second, so that the last half second of CPU time may be missing; memory is the largest sum of "
    "their shares. A further transaction is the growth of CPU time since the size before, by that of the "
    "number of transactions."
)


@dataclass(frozen=True, slots=True)
class _Figures:
    transactions: int
    counts: dict[str, dict[str, int]]
    seconds: float
    cpu: float
    peak: int
    yardstick: float


def measurements(cases: Mapping[int, Sequence[int]] = CASES) -> Iterator[Measurement]:
    """Each way on histories of these sizes, and what a further transaction takes."""
    DATA.mkdir(exist_ok=True)
    smaller: dict[str, _Figures] = {}
    for size, batches in cases.items():
        found = {}
        for name, figures in _measured(size, batches):
            found[name] = figures
            told = {json.dumps(one.counts, sort_keys=True) for one in found.values()}
            assert len(told) == 1, "the counts differ"
            yield _row(name, figures, smaller.get(name))
        smaller = found


def _measured(size: int, batches: Sequence[int]) -> Iterator[tuple[str, _Figures]]:
    """What each way took."""
    path = _history(size)
    watch = ("watch", str(path), "--to-the-end", "--json", "--initial", "0")
    yield "one process", _figures(path, size, partial(run, *watch))
    for count in batches:
        with TemporaryDirectory(dir=DATA) as name:
            folder, state = Path(name, "in"), Path(name, "state")
            _spread(path, folder, count)
            stream = partial(run, str(folder), str(state), module="benchmarks.spark_stream")
            yield f"Spark, {_batches(count)}", _figures(path, size, stream)


def _batches(count: int) -> str:
    return "one batch" if count == 1 else f"{count} batches"


def _figures(path: Path, size: int, start: Callable[[], Ran]) -> _Figures:
    yardstick = time_of_lines(path, process_time)
    ran = start()
    counts = {one["level"]: one["anomaly_counts"] for one in json.loads(ran.output)["verdicts"]}
    return _Figures(size, counts, ran.seconds, ran.cpu, ran.peak, yardstick)


def _history(transactions: int) -> Path:
    """One transaction on each line."""
    path = DATA / f"spark-stream-{transactions}.jsonl"
    if not path.exists():
        document = path.with_suffix(".json")
        numbers = ("--transactions", str(transactions))
        run("generate", str(document), "--format", "aion", *numbers, *_OPTIONS, *_FAULT)
        with document.open() as text, path.with_suffix(".new").open("w") as lines:
            lines.writelines(line.rstrip(",\n") + "\n" for line in text if line.startswith("{"))
        document.unlink()
        path.with_suffix(".new").rename(path)
    return path


def _spread(path: Path, folder: Path, count: int) -> None:
    """The lines in so many files, which Spark takes by the order of their times."""
    folder.mkdir()
    lines = path.read_text().splitlines(keepends=True)
    size = -(-len(lines) // count)
    for number, at in enumerate(range(0, len(lines), size)):
        part = folder / f"{number}.jsonl"
        part.write_text("".join(lines[at : at + size]))
        os.utime(part, (1_000_000 + 10 * number, 1_000_000 + 10 * number))


def _row(name: str, one: _Figures, smaller: _Figures | None) -> Measurement:
    figures = {
        "transactions": f"{one.transactions:,}",
        "CPU": f"{one.cpu:.1f} s",
        "yardstick": f"{one.yardstick:.3f} s",
        "ratio": f"{one.cpu / one.yardstick:,.0f}",
        "transactions per CPU second": f"{one.transactions / one.cpu:,.0f}",
        "elapsed": f"{one.seconds:.0f} s",
        "peak": f"{one.peak / 1e6:,.0f} MB",
    }
    if smaller is not None:
        more = (one.cpu - smaller.cpu) / (one.transactions - smaller.transactions)
        figures["a further transaction"] = f"{more * 1e6:.0f} µs"
    return Measurement(name, figures)


def _stream(folder: str, checkpoint: str) -> None:
    """Judges the files of a folder, each as a batch, and prints the report."""
    from isoscope.cluster.stream import SparkStream  # noqa: PLC0415 - heavy, and an extra
    from isoscope.cluster.stream_part import StreamQuestion  # noqa: PLC0415

    question = StreamQuestion(
        levels=LEVELS, parts=8, timeout=_TIMEOUT, keep=_KEEP, max_anomalies=10, initial=0
    )
    with cluster.spark_session("local[2]") as spark:
        stream = SparkStream(
            spark=spark,
            source=folder,
            checkpoint=Path(checkpoint),
            question=question,
            clock_unit="ms",
            files_per_batch=1,
        )
        print(render_json(stream.run(to_the_end=True)))


SUITE = Suite(
    title="Online checking on Apache Spark",
    how=HOW,
    full=measurements,
    quick=lambda: measurements(SMALL),
)

if __name__ == "__main__":
    _stream(*sys.argv[1:])
