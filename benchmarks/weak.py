"""The weak levels: loading and checking together, each level alone and all in one run.

The large suite makes and checks 50 million operations, which takes minutes and 6 GB.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.loading import REGISTERS, YARDSTICK
from benchmarks.measure import measured
from benchmarks.suite import DATA, Measurement, Suite
from isoscope import formats
from isoscope.checkers import values
from isoscope.levels import Level
from isoscope.workloads import Mix, Step, Table, Template, Workload, generate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["LARGE", "WEAK", "renumber", "write_by_session"]

REPEATS = 3
#: More transactions are too many for plain traversal.
FEW = 5_000
ALONE = (("read-committed",), ("read-atomic",), ("causal",), ())

HUNDRED_THOUSAND = replace(REGISTERS, transactions=100_000, seed=5)
#: Reads of older versions, as far as the level allows: conflicts that must be ordered.
CAUSAL = replace(REGISTERS, level=Level.CAUSAL, seed=6)
#: No key is hot: its file by session is the measure for searches without a hint at an order.
UNIFORM = replace(REGISTERS, distribution="uniform", seed=9)
#: Four fifths are short, one fifth is long; 50 operations on average.
MILLION = Workload(
    sessions=100,
    transactions=1_000_000,
    mix=Mix(
        meaning="long and short transactions",
        tables=(Table("keys", 10_000),),
        templates=(
            Template("short", 4, (Step("either", "keys", 2, 18, reads=0.5),)),
            Template("long", 1, (Step("either", "keys", 110, 310, reads=0.5),)),
        ),
    ),
    seed=7,
)


class Case(NamedTuple):
    """A file, the text file whose lines are the yardstick, and the levels to ask for (none: all)."""

    file: str
    yardstick: str
    levels: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{' '.join(self.levels) or 'all levels'}, {self.file}"


CASES = (
    *(Case("registers.txt", "registers.txt", levels) for levels in ALONE),
    # The same history, written session by session, as many recorders do.
    *(Case("registers-by-session.txt", "registers-by-session.txt", levels) for levels in ALONE),
    # With transactions numbered in that order, so that nothing tells in which order they ran.
    *(Case("registers-renumbered.txt", "registers-renumbered.txt", levels) for levels in ALONE[:3]),
    Case("uniform-by-session.txt", "uniform-by-session.txt", ()),
    Case("registers.parquet", "registers.txt", ()),
    # Strong levels that a causal store breaks are left out.
    Case("registers-causal.txt", "registers-causal.txt", ("causal",)),
    Case("registers-causal-by-session.txt", "registers-causal-by-session.txt", ("causal",)),
    Case("registers-100k.txt", "registers-100k.txt", ("causal",)),
)
_LARGE = tuple(Case("million.parquet", "million.txt", levels) for levels in ALONE)


def measurements(
    cases: tuple[Case, ...] = CASES,
    *,
    share: float = 1.0,
    repeats: int = REPEATS,
    ways: tuple[int, ...] = (2_000, 20_000),
) -> Iterator[Measurement]:
    """Every case at a share of its size; they take turns, so that a slow minute hits all alike."""
    DATA.mkdir(exist_ok=True)
    _save(_few(REGISTERS, share), "registers.txt", "registers.parquet")
    _save(_few(CAUSAL, share), "registers-causal.txt")
    _save(_few(HUNDRED_THOUSAND, share), "registers-100k.txt")
    for name in ("registers", "registers-causal"):
        write_by_session(DATA / f"{name}.txt", DATA / f"{name}-by-session.txt")
    renumber(DATA / "registers-by-session.txt", DATA / "registers-renumbered.txt")
    _save(_few(UNIFORM, share), "uniform.txt")
    write_by_session(DATA / "uniform.txt", DATA / "uniform-by-session.txt")
    yield from _measured(cases, repeats)
    yield from _happens_before(ways)


def _few(workload: Workload, share: float) -> Workload:
    return replace(workload, transactions=round(share * workload.transactions))


def _happens_before(sizes: tuple[int, ...]) -> Iterator[Measurement]:
    """The causal level with each way to compute happens-before (Liu et al. 2024, section 5.5.4)."""
    for transactions in sizes:
        history = generate(replace(REGISTERS, sessions=25, transactions=transactions, seed=8))
        for name in values.HAPPENS_BEFORE:
            if name == "traversal" and transactions > FEW:
                continue  # quadratic
            runs = [values.effort(history, name) for _ in range(REPEATS)]
            effort = runs[0][1]
            figures = {
                "check (median)": f"{median(seconds for seconds, _ in runs):.3f} s",
                "demands": f"{effort.demands:,}",
                "joins": f"{effort.joins:,}",
                "entries": f"{effort.entries:,}",
                "traversals": f"{effort.traversals:,}",
                "visits": f"{effort.visits:,}",
            }
            yield Measurement(
                f"causal by {name}, {transactions:,} transactions",
                figures,
                group="Ways to compute happens-before",
            )


def large(workload: Workload = MILLION) -> Iterator[Measurement]:
    """A million transactions from Parquet; the yardstick is the same history as Plume text."""
    DATA.mkdir(exist_ok=True)
    _save(workload, "million.parquet", "million.txt")
    yield from _measured(_LARGE, 1)


def _save(workload: Workload, *names: str) -> None:
    history = generate(workload)
    for name in names:
        formats.save(history, DATA / name)


def write_by_session(source: Path, target: Path) -> None:
    """Plume text in which all of a session's transactions stand together."""
    lines = source.read_bytes().splitlines(keepends=True)
    lines.sort(key=_session)
    target.write_bytes(b"".join(lines))


