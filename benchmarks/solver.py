"""Snapshot isolation and serializability from values alone, on the published workloads of solvers.

PolySI, VeriStrong, Cobra: their workloads, with their parameters, run on stores of our own. Each history is
checked for each of both levels in a process of its own, for at most `LIMIT` seconds a level. The file is
written session by session, and its transactions are numbered in that order, so that neither is a hint.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchmarks import solver_programs
from benchmarks.measure import measured
from benchmarks.solver_programs import KeyValue
from benchmarks.solver_store import ISOLATIONS, run
from benchmarks.suite import DATA, Measurement, Suite
from benchmarks.weak import renumber, write_by_session
from isoscope import formats
from isoscope.workloads import Workload, generate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.measure import Figures
    from benchmarks.solver_store import Isolation, Program, Recorded

__all__ = [
    "CASES",
    "FIGURE_10",
    "LEVELS",
    "LIMIT",
    "SUITE",
    "TEN_THOUSAND",
    "Case",
    "Measured",
    "decided",
    "measurements",
    "recorded",
]

LEVELS = ("snapshot-isolation", "serializable")
#: Seconds that the search may take for each level.
LIMIT = 10.0
HOW = (
    "Workloads of PolySI, VeriStrong and Cobra with their published parameters, run on stores of our own. "
    f"A search that takes more than {LIMIT:g} s ends as unknown. The yardstick is the time in which Python "
    "iterates over the lines of the file; the ratio is time by yardstick of the same run. Memory is the peak "
    "above that after the imports. Files are written session by session, and numbered in that order, so that "
    "they say nothing of the order in which transactions ran."
)


@dataclass(frozen=True, slots=True)
class Case:
    """A workload of a benchmark: `program` makes a new one, `transactions` are those of each session."""

    name: str
    program: Callable[[], Program]
    sessions: int
    transactions: int
    isolations: tuple[Isolation, ...] = ISOLATIONS


def _key_value(name: str, workload: KeyValue, sessions: int = 20, transactions: int = 100) -> Case:
    return Case(name, workload.program, sessions, transactions)


def _figure_10(
    change: str = "", workload: KeyValue | None = None, *, sessions: int = 20, transactions: int = 100
) -> Case:
    """A point of VeriStrong's figure 10, whose histories are of a serializable database."""
    name = f"VeriStrong figure 10, {change}" if change else "VeriStrong figure 10"
    return Case(name, (workload or _REPEATING).program, sessions, transactions, ("serializable",))


def _blindw(name: str, reads: float, transactions: int) -> Case:
    sessions = 20
    return Case(
        f"Cobra BlindW-{name}, {transactions:,} transactions",
        lambda: solver_programs.blindw(keys=10_000, reads=reads),
        sessions,
        transactions // sessions,
    )


_POLYSI = KeyValue()
_REPEATING = KeyValue(keys=5_000, repeating=0.5, space=40)
#: Ten thousand transactions of 8 operations: 50 sessions of 200.
TEN_THOUSAND = KeyValue(operations=8, keys=2_000, repeating=0.5)
_READ_HEAVY, _WRITE_HEAVY = 0.95, 0.3

#: Four million operations.
LARGE = Workload(sessions=100, transactions=500_000, keys=10_000, seed=1)

#: Each parameter in turn, the others as in the first.
FIGURE_10 = (
    _figure_10(),
    *(_figure_10(f"{sessions} sessions", sessions=sessions) for sessions in (5, 10, 15, 25, 30)),
    *(
        _figure_10(f"{transactions} transactions each", transactions=transactions)
        for transactions in (10, 20, 30, 40, 50, 150, 200, 250)
    ),
    *(
        _figure_10(f"{operations} operations", replace(_REPEATING, operations=operations))
        for operations in (5, 10, 20, 25, 30)
    ),
    *(
        _figure_10(f"{keys:,} keys", replace(_REPEATING, keys=keys))
        for keys in (2_000, 4_000, 6_000, 8_000, 10_000)
    ),
    *(
        _figure_10(f"{reads:.0%} reads", replace(_REPEATING, reads=reads))
        for reads in (0.05, 0.25, 0.75, 0.95)
    ),
    *(
        _figure_10(f"values repeat on {repeating:.0%} of keys", replace(_REPEATING, repeating=repeating))
        for repeating in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    ),
)

