"""Range reads as reads of single keys, which all methods judge; reports show what was recorded.

`docs/explanation/semantics.md` says what a range read reads, `rust/kernel/src/sub_history/range_reads.rs`
makes the reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope._native import itemised
from isoscope.history import History, Operation, OperationKind, Range

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope._native import Columns

__all__ = ["ItemisedHistory", "of_ranges", "with_range_reads_as_reads"]


class ItemisedHistory(History):
    """A history with reads in the place of range reads, and the history that was recorded.

    A range read that is not judged, or of which a predicate of unknown form left rows out, still stands
    behind its reads.
    """

    __slots__ = ("_origins", "recorded")

    def __init__(self, columns: Columns, recorded: History, origins: Sequence[int]) -> None:
        super().__init__(columns, recorded.source)
        self.recorded = recorded
        self._origins = origins

    def origin(self, transaction: int, place: int) -> tuple[int, Operation]:
        """The place of the recorded operation that an operation of a transaction comes from, and itself."""
        operation = self._origins[self.columns.first_operation(transaction) + place]
        _, recorded_place = self.recorded.columns.locate(operation)
        return recorded_place, self.recorded.transaction(transaction).operations[recorded_place]

    def is_left_out(self, transaction: int, place: int) -> bool:
        """Whether an operation says what a range read did not show."""
        _, origin = self.origin(transaction, place)
        if origin.kind is not OperationKind.RANGE_READ or not isinstance(origin.value, Range):
            return False
        key = self.transaction(transaction).operations[place].key
        shown = (row for row, _ in (*origin.value.rows, *origin.value.tombstones))
        return not any(type(row) is type(key) and row == key for row in shown)


def with_range_reads_as_reads(history: History) -> History:
    """The same history with reads of single keys in the place of range reads, if these are not too many."""
    if not history.counts["range-read"]:
        return history
    found = itemised(history.columns)
    if found.columns is None:
        return history
    return ItemisedHistory(found.columns, history, found.origins)


def of_ranges(recorded: History, judged: History) -> Iterator[str]:
    """The assumption behind range reads."""
    if not (count := recorded.counts["range-read"]):
        return
    ranges = "1 range read" if count == 1 else f"{count:,} range reads"
    if judged is recorded:
        excess = itemised(recorded.columns).excess
        yield f"{ranges} of {excess:,} keys in all: too many to be judged"
        return
    left = judged.counts["range-read"]
    unread = f", {left:,} of them not, or not wholly" if left else ""
    yield f"{ranges} judged as reads of every key of the table between the bounds{unread}"
    yield from (f"{note}: {count}" for note, count in recorded.columns.notes())
