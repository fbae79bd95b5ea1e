"""Reads that no order of transactions can excuse: TAP-a to TAP-f and TAP-j of Liu et al. 2024, Table 1.

For lists also what Kingsbury and Alvaro 2020 call duplicate elements and incompatible order. Where both
are silent (repeated values, unknown initial values, indeterminate transactions),
`docs/explanation/semantics.md` has the rule that is spelt out here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from isoscope.history import UNKNOWN, OperationKind, Status, VersionSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import History, Operation, Transaction

__all__ = ["Finding", "Judgement", "counted", "cut_isolation_holds", "is_empty", "judge"]

# A deletion writes no value that a read could be held against.
INSTALLS = (OperationKind.WRITE, OperationKind.APPEND, OperationKind.INSERT)
ON_A_KEY = (OperationKind.READ, OperationKind.DELETE, *INSTALLS)


class Finding(NamedTuple):
    """One anomaly: its name, and the read that shows it by numbers of transaction and operation."""

    transaction: int
    operation: int
    name: str


@dataclass(frozen=True)
class Judgement:
    """Everything found, and how many reads had several possible writers."""

    findings: frozenset[Finding]
    repeated_reads: int


def token(value: object) -> object:
    """Two values are the same if their types and texts are: 1, 1.0 and True are three values."""
    return (type(value).__name__, str(value))


def installed(transaction: Transaction, key: object, after: int = -1) -> list[object]:
    """Values of `key` that the transaction installs behind place `after`, in program order."""
    return [
        token(operation.value)
        for place, operation in enumerate(transaction.operations)
        if place > after and operation.kind in INSTALLS and token(operation.key) == token(key)
    ]


def installed_before(transaction: Transaction, key: object, place: int) -> list[object]:
    """Values of `key` that the transaction installed before its operation at `place`."""
    everything = installed(transaction, key)
    return everything[: len(everything) - len(installed(transaction, key, after=place - 1))]


def known_reads(transaction: Transaction) -> Iterator[tuple[int, Operation]]:
    """Reads whose results the client learned, with their places."""
    for place, operation in enumerate(transaction.operations):
        if operation.kind is OperationKind.READ and operation.value is not UNKNOWN:
            yield place, operation


def reads_of(transaction: Transaction, key: object) -> Iterator[tuple[int, Operation]]:
    """Reads of `key` whose results the client learned, with their places."""
    return ((place, read) for place, read in known_reads(transaction) if token(read.key) == token(key))


def seen(read: Operation) -> list[object]:
    """The elements of the list, or the single value, that a read returned."""
    values = read.value if isinstance(read.value, tuple) else (read.value,)
    return [token(value) for value in values]


def counted(history: History) -> frozenset[int]:
    """Transactions that count as committed.

    Committed ones; an indeterminate one if it is the only possible writer of something that a counted
    transaction read, or of a version in a log.
    """
    transactions = list(history)
    count = {t.number for t in transactions if t.status is Status.COMMITTED}
    for order in history.version_orders:
        for key, versions in order.versions.items():
            for version in versions if order.source is VersionSource.LOG else ():
                count |= _only_indeterminate(transactions, None, -1, key, token(version))
    while True:
        readers = [t for t in transactions if t.number in count]
        grown = count.union(*(_observed_by(history, transactions, reader) for reader in readers))
        if grown == count:
            return frozenset(count)
        count = grown


def is_empty(transaction: Transaction) -> bool:
    """Whether it neither reads nor writes; a begin, a commit or an abort is no operation on a key."""
    return not any(o.kind in (OperationKind.RANGE_READ, *ON_A_KEY) for o in transaction.operations)


def _observed_by(history: History, transactions: list[Transaction], reader: Transaction) -> set[int]:
    """Indeterminate transactions that alone can have written something that `reader` read."""
    observed: set[int] = set()
    for place, read in known_reads(reader):
        own = installed_before(reader, read.key, place)
        if own and not isinstance(read.value, tuple):
            continue  # what a transaction wrote itself says nothing about others
        for value in seen(read):
            if value not in own and not _is_initial(history, read, value):
                observed |= _only_indeterminate(transactions, reader, place, read.key, value)
    return observed


def _only_indeterminate(
    transactions: list[Transaction],
    reader: Transaction | None,
    place: int,
    key: object,
    value: object,
) -> set[int]:
    possible = writers(transactions, reader, place, key, value)
    alone = len(possible) == 1 and possible[0].status is Status.INDETERMINATE
    return {possible[0].number} if alone and possible[0] is not reader else set()


def _is_initial(history: History, read: Operation, value: object) -> bool:
    """Whether a register may hold `value` from the start; a list starts empty."""
    return not isinstance(read.value, tuple) and token(declared_initial(history, read.key)) == value


def declared_initial(history: History, key: object) -> object:
    """What the history says a register holds before the first write; `UNKNOWN` if it does not say it."""
    of_key = {token(other): own for other, own in history.initial.of_key.items()}
    return of_key.get(token(key), history.initial.value)


def initial_value(
    history: History, transactions: list[Transaction], count: frozenset[int], key: object
) -> object:
    """What a register holds before the first write; None, which equals no value, if nothing can be it."""
    initial = declared_initial(history, key)
    if initial is UNKNOWN:
        return _learned_initial(transactions, count, key)
    kept = [t for t in transactions if t.number in count]
    is_replaced = history.initial.replaceable and any(token(initial) in installed(t, key) for t in kept)
    return None if is_replaced else token(initial)


def _learned_initial(transactions: list[Transaction], count: frozenset[int], key: object) -> object:
    """The first value that was read and that no transaction wrote."""
    for reader in transactions:
        for place, read in reads_of(reader, key) if reader.number in count else ():
            value = token(read.value)
            is_own = installed_before(reader, key, place)
            if not is_own and not writers(transactions, reader, place, key, value):
                return value
    return None


def writers(
    transactions: list[Transaction],
    reader: Transaction | None,
    place: int,
    key: object,
    value: object,
) -> list[Transaction]:
    """The possible writers of `value`, as seen by the read at `place`: others, or the reader later."""
    return [
        t
        for t in transactions
        if value in (installed(t, key, after=place) if t is reader else installed(t, key))
    ]


def shape(transactions: list[Transaction], key: object) -> str:
    """What a key holds, by what was done to it: `register`, `list`, or a reason not to judge it."""
    register = growing = False
    for transaction in transactions:
        for operation in transaction.operations:
            if operation.kind not in ON_A_KEY or token(operation.key) != token(key):
                continue
            if operation.kind is OperationKind.DELETE:
                return "deleted"
            is_list = operation.kind is OperationKind.APPEND or isinstance(operation.value, tuple)
            growing |= is_list
            register |= not is_list and operation.value is not UNKNOWN
    if register and growing:
        return "mixed"
    return "list" if growing else "register"


def foreign_part(reader: Transaction, place: int, read: Operation) -> list[object] | None:
    """What a read of a list shows of others (*P*), if the own appends so far stand at its end."""
    elements = seen(read)
    own = installed_before(reader, read.key, place)
    foreign = elements[: len(elements) - len(own)]
    return foreign if elements == foreign + own else None


def shows_duplicates(transactions: list[Transaction], read: Operation) -> bool:
    """Whether a read of a list shows an element more often than all transactions together appended it."""
    appended = [value for t in transactions for value in installed(t, read.key)]
    elements = seen(read)
    return any(elements.count(value) > appended.count(value) > 0 for value in elements)


def longest_lists(transactions: list[Transaction], count: frozenset[int], key: object) -> list[list[object]]:
    """The longest *P* that was read; if several differ, all of them, in the order of the input."""
    lists = [
        foreign
        for reader in transactions
        if reader.number in count
        for place, read in reads_of(reader, key)
        if not shows_duplicates(transactions, read)
        and (foreign := foreign_part(reader, place, read)) is not None
    ]
    longest = max(map(len, lists), default=0)
    return [p for place, p in enumerate(lists) if len(p) == longest and p not in lists[:place]]


def cut_isolation_holds(history: History) -> bool:
    """Cut isolation: no transaction observes one key in two states."""
    return all(finding.name != "non-repeatable-read" for finding in judge(history).findings)


def judge(history: History) -> Judgement:
    """Every anomaly of every read that is judged."""
    transactions = list(history)
    count = counted(history)
    findings: set[Finding] = set()
    repeated = 0
    for key in history.keys:
        kind = shape([t for t in transactions if t.number in count], key)
        if kind not in ("register", "list"):
            continue
        judge_key = (_Register if kind == "register" else _List)(history, transactions, count, key)
        for reader in transactions:
            if reader.number in count:
                findings |= judge_key.reads(reader)
        repeated += judge_key.repeated
    return Judgement(frozenset(findings), repeated)


class _Key:
    """Judges the reads of one key, transaction by transaction in the order of the history."""

    def __init__(
        self, history: History, transactions: list[Transaction], count: frozenset[int], key: object
    ) -> None:
        self.history = history
        self.transactions = transactions
        self.count = count
        self.key = key
        self.repeated = 0

    def reads(self, reader: Transaction) -> set[Finding]:
        found: set[Finding] = set()
        first: list[object] | None = None
        differs = False
        for place, read in reads_of(reader, self.key):
            names, observed = self.read(reader, place, read)
            found |= {Finding(reader.number, place, name) for name in names}
            if observed is None:
                continue
            if first is None:
                first = observed
            elif observed != first and not differs:
                differs = True
                found.add(Finding(reader.number, place, "non-repeatable-read"))
        return found

    def read(self, reader: Transaction, place: int, read: Operation) -> tuple[set[str], list[object] | None]:
        """What is wrong with one read, and what it observed of other transactions, if anything."""
        raise NotImplementedError

    def is_final(self, writer: Transaction, value: object, shown: int | None) -> bool:
        """Whether the writer left the key with `value`, which a list shows so many times."""
        written = installed(writer, self.key)
        return written[-1] == value and (shown is None or shown >= written.count(value))

    def excuse(  # noqa: PLR0913 - what a read says of one value
        self,
        reader: Transaction,
        place: int,
        value: object,
        *,
        extra: bool,
        middle: bool,
        shown: int | None = None,
    ) -> str | None:
        """The name for a value that no possible writer excuses.

        `extra`: one more possible writer excuses it (the initial transaction, or the reader itself).
        `middle`: more of the list follows, so a non-final append of its writer is fine.
        `shown`: how often a list shows it.
        """
        possible = writers(self.transactions, reader, place, self.key, value)
        others = [t for t in possible if t is not reader and t.status is not Status.ABORTED]
        fine = [t for t in others if middle or self.is_final(t, value, shown if len(possible) == 1 else None)]
        if fine or extra:
            self.repeated_now |= len(possible) + extra > 1
            return None
        if reader in possible:
            return "future-read"
        if others:
            return "intermediate-read"
        return "aborted-read" if possible else "thin-air-read"

    repeated_now = False


class _Register(_Key):
    @cached_property
    def initial(self) -> object:
        return initial_value(self.history, self.transactions, self.count, self.key)

    def read(self, reader: Transaction, place: int, read: Operation) -> tuple[set[str], list[object] | None]:
        value = token(read.value)
        own = installed_before(reader, self.key, place)
        if own:
            return self.own_read(reader, place, value, own), None
        self.repeated_now = False
        name = self.excuse(reader, place, value, extra=value == self.initial, middle=False)
        self.repeated += self.repeated_now
        return ({name} if name else set()), [value]

    def own_read(self, reader: Transaction, place: int, value: object, own: list[object]) -> set[str]:
        if value == own[-1]:
            return set()
        if value in own:
            return {"not-my-last-write"}
        later = value in installed(reader, self.key, after=place)
        return {"future-read"} if later else {"not-my-own-write"}


class _List(_Key):
    @cached_property
    def canonical(self) -> list[object]:
        return next(iter(longest_lists(self.transactions, self.count, self.key)), [])

    def read(self, reader: Transaction, place: int, read: Operation) -> tuple[set[str], list[object] | None]:
        foreign = foreign_part(reader, place, read)
        found = self.order(reader, read, foreign)
        if foreign is not None:
            return found | self.elements(reader, place, foreign, whole=True), foreign
        elements = seen(read)
        own = installed_before(reader, self.key, place)
        shows_earlier = own[-1] not in elements and any(value in elements for value in own)
        found |= {"not-my-last-write" if shows_earlier else "not-my-own-write"}
        return found | self.elements(reader, place, elements, whole=False), None

    def order(self, reader: Transaction, read: Operation, foreign: list[object] | None) -> set[str]:
        """What is wrong with the list as a whole: all reads of it must be beginnings of one list."""
        if shows_duplicates(self.transactions, read):
            return {"duplicate-elements"}
        if foreign is None:
            return set()
        torn = any(self.is_torn(foreign, t) for t in self.transactions if t is not reader)
        return {"incompatible-order"} if torn or foreign != self.canonical[: len(foreign)] else set()

    def is_torn(self, elements: list[object], writer: Transaction) -> bool:
        """Whether a list shows a transaction's appends in another order, or not from the first one on."""
        if writer.number not in self.count:
            return False
        mine = [value for value in installed(writer, self.key) if self.writers_of(value) == [writer]]
        shown = [element for element in elements if element in mine]
        return shown != mine[: len(shown)]

    def writers_of(self, value: object) -> list[Transaction]:
        return [t for t in self.transactions if value in installed(t, self.key)]

    def elements(self, reader: Transaction, place: int, elements: list[object], *, whole: bool) -> set[str]:
        """What is wrong with single elements; `whole`: the last one is where the list ended."""
        own = installed_before(reader, self.key, place)
        found: set[str] = set()
        self.repeated_now = False
        for index, element in enumerate(elements):
            middle = not whole or index + 1 < len(elements)
            name = self.excuse(
                reader,
                place,
                element,
                extra=element in own,
                middle=middle,
                shown=elements.count(element),
            )
            if name:
                found.add(name)
        self.repeated += self.repeated_now
        return found
