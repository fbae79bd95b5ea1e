"""How the levels of the database's clock grow, as in Figures 5b to 8 and 24 of Li et al. 2025.

One parameter of their Table I is varied at a time, the others have its defaults. Histories come from their
JSON files. Lists are replaced by new ones once they have 32 elements: what a read shows would be as long as
the history otherwise, and the file quadratic.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from benchmarks.clock import DATABASES, SERIALIZABLE, SNAPSHOT, save
from benchmarks.measure import measured
from benchmarks.plot import Panel
from benchmarks.suite import DATA, Measurement, Plot, Suite, summarised
from isoscope.workloads import MIXES, TABLE_1

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from benchmarks.measure import Figures
    from isoscope.workloads import Workload

__all__ = ["FIGURES", "SUITE", "Point", "Varied", "measure_all", "measurement", "plots"]

REPEATS = 2
HOW = (
    "Best time and most memory of two runs; memory is the peak above that after the imports. The time of "
    "a whole operation and transactions by second are those of load and check at snapshot isolation."
)
LISTS = replace(TABLE_1, lists=True, max_writes_per_key=32)
THOUSANDS = (5, 100, 200, 500, 1_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Varied:
    """Workloads by what stands on the horizontal axis, and those numbers, if they are numbers."""

    workloads: Mapping[str, Workload]
    at: tuple[float, ...] = ()


def _operations(number: int) -> Workload:
    return replace(TABLE_1, min_operations=number, max_operations=number)


def _transactions(base: Workload, thousands: tuple[int, ...]) -> Varied:
    workloads = {f"{n}k": replace(base, transactions=n * 1000) for n in thousands}
    return Varied(workloads=workloads, at=thousands)


#: The numbers of Table I; by figure.
FIGURES: Mapping[str, Varied] = {
    "transactions": _transactions(TABLE_1, THOUSANDS),
    "operations per transaction": Varied(
        workloads={str(n): _operations(n) for n in (5, 15, 30, 50, 100)}, at=(5, 15, 30, 50, 100)
    ),
    "sessions": Varied(
        workloads={str(n): replace(TABLE_1, sessions=n) for n in (10, 20, 50, 100, 200)},
        at=(10, 20, 50, 100, 200),
    ),
    "share of reads": Varied(
        workloads={f"{n} %": replace(TABLE_1, read_ratio=n / 100) for n in (10, 30, 50, 70, 90)},
        at=(10, 30, 50, 70, 90),
    ),
    "keys": Varied(
        workloads={str(n): replace(TABLE_1, keys=n) for n in (200, 500, 1_000, 2_000, 5_000)},
        at=(200, 500, 1_000, 2_000, 5_000),
    ),
    "distribution": Varied(
        workloads={
            "uniform": replace(TABLE_1, distribution="uniform"),
            "zipfian": TABLE_1,
            "hotspot": replace(TABLE_1, distribution="hotspot"),
        }
    ),
    "transactions on lists": _transactions(LISTS, (5, 25, 50, 100, 200)),
    "mix": Varied(
        workloads={
            "Table I": TABLE_1,
            **{name: replace(TABLE_1, mix=MIXES[name]) for name in ("tpcc", "rubis", "twitter")},
        }
    ),
}
#: By thousands of transactions, under a name of its own: it has other labels.
QUICK = {"few transactions": _transactions(TABLE_1, (1, 2))}
THROUGHPUT = "mix"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One point: seconds by stage, megabytes by level."""

    figure: str
    label: str
    transactions: float
    operations: float
    load: float
    check: Mapping[str, float]
    memory: Mapping[str, float]

    def throughput(self, level: str) -> float:
        """Transactions a second, load and check together."""
        return self.transactions / (self.load + self.check[level])

    @property
    def nanoseconds(self) -> float:
        """Load and check at snapshot isolation, by operation."""
        return 1e9 * (self.load + self.check[SNAPSHOT]) / self.operations


