"""How fast histories are generated, written, loaded and judged, and in how much memory."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks import foreign, traces
from benchmarks.measure import measured, size_of
from benchmarks.suite import DATA, Measurement, Suite
from isoscope import formats
from isoscope.history import Initial
from isoscope.workloads import Workload, generate

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CASES", "REGISTERS", "SUITE", "WRITTEN", "YARDSTICK", "measurements"]

REPEATS = 5
YARDSTICK = (
    "The yardstick is the time in which Python iterates over the lines of the text file; the ratio is the "
    "median of time by yardstick of the same run. Memory is the peak above that after the imports."
)

REGISTERS = Workload(
    sessions=100, transactions=500_000, keys=10_000, read_ratio=0.5, distribution="zipfian", seed=1
)
LISTS = Workload(
    sessions=100,
    transactions=500_000,
    min_operations=4,
    max_operations=4,
    lists=True,
    max_writes_per_key=32,
    initial=Initial(value=None),
    seed=2,
)
TIMESTAMPS = Workload(
    sessions=24,
    transactions=200_000,
    min_operations=15,
    max_operations=15,
    keys=1000,
    timestamps=True,
    initial=Initial(),
    seed=3,
)
#: File, workload, and the text file whose lines are the yardstick.
CASES = (
    ("registers.txt", REGISTERS, "registers.txt"),
    ("registers.parquet", REGISTERS, "registers.txt"),
    ("registers.hist", REGISTERS, "registers.hist"),
    ("registers.dbcop.json", REGISTERS, "registers.dbcop.json"),
    ("registers.awdit", REGISTERS, "registers.awdit"),
    ("lists.edn", LISTS, "lists.edn"),
    ("lists.parquet", LISTS, "lists.edn"),
    ("timestamps.json", TIMESTAMPS, "timestamps.json"),
    ("timestamps.parquet", TIMESTAMPS, "timestamps.json"),
)
#: Files that no workload makes, what writes them, how many transactions, and the yardstick: a text twin
#: comes from `formats.save`.
WRITTEN = (
    ("traces.leopard.jsonl", traces.leopard, 50_000, "traces.leopard.jsonl"),
    ("viper.log", traces.viper, 200_000, "viper.log"),
    ("dep1.json", traces.grail, 200_000, "dep1.json"),
    ("events.bincode", foreign.bincode, 650_000, "events-bincode.txt"),
    ("events.yaml", foreign.yaml, 120_000, "events.yaml"),
    ("cobra", foreign.cobra, 400_000, "cobra.txt"),
)


def measurements(share: float = 1.0, repeats: int = REPEATS) -> Iterator[Measurement]:
    """Files of a share of the full size; they take turns, so that a slow minute hits all alike."""
    DATA.mkdir(exist_ok=True)
    yield from _generated(share)
    yield from _written(share)
    cases = [(name, yardstick) for name, *_, yardstick in (*CASES, *WRITTEN)]
    runs: dict[str, list[dict[str, float]]] = {name: [] for name, _ in cases}
    for _ in range(repeats):
        for name, yardstick in cases:
            runs[name].append(measured(DATA / name, DATA / yardstick, check=True))
    for name, found in runs.items():
        yield _row(name, found)


def _generated(share: float) -> Iterator[Measurement]:
    for name, workload, _ in CASES:
        started = perf_counter()
        history = generate(replace(workload, transactions=round(share * workload.transactions)))
        made = perf_counter() - started
        # Some formats have no ids and number transactions anew.
        formats.save(history, DATA / name, lossy=True)
        written = perf_counter() - started - made
        figures = {"generate": f"{made:.2f} s", "write": f"{written:.2f} s", "file": _size(name)}
        yield Measurement(f"generate {name}", figures, group="Generating and writing")


def _written(share: float) -> Iterator[Measurement]:
    for name, write, transactions, yardstick in WRITTEN:
        started = perf_counter()
        write(DATA / name, round(share * transactions))
        figures = {"write": f"{perf_counter() - started:.2f} s", "file": _size(name)}
        if yardstick != name:
            formats.save(formats.load(DATA / name), DATA / yardstick)
        yield Measurement(f"write {name}", figures, group="Generating and writing")


def _size(name: str) -> str:
    return f"{size_of(DATA / name) / 1e6:.0f} MB"


def _row(name: str, runs: list[dict[str, float]]) -> Measurement:
    best = min(runs, key=lambda run: run["seconds"])
    middle = median(run["seconds"] for run in runs)
    ratio = median(run["seconds"] / run["yardstick"] for run in runs)
    figures = {
        "load (median)": f"{middle:.3f} s",
        "load (best)": f"{best['seconds']:.3f} s",
        "operations/s": f"{best['operations'] / best['seconds'] / 1e6:.1f} M",
        "file": f"{best['bytes'] / best['seconds'] / 1e6:.0f} MB/s",
        "memory": f"{max(run['memory'] / run['operations'] for run in runs):.0f} B/operation",
        "all levels checked": f"{median(run['check'] for run in runs):.3f} s",
        "yardstick": f"{median(run['yardstick'] for run in runs):.3f} s",
        "ratio": f"{ratio:.2f}",
    }
    return Measurement(f"load {name}", figures, group="Loading")


SUITE = Suite(
    title="Files of each format",
    how=YARDSTICK,
    full=measurements,
    quick=lambda: measurements(share=0.01, repeats=1),
)
