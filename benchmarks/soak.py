"""An hour's load compressed: parts of a history without end, memory flat, counts those offline.

Every part has ids, timestamps and values of its own, and the same keys: what is found in it is what is found
in the part alone. `limited` is the same under 700 MB with the timeout that the service has, where time is
that of the work, and the intake waits when there is no room.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.arrivals import WORKLOAD, parts, simulated
from benchmarks.measure import resident
from benchmarks.online import MEGABYTE, SERIALIZABLE, SNAPSHOT, STRATEGIES, Strategy, Watch, wrong
from benchmarks.plot import Panel
from benchmarks.suite import Measurement, Plot, Suite, summarised
from isoscope.checkers.online import Online
from isoscope.levels import Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.workloads import Workload

__all__ = ["LIMITED", "SOAK", "Soaked", "limited", "measure_all", "measurement", "plots", "soak"]

HOW = (
    "One history again and again, with ids, timestamps and values of its own each time; what is final is "
    "dropped after half a second of 150,000 transactions a second. Seconds include the making of the batches."
)
PARTS = 40
LIMITED_PARTS = 8
#: The same history is asked for both: it keeps the first level, and every part breaks the second as often.
LEVELS = (SNAPSHOT, SERIALIZABLE)
LIMIT = Strategy(timeout=5.0, limit=700)


@dataclass(frozen=True, slots=True, kw_only=True)
class Soaked:
    """What was found and used after each part."""

    name: str
    part: int
    expected: int
    found: tuple[int, ...]
    megabytes: tuple[float, ...]
    resident: tuple[float, ...]
    unverifiable: int
    seconds: float
    waited: float


def measure_all(count: int = PARTS) -> Iterator[Soaked]:
    """Both levels, each in an interpreter of its own."""
    for level in LEVELS:
        yield _elsewhere(level, count, "threshold")


def limited(count: int = LIMITED_PARTS) -> Iterator[Soaked]:
    """The same under 700 MB."""
    for level in LEVELS:
        yield _elsewhere(level, count, "700 MB")


def _elsewhere(level: str, count: int, strategy: str) -> Soaked:
    line = [sys.executable, "-m", "benchmarks.soak", level, str(count), strategy]
    found = Soaked(**json.loads(subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout))
    _hold(found)
    return found


def _hold(soaked: Soaked) -> None:
    """Raises if counts drift, or if memory does."""
    if any(found != soaked.expected for found in soaked.found) or soaked.unverifiable:
        raise AssertionError(f"{soaked.name}: {soaked.found}, each of them {soaked.expected} offline")
    half = len(soaked.resident) // 2
    if half > 1 and max(soaked.resident[half:]) > 1.25 * max(soaked.resident[:half]):
        raise AssertionError(f"{soaked.name}: memory grows, {soaked.resident} MB")


def soak(
    level: str, count: int, strategy: Strategy, *, workload: Workload = WORKLOAD, name: str = ""
) -> Soaked:
    """Feeds so many parts; findings are counted when they are told, those of the last part at its end."""
    history = simulated(SNAPSHOT, workload)
    timeout = round(strategy.timeout * 1e9)
    watch = Watch(Online(Level(level), timeout=timeout, initial=0), strategy)
    before, started = resident(), perf_counter()
    told, megabytes, residents = [0], [], []
    for part in parts(history, count):
        for batch in part:
            watch.take(batch)
        megabytes.append(watch.memory)
        residents.append((resident() - before) / MEGABYTE)
        # Everything that is still open is of this part.
        watch.flush()
        told.append(watch.found)
    return Soaked(
        name=f"{level}, {name}",
        part=len(history),
        expected=wrong(history, level),
        found=tuple(after - before for before, after in pairwise(told)),
        megabytes=tuple(megabytes),
        resident=tuple(residents),
        unverifiable=watch.online.status().unverifiable,
        seconds=perf_counter() - started,
        waited=watch.waited / 1e9,
    )


def measurement(soaked: Soaked) -> Measurement:
    """A run in words."""
    transactions = soaked.part * len(soaked.found)
    worked = soaked.seconds + soaked.waited
    figures = {
        "transactions": f"{transactions:,}",
        "transactions/s, all included": f"{transactions / worked:,.0f}",
        "waited": f"{soaked.waited:.1f} s",
        "found in each part": f"{soaked.expected:,}, as offline",
        "engine": _memory(soaked.megabytes),
        "process": _memory(soaked.resident),
    }
    return Measurement(soaked.name, figures)


def _memory(megabytes: tuple[float, ...]) -> str:
    return f"{megabytes[0]:.0f} to {megabytes[-1]:.0f} MB, most {max(megabytes):.0f}"


def plots(runs: list[Soaked], name: str = "soak") -> Iterator[Plot]:
    """Memory after each part."""
    panels = [
        Panel(
            title=f"{run.name}: MB",
            across="million transactions",
            labels=_labels(run),
            series={"engine": run.megabytes, "process": run.resident},
        )
        for run in runs
    ]
    yield Plot(name=name, title="Online, part after part: memory", panels=panels)


def _labels(run: Soaked) -> list[str]:
    count = len(run.found)
    ends = [f"{run.part * (part + 1) / 1e6:g}" for part in range(count)]
    return [label if (part + 1) % max(count // 4, 1) == 0 else "" for part, label in enumerate(ends)]


SOAK = Suite(
    title="An hour's load, online",
    how=HOW,
    full=lambda: summarised(measure_all(), measurement, plots),
)
LIMITED = Suite(
    title="Eight parts under 700 MB, online",
    how=f"{HOW} Here the timeout is that of the service, time is that of the work, and the intake waits for "
    "room.",
    full=lambda: summarised(limited(), measurement, lambda runs: plots(runs, "online-limit")),
)

if __name__ == "__main__":
    strategy = LIMIT if sys.argv[3] == "700 MB" else STRATEGIES[sys.argv[3]]
    print(json.dumps(asdict(soak(sys.argv[1], int(sys.argv[2]), strategy, name=sys.argv[3]))))
