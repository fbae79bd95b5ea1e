"""The rate of transactions, and the limit on the rate of requests."""

from __future__ import annotations

from collections import deque
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Rate", "RateLimit"]

_SECOND = 1_000_000_000
_WINDOW = 5 * _SECOND
#: Clients in the table.
_CLIENTS = 4096


class Rate:
    """Transactions a second, over the last five."""

    def __init__(self) -> None:
        self._notes: deque[tuple[int, int]] = deque()

    def note(self, now: int, count: int) -> None:
        """Notes the count at the instant `now`."""
        self._notes.append((now, count))
        while now - self._notes[0][0] > _WINDOW:
            self._notes.popleft()

    def per_second(self) -> float:
        """The growth of the count in a second; 0 before the second note."""
        if len(self._notes) < 2:
            return 0.0
        (then, before), (now, count) = self._notes[0], self._notes[-1]
        return round((count - before) * _SECOND / (now - then), 1) if now > then else 0.0


class RateLimit:
    """Requests a second of each client, with bursts of twice as many; None is no limit."""

    def __init__(self, per_second: float | None, *, clock: Callable[[], float] = monotonic) -> None:
        self._per_second = per_second
        self._clock = clock
        self._lock = Lock()
        self._left: dict[str, tuple[float, float]] = {}

    def admit(self, client: str) -> float:
        """0 if the client may go on, else after how many seconds it should try again."""
        if self._per_second is None:
            return 0.0
        now, most = self._clock(), 2 * self._per_second
        with self._lock:
            left, then = self._left.pop(client, (most, now))
            left = min(most, left + (now - then) * self._per_second)
            waits = 0.0 if left >= 1 else (1 - left) / self._per_second
            # The last row of the table is the latest: the client with the longest silence is dropped first.
            self._left[client] = (left if waits else left - 1, now)
            if len(self._left) > _CLIENTS:
                del self._left[next(iter(self._left))]
        return waits
