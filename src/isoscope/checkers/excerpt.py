"""The few transactions of a history that findings name, where the whole is not in memory."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from isoscope.checkers.witnesses import token
from isoscope.history import Initial, OperationKind, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope._native import ClockFacts
    from isoscope.checkers.contradictions import Finding
    from isoscope.history import History, Operation, Transaction

__all__ = ["Excerpt"]


class Excerpt:
    """Transactions by the numbers that they and their operations have in the whole."""

    def __init__(self, facts: ClockFacts, findings: Iterable[Finding]) -> None:
        named = [*findings]
        self.source, self.initial = Source(), Initial()
        self._facts = facts
        self._numbers = sorted({number for finding in named for number in _transactions(finding)})
        self._operations = sorted({number for finding in named for number in _operations(finding)})
        self._kept: dict[int, _Kept] = {}
        self._taken = _Taken()

    @property
    def columns(self) -> Excerpt:
        """Where operations and transactions stand."""
        return self

    @property
    def is_empty(self) -> bool:
        """Whether nothing is named."""
        return not self._numbers

    def transaction(self, number: int) -> Transaction:
        """The transaction with this number."""
        return self._kept[number].transaction

    def locate(self, operation: int, /) -> tuple[int, int]:
        """The number of the transaction that an operation belongs to, and its place there."""
        numbers = sorted(self._kept)
        place = bisect_right(numbers, operation, key=lambda number: self._kept[number].first) - 1
        # Transactions without operations begin where the one after them does.
        number = next(n for n in numbers[place::-1] if self._kept[n].transaction.operations)
        return number, operation - self._kept[number].first

    def place_in_session(self, transaction: int, /) -> int:
        """How many transactions of its session come before one."""
        return self._kept[transaction].position

    def add(self, history: History) -> None:
        """Takes what is named of the next slice."""
        taken = self._taken
        self.source, self.initial = history.source, history.initial
        places = {local: place for local, *place in taken.places(history)}
        for local in self._local(history):
            lane, position, first = *places[local], history.columns.first_operation(local)
            transaction = history.transaction(local)
            operations = tuple(map(self._told, transaction.operations))
            number = taken.transactions + local
            told = replace(transaction, number=number, session=lane, operations=operations)
            self._kept[number] = _Kept(told, taken.operations + first, position)
        taken.transactions += len(history)
        taken.operations += history.columns.operations

    def _local(self, history: History) -> list[int]:
        """The transactions of a slice that are named, by their numbers there."""
        taken = self._taken
        end, last = taken.transactions + len(history), taken.operations + history.columns.operations
        named = {n - taken.transactions for n in self._numbers if taken.transactions <= n < end}
        inside = (n - taken.operations for n in self._operations if taken.operations <= n < last)
        return sorted(named | {history.columns.locate(operation)[0] for operation in inside})

    def _told(self, operation: Operation) -> Operation:
        """A nil read of a key that holds a list is a read of the empty list."""
        is_nil = operation.kind is OperationKind.READ and operation.value is None
        return replace(operation, value=()) if is_nil and self._facts.holds_list(operation.key) else operation


@dataclass(frozen=True, slots=True)
class _Kept:
    transaction: Transaction
    first: int
    position: int


@dataclass(slots=True)
class _Taken:
    """What the slices so far held."""

    transactions: int = 0
    operations: int = 0
    lanes: int = 0
    #: The number of each session with a name, and how many transactions it had.
    sessions: dict[tuple[type, str], list[int]] = field(default_factory=dict)

    def places(self, history: History) -> Iterator[tuple[int, int, int]]:
        """Each transaction of a slice with the number of its session, and its place there."""
        for session, numbers in map(history.columns.session, range(history.columns.sessions)):
            lane = (
                [self.lanes, 0]
                if session is None
                else self.sessions.setdefault(token(session), [self.lanes, 0])
            )
            self.lanes += lane == [self.lanes, 0]
            yield from ((number, lane[0], lane[1] + place) for place, number in enumerate(numbers))
            lane[1] += len(numbers)


def _transactions(finding: Finding) -> Iterator[int]:
    yield finding[1]
    if finding[2] is not None:
        yield finding[2]


def _operations(finding: Finding) -> Iterator[int]:
    *_, operation, against, _, found = finding
    yield from (number for number in (operation, against, found and found[1]) if number is not None)
