"""The activity of a history in words and numbers: everything that the plot shows."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from isoscope.activity import Clock
from isoscope.explain import shown, whole
from isoscope.explain.value_text import duration
from isoscope.reports.plain_text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.activity import Activity, Latency, UnderWay

__all__ = [
    "activity_document",
    "activity_lines",
    "extent",
    "latency",
    "missing",
    "percent",
    "under_way",
]

#: The unit of time of each clock.
UNITS = {
    Clock.CLIENT: "nanoseconds",
    Clock.DATABASE: "ticks",
    Clock.EVENTS: "events",
    Clock.APPEARANCE: "transactions",
}
#: The times that a history has if this is its best clock.
_HAS = {
    Clock.CLIENT: "intervals on the client's clock",
    Clock.DATABASE: "the database's timestamps only",
    Clock.EVENTS: "the order of invocations and completions, and no times",
    Clock.APPEARANCE: "no times",
}
_BY = {
    Clock.CLIENT: "by the client's clock",
    Clock.DATABASE: "by the database's clock",
    Clock.EVENTS: "by the order of invocations and completions",
    Clock.APPEARANCE: "by order of appearance",
}


def activity_document(activity: Activity) -> dict[str, Any]:
    """The numbers as data; a number that the history cannot give is null, and `missing` says why."""
    found = asdict(activity)
    found |= {
        "clock": str(activity.clock),
        "unit": UNITS[activity.clock],
        "abort_rate": activity.share("aborted"),
        "indeterminate_rate": activity.share("indeterminate"),
        "throughput": activity.throughput,
        "missing": missing(activity),
        "buckets": list(map(asdict, activity.buckets)),
        "keys": [asdict(used) | {"key": whole(used.key)} for used in activity.keys],
        "keys_by_use": [
            {"from": 2**place, "to": 2 ** (place + 1) - 1, "keys": keys}
            for place, keys in enumerate(activity.keys_by_use)
        ],
    }
    return found


def activity_lines(activity: Activity) -> Iterator[tuple[str, str]]:
    """A name and a value for each line of text."""
    lacks = missing(activity)
    yield "time", extent(activity)
    yield "latency", lacks.get("latency") or latency(activity.latency)
    yield "under way", lacks.get("under_way") or under_way(activity.under_way)
    if activity.throughput is None:
        yield "throughput", lacks.get("throughput") or "committed transactions are plotted by tick"
    else:
        yield "throughput", f"{activity.throughput:,.0f} committed a second"
    rates = (f"{status} {percent(activity.share(status))}" for status in ("aborted", "indeterminate"))
    yield "did not commit", ", ".join(rates)
    busiest = (
        f"{shown(used.key)} ({counted(used.writers, 'writer')}, {counted(used.readers, 'reader')})"
        for used in activity.keys[:3]
    )
    yield "busiest keys", ", ".join(busiest) or "none"


def missing(activity: Activity) -> dict[str, str]:
    """The numbers that the history cannot give, of latency, under_way and throughput, and why."""
    has, clock = _HAS[activity.clock], activity.clock
    found = {}
    if clock is not Clock.CLIENT:
        found["latency"] = f"needs intervals on the client's clock; this history has {has}"
    elif activity.latency is None:
        found["latency"] = "no committed transaction has both an invocation and a completion"
    if clock is Clock.APPEARANCE:
        found["under_way"] = f"needs beginnings and ends; this history has {has}"
    elif activity.under_way is None or not activity.under_way.peak:
        found["under_way"] = "no transaction has both a beginning and an end"
    if clock in (Clock.EVENTS, Clock.APPEARANCE):
        found["throughput"] = f"needs a clock; this history has {has}"
    return found


def extent(activity: Activity) -> str:
    """The length of the history and its clock."""
    how_long = counted(activity.length, UNITS[activity.clock].removesuffix("s"))
    if activity.clock is Clock.CLIENT:
        how_long = duration(activity.length)
    said = [f"{how_long} {_BY[activity.clock]}"]
    if activity.untimed:
        said.append(f"{counted(activity.untimed, 'transaction')} without a time")
    if activity.clock is not Clock.APPEARANCE and activity.open > activity.untimed:
        said.append(f"{activity.open - activity.untimed:,} without a known beginning or end")
    return "; ".join(said)


def latency(found: Latency | None) -> str:
    """The percentiles on one line."""
    if found is None:
        return "unknown"
    percentiles = (("p50", found.p50), ("p95", found.p95), ("p99", found.p99), ("max", found.max))
    return ", ".join(f"{name} {duration(value)}" for name, value in percentiles)


def under_way(found: UnderWay | None) -> str:
    """Mean and peak on one line."""
    return "unknown" if found is None else f"mean {found.mean:,.1f}, peak {found.peak:,}"


def percent(share: float | None) -> str:
    """`4.2 %`, with at most three digits that count."""
    return "unknown" if share is None else f"{100 * share:.3g} %"
