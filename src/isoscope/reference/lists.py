"""What reads of lists show as a whole: the part of others, elements that come too often, the longest list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.reference.accesses import installed, installed_before, reads_of, seen

if TYPE_CHECKING:
    from isoscope.history import Operation, Transaction

__all__ = ["foreign_part", "longest_lists", "shows_duplicates"]


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
