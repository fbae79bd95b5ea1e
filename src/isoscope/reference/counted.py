"""The transactions that count as committed: indeterminate ones too, if something proves that they did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope.history import Status, VersionSource
from isoscope.reference.accesses import NIL, asked, installed_before, known_reads, seen, shape, token, writers
from isoscope.reference.initial_states import declared_initial, is_inserted_first, may_be_absent
from isoscope.reference.left_out import hides, left_unmatched
from isoscope.reference.rows import Rows

if TYPE_CHECKING:
    from isoscope.history import History, Operation, Scalar, Transaction

__all__ = ["counted", "shapes"]


def counted(history: History) -> frozenset[int]:
    """Transactions that count as committed.

    Committed ones; an indeterminate one if it is the only possible writer of something that a counted
    transaction read, or of a version in a log. The first row of a log may be the initial state.
    """
    history = Rows(history).history
    transactions = list(history)
    count = {t.number for t in transactions if t.status is Status.COMMITTED}
    count |= _logged(history, transactions, frozenset(count))
    while True:
        observed = _Observed(history, transactions, frozenset(count))
        grown = count.union(*(observed.by(t) for t in transactions if t.number in count))
        if grown == count:
            return frozenset(count)
        count = grown


def shapes(history: History) -> dict[object, str]:
    """What each key holds; no known use of it, and none that may have taken effect, is left out."""
    history = Rows(history).history
    transactions = list(history)
    certain, possible = counted(history), _possibly_counted(history, transactions)
    found = {}
    for key in history.keys:
        known = shape([t for t in transactions if t.number in certain], key)
        is_judged = known in ("register", "list")
        found[token(key)] = (
            shape([t for t in transactions if t.number in possible], key) if is_judged else known
        )
    return found


def _possibly_counted(history: History, transactions: list[Transaction]) -> frozenset[int]:
    """Those that count, and those that may have written what these read, or what a log shows."""
    doubtful = {t.number for t in transactions if t.status is Status.INDETERMINATE}
    found, grown = frozenset[int](), counted(history) | _possibly_logged(history, transactions) & doubtful
    while grown != found:
        found = grown
        read = (_possible_writers(transactions, t) for t in transactions if t.number in found)
        grown = found.union(*read) & (doubtful | found)
    return found


def _possibly_logged(history: History, transactions: list[Transaction]) -> set[int]:
    return {
        writer.number
        for order in history.version_orders
        if order.source is VersionSource.LOG
        for key, versions in order.versions.items()
        for version in map(token, versions)
        for writer in writers(transactions, None, -1, key, version)
    }


def _possible_writers(transactions: list[Transaction], reader: Transaction) -> set[int]:
    """Transactions that may have written what a transaction read."""
    found: set[int] = set()
    for place, read in known_reads(reader):
        if asked(read) is not None:
            found.update(left_unmatched(transactions, reader, read))
            continue
        for value in seen(read):
            found.update(t.number for t in writers(transactions, reader, place, read.key, value))
    return found


def _logged(history: History, transactions: list[Transaction], committed: frozenset[int]) -> set[int]:
    """The indeterminate transactions that a log proves."""
    observed = _Observed(history, transactions, committed)
    logged: set[int] = set()
    for order in history.version_orders:
        for key, versions in order.versions.items() if order.source is VersionSource.LOG else ():
            is_list = any(shape([t], key) == "list" for t in transactions)
            for place, version in enumerate(map(token, versions)):
                if place or is_list or not observed.may_be_initial(key, version):
                    logged |= _only_indeterminate(transactions, None, -1, key, version)
    return logged


@dataclass(frozen=True)
class _Observed:
    """The indeterminate transactions that reads prove, if those of `count` are known to have committed."""

    history: History
    transactions: list[Transaction]
    count: frozenset[int]

    def by(self, reader: Transaction) -> set[int]:
        """Those that alone can have written something that `reader` read."""
        observed: set[int] = set()
        for place, read in known_reads(reader):
            own = installed_before(reader, read.key, place)
            if own and not isinstance(read.value, tuple):
                continue  # what a transaction wrote itself says nothing about others
            if asked(read) is not None:
                observed |= self.left_out(reader, read)
                continue
            for value in seen(read):
                is_list = isinstance(read.value, tuple)
                if value not in own and (is_list or not self.may_be_initial(read.key, value)):
                    observed |= _only_indeterminate(self.transactions, reader, place, read.key, value)
        return observed

    def left_out(self, reader: Transaction, read: Operation) -> set[int]:
        """The one that left the key in a state that the predicate does not ask for."""
        possible = hides(self.history, self.transactions, self.count, reader, read)
        doubtful = {t.number for t in self.transactions if t.status is Status.INDETERMINATE}
        return doubtful & {*possible} if len(possible) == 1 else set()

    def may_be_initial(self, key: Scalar, value: object) -> bool:
        """Whether a register may hold `value` from the start; a list starts empty."""
        if is_inserted_first(self.transactions, key):
            return False
        if value == NIL and may_be_absent(self.history, self.transactions, self.count, key):
            return True
        return token(declared_initial(self.history, key)) == value


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
