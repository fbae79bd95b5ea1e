"""The verifier beside a search for cycles in the whole graph of dependencies, as Figure 10 of Li et al. 2023.

Both begin with what the mechanisms deduce of the order of versions. The search then builds the graph of all
transactions and looks for cycles; a checker that reports early does so again after every batch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.intervals_loads import BLINDW_RW_PLUS, Simulated, yardstick
from benchmarks.plot import Panel
from benchmarks.suite import Measurement, Plot, Suite, summarised
from isoscope import _native, checkers
from isoscope.checkers import intervals
from isoscope.history import History
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.databases.profiled import Load

__all__ = ["CYCLES", "Searched", "measure_all", "measurement", "plots"]

PROFILE = "postgresql/serializable"
LEVEL = "serializable"
LOAD = replace(BLINDW_RW_PLUS, transactions=16_000)
TRANSACTIONS = (4_000, 8_000, 16_000, 32_000)
CLIENTS = (4, 8, 16, 32, 64)
LENGTHS = (2, 4, 8, 16)
#: Transactions after which the search is done again.
BATCH = 1000
#: By figure: its title, and what stands on the axis.
_AXES = {"a": "transactions", "b": "clients", "c": "statements each"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """Seconds for one history: of the verifier, of one search at the end, of one after every batch."""

    figure: str
    at: int
    operations: int
    verifier: float
    once: float
    again: float
    yardstick: float


def measure_all(load: Load = LOAD) -> Iterator[Searched]:
    """Over transactions, clients and length."""
    scale = load.transactions / LOAD.transactions
    for count in (round(count * scale) for count in TRANSACTIONS):
        yield _searched("a", count, replace(load, transactions=count))
    for clients in CLIENTS:
        yield _searched("b", clients, replace(load, clients=clients))
    for length in LENGTHS:
        yield _searched("c", length, replace(load, operations=(length, length)))


def _searched(name: str, at: int, load: Load) -> Searched:
    simulated = Simulated(profile=PROFILE, load=load)
    history = simulated.history()
    started = perf_counter()
    simulated.judged(history)
    verified = perf_counter()
    _search(history, simulated)
    once = perf_counter()
    for end in range(BATCH, len(history), BATCH):
        prefix = _native.sub_history(history.columns, range(end), [])
        _search(History(prefix, history.source), simulated)
    again = perf_counter()
    return Searched(
        figure=name,
        at=at,
        operations=history.columns.operations,
        verifier=verified - started,
        once=once - verified,
        again=again - verified,
        yardstick=yardstick(history),
    )


def _search(history: History, simulated: Simulated) -> None:
    """Builds the graph and looks for cycles; raises AssertionError if a correct database has one."""
    _, ordered = intervals.judge(history, simulated.promise)
    if isinstance(ordered, str):
        raise TypeError(ordered)
    report = checkers.check(ordered, [LEVEL], method="version-order")
    if report.verdicts[0].outcome is Outcome.VIOLATED:
        raise AssertionError(f"{PROFILE}: {report.verdicts[0].anomaly_counts}")


def measurement(point: Searched) -> Measurement:
    """A history in words."""
    figures = {
        "operations": f"{point.operations:,}",
        "verifier": f"{point.verifier:.3f} s",
        "search at the end": f"{point.once:.3f} s",
        "search after every batch": f"{point.again:.3f} s",
        "times the verifier's": f"{point.once / point.verifier:.1f}, {point.again / point.verifier:.0f}",
        "yardstick": f"{point.yardstick:.3f} s",
        "ratio": ", ".join(
            f"{seconds / point.yardstick:.1f}" for seconds in (point.verifier, point.once, point.again)
        ),
    }
    return Measurement(f"{point.at:,} {_AXES[point.figure]}", figures)


def plots(points: list[Searched]) -> Iterator[Plot]:
    """A panel for each axis."""
    panels = []
    for name, across in _AXES.items():
        mine = [point for point in points if point.figure == name]
        series = {
            "verifier": [point.verifier for point in mine],
            "search at the end": [point.once for point in mine],
            "after every batch": [point.again for point in mine],
        }
        labels = [str(point.at) for point in mine]
        panels.append(Panel(title="seconds", across=across, labels=labels, series=series))
    yield Plot(name="intervals-cycles", title="The verifier beside a search for cycles", panels=panels)


CYCLES = Suite(
    title="Beside a search for cycles (Figure 10)",
    how="The simulated database as postgresql/serializable under a load like BlindW-RW+ (2,000 keys, half "
    "of the reads are ranges), by default 16,000 transactions of 8 statements and 24 clients. The search "
    "deduces the order of versions, builds the graph of all transactions and looks for cycles (`--method "
    f"version-order`): once at the end, or again after every {BATCH:,} transactions, as a checker that "
    "reports early must. The verifier is online: it has reported by then.",
    full=lambda: summarised(measure_all(), measurement, plots),
    quick=lambda: summarised(measure_all(replace(LOAD, transactions=200)), measurement, plots),
)
