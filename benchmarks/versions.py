"""Levels from a known version order: list-append histories, one dense component, and the search alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.loading import YARDSTICK
from benchmarks.measure import measured
from benchmarks.suite import DATA, Measurement, Suite
from isoscope import _native, formats
from isoscope.checkers.graph import characteristics
from isoscope.history import Initial
from isoscope.levels import Level
from isoscope.workloads import Workload, generate

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SUITE", "measurements"]

REPEATS = 3
#: Clients that append to and read lists, and look at a clock: every level can be decided.
LISTS = Workload(
    sessions=100,
    transactions=1_000_000,
    min_operations=4,
    max_operations=4,
    lists=True,
    max_writes_per_key=16,
    intervals=True,
    initial=Initial(value=None),
    seed=9,
)


@dataclass(frozen=True, slots=True)
class Case:
    """A workload, and the weakest levels that its history breaks, if it has them all."""

    name: str
    workload: Workload
    is_violated: bool = True


CASES = (
    Case("serializable", LISTS, is_violated=False),
    Case("snapshot isolation, write skew", replace(LISTS, level=Level.SNAPSHOT_ISOLATION)),
    Case("one long fork", replace(LISTS, breaks=Level.PREFIX, lag=1)),
)
#: Reads of any version, by a store that promises next to nothing: nearly all is on cycles.
DENSE = Case("one component", replace(LISTS, transactions=100_000, level=Level.READ_COMMITTED, keys=20))
#: 5 million begins and commits, 12 million edges.
TRANSACTIONS, EDGES = 2_500_000, 12_000_000


def measurements(share: float = 1.0, repeats: int = REPEATS) -> Iterator[Measurement]:
    """Every case at a share of its size, from Parquet; the yardstick is the same history as EDN."""
    DATA.mkdir(exist_ok=True)
    for case in (*CASES, DENSE):
        yield _checked(case, round(share * case.workload.transactions), repeats)
    yield _searched(share)


def _checked(case: Case, transactions: int, repeats: int) -> Measurement:
    history = generate(replace(case.workload, transactions=transactions))
    path, text = DATA / "versions.parquet", DATA / "versions.edn"
    formats.save(history, path)
    formats.save(history, text, lossy=True)
    largest = characteristics(history).largest_component
    runs = [measured(path, text, check=True) for _ in range(repeats)]
    if bool(runs[0]["violated"]) != case.is_violated:
        raise AssertionError(f"{case.name}: {runs[0]['violated']:.0f} weakest levels are violated")

    def total(run: dict[str, float]) -> float:
        return run["seconds"] + run["check"]

    figures = {
        "load and check (median)": f"{median(map(total, runs)):.3f} s",
        "(best)": f"{min(map(total, runs)):.3f} s",
        "of it check (median)": f"{median(run['check'] for run in runs):.3f} s",
        "transactions": f"{runs[0]['transactions']:,.0f}",
        "largest component": f"{largest:,}",
        "memory": f"{max(run['check_memory'] for run in runs) / 1e6:.0f} MB",
        "CPU (median)": f"{median(run['cpu'] for run in runs):.3f} s",
        "yardstick": f"{median(run['yardstick'] for run in runs):.3f} s",
        "ratio": f"{median(total(run) / run['yardstick'] for run in runs):.2f}",
    }
    return Measurement(f"all levels, {case.name}", figures, group="From the file to the verdict")


def _searched(share: float) -> Measurement:
    sessions, transactions = LISTS.sessions, round(share * TRANSACTIONS)
    drawn = round(share * EDGES) - 2 * transactions + sessions
    started = perf_counter()
    graph = _native.Graph.begins_and_commits(
        seed=1, transactions=transactions, sessions=sessions, dependencies=drawn
    )
    built = perf_counter() - started
    runs = []
    for _ in range(REPEATS):
        started = perf_counter()
        components = graph.components()
        runs.append(perf_counter() - started)
    if components != graph.nodes:
        raise AssertionError(f"{graph.nodes - components:,} nodes are on cycles of a graph that has none")
    figures = {
        "search (median)": f"{median(runs):.3f} s",
        "(best)": f"{min(runs):.3f} s",
        "build": f"{built:.3f} s",
        "nodes": f"{graph.nodes:,}",
        "edges": f"{graph.edges:,}",
    }
    return Measurement("BC-graph", figures, group="The search alone")


SUITE = Suite(
    title="Levels from a version order",
    how=f"Lists of a million transactions, which take 3 GB. {YARDSTICK}",
    full=measurements,
    quick=lambda: measurements(share=0.005, repeats=1),
)
