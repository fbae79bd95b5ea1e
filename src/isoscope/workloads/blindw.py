"""BlindW of Cobra (Tan et al. 2020) and its variants in Leopard: no key is read before it is written.

A transaction either reads all of its keys or writes all of them, each key once. Only reads in between show
the order of two writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from isoscope.errors import UsageError
from isoscope.workloads.key_value import KeyValue
from isoscope.workloads.keys import distinct
from isoscope.workloads.parameters import require_least, require_ratio
from isoscope.workloads.streams import lengths, values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.workloads.clients import Operations, Program
    from isoscope.workloads.keys import Draw, Fraction

__all__ = ["BlindW"]

#: Keys of a range read.
_RANGE = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindW(KeyValue):
    """`read_ratio` is the share of transactions that read, `range_ratio` that of ranges among their reads."""

    read_ratio: float
    range_ratio: float = 0.0
    sessions: int = 24
    min_txn_length: int = 8
    max_txn_length: int = 8
    keys: int = 2000

    def __post_init__(self) -> None:
        # A class with slots is made anew, so that `super()` does not find it.
        KeyValue.__post_init__(self)
        require_least(_RANGE if self.range_ratio else 1, keys=self.keys)
        require_ratio(range_ratio=self.range_ratio)
        if self.max_txn_length > self.keys:
            raise UsageError(
                f"--max-txn-length {self.max_txn_length} is more than --keys {self.keys}\n\n"
                "hint: a transaction of BlindW uses every key once"
            )

    def _client(self, session: int, fraction: Fraction, draw: Draw) -> Iterator[Program]:
        length = lengths(fraction, self.min_txn_length, self.max_txn_length)
        fresh, last = values(session, self.sessions), self.keys - _RANGE
        while True:
            is_reading = fraction() < self.read_ratio
            keys = distinct(draw, length())
            if not is_reading:
                yield partial(_write, keys, fresh)
            elif not self.range_ratio:
                yield partial(_read, keys)
            else:
                starts = [min(key, last) if fraction() < self.range_ratio else None for key in keys]
                yield partial(_read_ranges, list(zip(keys, starts, strict=True)))


def _write(keys: list[int], fresh: Iterator[int], operations: Operations) -> None:
    for key in keys:
        operations.write(key, next(fresh))


def _read(keys: list[int], operations: Operations) -> None:
    for key in keys:
        operations.read(key)


def _read_ranges(reads: list[tuple[int, int | None]], operations: Operations) -> None:
    """Reads a key, or the range that starts there instead."""
    for key, start in reads:
        if start is None:
            operations.read(key)
        else:
            operations.range_read(start, start + _RANGE - 1)