def _session(line: bytes) -> int:
    """The session of `w(key,value,session,transaction)`."""
    return int(line.split(b",")[2])


def renumber(source: Path, target: Path) -> None:
    """Plume text in which transactions are numbered in the order of their lines."""
    numbers: dict[bytes, int] = {}
    with source.open("rb") as lines, target.open("wb") as file:
        for line in lines:
            operation, _, transaction = line.rpartition(b",")
            file.write(b"%s,%d)\n" % (operation, numbers.setdefault(transaction, len(numbers))))


def _measured(cases: tuple[Case, ...], repeats: int) -> Iterator[Measurement]:
    runs: dict[Case, list[dict[str, float]]] = {case: [] for case in cases}
    for _ in range(repeats):
        for case in cases:
            found = measured(DATA / case.file, DATA / case.yardstick, check=True, levels=case.levels)
            if found["violated"]:
                raise AssertionError(f"{case.file} is valid, but {found['violated']:.0f} levels are violated")
            runs[case].append(found)
    for case, found_runs in runs.items():
        cold = measured(DATA / case.file, check=True, levels=case.levels, is_cold=True)
        yield _row(case, found_runs, cold)


def _row(case: Case, runs: list[dict[str, float]], cold: dict[str, float]) -> Measurement:
    def total(run: dict[str, float]) -> float:
        return run["seconds"] + run["check"]

    figures = {
        "load and check (median)": f"{median(map(total, runs)):.3f} s",
        "(best)": f"{min(map(total, runs)):.3f} s",
        "from a cold disk": f"{total(cold):.3f} s",
        "CPU (median)": f"{median(run['cpu'] for run in runs):.3f} s",
        "of it check (median)": f"{median(run['check'] for run in runs):.3f} s",
        "operations": f"{runs[0]['operations'] / 1e6:.1f} M",
        "memory": f"{max(run['check_memory'] for run in runs) / 1e6:.0f} MB",
        "yardstick": f"{median(run['yardstick'] for run in runs):.3f} s",
        "ratio": f"{median(total(run) / run['yardstick'] for run in runs):.2f}",
    }
    return Measurement(case.name, figures)


WEAK = Suite(
    title="The weak levels",
    how=f"A file on a cold disk was dropped from memory before; CPU is that of all threads. {YARDSTICK}",
    full=measurements,
    quick=lambda: measurements(share=0.03, repeats=1, ways=(2_000,)),
    groups={
        "Ways to compute happens-before": "The ablation of Plume: vectors, tree clocks and plain traversal, "
        "which is quadratic and left out for many transactions."
    },
)
LARGE = Suite(
    title="Fifty million operations",
    how=f"Takes 6 GB. {YARDSTICK}",
    full=large,
    quick=lambda: large(replace(MILLION, transactions=10_000)),
)
