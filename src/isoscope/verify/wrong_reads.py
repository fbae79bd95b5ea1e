"""Reads that a level forbids by themselves, or two by two; the semantics has a rule for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.verify.explanation import external_reads, last_writes
from isoscope.verify.history import APPEND, READ, RejectedError
from isoscope.verify.predicates import differ

if TYPE_CHECKING:
    from isoscope.verify.history import Transaction
    from isoscope.verify.levels import Level
    from isoscope.verify.supposition import Supposition
    from isoscope.verify.version_order import Version

__all__ = ["check_read", "check_reads"]


def check_read(level: Level, supposition: Supposition, read: Version) -> None:
    """Raise `RejectedError` unless the read is wrong by itself and the level forbids that."""
    number, place = read
    t = supposition.require(number)
    kind, key, _ = t.operations[place]
    if kind != READ:
        raise RejectedError(f"operation {place} of {t} is no read")
    supposition.require_judged(key)
    wrong: list[int] = []
    seen = {at: value for at, _, value in external_reads(t, wrong)}
    value = seen.get(place)
    duplicates = supposition.known.shows_duplicates(t, place)
    if duplicates and (level.kind == "pl-1" or level.forbids_wrong_reads):
        return
    if not level.forbids_wrong_reads:
        raise RejectedError("the level does not forbid such a read")
    if place in wrong:
        return
    if place not in seen:
        raise RejectedError(f"operation {place} of {t} is a right read of its own write, or has no result")
    if isinstance(value, list):
        if not _is_wrong_list(supposition, t, key, value):
            raise RejectedError(f"operation {place} of {t} is not wrong by itself")
    elif supposition.possible_writers(number, place):
        raise RejectedError(f"operation {place} of {t} has a possible writer")


def _is_wrong_list(supposition: Supposition, t: Transaction, key: Any, value: list[Any]) -> bool:
    authors = [supposition.possible_authors(t.number, key, element) for element in value]
    if not all(authors):
        return True
    transactions = supposition.transactions
    if value and not any(_ends_with(transactions[number], key, value[-1]) for number in authors[-1]):
        return True
    singles = {next(iter(numbers)) for numbers in authors if len(numbers) == 1}
    return any(_is_torn(transactions[number], key, value, authors) for number in singles)


def _ends_with(t: Transaction, key: Any, element: Any) -> bool:
    """Whether the element is the last that the transaction appended to the key."""
    return bool(t.operations[last_writes(t)[key]][2] == element)


def _is_torn(t: Transaction, key: Any, value: list[Any], authors: list[set[int]]) -> bool:
    """Whether the list shows the appends of a transaction in another order, or not from the first one on."""
    own = [element for kind, appended, element in t.operations if kind == APPEND and appended == key]
    shown = [element for element, numbers in zip(value, authors, strict=True) if t.number in numbers]
    is_certain = all(len(numbers) == 1 for numbers in authors if t.number in numbers)
    return is_certain and shown != own[: len(shown)]


def check_reads(level: Level, supposition: Supposition, one: Version, two: Version) -> None:
    """Raise `RejectedError` unless the two reads do not go together and the level forbids that."""
    first, second = (supposition.external_read(*read) for read in (one, two))
    transactions = supposition.transactions
    if transactions[one[0]].operations[one[1]][1] != transactions[two[0]].operations[two[1]][1]:
        raise RejectedError("the two reads are of different keys")
    if one[0] == two[0] and differ(first, second) and level.forbids_non_repeatable:
        return
    if not level.forbids_wrong_reads:
        raise RejectedError("the level does not forbid these reads")
    length = min(len(first), len(second)) if isinstance(first, list) and isinstance(second, list) else 0
    if not length or first[:length] == second[:length]:
        raise RejectedError("the two reads go together")
