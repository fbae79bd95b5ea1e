"""What the faults of links do, whichever way they are made: namespaces of Linux, or relays."""

from __future__ import annotations

from typing import Protocol

__all__ = ["DELAY", "Links"]

#: Seconds by which a slow link delays what is sent, in each direction.
DELAY = 0.1


class Links(Protocol):
    """The links between nodes, which are numbered from 0."""

    def isolate(self, number: int) -> None:
        """Loses all that a node and the others send each other; clients still reach all."""

    def rejoin(self, number: int) -> None:
        """Ends `isolate`."""

    def slow_down(self, number: int) -> None:
        """Delays all that a node and the others send each other by `DELAY`."""

    def speed_up(self, number: int) -> None:
        """Ends `slow_down`."""

    def close(self) -> None:
        """Removes everything; never fails."""
