"""Runs with faults that take as long as the machine needs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from isoscope.run import FaultPlan, Limits, Plan, execute

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.run import CompletedRun

__all__ = ["run_with_faults"]

#: How much slower than usual the machine may be; all of them fit into the time limit of a test.
_FACTORS = (1, 2, 4)
#: Transactions that show that nodes were at work between the faults.
_ENOUGH = 20


def run_with_faults(
    name: str, schedule: str, *, seconds: float, every: float, settings: Mapping[str, str] | None = None
) -> CompletedRun:
    """A run on three nodes in which every fault of the schedule came and went.

    A node that starts slowly on a busy machine holds up the faults behind it, so that the run ends before
    they come, or it is not back in time. Then everything takes twice as long, and so on.
    """
    faults = FaultPlan.parse(schedule, every=every)
    expected = [(fault.kind, fault.node, "") for fault in faults.schedule]
    seen = []
    for factor in _FACTORS:
        slower = [replace(fault, at=fault.at * factor) for fault in faults.schedule]
        completed = execute(
            Plan.of(
                name,
                nodes=3,
                settings=settings or {},
                parameters={"sessions": 6, "keys": 10},
                limits=Limits(seconds=seconds * factor),
                faults=replace(faults, every=every * factor, schedule=tuple(slower)),
            )
        )
        assert completed.run.problem is None
        found = [(fault.kind, fault.node, fault.remark) for fault in completed.run.faults]
        seen.append((found, completed.run.progress.committed))
        if found == expected and completed.run.progress.committed > _ENOUGH:
            return completed
    raise AssertionError(f"the faults of {schedule} did not all come and go: {seen}")
