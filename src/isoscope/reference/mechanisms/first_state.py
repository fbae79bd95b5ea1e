"""The first state of a key: reads that can only show it must show the same.

A range read that leaves out a key says that no row was there at first.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from isoscope.reference.mechanisms.findings import Finding
from isoscope.reference.mechanisms.misreads import MISSING_ROW, NAME, THIN_AIR
from isoscope.reference.observations import INITIAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.reference.mechanisms.consistent_read import Reading

__all__ = ["findings"]


def findings(readings: Iterable[Reading]) -> Iterator[Finding]:
    """Two reads of the first state that differ."""
    firsts = [reading.observation for reading in readings if reading.source == INITIAL]
    for one, other in combinations(firsts, 2):
        if one.key == other.key and one.value != other.value:
            absent, shown = (other, one) if other.is_absent else (one, other)
            case = MISSING_ROW if absent.is_absent else THIN_AIR
            yield Finding(NAME, case, (absent.place, shown.place))
