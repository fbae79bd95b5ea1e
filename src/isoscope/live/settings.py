"""The settings of the service, its states, and its answer to a batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from isoscope.live.check_settings import CheckSettings
from isoscope.live.journal import Fsync

__all__ = ["Settings", "State", "Taken"]


class State(StrEnum):
    """The state of the service."""

    REPLAYING = "replaying"
    RUNNING = "running"
    DRAINING = "draining"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of the service: a checkpoint follows `segments` segments of `segment` bytes each.

    `memory` is the number of bytes that the engines may hold before batches have to wait.
    """

    check: CheckSettings = field(default_factory=CheckSettings)
    memory: int | None = None
    fsync: Fsync = Fsync.ALWAYS
    segment: int = 64 << 20
    segments: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The answer to a batch: new and repeated transactions; `again`: the whole batch was taken before."""

    taken: int
    repeated: int
    sequence: int
    again: bool = False

    def document(self) -> dict[str, object]:
        """The answer as JSON."""
        return {"taken": self.taken, "repeated": self.again or self.repeated, "sequence": self.sequence}
