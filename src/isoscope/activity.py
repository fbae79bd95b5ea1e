"""The activity of a history over time: transactions that ended, their latency, how many were under way.

Time is cut into buckets of equal width. A transaction counts in the bucket in which it ended for its client,
or in which it began if its end is unknown; latency is that of committed transactions. The native core counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from isoscope import _native

if TYPE_CHECKING:
    from isoscope._native import BucketCounts, ConcurrencyCounts, LatencyQuantiles
    from isoscope.history import Fault, History, Scalar

__all__ = ["Activity", "Bucket", "Clock", "KeyUse", "Latency", "UnderWay", "activity"]

_MOST_BUCKETS, _FEWEST_BUCKETS, _IN_A_BUCKET = 60, 10, 20
_MOST_KEYS = 10
_SECOND = 10**9


class Clock(StrEnum):
    """The clock that times are of: the first of these that the history has."""

    CLIENT = "client"
    DATABASE = "database"
    EVENTS = "events"
    APPEARANCE = "appearance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Nanoseconds from the first invocation to the last completion; percentiles by nearest rank."""

    p50: int
    p95: int
    p99: int
    max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderWay:
    """How many transactions were under way: on average over time, and most at one instant."""

    mean: float
    peak: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """The activity in `length` instants from `start` on, which counts from the first instant of all."""

    start: int
    length: int
    committed: int
    aborted: int
    indeterminate: int
    latency: Latency | None
    under_way: UnderWay | None

    @property
    def transactions(self) -> int:
        """All transactions that ended here."""
        return self.committed + self.aborted + self.indeterminate


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyUse:
    """How many transactions read or wrote a key, read it, wrote it."""

    key: Scalar
    transactions: int
    readers: int
    writers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """The activity in a whole history.

    `length` counts instants: nanoseconds of the client's clock, ticks of the database's, places in an order.
    `untimed` transactions are in no bucket; `open` ones, of which not both ends are known, have no latency
    and are not under way. `keys_by_use[n]` is how many keys 2**n transactions use or more, but fewer than
    2**(n + 1). `faults` were injected meanwhile.
    """

    clock: Clock
    first: int
    length: int
    untimed: int
    open: int
    buckets: tuple[Bucket, ...]
    latency: Latency | None
    under_way: UnderWay | None
    keys: tuple[KeyUse, ...]
    keys_by_use: tuple[int, ...]
    faults: tuple[Fault, ...] = ()

    def total(self, status: str) -> int:
        """Transactions in buckets that are `committed`, `aborted`, `indeterminate`, or `transactions`."""
        return sum(getattr(bucket, status) for bucket in self.buckets)

    def share(self, status: str) -> float | None:
        """The share of `aborted` or `indeterminate` transactions in those that are in buckets."""
        every = self.total("transactions")
        return self.total(status) / every if every else None

    @property
    def throughput(self) -> float | None:
        """Transactions that committed in a second, by the client's clock."""
        if self.clock is not Clock.CLIENT:
            return None
        return self.total("committed") * _SECOND / self.length


def activity(history: History) -> Activity:
    """What transactions did in `history`, by the best clock that it has."""
    buckets = max(_FEWEST_BUCKETS, min(_MOST_BUCKETS, len(history) // _IN_A_BUCKET))
    found = _native.activity(history.columns, buckets, _MOST_KEYS)
    clock = Clock(found.clock)
    starts = range(0, found.length, found.width or 1)
    return Activity(
        clock=clock,
        first=found.first,
        length=found.length,
        untimed=found.untimed,
        open=found.open,
        buckets=tuple(
            _bucket(clock, start, min(found.width, found.length - start), counted)
            for start, counted in zip(starts, found.buckets, strict=True)
        ),
        latency=_latency(clock, found.latency),
        under_way=_under_way(clock, found.concurrency, found.length),
        keys=tuple(
            KeyUse(key=use.key, transactions=use.transactions, readers=use.readers, writers=use.writers)
            for use in found.keys
        ),
        keys_by_use=tuple(found.keys_by_use),
        # Faults are on the client's clock.
        faults=history.deployment.faults if clock is Clock.CLIENT else (),
    )


def _bucket(clock: Clock, start: int, length: int, counted: BucketCounts) -> Bucket:
    return Bucket(
        start=start,
        length=length,
        committed=counted.committed,
        aborted=counted.aborted,
        indeterminate=counted.indeterminate,
        latency=_latency(clock, counted.latency),
        under_way=_under_way(clock, counted.concurrency, length),
    )


def _latency(clock: Clock, found: LatencyQuantiles | None) -> Latency | None:
    """Only the client's clock shows how long a client waited."""
    if found is None or clock is not Clock.CLIENT:
        return None
    return Latency(p50=found.p50, p95=found.p95, p99=found.p99, max=found.max)


def _under_way(clock: Clock, counted: ConcurrencyCounts, length: int) -> UnderWay | None:
    """In an order of appearance every transaction ends before the next begins: that says nothing."""
    if clock is Clock.APPEARANCE or not length:
        return None
    return UnderWay(mean=counted.total / length, peak=counted.peak)
