"""Clients of a real database: endless seeded streams of transactions, one for each session.

A transaction is a `Program` that uses the operations of an open transaction. Values are drawn when it runs,
so a transaction that is tried again writes new ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["ClientWorkload", "Insert", "Operations", "Program", "RolledBack"]


class RolledBack(Exception):  # noqa: N818 - a decision of the program, not an error
    """A program raises it to roll its transaction back."""


class Operations(Protocol):
    """The operations of a program in its transaction: a session without begin and end."""

    def read(self, key: int) -> int | tuple[int, ...] | None:
        """The value of `key`: an integer, a list, or None if there is no such row."""

    def write(self, key: int, value: int) -> None:
        """Overwrites a register."""

    def append(self, key: int, value: int) -> None:
        """Appends to a list."""

    def insert(self, key: int, value: int) -> None:
        """Adds a row."""

    def delete(self, key: int) -> None:
        """Removes a row."""

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        """Registers from `low` to `high`, both included."""


Program: TypeAlias = "Callable[[Operations], None]"
#: Commits rows with initial values before the transaction that will use them begins.
Insert: TypeAlias = "Callable[[Iterable[tuple[int, int]]], None]"


class ClientWorkload(Protocol):
    """Parameters of clients; the same seed gives each session the same stream, unless keys are retired."""

    @property
    def content(self) -> Literal["register", "list"]:
        """What keys hold."""

    @property
    def sessions(self) -> int:
        """How many there are."""

    def rows(self) -> Iterable[tuple[int, int]]:
        """Keys that are there at the start, with their initial values."""

    def clients(self, insert: Insert) -> list[Iterator[Program]]:
        """A stream of programs for each session, each used by one thread.

        `insert` makes rows for keys that take the place of retired ones; it may be called from any thread,
        between two transactions.
        """
