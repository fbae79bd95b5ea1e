"""The transactions that findings name, taken from the slices of a history that is not in memory."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from isoscope.checkers.witnesses import token
from isoscope.history import Initial, OperationKind, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from isoscope._native import ClockFinding
    from isoscope.history import History, Operation, Transaction

__all__ = ["SliceExcerpt"]


class SliceExcerpt:
    """Transactions by the numbers that they and their operations have in the whole."""

    def __init__(self, holds_list: Callable[[object], bool], findings: Iterable[ClockFinding]) -> None:
        """`holds_list` says whether some transaction uses a key as a list."""
        named = [*findings]
        self.source, self.initial = Source(), Initial()
        self._holds_list = holds_list
        self._numbers = sorted({number for finding in named for number in _transactions(finding)})
        self._operations = sorted({number for finding in named for number in _operations(finding)})
        self._kept: dict[int, _Kept] = {}
        # The first operation of each transaction that has some, and its number; both ascend.
        self._firsts: list[int] = []
        self._owners: list[int] = []
        self._taken = _Taken()

    @property
    def columns(self) -> SliceExcerpt:
        """Where operations and transactions stand."""
        return self

    @property
    def is_empty(self) -> bool:
        """Whether the findings name no transaction."""
        return not self._numbers

    def transaction(self, number: int) -> Transaction:
        """The transaction with this number."""
        return self._kept[number].transaction

    def locate(self, operation: int, /) -> tuple[int, int]:
        """The number of the transaction that an operation belongs to, and its place there."""
        place = bisect_right(self._firsts, operation) - 1
        return self._owners[place], operation - self._firsts[place]

    def place_in_session(self, transaction: int, /) -> int:
        """How many transactions of its session come before one."""
        return self._kept[transaction].position

    def add(self, history: History) -> None:
        """Takes the named transactions of the next slice."""
        self.source, self.initial = history.source, history.initial
        places = self._taken.places(history, self._named(history))
        for local, (lane, position) in sorted(places.items()):
            transaction = history.transaction(local)
            number = self._taken.transactions + local
            operations = tuple(map(self._with_empty_list, transaction.operations))
            kept = replace(transaction, number=number, session=lane, operations=operations)
            self._kept[number] = _Kept(kept, position)
            if operations:
                self._firsts.append(self._taken.operations + history.columns.first_operation(local))
                self._owners.append(number)
        self._taken.transactions += len(history)
        self._taken.operations += history.columns.operations

    def _named(self, history: History) -> set[int]:
        """The transactions of a slice that are named, by their numbers there."""
        columns, taken = history.columns, self._taken
        named = _between(self._numbers, taken.transactions, len(history))
        operations = _between(self._operations, taken.operations, columns.operations)
        return {*named, *(columns.locate(operation)[0] for operation in operations)}

    def _with_empty_list(self, operation: Operation) -> Operation:
        """A nil read of a key that holds a list is a read of the empty list."""
        is_nil = operation.kind is OperationKind.READ and operation.value is None
        return replace(operation, value=()) if is_nil and self._holds_list(operation.key) else operation


@dataclass(frozen=True, slots=True)
class _Kept:
    transaction: Transaction
    position: int


@dataclass(slots=True)
class _Taken:
    """How much the slices so far held."""

    transactions: int = 0
    operations: int = 0
    lanes: int = 0
    #: The number of each session with a name, and how many transactions it had.
    sessions: dict[tuple[type, str], list[int]] = field(default_factory=dict)

    def places(self, history: History, wanted: set[int]) -> dict[int, tuple[int, int]]:
        """The numbers of the sessions of the wanted transactions of a slice, and their places there."""
        found: dict[int, tuple[int, int]] = {}
        for session in map(history.columns.session, range(history.columns.sessions)):
            lane = self._lane(session.id)
            places = enumerate(session.transactions, start=lane[1])
            found |= {number: (lane[0], place) for place, number in places if number in wanted}
            lane[1] += len(session.transactions)
        return found

    def _lane(self, session: object) -> list[int]:
        """Number and size of a session; one without a name is always another."""
        lane = None if session is None else self.sessions.get(token(session))
        if lane is None:
            lane = [self.lanes, 0]
            self.lanes += 1
        if session is not None:
            self.sessions[token(session)] = lane
        return lane


def _between(numbers: list[int], first: int, count: int) -> Iterator[int]:
    """Those of the next `count` numbers from `first` on that are named, counted from there."""
    some = numbers[bisect_left(numbers, first) : bisect_left(numbers, first + count)]
    return (number - first for number in some)


def _transactions(finding: ClockFinding) -> Iterator[int]:
    yield finding.transaction
    if finding.other is not None:
        yield finding.other


def _operations(finding: ClockFinding) -> Iterator[int]:
    numbers = (finding.operation, finding.against, finding.version_write)
    yield from (number for number in numbers if number is not None)
