"""Faults while a run goes on: which, when, for how long; on a schedule, or at random from a seed."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from random import Random
from threading import Event, Thread
from time import monotonic, perf_counter_ns
from typing import TYPE_CHECKING

from isoscope.errors import IsoscopeError, UsageError
from isoscope.history import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.databases.database import FaultTarget
    from isoscope.run.recording import Recording

__all__ = ["DEFAULT_EVERY", "FaultInjector", "FaultPlan", "ScheduledFault"]

#: Seconds from one random fault to the next.
DEFAULT_EVERY = 5.0
#: A fault of a schedule: kill, kill@10, kill@10s:n2.
_FAULT = re.compile(r"(?P<kind>[a-z-]+)(?:@(?P<at>\d+(?:\.\d+)?)s?(?::(?P<node>[\w.-]+))?)?")
#: Faults without a duration.
_INSTANT = ("cut",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledFault:
    """A fault at so many seconds after the start of the run; without a node, at one of a random choice."""

    kind: str
    at: float
    node: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultPlan:
    """Faults of these kinds, one `every` so many seconds, or as the `schedule` has them.

    A fault lasts for half of `every`. The seed decides kinds and nodes that are not named.
    """

    kinds: tuple[str, ...]
    every: float = DEFAULT_EVERY
    schedule: tuple[ScheduledFault, ...] = ()
    seed: int = 0

    @classmethod
    def parse(cls, text: str, *, every: float = DEFAULT_EVERY, seed: int = 0) -> FaultPlan:
        """The plan of `kill,pause`, or of a schedule such as `kill@5s:n2,pause@12s`. Raises `UsageError`."""
        found = [_FAULT.fullmatch(part.strip()) for part in text.split(",")]
        parts = [match for match in found if match is not None]
        timed = [match for match in parts if match["at"] is not None]
        if len(parts) < len(found) or len(timed) not in (0, len(parts)):
            raise UsageError(
                f"--faults {text}: expected kinds, as `kill,pause`, or a schedule, as `kill@5s:n2,pause@12s`"
            )
        kinds = tuple(dict.fromkeys(match["kind"] for match in parts))
        schedule = [
            ScheduledFault(kind=match["kind"], at=float(match["at"]), node=match["node"] or "")
            for match in timed
        ]
        schedule.sort(key=lambda fault: fault.at)
        return cls(kinds=kinds, every=every, schedule=tuple(schedule), seed=seed)

    def faults(self, nodes: Sequence[str]) -> Iterator[ScheduledFault]:
        """The faults, each with a node; at random without an end."""
        chosen = Random(self.seed)
        for fault in self.schedule:
            yield fault if fault.node else replace(fault, node=chosen.choice(nodes))
        number = 0
        while not self.schedule:
            number += 1
            kind, node = chosen.choice(self.kinds), chosen.choice(nodes)
            yield ScheduledFault(kind=kind, at=number * self.every, node=node)

    def refuse_unknown_nodes(self, nodes: Sequence[str]) -> None:
        """Raises `UsageError` if the schedule names a node that there is not."""
        for fault in self.schedule:
            if fault.node and fault.node not in nodes:
                raise UsageError(f"there is no node `{fault.node}`\n\nhint: the nodes are {', '.join(nodes)}")


class FaultInjector:
    """Injects the faults of a plan, from a thread of its own, one after the other."""

    def __init__(
        self, plan: FaultPlan, target: FaultTarget, nodes: Sequence[str], recording: Recording
    ) -> None:
        plan.refuse_unknown_nodes(nodes)
        self._plan, self._target, self._nodes, self._recording = plan, target, nodes, recording
        self._is_over = Event()
        self._thread = Thread(target=self._work, name="isoscope-faults", daemon=True)
        self.faults: list[Fault] = []

    def start(self) -> None:
        """The run begins now."""
        self._thread.start()

    def close(self) -> None:
        """Ends the fault that goes on, if there is one."""
        self._is_over.set()
        self._thread.join()

    def _work(self) -> None:
        started = monotonic()
        for fault in self._plan.faults(self._nodes):
            if self._is_over.wait(max(0.0, started + fault.at - monotonic())):
                return
            self._inject(fault)

    def _inject(self, fault: ScheduledFault) -> None:
        self.faults.append(Fault(kind=fault.kind, node=fault.node, start=perf_counter_ns()))
        remark = ""
        try:
            self._target.inject(fault.kind, fault.node)
            self._recording.faults(self.faults)
            if fault.kind not in _INSTANT:
                self._is_over.wait(self._plan.every / 2)
            remark = self._target.heal(fault.kind, fault.node)
        except (IsoscopeError, OSError) as error:
            remark = " ".join(str(error).split())
        self.faults[-1] = replace(self.faults[-1], stop=perf_counter_ns(), remark=remark)
        self._recording.faults(self.faults)
