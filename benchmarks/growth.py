"""How time and memory grow, as in Figures 8, 9 and 13 of Liu et al. 2024: one parameter at a time.

The histories are causal and no more: reads show any of a key's last eight versions that the level allows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchmarks.measure import measured
from benchmarks.plot import Panel
from benchmarks.suite import DATA, Measurement, Plot, Suite, summarised
from isoscope import formats
from isoscope.levels import Level
from isoscope.workloads import MIXES, Workload, generate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["ASKED", "FIGURES", "SUITE", "Growth", "measure_all", "measurement", "plots"]

#: One run for each: what is asked for.
ASKED = {
    "read-committed": ("read-committed",),
    "read-atomic": ("read-atomic",),
    "causal": ("causal",),
    "all levels": (),
}
REPEATS = 2
BASE = Workload(
    sessions=25,
    transactions=50_000,
    min_operations=10,
    max_operations=10,
    keys=10_000,
    level=Level.CAUSAL,
    seed=1,
)


def _operations(number: int) -> Workload:
    return replace(BASE, min_operations=number, max_operations=number)


#: Figures, each with its workloads by what stands on the horizontal axis.
FIGURES: Mapping[str, Mapping[str, Workload]] = {
    "transactions": {
        f"{n // 1000}k": replace(BASE, transactions=n) for n in (25_000, 50_000, 100_000, 200_000, 400_000)
    },
    "sessions": {str(n): replace(BASE, sessions=n) for n in (5, 10, 25, 50, 100, 200)},
    "keys": {str(n): replace(BASE, keys=n) for n in (100, 1_000, 10_000, 100_000)},
    "operations per transaction": {str(n): _operations(n) for n in (5, 10, 20, 40, 80)},
    "share of reads": {f"{n} %": replace(BASE, read_ratio=n / 100) for n in (10, 30, 50, 70, 90)},
    "skew": {
        "uniform": BASE,
        "hotspot": replace(BASE, distribution="hotspot"),
        "zipfian": replace(BASE, distribution="zipfian"),
    },
    "mix, 16,000 transactions": {
        name: replace(BASE, mix=mix, transactions=16_000) for name, mix in MIXES.items()
    },
}
#: So few transactions are also searched at the strong levels, which a causal history breaks.
QUICK = {
    "transactions": {
        f"{n // 1000}k": replace(BASE, transactions=n, level=Level.SERIALIZABLE) for n in (1_000, 2_000)
    }
}
#: What is not a number that grows has no line.
CATEGORIES = ("skew", "mix, 16,000 transactions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """One point: seconds and megabytes, by what was asked for. Time is that of the check alone."""

    figure: str
    label: str
    operations: float
    seconds: Mapping[str, float]
    memory: Mapping[str, float]


def measure_all(figures: Mapping[str, Mapping[str, Workload]] = FIGURES) -> Iterator[Growth]:
    """Every point of every figure; each run in an interpreter of its own."""
    DATA.mkdir(exist_ok=True)
    for name, workloads in figures.items():
        for label, workload in workloads.items():
            yield _point(name, label, workload, DATA / "growth.parquet")


def _point(name: str, label: str, workload: Workload, path: Path) -> Growth:
    formats.save(generate(workload), path)
    runs = {
        asked: [measured(path, check=True, levels=levels) for _ in range(REPEATS)]
        for asked, levels in ASKED.items()
    }
    for found in runs.values():
        if found[0]["violated"]:
            raise AssertionError(f"{name} {label}: a level is violated that the workload satisfies")
    return Growth(
        figure=name,
        label=label,
        operations=runs["causal"][0]["operations"],
        seconds={asked: min(run["check"] for run in found) for asked, found in runs.items()},
        memory={asked: max(run["check_memory"] for run in found) / 1e6 for asked, found in runs.items()},
    )


def measurement(point: Growth) -> Measurement:
    """Seconds, and megabytes behind them."""
    figures = {asked: f"{point.seconds[asked]:.3f} s, {point.memory[asked]:.0f} MB" for asked in ASKED}
    return Measurement(
        point.label,
        {"operations": f"{point.operations:,.0f}", **figures},
        group=f"Weak levels by {point.figure}",
    )


def plots(points: list[Growth]) -> Iterator[Plot]:
    """Seconds and megabytes."""
    yield Plot(name="growth-time", title="Seconds of a check", panels=_panels(points, "seconds"))
    title = "Megabytes at the peak, loading included"
    yield Plot(name="growth-memory", title=title, panels=_panels(points, "memory"))


def _panels(points: list[Growth], what: str) -> list[Panel]:
    panels = []
    for name in dict.fromkeys(point.figure for point in points):
        mine = [point for point in points if point.figure == name]
        panels.append(
            Panel(
                title="seconds" if what == "seconds" else "MB",
                across=name,
                labels=[point.label for point in mine],
                series={asked: [getattr(point, what)[asked] for point in mine] for asked in ASKED},
                joined=name not in CATEGORIES,
            )
        )
    return panels


SUITE = Suite(
    title="How weak levels grow",
    how="Seconds of the check and megabytes of loading and checking; best and worst of two runs.",
    full=lambda: summarised(measure_all(), measurement, plots),
    quick=lambda: summarised(measure_all(QUICK), measurement, plots),
)
