"""What the log of a run costs: the history that is written as the run goes on, for a run that is killed."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.recording import Clients, Nothing
from benchmarks.suite import DATA, Measurement, Suite
from isoscope.databases import connect
from isoscope.errors import DatabaseError
from isoscope.run import Limits, run
from isoscope.run.history_log import HistoryLog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isoscope.databases.database import Database

__all__ = ["DATABASES", "SUITE", "measurements"]

HOW = (
    "Eight sessions, 15 operations a transaction (8 reads, 7 writes). Runs with and without a log follow "
    "each other in turn, and the order alternates from round to round. The cost is the share of the rate "
    "that the log takes in one round; given are the median and the least and most of all rounds. On a "
    "database that does nothing, a transaction takes only the time of its recording."
)
ROUNDS, SECONDS = 11, 1.0
GOAL = "3 %"
DATABASES: dict[str, Callable[[], Any]] = {
    "SQLite": lambda: connect("sqlite"),
    "simulated": lambda: connect("simulated"),
    "a database that does nothing": Nothing,
}


def measurements(*, rounds: int = ROUNDS, seconds: float = SECONDS) -> Iterator[Measurement]:
    """The cost on each database."""
    DATA.mkdir(exist_ok=True)
    for name, database in DATABASES.items():
        # The first run warms up.
        _rate(database(), seconds / 3, is_logged=True)
        yield _row(name, [_round(database, number, seconds) for number in range(rounds)])


def _row(name: str, found: list[dict[bool, float]]) -> Measurement:
    costs = sorted(100 * (1 - rates[True] / rates[False]) for rates in found)
    figures = {
        "with a log (median)": f"{median(rates[True] for rates in found):,.0f} operations/s",
        "without": f"{median(rates[False] for rates in found):,.0f} operations/s",
        "cost (median)": f"{median(costs):.1f} %",
        "(least and most)": f"{costs[0]:.1f} % to {costs[-1]:.1f} %",
        "goal": GOAL,
    }
    return Measurement(f"Log of a run: {name}", figures)


def _round(database: Callable[[], Any], number: int, seconds: float) -> dict[bool, float]:
    order = (True, False) if number % 2 else (False, True)
    return {is_logged: _rate(database(), seconds, is_logged=is_logged) for is_logged in order}


def _rate(database: Database, seconds: float, *, is_logged: bool) -> float:
    """Operations a second."""
    with tempfile.TemporaryDirectory(dir=DATA) as folder:
        log = HistoryLog(str(Path(folder) / "history.parquet")) if is_logged else None
        found = run(database, Clients(keys=1000), Limits(seconds=seconds), log=log)
        if log is not None:
            log.close()
            if log.problem or not log.transactions:
                raise AssertionError(f"the log ended early: {log.problem}")
    if found.problem is not None:
        raise DatabaseError(found.problem)
    return found.progress.operations / found.progress.seconds


SUITE = Suite(
    title="What the log of a run costs",
    how=HOW,
    full=measurements,
    quick=lambda: measurements(rounds=1, seconds=0.3),
)
