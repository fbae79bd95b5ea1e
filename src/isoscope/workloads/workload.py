"""A workload whose transactions run one after the other: histories of any size that satisfy a level.

A read shows one of the last few versions of its key, any that the level allows, so a history is as weak as
its level; without a level it shows the newest. With snapshots, a transaction begins up to `lag` - 1
transactions before it commits, but after the last one of its session; a client's interval does so at every
level. The same workload gives the same history on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from isoscope import _native
from isoscope.history import History, Initial, Source
from isoscope.workloads import breaking

if TYPE_CHECKING:
    from isoscope.levels import Level
    from isoscope.workloads.mixes import Distribution, Mix

__all__ = ["TABLE_1", "Workload", "generate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Parameters; ratios lie between 0 and 1. The native core reads these attributes by their names.

    `level` is satisfied (None: every one, or all that `breaks` leaves), `breaks` is violated. A `mix` takes
    the place of `keys`, `distribution`, `read_ratio` and the numbers of operations. A key that was written
    `max_writes_per_key` times is retired and replaced by a new one (0: never).
    """

    sessions: int = 10
    transactions: int = 1000
    min_operations: int = 8
    max_operations: int = 8
    keys: int = 100
    read_ratio: float = 0.5
    abort_ratio: float = 0.0
    distribution: Distribution = "uniform"
    mix: Mix | None = None
    level: Level | None = None
    breaks: Level | None = None
    lag: int = 8
    lists: bool = False
    max_writes_per_key: int = 0
    timestamps: bool = False
    intervals: bool = False
    initial: Initial = field(default_factory=lambda: Initial(value=0, replaceable=True))
    seed: int = 0


#: The defaults of Table I of Li et al. 2025. Their figures vary one parameter at a time.
TABLE_1 = Workload(
    sessions=50,
    transactions=100_000,
    min_operations=15,
    max_operations=15,
    keys=1000,
    read_ratio=0.5,
    distribution="zipfian",
    timestamps=True,
)


def generate(workload: Workload) -> History:
    """The history of `workload`; raises `UsageError` if no history can satisfy and break its levels."""
    plan = breaking.plan(
        workload.level,
        workload.breaks,
        sessions=workload.sessions,
        transactions=workload.transactions,
    )
    columns = _native.generate(workload, isolation=plan.store, script=plan.scenes)
    return History(columns, Source(path="<generated>", format="generated"))
