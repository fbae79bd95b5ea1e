"""The transactions that findings of an online engine name, and the message for a refused one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isoscope.history import History, Initial, Source, Transaction

__all__ = ["StreamExcerpt", "refused"]


def refused(history: History, error: ValueError) -> ValueError:
    """The place of a transaction that cannot be judged, and why."""
    number, problem = error.args
    transaction = history.transaction(number)
    where = f"{history.source.place(transaction.line)}: " if transaction.line else ""
    return ValueError(f"{where}transaction {transaction.id!r}: {problem}")


class StreamExcerpt:
    """Transactions, each with its session in the whole stream and its place there."""

    def __init__(self, history: History, places: list[tuple[int, int]]) -> None:
        self._history = history
        self._places = places

    @property
    def source(self) -> Source:
        """A source without lines."""
        return self._history.source

    @property
    def initial(self) -> Initial:
        """The values of keys before the first write."""
        return self._history.initial

    @property
    def columns(self) -> StreamExcerpt:
        """Where operations and transactions stand."""
        return self

    def transaction(self, number: int) -> Transaction:
        """The transaction with this number."""
        return replace(self._history.transaction(number), session=self._places[number][0])

    def locate(self, operation: int, /) -> tuple[int, int]:
        """The number of the transaction that an operation belongs to, and its place there."""
        return self._history.columns.locate(operation)

    def place_in_session(self, transaction: int, /) -> int:
        """How many transactions of its session come before one."""
        return self._places[transaction][1]
