"""Instants of one counterexample in words: since the earliest, in one unit, no two alike that differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.verdict import MechanismFacts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.verdict import Anomaly, Witness

__all__ = ["Instants", "instants_of", "is_timed"]

_UNITS = ((9, "s"), (6, "ms"), (3, "us"), (0, "ns"))


class Instants:
    """Times of a client's clock, in nanoseconds."""

    def __init__(self, times: Iterable[int]) -> None:
        known = sorted(set(times)) or [0]
        self.first, self.last = known[0], known[-1]
        span = self.last - self.first
        self._power, self._unit = next((row for row in _UNITS if span >= 10 ** row[0]), _UNITS[-1])
        self._digits = next(
            digits for digits in range(self._power + 1) if _are_apart(known, 10 ** (self._power - digits))
        )

    def number(self, time: int) -> str:
        """`1.25`, of this counterexample's unit."""
        since, size = time - self.first, 10 ** (self._power - self._digits)
        # Never by a float: a clock of nanoseconds has more digits than one.
        whole, rest = divmod(since // size, 10**self._digits)
        return f"{whole:,}.{rest:0{self._digits}}" if self._digits else f"{whole:,}"

    def said(self, time: int) -> str:
        """`1.25 ms`; the first of all is 0."""
        return f"{self.number(time)} {self._unit}" if time != self.first else "0"

    def between(self, interval: tuple[int | None, int | None] | None) -> str:
        """`0 to 1.25 ms`, or what is known of it."""
        invoke, complete = interval or (None, None)
        if invoke is None or complete is None:
            after = "" if invoke is None else f"after {self.said(invoke)}"
            before = "" if complete is None else f"before {self.said(complete)}"
            return after or before or "at an unknown time"
        if invoke == complete:
            return f"at {self.said(invoke)}"
        start = "0" if invoke == self.first else self.number(invoke)
        return f"{start} to {self.said(complete)}"


def _are_apart(times: list[int], size: int) -> bool:
    """Whether all times, counted in this size since the first, have numbers of their own."""
    return len({(time - times[0]) // size for time in times}) == len(times)


def instants_of(anomaly: Anomaly) -> Instants:
    """The instants of all operations that an account of the anomaly shows."""
    shown = [one for who in anomaly.participants for one in who.operations]
    return Instants(time for one in shown or anomaly.witnesses for time in _known(one))


def is_timed(anomaly: Anomaly) -> bool:
    """Whether it is about when operations were, by the clients' clocks."""
    return isinstance(anomaly.facts, MechanismFacts)


def _known(witness: Witness) -> list[int]:
    return [time for time in witness.interval or () if time is not None]
