"""Every parameter point of the published evaluations of solvers, decided one after the other.

PolySI, VeriStrong (figures 10 to 13), Cobra and Viper: the sweeps of their evaluations with their
parameters, most of them with three seeds, run on stores of our own. Each history is checked at each of both
levels in a process of its own. All take about a quarter of an hour.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from benchmarks import solver_programs
from benchmarks.solver import FIGURE_10, LEVELS, LIMIT, TEN_THOUSAND, Case, Measured, decided, recorded
from benchmarks.solver_programs import KeyValue
from benchmarks.suite import DATA, Measurement, Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.solver_store import Isolation, Program

__all__ = ["FAMILIES", "SUITE", "measurements"]

HOW = (
    "All parameter points of the published evaluations of PolySI, VeriStrong, Cobra and Viper, run on stores "
    f"of our own. A search that takes more than {LIMIT:g} s ends as unknown. Seconds are those of the load "
    "and the check, memory is the peak above that after the imports."
)
_SEEDS = 3
_BOTH: tuple[Isolation, ...] = ("serializable", "snapshot-isolation")
_SERIALIZABLE: tuple[Isolation, ...] = ("serializable",)
_SNAPSHOT: tuple[Isolation, ...] = ("snapshot-isolation",)


@dataclass(frozen=True, slots=True)
class Family:
    """The points of one evaluation."""

    name: str
    cases: tuple[Case, ...]
    seeds: int = 1

    def histories(self) -> Iterator[tuple[Case, Isolation]]:
        """Each point with each seed on each of its stores."""
        for case in self.cases:
            for seed in range(self.seeds):
                named = replace(case, name=f"{case.name}, seed {seed + 1}") if seed else case
                for isolation in case.isolations:
                    yield named, isolation


def _polysi(change: str, *, sessions: int = 20, transactions: int = 100, **changes: object) -> Case:
    program = replace(KeyValue(distribution="zipf"), **changes).program  # type: ignore[arg-type]
    return Case(f"PolySI, {change}", program, sessions, transactions, _SNAPSHOT)


def _blindw(tool: str, reads: float, transactions: int, stores: tuple[Isolation, ...]) -> Case:
    def program() -> Program:
        return solver_programs.blindw(keys=10_000, reads=reads)

    name = f"{tool} BlindW, {reads:.0%} reads, {transactions:,} transactions"
    return Case(name, program, 20, transactions // 20, stores)


def _ten_thousand(name: str, stores: tuple[Isolation, ...], **changes: object) -> Case:
    program = replace(TEN_THOUSAND, **changes).program  # type: ignore[arg-type]
    return Case(f"VeriStrong {name}", program, 50, 200, stores)


def _application(name: str, program: Callable[[], Program], transactions: int) -> Case:
    return Case(name, program, 25, transactions // 25, _BOTH)


_POLYSI = (
    *(_polysi(f"{sessions} sessions", sessions=sessions) for sessions in (5, 10, 15, 20, 25, 30)),
    *(_polysi(f"{count} transactions each", transactions=count) for count in (50, 150, 200, 250)),
    *(_polysi(f"{operations} operations", operations=operations) for operations in (5, 10, 20, 25, 30)),
    *(_polysi(f"{reads:.0%} reads", reads=reads) for reads in (0.0, 0.05, 0.25, 0.75, 0.95)),
    *(_polysi(f"{keys:,} keys", keys=keys) for keys in (1_000, 2_000, 4_000, 6_000, 8_000)),
    *(_polysi(distribution, distribution=distribution) for distribution in ("uniform", "hotspot")),
)

FAMILIES = (
    Family("PolySI", _POLYSI, _SEEDS),
    Family("VeriStrong figure 10", FIGURE_10, _SEEDS),
    Family(
        "VeriStrong figure 11",
        (
            *(_blindw("figure 11", 0.5, 1_000 * size, _SERIALIZABLE) for size in range(1, 17)),
            *(_blindw("figure 11", 0.5, 1_000 * size, _SNAPSHOT) for size in range(1, 5)),
        ),
    ),
    Family(
        "VeriStrong figure 12",
        tuple(
            _ten_thousand(f"figure 12, {reads:.0%} reads", _SNAPSHOT, reads=reads)
            for reads in (0.3, 0.5, 0.95)
        ),
    ),
    Family(
        "VeriStrong figure 13",
        (
            _ten_thousand("RH-10k", _BOTH, reads=0.95),
            _ten_thousand("BL-10k", _BOTH),
            _ten_thousand("WH-10k", _BOTH, reads=0.3),
            _ten_thousand("HD-10k", _BOTH, repeating=1.0, space=20),
            Case("TPC-C-10k", solver_programs.tpcc, 10, 1_000),
            _application("RUBiS-10k", solver_programs.rubis, 10_000),
            _application("Twitter-10k", solver_programs.twitter, 10_000),
        ),
    ),
    Family(
        "Cobra",
        tuple(_blindw("Cobra", reads, 10_000, _BOTH) for reads in (0.1, 0.5, 0.9)),
        _SEEDS,
    ),
    Family(
        "Viper",
        (
            *(_blindw("Viper", reads, 5_000, _BOTH) for reads in (0.5, 0.9)),
            Case("Viper TPC-C", solver_programs.tpcc, 10, 500),
            _application("Viper RUBiS", solver_programs.rubis, 5_000),
            _application("Viper Twitter", solver_programs.twitter, 5_000),
        ),
        2,
    ),
)


def measurements(families: tuple[Family, ...] = FAMILIES) -> Iterator[Measurement]:
    """One row for each evaluation and level, and one for all; what stays unknown has a row of its own."""
    DATA.mkdir(exist_ok=True)
    every: list[Measured] = []
    for family in families:
        found = [one for case, isolation in family.histories() for one in _both_levels(case, isolation)]
        for level in LEVELS:
            yield _summary(f"{level}, {family.name}", [one for one in found if one.level == level])
        for one in found:
            if one.verdict == "unknown":
                yield Measurement(f"unknown: {one.name}", {"load and check": f"{one.seconds:.3f} s"})
        every += found
    for level in LEVELS:
        yield _summary(f"{level}, all", [one for one in every if one.level == level])


def _both_levels(case: Case, isolation: Isolation) -> Iterator[Measured]:
    history = recorded(case, isolation)
    path = DATA / "solver.txt"
    history.save(path)
    for level in LEVELS:
        yield decided(case, isolation, level, path)


def _summary(name: str, found: list[Measured]) -> Measurement:
    seconds = [one.seconds for one in found]
    counts = {
        verdict: f"{sum(one.verdict == verdict for one in found):,}"
        for verdict in ("holds", "violated", "unknown")
    }
    figures = {
        "histories": f"{len(found):,}",
        **counts,
        "median": f"{median(seconds):.3f} s",
        "slowest": f"{max(seconds):.3f} s",
        "most memory": f"{max(one.memory for one in found) / 1e6:.0f} MB",
    }
    return Measurement(name, figures)


SUITE = Suite(
    title="Published evaluations of solvers",
    how=HOW,
    full=measurements,
    quick=lambda: measurements(
        tuple(replace(family, cases=family.cases[:1], seeds=1) for family in FAMILIES[:4])
    ),
)
