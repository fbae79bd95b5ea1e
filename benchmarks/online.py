"""The clock levels while transactions arrive: how many a second, and memory over time.

As Figures 12, 16, 23 and 25 of Li et al. 2025 show it for AION: a recorded history arrives in batches of 500,
as fast as they are taken, and what is final is never dropped, dropped after a timeout, or dropped when
memory is used up. No clock is waited for: so many transactions are a second (`RATE`), and with a limit the
second is that of the work plus that of waiting until something is final.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from time import perf_counter, perf_counter_ns
from typing import TYPE_CHECKING

from benchmarks.arrivals import WORKLOAD, bodies, parsed, simulated
from benchmarks.measure import resident, time_of_lines
from benchmarks.plot import Panel
from benchmarks.suite import DATA, Measurement, Plot, Suite, summarised
from isoscope import formats
from isoscope.checkers import timestamps
from isoscope.checkers.online import Online
from isoscope.levels import Level
from isoscope.workloads import MIXES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isoscope.history import History
    from isoscope.workloads import Workload

__all__ = [
    "CASES",
    "SUITE",
    "Case",
    "Fed",
    "Strategy",
    "feed",
    "measure_all",
    "measurement",
    "plots",
    "wrong",
]

HOW = (
    "Seconds are those of the engine, batches being parsed in between; what is found is asked for after each "
    "batch. Memory is what the engine counts, `process` is what the whole process grew by. The yardstick is "
    "the time in which Python iterates over the lines of the JSON file, the ratio is time by yardstick of "
    "the same run. AION takes 12,000 transactions a second with collection and 1,200 to 3,000 when memory is "
    "short, on another machine (section VI-B)."
)
REPEATS = 1
#: Transactions of the second that is not measured.
RATE = 150_000
MEGABYTE = 1_000_000
_MOMENTS = 20
SNAPSHOT, SERIALIZABLE = "clock-snapshot-isolation", "clock-serializable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """When what is final is dropped: after so many seconds; or at so many megabytes, too."""

    timeout: float
    limit: int | None = None


STRATEGIES: Mapping[str, Strategy] = {
    "none": Strategy(timeout=1e6),
    "threshold": Strategy(timeout=0.5),
    "limit": Strategy(timeout=0.5, limit=40),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A history of a database that keeps one level, and the level that is asked."""

    database: str
    level: str
    mix: str = ""
    strategy: str = "threshold"

    @property
    def panel(self) -> str:
        """The title of its plot."""
        broken = "" if self.database == self.level else ", violated"
        return f"{self.level}{broken}{self.mix and f', {self.mix}'}"

    @property
    def goal(self) -> str:
        """What was asked for, by second; a transaction of a mix has other operations than eight."""
        if self.strategy == "limit":
            return "40,000"
        if self.mix:
            return "600,000 operations"
        return "150,000" if self.database == self.level else "75,000"


