"""How much memory the engines may hold before batches have to wait.

Engines do not give memory back, they use it again. So at the limit there still is room: for as many
transactions as there were in memory when the limit was not yet reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.live.batches import Refused

if TYPE_CHECKING:
    from collections.abc import Collection

    from isoscope.checkers.online import OnlineStatus

__all__ = ["Room"]

#: Seconds after which some memory may be free.
_PATIENCE = 0.2
#: What is beside transactions (keys, values) may grow so far beyond the limit.
_TOLERANCE = 1.25


class Room:
    """Bytes in use, and how many transactions have room in them; no `limit`: as many as come."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.used = 0
        self._live = self._most = 0

    def measure(self, statuses: Collection[OnlineStatus]) -> None:
        """Takes note of what the engines hold."""
        self.used = sum(so_far.memory for so_far in statuses)
        self._live = max(so_far.live for so_far in statuses)
        if self.limit is None or self.used < self.limit:
            self._most = max(self._most, self._live)

    def refuse(self, size: int, *, is_settled: bool) -> None:
        """Raises Refused if there is no room for so many; `is_settled`: nothing more will leave by itself."""
        if self.limit is None or self.used < self.limit:
            return
        has_grown = self.used > self.limit * _TOLERANCE
        if not has_grown and self._live + size <= self._most:
            return
        if not has_grown and not is_settled:
            reason = f"the memory limit of {self.limit:,} bytes is reached: try again later"
            raise Refused(429, reason, wait=_PATIENCE)
        raise Refused(
            507,
            f"the memory limit of {self.limit:,} bytes is too low: {self.used:,} bytes hold what must stay "
            f"and {self._most:,} transactions; restart with a higher one",
        )
