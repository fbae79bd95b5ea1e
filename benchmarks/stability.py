"""Provisional answers that change: how many, how often, and how long a wrong one lasts.

As Figures 13, 14 and 17 to 21 of Li et al. 2025 show it for AION: every transaction reaches the collector
some milliseconds after its commit, normally distributed, and the collector sends 500 at a time. A session's
transactions stay in order here, for a collector keeps them so. No clock is waited for.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchmarks.arrivals import BATCH, WORKLOAD, parsed
from benchmarks.online import SNAPSHOT
from benchmarks.plot import Panel
from benchmarks.suite import DATA, Measurement, Plot, Suite, summarised
from isoscope import formats
from isoscope.checkers.online import Online
from isoscope.databases.simulated import Simulated, run
from isoscope.levels import Level

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.workloads import Workload

__all__ = ["CASES", "SUITE", "Delays", "Flips", "measure", "measure_all", "measurement", "plots"]

HOW = (
    "10,000 transactions at snapshot isolation, 1,000 a second and eight at once, that reach the collector "
    "after delays in milliseconds; batches of 500, judged at 150,000 transactions a second, and a timeout of "
    "5 s. Nothing is measured: the delays are seeded, and time is theirs. A transaction flips as often as "
    "all its reads together.\n\n"
    "Li et al. report for N(100, 10²) that 29.8 % of transactions flip, 99 % of these once or twice; that "
    "over 95 % of the wrong answers are right again within 10 ms and about 3 % after 1.5 s, with the next "
    "batch (Figure 13); that the mean hardly matters and the deviation does (Figures 14 and 19); that 20 to "
    "40 % of transactions flip and 95 % of answers are right within 10 ms throughout (Figures 17 to 21)."
)
DATABASE = Simulated(conflicts="read", concurrency=8)
SMALL = replace(WORKLOAD, transactions=10_000)
#: Transactions of the database in a second, and of the engine.
RATE, SPEED = 1_000, 150_000
MEANS = (50, 100, 200, 400)
DEVIATIONS = (5, 10, 20, 40)
_SECOND, _MILLISECOND = 1_000_000_000, 1_000_000
#: Bits of nanoseconds: up to some microseconds, and up to about two seconds.
_SHORT, _LONG = 15, 31


@dataclass(frozen=True, slots=True)
class Delays:
    """N(mean, deviation²), in milliseconds."""

    mean: int
    deviation: int

    def __str__(self) -> str:
        return f"N({self.mean}, {self.deviation}²)"


BASE = Delays(100, 10)
CASES = tuple(
    dict.fromkeys([BASE, *(Delays(mean, 10) for mean in MEANS), *(Delays(100, d) for d in DEVIATIONS)])
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """Transactions and (transaction, key) that flipped once, twice, ...; wrong answers by bits of time."""

    delays: Delays
    total: int
    transactions: tuple[int, ...]
    pairs: tuple[int, ...]
    rectified: tuple[int, ...]
    found: int

    @property
    def share(self) -> float:
        """Of all transactions those that flip."""
        return sum(self.transactions) / self.total

    @property
    def few(self) -> float:
        """Of those that flip, those that do it once or twice."""
        return sum(self.transactions[:2]) / max(sum(self.transactions), 1)

    def within(self, bits: int) -> float:
        """The share of wrong answers that were right again in less than 2^bits nanoseconds."""
        return sum(self.rectified[: bits + 1]) / max(sum(self.rectified), 1)


def measure_all(workload: Workload = SMALL, cases: Sequence[Delays] = CASES) -> Iterator[Flips]:
    """Every mean with one deviation, and every deviation with one mean."""
    DATA.mkdir(exist_ok=True)
    file = DATA / "stability.json"
    formats.save(run(DATABASE, workload).history, file, lossy=True)
    with file.open("rb") as lines:
        transactions = [line.rstrip(b",\n") for line in lines if line.startswith(b"{")]
    file.unlink()
    for delays in cases:
        yield measure(transactions, delays)


def measure(transactions: list[bytes], delays: Delays) -> Flips:
    """Delivers transactions in the order of their arrival, one by one."""
    online = Online(Level(SNAPSHOT), timeout=5 * _SECOND, initial=0)
    for arrival, line in _arrivals(transactions, delays):
        online.take(parsed(line), arrival)
        online.advance(arrival)
    online.flush()
    stability = online.stability()
    return Flips(
        delays=delays,
        total=len(transactions),
        transactions=tuple(stability.transactions),
        pairs=tuple(stability.reads),
        rectified=tuple(stability.rectified),
        found=sum(online.status().counts.values()),
    )


def _arrivals(transactions: list[bytes], delays: Delays) -> Iterator[tuple[int, bytes]]:
    """When each is judged: with its batch, one after the other."""
    collected = sorted(_collected(transactions, delays), key=lambda pair: pair[0])
    for first in range(0, len(collected), BATCH):
        batch = collected[first : first + BATCH]
        for place, (_, line) in enumerate(batch):
            yield batch[-1][0] + place * _SECOND // SPEED, line


def _collected(transactions: list[bytes], delays: Delays) -> Iterator[tuple[int, bytes]]:
    """When each reaches the collector."""
    chance = random.Random(str(delays))
    latest: dict[bytes, int] = {}
    for number, line in enumerate(transactions):
        delay = max(chance.gauss(delays.mean, delays.deviation), 0.0)
        session = line.split(b",", 2)[1]
        arrival = number * _SECOND // RATE + round(delay * _MILLISECOND)
        latest[session] = max(arrival, latest.get(session, 0))
        yield latest[session], line


def measurement(flips: Flips) -> Measurement:
    """One case."""
    figures = {
        "transactions that flip": f"{sum(flips.transactions):,} ({flips.share:.1%})",
        "once or twice": f"{flips.few:.1%}",
        "(transaction, key)": f"{sum(flips.pairs):,}",
        "right within 8 ms": f"{flips.within(23):.1%}",
        "with the next batch": f"{1 - flips.within(26):.1%}",
        "violations in the end": str(flips.found),
    }
    return Measurement(f"{flips.delays} ms", figures)


def plots(cases: list[Flips]) -> Iterator[Plot]:
    """Plots like the figures."""
    of = {flips.delays: flips for flips in cases}
    means = [of[Delays(mean, BASE.deviation)] for mean in MEANS]
    deviations = [of[Delays(BASE.mean, deviation)] for deviation in DEVIATIONS]
    counts = [
        _by_times(
            f"{BASE} by flips (Figure 13a)", {"transactions": of[BASE].transactions, _PAIRS: of[BASE].pairs}
        ),
        _totals("by mean (Figures 14a, 19a)", "mean, ms", MEANS, means),
        _totals("by deviation (Figures 14b, 19b)", "deviation, ms", DEVIATIONS, deviations),
    ]
    by_mean = {f"mean {flips.delays.mean} ms": flips for flips in means}
    by_deviation = {f"deviation {flips.delays.deviation} ms": flips for flips in deviations}
    title = f"What flips, of {cases[0].total:,} transactions"
    yield Plot(name="stability-counts", title=title, panels=counts)
    panels = _panels(by_mean, "17", "20")
    yield Plot(name="stability-means", title="Flips by mean delay", panels=panels)
    panels = _panels(by_deviation, "18", "21")
    yield Plot(name="stability-deviations", title="Flips by deviation", panels=panels)


_PAIRS = "(transaction, key)"


def _panels(cases: dict[str, Flips], flips: str, times: str) -> list[Panel]:
    rectified = {name: _shares(case.rectified) for name, case in cases.items()}
    ends = [2**bits / _MILLISECOND for bits in range(_SHORT, _LONG + 1)]
    return [
        _by_times(
            f"transactions (Figure {flips})", {name: case.transactions for name, case in cases.items()}
        ),
        _by_times(f"{_PAIRS} (Figure {flips})", {name: case.pairs for name, case in cases.items()}),
        Panel(
            title=f"% right again within ms (Figure {times})",
            across="ms",
            labels=[f"{end:.2f}"[:4].rstrip(".") if place % 5 == 0 else "" for place, end in enumerate(ends)],
            series=rectified,
        ),
    ]


def _shares(rectified: Sequence[int]) -> list[float]:
    """Per cent of wrong answers that were right again by the end of each span."""
    total = max(sum(rectified), 1)
    return [100 * sum(rectified[: bits + 1]) / total for bits in range(_SHORT, _LONG + 1)]


def _by_times(title: str, series: dict[str, tuple[int, ...]]) -> Panel:
    count = len(next(iter(series.values())))
    labels = [*map(str, range(1, count)), f"{count}+"]
    return Panel(title=title, across="how often", labels=labels, series=series, joined=False)


def _totals(title: str, across: str, at: Sequence[int], cases: list[Flips]) -> Panel:
    series = {
        "transactions": [sum(flips.transactions) for flips in cases],
        _PAIRS: [sum(flips.pairs) for flips in cases],
    }
    return Panel(title=title, across=across, labels=[*map(str, at)], series=series)


SUITE = Suite(
    title="Provisional answers that change",
    how=HOW,
    full=lambda: summarised(measure_all(), measurement, plots),
    quick=lambda: summarised(measure_all(replace(SMALL, transactions=1_000)), measurement, plots),
)
