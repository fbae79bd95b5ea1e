"""The verifier alone: operations a second at once and in slices, its growth, and its memory over time."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.intervals_loads import BLINDW_RW, Simulated, yardstick
from benchmarks.measure import resident
from benchmarks.plot import Panel
from benchmarks.suite import Measurement, Plot, Suite, summarised

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.databases.profiled import Load
    from isoscope.history import History

__all__ = [
    "GROWTH",
    "MEMORY",
    "PROFILES",
    "THROUGHPUT",
    "Held",
    "Speed",
    "grown",
    "held",
    "held_here",
    "measurement",
    "plots",
    "speeds",
]

PROFILES = (
    "postgresql/serializable",
    "postgresql/read-committed",
    "mariadb/serializable",
    "cockroachdb/serializable",
)
#: A begin, eight statements and a commit.
LOAD = replace(BLINDW_RW, transactions=100_000, keys=10_000)
FEW = replace(LOAD, transactions=2_000)
LENGTHS = (2, 4, 8, 16, 32)
SIZES = (25_000, 50_000, 100_000, 200_000)
REPEATS = 3
#: Ten million operations, looked at so often.
LONG, _MOMENTS = replace(LOAD, transactions=1_000_000), 40
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Best seconds for a whole history: at once, and in slices of 500 transactions."""

    name: str
    group: str
    at: int
    transactions: int
    operations: int
    offline: float
    online: float
    yardstick: float


def speeds(load: Load = LOAD, repeats: int = REPEATS) -> Iterator[Speed]:
    """Each profile."""
    for profile in PROFILES:
        yield _speed(Simulated(profile=profile, load=load), profile, "", repeats)