_ASKED = (
    (SNAPSHOT, SNAPSHOT, ""),
    (SERIALIZABLE, SERIALIZABLE, ""),
    (SNAPSHOT, SERIALIZABLE, ""),
    *((SNAPSHOT, SNAPSHOT, mix) for mix in ("rubis", "twitter", "tpcc")),
)
#: The keys of a mix alone take more than the limit; without collection it takes gigabytes.
CASES = tuple(
    Case(database=database, level=level, mix=mix, strategy=strategy)
    for database, level, mix in _ASKED
    for strategy in STRATEGIES
    if not mix or strategy == "threshold"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fed:
    """One run: seconds and megabytes at moments that are as many transactions apart."""

    case: Case
    transactions: int
    operations: int
    seconds: tuple[float, ...]
    megabytes: tuple[float, ...]
    total: float
    waited: float
    parsing: float
    resident: float
    found: int
    yardstick: float

    @property
    def rate(self) -> float:
        """Transactions a second, waiting and the end included."""
        return self.transactions / self.total

    @property
    def rates(self) -> list[float]:
        """The same between two moments."""
        share = self.transactions / len(self.seconds)
        steps = zip((0.0, *self.seconds), self.seconds, strict=False)
        return [share / max(after - before, 1e-9) for before, after in steps]

    @property
    def growth(self) -> float:
        """How much more memory the second half takes than the first, after the first timeout."""
        half = len(self.megabytes) // 2
        return max(self.megabytes[half:]) / max(self.megabytes[half // 2 : half])


def measure_all(
    cases: Iterable[Case] = CASES, workload: Workload = WORKLOAD, repeats: int = REPEATS
) -> Iterator[Fed]:
    """The best run of each case, each in an interpreter of its own; counts are held against those offline."""
    DATA.mkdir(exist_ok=True)
    for _, group in groupby(cases, key=lambda case: (case.database, case.level, case.mix)):
        same = [*group]
        file = DATA / "online.json"
        expected = _recorded(same[0], workload, file)
        for case in same:
            runs = [_elsewhere(case, file, workload.transactions) for _ in range(repeats)]
            if any(run.found != expected for run in runs):
                raise AssertionError(f"{case}: {runs[0].found} online, {expected} offline")
            yield max(runs, key=lambda run: run.rate)
        file.unlink()


def _recorded(case: Case, workload: Workload, file: Path) -> int:
    """Writes the history of a case; how much is wrong with it."""
    mix = MIXES[case.mix] if case.mix else None
    history = simulated(case.database, replace(workload, mix=mix))
    formats.save(history, file, lossy=True)
    return wrong(history, case.level)


def wrong(history: History, level: str) -> int:
    """How much a level finds offline."""
    return sum(
        sum(verdict.anomaly_counts.values())
        for verdict in timestamps.check(history, levels=[Level(level)])
        if verdict.level == level
    )


def _elsewhere(case: Case, file: Path, transactions: int) -> Fed:
    asked = [json.dumps(asdict(case)), str(file), str(transactions)]
    line = [sys.executable, "-m", "benchmarks.online", *asked]
    found = json.loads(subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return Fed(**found | {"case": case})


class Watch:
    """Time that goes on with the work, or with what was taken, and what memory was used meanwhile."""

    def __init__(self, online: Online, strategy: Strategy) -> None:
        self.online, self.strategy = online, strategy
        self.taken = self.found = self.worked = self.waited = 0

    @property
    def now(self) -> int:
        """Nanoseconds."""
        if self.strategy.limit is None:
            return self.taken * 1_000_000_000 // RATE
        return self.worked + self.waited

    @property
    def memory(self) -> float:
        """Megabytes."""
        return self.online.status().memory / MEGABYTE

    def take(self, batch: History) -> None:
        """Takes a batch, after a wait if there is no room for it."""
        started = perf_counter_ns()
        self._wait()
        self.taken += self.online.take(batch, self.now)
        self.online.advance(self.now)
        self.found += sum(-1 if news.is_retracted else 1 for news in self.online.news())
        self.worked += perf_counter_ns() - started

    def _wait(self) -> None:
        """The intake waits, and transactions in memory become final."""
        longest = self.waited + round(2e9 * self.strategy.timeout)
        while self.strategy.limit is not None and self.memory > self.strategy.limit:
            if self.waited > longest:
                raise AssertionError(f"{self.memory:.0f} MB, and nothing is left to wait for")
            self.waited += 10_000_000
            self.online.advance(self.now)

    def flush(self) -> None:
        """Everything is final."""
        started = perf_counter_ns()
        self.online.flush()
        self.found += len(self.online.news())
        self.worked += perf_counter_ns() - started


def feed(case: Case, file: Path, transactions: int) -> Fed:
    """Feeds the history in a file, which is so long."""
    strategy = STRATEGIES[case.strategy]
    timeout = round(strategy.timeout * 1e9)
    watch = Watch(Online(Level(case.level), timeout=timeout, initial=0), strategy)
    before, parsing = resident(), 0.0
    seconds: list[float] = []
    megabytes: list[float] = []
    for body in bodies(file):
        started = perf_counter()
        batch = parsed(body)
        parsing += perf_counter() - started
        watch.take(batch)
        if watch.taken * _MOMENTS >= transactions * (len(seconds) + 1):
            seconds.append((watch.worked + watch.waited) / 1e9)
            megabytes.append(watch.memory)
    grown = resident() - before
    watch.flush()
    return Fed(
        case=case,
        transactions=watch.taken,
        operations=watch.online.status().operations,
        seconds=tuple(seconds),
        megabytes=tuple(megabytes),
        total=(watch.worked + watch.waited) / 1e9,
        waited=watch.waited / 1e9,
        parsing=parsing,
        resident=grown / MEGABYTE,
        found=watch.found,
        yardstick=time_of_lines(file),
    )


def measurement(fed: Fed) -> Measurement:
    """A run in words."""
    figures = {
        "transactions/s": f"{fed.rate:,.0f}",
        "(slowest twentieth)": f"{min(fed.rates):,.0f}",
        "goal": fed.case.goal,
        "with parsing": f"{fed.transactions / (fed.total + fed.parsing):,.0f}",
        "operations/s": f"{fed.operations / fed.total:,.0f}",
        "memory (most)": f"{max(fed.megabytes):.0f} MB",
        "second half by first": f"{fed.growth:.2f}",
        "process": f"{fed.resident:.0f} MB",
        "found": f"{fed.found:,}, as offline",
        "yardstick": f"{fed.yardstick:.3f} s",
        "ratio": f"{fed.total / fed.yardstick:.1f}",
    }
    if fed.waited:
        figures["waited"] = f"{fed.waited:.2f} s"
    return Measurement(f"{fed.case.panel}, {fed.case.strategy}", figures)


def plots(runs: list[Fed]) -> Iterator[Plot]:
    """Transactions a second and memory over time."""
    panels = dict.fromkeys(run.case.panel for run in runs)
    rates = [_panel(name, "1000 transactions/s", runs, [run.rates for run in runs], 1000) for name in panels]
    memory = [_panel(name, "MB", runs, [[*run.megabytes] for run in runs], 1) for name in panels]
    yield Plot(name="online-throughput", title="Online: 1000 transactions by second", panels=rates)
    yield Plot(name="online-memory", title="Online: megabytes of the engine", panels=memory)


def _panel(name: str, unit: str, runs: list[Fed], values: list[list[float]], by: float) -> Panel:
    shown = [(run, series) for run, series in zip(runs, values, strict=True) if run.case.panel == name]
    total, moments = shown[0][0].transactions, len(shown[0][1])
    ends = [f"{total * (place + 1) // moments // 1000}k" for place in range(moments)]
    return Panel(
        title=f"{name}: {unit}" if unit == "MB" else name,
        across="transactions so far",
        labels=[label if place % 5 == 4 else "" for place, label in enumerate(ends)],
        series={run.case.strategy: [value / by for value in series] for run, series in shown},
    )


SUITE = Suite(
    title="The clock levels while transactions arrive",
    how=HOW,
    full=lambda: summarised(measure_all(), measurement, plots),
    quick=lambda: summarised(
        measure_all(workload=replace(WORKLOAD, transactions=10_000)), measurement, plots
    ),
)

if __name__ == "__main__":
    asked = Case(**json.loads(sys.argv[1]))
    print(json.dumps(asdict(feed(asked, Path(sys.argv[2]), int(sys.argv[3])))))
