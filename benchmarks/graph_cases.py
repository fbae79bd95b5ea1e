"""The histories of the experiments of Qiu 2023, chapter 5, as a simulated database runs them.

The thesis recorded its own from a cluster. Here a simulated database with snapshot isolation runs the same
workloads, smaller: collection time times rate is the number of transactions, and a higher rate lets more of
them overlap, so that more are aborted. The nemesis is a fault: a partition lets both halves accept writes,
and here a share of the transactions may overwrite what they did not see. Registers have the order of their
versions by commit timestamps, as the thesis has it by the write-ahead log.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from isoscope.databases.simulated import Simulated, run
from isoscope.history import Initial
from isoscope.workloads import Workload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import History

__all__ = ["EXPERIMENTS", "Case"]

_LISTS = Workload(
    sessions=10,
    min_operations=2,
    max_operations=5,
    keys=20,
    lists=True,
    max_writes_per_key=8,
    intervals=True,
    initial=Initial(value=None),
)
_REGISTERS = replace(_LISTS, lists=False, timestamps=True, initial=Initial(value=0, replaceable=True))
_DATABASE = Simulated(isolation="snapshot-isolation", concurrency=6)
_NEMESIS = replace(_DATABASE, bug="lost-update", bug_rate=0.2)
#: Transactions in a second, where the experiment does not vary it.
_RATE = 6
#: Seconds, where the experiment does not vary them.
_SECONDS = 10
_TIMES = range(10, 90, 10)
_RATES = range(8, 68, 8)
#: More of them, because their lower and upper halves are fitted apart.
_LIST_RATES = range(4, 68, 4)


@dataclass(frozen=True, slots=True)
class Case:
    """A history of an experiment; `value` is what the experiment varies."""

    experiment: str
    value: int
    workload: Workload
    database: Simulated = field(default=_DATABASE)

    def history(self) -> History:
        """The history, the same every time."""
        return run(self.database, self.workload).history


def _cases() -> Iterator[Case]:
    for seconds in _TIMES:
        yield _timed("List1: collection time", seconds, _LISTS)
        yield _timed("List2: collection time, nemesis", seconds, _LISTS, _NEMESIS)
        yield _timed("Reg1: collection time", seconds, _REGISTERS)
    for rate in _LIST_RATES:
        yield _rated("List3: rate", rate, _LISTS)
    for rate in _RATES:
        yield _rated("List4: rate, nemesis", rate, _LISTS, _NEMESIS)
        yield _rated("Reg2: rate", rate, _REGISTERS)
    sized = replace(_REGISTERS, transactions=200)
    for sessions in range(10, 110, 15):
        yield Case("Reg3: sessions", sessions, replace(sized, sessions=sessions, seed=sessions))
    for writes in (1, 2, 4, 8, 12, 16, 20):
        yield Case("Reg4: writes per object", writes, replace(sized, max_writes_per_key=writes, seed=writes))
    for seconds in (10, 20, 30):
        yield _timed("depth", seconds, _LISTS, _NEMESIS)
    for seconds in (10, 30):
        yield _timed("every query", seconds, _LISTS)
        yield _timed("every query, nemesis", seconds, _LISTS, _NEMESIS)


def _timed(experiment: str, seconds: int, base: Workload, database: Simulated = _DATABASE) -> Case:
    return Case(experiment, seconds, replace(base, transactions=seconds * _RATE, seed=seconds), database)


def _rated(experiment: str, rate: int, base: Workload, database: Simulated = _DATABASE) -> Case:
    workload = replace(base, sessions=16, transactions=_SECONDS * rate, seed=rate)
    return Case(experiment, rate, workload, replace(database, concurrency=max(1, rate // 4)))


EXPERIMENTS = tuple(sorted(_cases(), key=lambda case: (case.experiment, case.value)))
