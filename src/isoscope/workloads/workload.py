"""A workload on a store of some level: histories of any size that satisfy it, and may break another.

Transactions commit one after the other. A read shows one of the last few versions of its key, any that the
level allows, so a history is as weak as its level; a serial store shows the newest. With snapshots, a
transaction begins up to `lag` - 1 transactions before it commits, but after the last one of its session; a
client's interval does so on every store. The same workload gives the same history on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

from isoscope import _native
from isoscope.history import History, Initial, Source
from isoscope.workloads import breaking
from isoscope.workloads.mixes import Distribution, Mix, plain

if TYPE_CHECKING:
    from isoscope.levels import Level
    from isoscope.workloads.mixes import StepRow, TableRow

__all__ = ["TABLE_1", "Parameters", "Workload", "generate"]


class Parameters(TypedDict):
    """What clients do, as the native core takes it."""

    seed: int
    sessions: int
    transactions: int
    tables: list[TableRow]
    templates: list[tuple[int, list[StepRow]]]
    aborted: int
    lists: bool
    most_writes_per_key: int
    timestamps: bool
    intervals: bool
    initial: Any
    initial_replaceable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Parameters; ratios lie between 0 and 1.

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

    def parameters(self) -> Parameters:
        """What clients do, as every engine of the native core takes it."""
        mix = self.mix or plain(
            keys=self.keys,
            distribution=self.distribution,
            read_ratio=self.read_ratio,
            operations=(self.min_operations, self.max_operations),
        )
        tables, templates = mix.rows()
        return Parameters(
            seed=self.seed,
            sessions=self.sessions,
            transactions=self.transactions,
            tables=tables,
            templates=templates,
            aborted=round(self.abort_ratio * 1000),
            lists=self.lists,
            most_writes_per_key=self.max_writes_per_key,
            timestamps=self.timestamps,
            intervals=self.intervals,
            initial=self.initial.value,
            initial_replaceable=self.initial.replaceable,
        )


#: The defaults of Table I of Li et al. 2025: what their figures vary, one parameter at a time.
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
    """The history of `workload`; raises `UsageError` if no history can be what it asks for."""
    plan = breaking.plan(
        workload.level,
        workload.breaks,
        sessions=workload.sessions,
        transactions=workload.transactions,
    )
    columns = _native.generate(
        **workload.parameters(), isolation=plan.store, lag=workload.lag, script=plan.rows()
    )
    return History(columns, Source(path="<generated>", format="generated"))
