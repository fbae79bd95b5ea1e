"""The memory that the engines and the whole process may hold before batches have to wait.

The engines count what they hold. The process has more: batches under way, and memory that is free but not
given back to the system. It is given back when there is much of it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from isoscope.live.batches import Refused

if TYPE_CHECKING:
    from isoscope.live.engines import Engines

__all__ = ["FACTOR", "MemoryLimit", "give_back", "resident"]

_PAGE = os.sysconf("SC_PAGE_SIZE")
#: Seconds after which some memory may be free again.
_PATIENCE = 0.2


#: The process may grow by this factor of the limit, and by this many bytes for batches under way.
FACTOR = 2
_ALLOWANCE = 256 << 20
#: Nanoseconds between two attempts to give memory back.
_PAUSE = 2_000_000_000


class MemoryLimit:
    """Bytes that the engines use, and their `limit`; None is no limit."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.used = 0
        self._at_start = resident()
        self._trimmed = 0

    @property
    def grown(self) -> int:
        """Bytes by which the process has grown since the start."""
        return max(0, resident() - self._at_start)

    def document(self) -> dict[str, int | None]:
        """As JSON."""
        return {"used": self.used, "limit": self.limit, "grown": self.grown}

    def measure(self, engines: Engines) -> None:
        """Asks the engines how much they hold."""
        self.used = engines.memory

    def trim(self, now: int) -> None:
        """Gives free memory back to the system if the process holds much more than the engines use."""
        if self.limit is None or now - self._trimmed < _PAUSE:
            return
        if self.grown > 1.25 * max(self.used, self.limit / 2):
            self._trimmed = now
            give_back()

    def refuse(self, *, is_settled: bool) -> None:
        """Raises Refused at the limit; `is_settled`: the engines will free nothing more by themselves."""
        if self.limit is None:
            return
        if self.used < self.limit:
            self._refuse_grown(self.limit, is_settled=is_settled)
            return
        if not is_settled:
            reason = f"the memory limit of {self.limit:,} bytes is reached: try again later"
            raise Refused(429, reason, wait=_PATIENCE)
        raise Refused(
            507,
            f"the memory limit of {self.limit:,} bytes is too low: {self.used:,} bytes hold what must stay; "
            "restart with a higher one",
        )

    def _refuse_grown(self, limit: int, *, is_settled: bool) -> None:
        if (grown := self.grown) <= FACTOR * limit + _ALLOWANCE:
            return
        reason = f"the process has grown by {grown:,} bytes, more than {FACTOR} times the memory limit"
        raise Refused(507 if is_settled else 429, reason, wait=_PATIENCE)


def resident() -> int:
    """Bytes of this process in memory; 0 where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * _PAGE


def give_back() -> None:
    """Asks the allocators to return free memory: that of Arrow, if loaded, and that of the C library."""
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.default_memory_pool().release_unused()
    # Not every C library can.
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