def grown(load: Load = LOAD, repeats: int = 2) -> Iterator[Speed]:
    """Over the number of transactions and their length, for as many operations."""
    for size in SIZES:
        simulated = Simulated(
            profile=PROFILES[0],
            load=replace(load, transactions=size * load.transactions // LOAD.transactions),
        )
        yield _speed(simulated, f"{simulated.load.transactions:,} transactions", "transactions", repeats)
    for length in LENGTHS:
        count = load.transactions * LOAD.operations[0] // (2 * length)
        simulated = Simulated(
            profile=PROFILES[0], load=replace(load, operations=(length, length), transactions=count)
        )
        yield _speed(simulated, f"{length} statements each", "length", repeats)


def _speed(simulated: Simulated, name: str, group: str, repeats: int) -> Speed:
    history, parts = simulated.history(), [*simulated.slices()]
    length = simulated.load.operations[0]
    return Speed(
        name=name,
        group=group,
        at=length if group == "length" else simulated.load.transactions,
        transactions=len(history),
        operations=history.columns.operations,
        offline=min(_offline(simulated, history) for _ in range(repeats)),
        online=min(_online(simulated, parts) for _ in range(repeats)),
        yardstick=yardstick(history),
    )


def _offline(simulated: Simulated, history: History) -> float:
    started = perf_counter()
    simulated.judged(history)
    return perf_counter() - started


def _online(simulated: Simulated, parts: list[History]) -> float:
    engine = simulated.engine()
    started = perf_counter()
    for part in parts:
        engine.take(part.columns, 0)
    engine.flush()
    seconds = perf_counter() - started
    sizes = engine.sizes()
    found = {check.anomaly: check.count for check in engine.checks() if check.count}
    if found or sizes["late"] or sizes["transactions"] != sum(map(len, parts)):
        raise AssertionError(f"{simulated.profile}: {found}, {sizes}")
    return seconds


def measurement(speed: Speed) -> Measurement:
    """A speed in words."""
    figures = {
        "transactions": f"{speed.transactions:,}",
        "operations": f"{speed.operations:,}",
        "at once": f"{speed.offline:.3f} s",
        "operations/s at once": f"{speed.operations / speed.offline:,.0f}",
        "in slices": f"{speed.online:.3f} s",
        "operations/s in slices": f"{speed.operations / speed.online:,.0f}",
        "yardstick": f"{speed.yardstick:.3f} s",
        "ratio": f"{speed.offline / speed.yardstick:.2f}, {speed.online / speed.yardstick:.2f}",
    }
    return Measurement(speed.name, figures)


def plots(points: list[Speed]) -> Iterator[Plot]:
    """Seconds over transactions, and nanoseconds of an operation over the length."""
    by = {group: [point for point in points if point.group == group] for group in ("transactions", "length")}
    seconds = {
        "at once": [point.offline for point in by["transactions"]],
        "in slices": [point.online for point in by["transactions"]],
    }
    each = {
        "at once": [1e9 * point.offline / point.operations for point in by["length"]],
        "in slices": [1e9 * point.online / point.operations for point in by["length"]],
    }
    panels = [
        Panel(
            title="seconds",
            across="operations",
            labels=[f"{point.operations / _MILLION:.2g} M" for point in by["transactions"]],
            series=seconds,
            at=[point.operations for point in by["transactions"]],
        ),
        Panel(
            title="nanoseconds of an operation",
            across="statements of a transaction",
            labels=[str(point.at) for point in by["length"]],
            series=each,
        ),
    ]
    title = "The verifier over transactions and their length"
    yield Plot(name="intervals-growth", title=title, panels=panels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What a long run held at moments that are as many transactions apart, in megabytes."""

    profile: str
    operations: int
    seconds: float
    engine: tuple[float, ...]
    process: tuple[float, ...]

    def halves(self, held: tuple[float, ...]) -> tuple[float, float]:
        """The most of each half, from a tenth on: by then every key is known."""
        half = len(held) // 2
        return max(held[max(1, half // 5) : half]), max(held[half:])


def held(transactions: int = LONG.transactions) -> Iterator[Held]:
    """In an interpreter of its own."""
    line = [sys.executable, "-m", "benchmarks.intervals_speed", PROFILES[0], str(transactions)]
    found = json.loads(subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout)
    yield Held(**found)


def held_here(profile: str, transactions: int) -> Held:
    """Simulates and verifies slice by slice; nothing of a slice is kept."""
    simulated = Simulated(profile=profile, load=replace(LONG, transactions=transactions))
    engine, seconds = simulated.engine(), 0.0
    engines: list[float] = []
    processes: list[float] = []
    for part in simulated.slices(2000):
        started = perf_counter()
        engine.take(part.columns, 0)
        seconds += perf_counter() - started
        if engine.sizes()["transactions"] * _MOMENTS >= transactions * (len(engines) + 1):
            engines.append(engine.sizes()["memory"] / _MILLION)
            processes.append(resident() / _MILLION)
    engine.flush()
    found = {check.anomaly: check.count for check in engine.checks() if check.count}
    if found or engine.sizes()["late"]:
        raise AssertionError(f"{profile}: {found}, {engine.sizes()}")
    return Held(
        profile=profile,
        operations=engine.sizes()["operations"],
        seconds=seconds,
        engine=tuple(engines),
        process=tuple(processes),
    )


def _held(found: Held) -> Measurement:
    engine, process = found.halves(found.engine), found.halves(found.process)
    figures = {
        "operations": f"{found.operations:,}",
        "operations/s": f"{found.operations / found.seconds:,.0f}",
        "engine, first half": f"{engine[0]:.1f} MB",
        "engine, second half": f"{engine[1]:.1f} MB",
        "process, first half": f"{process[0]:.0f} MB",
        "process, second half": f"{process[1]:.0f} MB",
        "second by first": f"{engine[1] / engine[0]:.2f}, {process[1] / process[0]:.2f}",
    }
    return Measurement(found.profile, figures)


def _held_plots(points: list[Held]) -> Iterator[Plot]:
    labels = [
        f"{points[0].operations * (place + 1) // _MOMENTS / _MILLION:.1f} M" if place % 10 == 9 else ""
        for place in range(len(points[0].engine))
    ]
    panels = [
        Panel(title="engine: MB", across="operations so far", labels=labels, series={"MB": points[0].engine}),
        Panel(
            title="process: MB", across="operations so far", labels=labels, series={"MB": points[0].process}
        ),
    ]
    yield Plot(name="intervals-memory", title="Memory while operations arrive", panels=panels)


THROUGHPUT = Suite(
    title="Throughput",
    how="A million operations of 24 clients on 10,000 keys, as the simulated database answers them when it "
    "works as the profile says; half of the statements write. The whole history at once, as `isoscope "
    "check` has it, and slices of 500 transactions, as the online engine has it: both go through the "
    "pipeline of local buffers and watermark. Best of three; asked for are 1,000,000 operations/s.",
    full=lambda: map(measurement, speeds()),
    quick=lambda: map(measurement, speeds(FEW, 1)),
)
GROWTH = Suite(
    title="Growth",
    how="The same for postgresql/serializable over the number of transactions, and over their length for "
    "half as many statements in all.",
    full=lambda: summarised(grown(), measurement, plots),
    quick=lambda: summarised(grown(FEW, 1), measurement, plots),
)
MEMORY = Suite(
    title="Memory",
    how="Ten million operations in slices of 2,000 transactions, each simulated, verified and forgotten, "
    "in an interpreter of its own. `process` is all that is resident, the simulated database included; a "
    "half is the most of it, the first one without its first fifth, in which keys become known.",
    full=lambda: summarised(held(), _held, _held_plots),
    quick=lambda: summarised(held(20_000), _held, _held_plots),
)

if __name__ == "__main__":
    print(json.dumps(asdict(held_here(sys.argv[1], int(sys.argv[2])))))
