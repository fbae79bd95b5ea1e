"""The transactions that findings name, by the positions of their rows in the whole history."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from isoscope.cluster.part_history import part_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from isoscope.cluster.part_history import Beginning
    from isoscope.history import Initial, Operation, Source, Transaction

__all__ = ["Excerpt"]


class Excerpt:
    """Whole transactions of a history; the number of an operation or transaction is a position of a row.

    A transaction has the positions of all of its rows, and `number` is the first.
    """

    def __init__(
        self,
        rows: list[pa.RecordBatch],
        beginning: Beginning,
        source: Source,
        places: Mapping[int, tuple[int, int]],
    ) -> None:
        """`places` are the first row of the session of each transaction, and its place there."""
        self.source = source
        part = part_of(rows, beginning)
        self.initial: Initial = part.history.initial
        self._places = places
        transactions = [part.history.transaction(number) for number in range(len(part.history))]
        self._kept = {
            part.position(one.line): replace(
                one,
                number=part.position(one.line),
                session=places[part.position(one.line)][0],
                line=part.position(one.line),
                operations=tuple(
                    _moved(operation, part.position(operation.line)) for operation in one.operations
                ),
            )
            for one in transactions
        }
        self._firsts = sorted(self._kept)

    @property
    def columns(self) -> Excerpt:
        """Where operations and transactions stand."""
        return self

    def transaction(self, number: int) -> Transaction:
        """The transaction that has a row at this position."""
        return self._kept[self._first(number)]

    def locate(self, operation: int, /) -> tuple[int, int]:
        """The transaction that the operation at a position belongs to, and its place there."""
        first = self._first(operation)
        lines = [one.line for one in self._kept[first].operations]
        return first, lines.index(operation)

    def place_in_session(self, transaction: int, /) -> int:
        """How many transactions of its session come before one."""
        return self._places[self._first(transaction)][1]

    def _first(self, position: int) -> int:
        return self._firsts[bisect_right(self._firsts, position) - 1]


def _moved(operation: Operation, position: int) -> Operation:
    return replace(operation, line=position)
