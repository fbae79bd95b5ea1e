"""Loads of the simulated database that are like those of Li et al. 2023, and what a run of one leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchmarks.measure import time_of_lines
from benchmarks.suite import DATA
from isoscope import _native, formats, profiles
from isoscope.databases.profiled import Delays, Load, Profiled, run, slices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import History
    from isoscope.profiles import Profile

__all__ = [
    "BLINDW_RW",
    "BLINDW_RW_PLUS",
    "BLINDW_W",
    "DELAYS",
    "SMALLBANK",
    "YCSB_A",
    "Simulated",
    "yardstick",
]

#: The trace whose lines are the yardstick.
_FILE = DATA / "intervals.leopard.jsonl"

#: A server in the same rack: a request is on its way for 75 µs on average, the answer as long, and the
#: server takes 35 µs.
DELAYS = Delays(network=75_000, service=35_000, thinking=20_000)
#: 2,000 keys and 8 statements, as the workloads of that name have it; here transactions read and write.
BLINDW_RW = Load(clients=24, operations=(8, 8), keys=2000, reads=0.5)
BLINDW_W = replace(BLINDW_RW, reads=0.0)
BLINDW_RW_PLUS = replace(BLINDW_RW, ranges=0.5, longest_range=10)
#: What is changed was mostly read before, by transactions of few operations.
SMALLBANK = Load(clients=24, operations=(1, 5), keys=2000, reads=0.3, updates_after_reads=0.9)
YCSB_A = Load(clients=24, operations=(8, 8), keys=1_000_000, reads=0.5, theta=0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """A database that works as a profile says, under a load."""

    profile: str
    load: Load
    seed: int = 29

    @property
    def promise(self) -> Profile:
        """The profile itself."""
        return profiles.load(self.profile)

    @property
    def _database(self) -> Profiled:
        return Profiled(profile=self.promise, seed=self.seed, delays=DELAYS)

    def history(self) -> History:
        """All at once."""
        return run(self._database, self.load, truth=False).history

    def slices(self, size: int = 500) -> Iterator[History]:
        """The same in the order in which transactions end."""
        return slices(self._database, self.load, size)

    def judged(self, history: History) -> _native.MechanismsJudgement:
        """What the verifier says of the whole; raises AssertionError if it accuses the database."""
        judged = _native.judge_intervals(history.columns, self.promise.native, clock_error=0, max_anomalies=1)
        if found := {check.anomaly: check.count for check in judged.checks if check.count}:
            raise AssertionError(f"{self.profile}: {found} in a database without a fault")
        return judged

    def engine(self) -> _native.IntervalsOnline:
        """The verifier that takes slices."""
        return _native.IntervalsOnline(
            self.promise.native, clock_error=0, max_anomalies=1, initial=0, timeout=10**18
        )


def yardstick(history: History) -> float:
    """Seconds in which Python iterates over the lines of the trace, one for each operation."""
    DATA.mkdir(exist_ok=True)
    formats.save(history, _FILE, lossy=True)
    seconds = time_of_lines(_FILE)
    _FILE.unlink()
    return seconds
