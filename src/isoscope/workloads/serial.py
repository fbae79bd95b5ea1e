"""A serial store: transactions run one after the other, so its histories satisfy every level.

It makes valid histories of any size, the same for the same seed on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from isoscope._native import generate_serial
from isoscope.history import History, Initial, Source

__all__ = ["Distribution", "SerialWorkload", "generate"]

Distribution = Literal["uniform", "zipfian", "hotspot"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SerialWorkload:
    """Parameters; ratios lie between 0 and 1.

    A key that was written `max_writes_per_key` times is retired and replaced by a new one (0: never).
    """

    sessions: int = 10
    transactions: int = 1000
    min_operations: int = 8
    max_operations: int = 8
    keys: int = 100
    read_ratio: float = 0.5
    abort_ratio: float = 0.0
    distribution: Distribution = "uniform"
    lists: bool = False
    max_writes_per_key: int = 0
    timestamps: bool = False
    initial: Initial = field(default_factory=lambda: Initial(value=0, replaceable=True))
    seed: int = 0


def generate(workload: SerialWorkload) -> History:
    """The history of `workload`."""
    columns = generate_serial(
        seed=workload.seed,
        sessions=workload.sessions,
        transactions=workload.transactions,
        operations=(workload.min_operations, workload.max_operations),
        keys=workload.keys,
        reads=round(workload.read_ratio * 1000),
        aborted=round(workload.abort_ratio * 1000),
        distribution=workload.distribution,
        lists=workload.lists,
        most_writes_per_key=workload.max_writes_per_key,
        timestamps=workload.timestamps,
        initial=workload.initial.value,
        initial_replaceable=workload.initial.replaceable,
    )
    return History(columns, Source(path="<generated>", format="serial"))
