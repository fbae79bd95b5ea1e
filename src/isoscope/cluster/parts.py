"""The parts of histories: where they are judged does not matter to the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.cluster.files import HistoryFiles
    from isoscope.cluster.part_history import RawNames
    from isoscope.cluster.spans import Span
    from isoscope.cluster.tasks import Tasks

__all__ = ["Parts"]


class Parts(Protocol):
    """The parts of histories, judged somewhere."""

    @property
    def histories(self) -> Sequence[HistoryFiles]:
        """The histories, numbered in this order."""
        ...

    @property
    def tasks(self) -> Tasks:
        """The question."""
        ...

    def judged(self) -> dict[int, list[Any]]:
        """The results of all parts, by history."""
        ...

    def excerpts(self, named: dict[int, set[RawNames]], /) -> dict[int, list[Any]]:
        """Rows of transactions as an Arrow stream, and places in sessions, by history."""
        ...

    def same_values(self, reads: dict[int, set[int]], others: dict[int, set[int]], /) -> dict[int, list[Any]]:
        """The rows of transactions that wrote what reads show, of the reads and of others, by history."""
        ...

    def whole(self, numbers: set[int], /) -> dict[int, list[Any]]:
        """All rows of these histories, each as an Arrow stream."""
        ...

    def remaining(self, spans: dict[int, tuple[Span, ...]], limit: int, /) -> dict[int, list[Any]]:
        """The rows of all keys of the transactions in spans as an Arrow stream; how many, if over a limit."""
        ...

    def longest_lists(self, keys: set[tuple[int, int | None, str | None]], /) -> dict[Any, list[int]]:
        """The longest list of each of these keys that is a list."""
        ...
