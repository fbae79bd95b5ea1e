"""Transactions with their clients' clocks: as rows, and as slices of a history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from isoscope._native import Builder
from isoscope.history import History, Source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.history import Scalar, Timestamp

__all__ = ["Recorded", "SliceSource", "as_history"]


class Recorded(NamedTuple):
    """A transaction with its client's clock: rows as `Builder.recorded` takes them."""

    id: Scalar
    session: Scalar
    status: int
    rows: list[tuple[Any, ...]]
    timestamps: tuple[Timestamp, Timestamp] | None = None


class SliceSource(Protocol):
    """The record of a run, which already holds its transactions as columns."""

    def __call__(self, numbers: list[int], *, initial: bool) -> History:
        """The transactions with these numbers, and with `initial` the initial values of no earlier slice."""


def as_history(rows: Iterable[Recorded]) -> History:
    """The transactions as a slice of a history."""
    builder = Builder()
    for row in rows:
        builder.recorded(*row)
    return History(builder.finish(), Source(path="<run>", format="run"))