def measure_all(figures: Mapping[str, Varied] = FIGURES) -> Iterator[Point]:
    """Every point of every figure; each run in an interpreter of its own."""
    DATA.mkdir(exist_ok=True)
    for name, varied in figures.items():
        for label, workload in varied.workloads.items():
            yield _point(name, label, workload)


def _point(name: str, label: str, workload: Workload) -> Point:
    runs = {level: _runs(workload, level) for level in DATABASES}
    for level, found in runs.items():
        if not found[0]["holds"]:
            raise AssertionError(f"{name} {label}: {level} does not hold, and the database keeps it")
    return Point(
        figure=name,
        label=label,
        transactions=runs[SNAPSHOT][0]["transactions"],
        operations=runs[SNAPSHOT][0]["operations"],
        load=min(run["seconds"] for run in runs[SNAPSHOT]),
        check={level: min(run["check"] for run in found) for level, found in runs.items()},
        memory={level: max(run["check_memory"] for run in found) / 1e6 for level, found in runs.items()},
    )


def _runs(workload: Workload, level: str) -> list[Figures]:
    file = DATA / "clock-growth.json"
    save(workload, level, file)
    return [measured(file, check=True, levels=(level,), method="timestamps") for _ in range(REPEATS)]


def measurement(point: Point) -> Measurement:
    """Seconds and megabytes of each stage."""
    checks = {level: f"{point.check[level]:.3f} s, {point.memory[level]:.0f} MB" for level in DATABASES}
    figures = {
        "operations": f"{point.operations:,.0f}",
        "load": f"{point.load:.3f} s",
        **checks,
        "a whole operation": f"{point.nanoseconds:.0f} ns",
        "transactions/s": f"{point.throughput(SNAPSHOT):,.0f}",
    }
    return Measurement(point.label, figures, group=f"Clock levels by {point.figure}")


def plots(points: list[Point]) -> Iterator[Plot]:
    """Seconds, megabytes, and transactions a second by mix."""
    names = dict.fromkeys(point.figure for point in points)
    seconds = [_panel(name, "seconds", points, _SECONDS) for name in names]
    megabytes = [_panel(name, "MB", points, _MEGABYTES) for name in names]
    yield Plot(name="clock-time", title="Seconds of each stage", panels=seconds)
    yield Plot(name="clock-memory", title="Megabytes at the peak, loading included", panels=megabytes)
    if THROUGHPUT in names:
        panel = _panel(THROUGHPUT, "1000 transactions/s", points, _THROUGHPUT)
        yield Plot(name="clock-throughput", title="Transactions by second, loading included", panels=[panel])


_Series: TypeAlias = "Mapping[str, Callable[[Point], float]]"
_SECONDS: _Series = {
    "snapshot isolation": lambda point: point.check[SNAPSHOT],
    "serializable": lambda point: point.check[SERIALIZABLE],
    "load": lambda point: point.load,
}
_MEGABYTES: _Series = {
    "snapshot isolation": lambda point: point.memory[SNAPSHOT],
    "serializable": lambda point: point.memory[SERIALIZABLE],
}
_THROUGHPUT: _Series = {
    "snapshot isolation": lambda point: point.throughput(SNAPSHOT) / 1000,
    "serializable": lambda point: point.throughput(SERIALIZABLE) / 1000,
}


def _panel(name: str, title: str, points: Iterable[Point], series: _Series) -> Panel:
    mine = [point for point in points if point.figure == name]
    at = {**FIGURES, **QUICK}[name].at
    return Panel(
        title=title,
        across=name,
        labels=[point.label for point in mine],
        series={label: [value(point) for point in mine] for label, value in series.items()},
        joined=bool(at),
        at=at,
    )


SUITE = Suite(
    title="How the clock levels grow",
    how=HOW,
    full=lambda: summarised(measure_all(), measurement, plots),
    quick=lambda: summarised(measure_all(QUICK), measurement, plots),
)
