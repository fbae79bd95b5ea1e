"""Times of one counterexample in words: since the earliest, in one unit, with enough digits to differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.verdict import MechanismFacts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.verdict import Anomaly, Witness

__all__ = ["ClientTimes", "client_times_of", "is_timed"]

_UNITS = ((9, "s"), (6, "ms"), (3, "us"), (0, "ns"))


class ClientTimes:
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
        """`1.25`, in the unit of this counterexample."""
        since, size = time - self.first, 10 ** (self._power - self._digits)
        # Integers only: nanoseconds since an epoch have more digits than a float.
        whole, rest = divmod(since // size, 10**self._digits)
        return f"{whole:,}.{rest:0{self._digits}}" if self._digits else f"{whole:,}"

    def said(self, time: int) -> str:
        """`1.25 ms`; the earliest time is 0."""
        return f"{self.number(time)} {self._unit}" if time != self.first else "0"

    def between(self, interval: tuple[int | None, int | None] | None) -> str:
        """`0 to 1.25 ms`, or the end that is known."""
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
    """Whether all times, counted in this size since the first, have different numbers."""
    return len({(time - times[0]) // size for time in times}) == len(times)


def client_times_of(anomaly: Anomaly) -> ClientTimes:
    """The times of all operations that the participants of the anomaly show."""
    shown = [operation for participant in anomaly.participants for operation in participant.operations]
    return ClientTimes(time for one in shown or anomaly.witnesses for time in _known(one))


def is_timed(anomaly: Anomaly) -> bool:
    """Whether the proof rests on the times of operations by the clients' clocks."""
    return isinstance(anomaly.facts, MechanismFacts)


def _known(witness: Witness) -> list[int]:
    return [time for time in witness.interval or () if time is not None]