CASES = (
    _key_value("PolySI general", _POLYSI),
    _key_value("PolySI general, 5 sessions", _POLYSI, sessions=5),
    _key_value("PolySI general, 30 sessions", _POLYSI, sessions=30),
    _key_value("PolySI general, 250 transactions each", _POLYSI, transactions=250),
    _key_value("PolySI general, 5 operations", replace(_POLYSI, operations=5)),
    _key_value("PolySI general, 30 operations", replace(_POLYSI, operations=30)),
    _key_value("PolySI general, 1,000 keys", replace(_POLYSI, keys=1_000)),
    _key_value("PolySI general, 5 % reads", replace(_POLYSI, reads=0.05)),
    _key_value("PolySI general, 95 % reads", replace(_POLYSI, reads=0.95)),
    _key_value("PolySI general, zipf", replace(_POLYSI, distribution="zipf")),
    _key_value("PolySI general, hotspot", replace(_POLYSI, distribution="hotspot")),
    *(_blindw("RW", 0.5, transactions) for transactions in (1_000, 4_000, 10_000, 16_000)),
    _blindw("RM", 0.9, 10_000),
    _blindw("WM", 0.1, 10_000),
    *FIGURE_10,
    _key_value("VeriStrong RH-10k", replace(TEN_THOUSAND, reads=_READ_HEAVY), 50, 200),
    _key_value("VeriStrong BL-10k", TEN_THOUSAND, 50, 200),
    _key_value("VeriStrong WH-10k", replace(TEN_THOUSAND, reads=_WRITE_HEAVY), 50, 200),
    _key_value("VeriStrong HD-10k", replace(TEN_THOUSAND, repeating=1.0, space=20), 50, 200),
    Case("TPC-C-10k", solver_programs.tpcc, 10, 1_000),
    Case("RUBiS-10k", solver_programs.rubis, 25, 400),
    Case("Twitter-10k", solver_programs.twitter, 25, 400),
    Case("SmallBank-10k", solver_programs.smallbank, 25, 400),
    _key_value("low contention, 100,000 transactions", KeyValue(operations=8, keys=1_000_000), 20, 5_000),
)


def measurements(cases: tuple[Case, ...] = CASES, large: int = LARGE.transactions) -> Iterator[Measurement]:
    """Every case on both stores, at both levels; then all levels of histories of so many transactions."""
    DATA.mkdir(exist_ok=True)
    for case in cases:
        for isolation in case.isolations:
            history = recorded(case, isolation)
            path = DATA / "solver.txt"
            history.save(path)
            for level in LEVELS:
                yield _row(case, isolation, level, path, history.repeated)
    for distribution in ("uniform", "zipfian"):
        yield _large(replace(LARGE, distribution=distribution, transactions=large))


def _large(workload: Workload) -> Measurement:
    """All levels of a valid history in which the sessions' lines come one after the other."""
    ran, by_session, path = (DATA / f"solver-{name}.txt" for name in ("ran", "by-session", "large"))
    formats.save(generate(workload), ran)
    write_by_session(ran, by_session)
    renumber(by_session, path)
    found = measured(path, path, check=True)
    if found["violated"]:
        raise AssertionError("a valid history violates nothing")
    name = (
        f"all levels, {workload.transactions:,} transactions session by session, {workload.distribution} keys"
    )
    return Measurement(name, _figures(Measured(name, "all", f"{found['holds']:.0f} levels hold", found), 0.0))


def recorded(case: Case, isolation: Isolation) -> Recorded:
    """The history of the case on a store, always the same."""
    return run(
        case.program(),
        sessions=case.sessions,
        transactions=case.transactions,
        isolation=isolation,
        seed=f"{case.name}, {isolation}",
    )


@dataclass(frozen=True, slots=True)
class Measured:
    """What the check of one history at one level took."""

    name: str
    level: str
    verdict: str
    figures: Figures

    @property
    def seconds(self) -> float:
        """The load and the check."""
        return self.figures["seconds"] + self.figures["check"]

    @property
    def memory(self) -> float:
        """Bytes at the peak above that after the imports."""
        return self.figures["check_memory"]


def decided(case: Case, isolation: Isolation, level: str, path: Path) -> Measured:
    """Checks the history at a level; a store does not violate what it guarantees."""
    found = measured(path, path, check=True, levels=(level,), time_limit=LIMIT)
    verdict = "violated" if found["violated"] else "holds" if found["holds"] else "unknown"
    if verdict == "violated" and level in (isolation, "snapshot-isolation"):
        raise AssertionError(f"{case.name}: a store that is {isolation} does not violate {level}")
    return Measured(f"{level}, {case.name}, {isolation} store", level, verdict, found)


def _row(case: Case, isolation: Isolation, level: str, path: Path, repeated: float) -> Measurement:
    one = decided(case, isolation, level, path)
    return Measurement(one.name, _figures(one, repeated))


def _figures(one: Measured, repeated: float) -> dict[str, str]:
    found = one.figures
    return {
        "verdict": one.verdict,
        "load and check": f"{one.seconds:.3f} s",
        "of it check": f"{found['check']:.3f} s",
        "transactions": f"{found['transactions']:,.0f}",
        "operations": f"{found['operations']:,.0f}",
        "repeated values": f"{repeated:.1%}",
        "memory": f"{one.memory / 1e6:.0f} MB",
        "yardstick": f"{found['yardstick']:.4f} s",
        "ratio": f"{one.seconds / found['yardstick']:.0f}",
    }


SUITE = Suite(
    title="Snapshot isolation and serializability from values",
    how=HOW,
    full=measurements,
    quick=lambda: measurements(CASES[:1], large=2_000),
)
