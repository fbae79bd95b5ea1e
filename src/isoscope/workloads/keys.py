"""The keys of clients: drawn by a distribution, and retired after some writes.

Zipfian and hotspot are the laws of the native generator (`rust/kernel/src/generate/mix.rs`): weight 1/n for
the n-th key; four fifths of the operations for a fifth of the keys. Exponential is Jepsen's choice among its
few active keys: each half as likely as the one before.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from itertools import accumulate
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from isoscope.workloads.clients import Insert

__all__ = ["DISTRIBUTIONS", "Draw", "Fraction", "Plan", "Pool", "distinct", "drawing", "weights"]

#: Distributions for a table of any size.
DISTRIBUTIONS = ("uniform", "zipfian", "hotspot")
#: A random number in [0, 1).
Fraction: TypeAlias = "Callable[[], float]"
#: The number of a key, or of another thing with a weight.
Draw: TypeAlias = "Callable[[], int]"
#: Operations of a transaction: whether it reads (else it writes), and which key.
Plan: TypeAlias = "list[tuple[bool, int]]"

#: The weight of the first key; halved forty times it is still one.
_HEAVIEST = 1 << 40


def weights(distribution: str, keys: int) -> list[int]:
    """How likely each of `keys` keys is, in relation to the others."""
    if distribution == "zipfian":
        return [_HEAVIEST // rank for rank in range(1, keys + 1)]
    if distribution == "exponential":
        return [max(1, _HEAVIEST >> place) for place in range(keys)]
    if distribution == "hotspot":
        hot = max(1, keys // 5)
        return [4 * (keys - hot) or 1] * hot + [hot] * (keys - hot)
    return [1] * keys


def drawing(weighted: Iterable[int]) -> Callable[[Fraction], Draw]:
    """Draws by these weights; many sessions share them, each with its own random numbers."""
    # Floats hold these sums exactly, and are compared faster than integers with a float.
    table = [float(total) for total in accumulate(weighted)]

    def of(fraction: Fraction) -> Draw:
        total = table[-1]
        return lambda: bisect_right(table, fraction() * total)

    return of


def distinct(draw: Draw, count: int) -> list[int]:
    """So many different keys, in the order in which they were drawn."""
    drawn: dict[int, None] = {}
    while len(drawn) < count:
        drawn[draw()] = None
    return list(drawn)


class Pool:
    """Active keys of all sessions: a new key replaces one that was planned to be written `most_writes` times.

    Rows of new keys are inserted in batches before they are needed, by the session that finds few left; a key
    is used only when its row exists.
    """

    #: How many new keys are kept ready.
    STOCK = 256

    def __init__(self, active: int, most_writes: int, insert: Insert) -> None:
        self._insert = insert
        self._most_writes = most_writes
        self._keys = list(range(active))
        self._left = [most_writes] * active
        self._fresh = deque(range(active, active + self.STOCK))
        self._next = active + self.STOCK
        self._lock = Lock()
        self._refilling = Lock()

    @classmethod
    def rows(cls, active: int) -> Iterable[tuple[int, int]]:
        """The rows that a pool needs at first."""
        return ((key, 0) for key in range(active + cls.STOCK))

    def keys_of(self, plan: Plan) -> Plan:
        """The same plan with keys for places; its writes count even if they are rolled back."""
        # An operation retires one key at most.
        needed = len(plan)
        low = max(needed, self.STOCK // 2)
        while True:
            with self._lock:
                ready = len(self._fresh)
                resolved = self._resolve(plan) if ready >= needed else None
            if ready < low:
                self._refill(low, wait=resolved is None)
            if resolved is not None:
                return resolved

    def _resolve(self, plan: Plan) -> Plan:
        keys, written = self._keys, self._written
        return [(is_read, keys[place] if is_read else written(place)) for is_read, place in plan]

    def _written(self, place: int) -> int:
        key = self._keys[place]
        self._left[place] -= 1
        if not self._left[place]:
            self._keys[place] = self._fresh.popleft()
            self._left[place] = self._most_writes
        return key

    def _refill(self, low: int, *, wait: bool) -> None:
        """Inserts new keys, unless another session does so, or did while this one waited."""
        if not self._refilling.acquire(blocking=wait):
            return
        try:
            if len(self._fresh) < low:
                batch = range(self._next, self._next + max(low, self.STOCK))
                self._next = batch.stop
                self._insert((key, 0) for key in batch)
                with self._lock:
                    self._fresh.extend(batch)
        finally:
            self._refilling.release()
