"""The memory that the engines may hold before batches have to wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.live.batches import Refused

if TYPE_CHECKING:
    from isoscope.live.engines import Engines

__all__ = ["MemoryLimit"]

#: Seconds after which some memory may be free again.
_PATIENCE = 0.2


class MemoryLimit:
    """Bytes in use, and their `limit`; None is no limit."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.used = 0

    def measure(self, engines: Engines) -> None:
        """Asks the engines how much they hold."""
        self.used = engines.memory

    def refuse(self, *, is_settled: bool) -> None:
        """Raises Refused at the limit; `is_settled`: the engines will free nothing more by themselves."""
        if self.limit is None or self.used < self.limit:
            return
        if not is_settled:
            reason = f"the memory limit of {self.limit:,} bytes is reached: try again later"
            raise Refused(429, reason, wait=_PATIENCE)
        raise Refused(
            507,
            f"the memory limit of {self.limit:,} bytes is too low: {self.used:,} bytes hold what must stay; "
            "restart with a higher one",
        )
