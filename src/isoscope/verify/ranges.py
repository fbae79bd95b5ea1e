"""Range reads as reads of single keys: of every key of the table between the bounds, absent ones included.

Semantics: "Range reads", "Predicates", "Phantoms". In a certificate, too, a range read stands for these
reads, one after the other. Cost: a sort of the keys, and the reads that come of it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

from isoscope.verify.history import RANGE, READ, kinds_of_keys
from isoscope.verify.predicates import Unmatched, is_known

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.verify.history import Operation, Transaction

__all__ = ["RangeRead", "replace_ranges"]


class RangeRead(NamedTuple):
    """What a range read asked for and showed; an open bound is None, and so is no table and no predicate."""

    rows: list[tuple[Any, Any]]
    tombstones: list[Any] = []  # noqa: RUF012 - never changed
    low: Any = None
    high: Any = None
    table: Any = None
    predicate: str | None = None


class _Single(NamedTuple):
    """The read of one key; `is_left_out`: the range read does not show it."""

    key: Any
    value: Any
    is_left_out: bool = False


def replace_ranges(transactions: list[Transaction], tables: Iterable[tuple[Any, Any]]) -> None:
    """Put reads of single keys in the place of range reads; `tables`: a table and a key of each operation.

    What is not judged of a range read stays behind its reads as an operation of that kind.
    """
    ranges = [o[2] for t in transactions for o in t.operations if isinstance(o[2], RangeRead)]
    if not ranges:
        return
    keys = _Keys(tables, ranges, kinds_of_keys(transactions).lists)
    for t in transactions:
        operations: list[Operation] = []
        for operation in t.operations:
            if not isinstance(operation[2], RangeRead):
                operations.append(operation)
                continue
            for single in keys.reads_of(operation[2]):
                if single is None:
                    operations.append((RANGE, None, None))
                    continue
                if single.is_left_out:
                    t.left_out.add(len(operations))
                operations.append((READ, single.key, single.value))
        t.operations = operations


class _Keys:
    """The keys of each table in their order: integers, then texts, then others as the history has them."""

    def __init__(self, tables: Iterable[tuple[Any, Any]], ranges: list[RangeRead], lists: set[Any]) -> None:
        self._lists = lists
        found: dict[Any, dict[Any, None]] = {}
        shown = [(r.table, key) for r in ranges for key in [*(k for k, _ in r.rows), *r.tombstones]]
        self._ranks: dict[Any, int] = {}
        for table, key in [*tables, *shown]:
            found.setdefault(table, {})[key] = None
            self._ranks.setdefault(key, len(self._ranks))
        self._numbers = {table: sorted(k for k in keys if type(k) is int) for table, keys in found.items()}
        self._texts = {table: sorted(k for k in keys if type(k) is str) for table, keys in found.items()}
        self._others = {
            table: [key for key in keys if type(key) not in (int, str)] for table, keys in found.items()
        }

    def reads_of(self, read: RangeRead) -> Iterator[_Single | None]:
        """The reads that a range read is, in the order of the keys; None for what is not judged of it."""
        if not all(map(_is_ordered, (read.low, read.high))) and not _is_single(read):
            yield None
            return
        singles = [_Single(key, value) for key, value in read.rows]
        singles += [_Single(key, None) for key in read.tombstones]
        shown = {single.key for single in singles}
        left_out = [key for key in self._between(read) if key not in shown]
        is_judged = read.predicate is None or is_known(read.predicate)
        for key in left_out if is_judged else ():
            singles += self._absence(key, read.predicate)
        yield from sorted(singles, key=self._place)
        if left_out and not is_judged:
            yield None

    def _absence(self, key: Any, predicate: str | None) -> list[_Single]:
        """A list that a predicate leaves out may hold anything, unless all that exists matches."""
        if predicate is None or (key in self._lists and predicate == ":true"):
            return [_Single(key, None, is_left_out=True)]
        return [] if key in self._lists else [_Single(key, Unmatched(predicate), is_left_out=True)]

    def _place(self, single: _Single) -> tuple[int, Any]:
        key = single.key
        if type(key) is int:
            return 0, key
        return (1, key) if type(key) is str else (2, self._ranks[key])

    def _between(self, read: RangeRead) -> list[Any]:
        if not _is_ordered(read.low):
            return [key for key in self._others.get(read.table, []) if key == read.low]
        kinds = {type(bound) for bound in (read.low, read.high) if bound is not None}
        found = []
        for kind, keys in ((int, self._numbers), (str, self._texts)):
            if kinds <= {kind}:
                found += _slice(keys.get(read.table, []), read.low, read.high)
        return found if kinds else found + self._others.get(read.table, [])


def _is_ordered(bound: Any) -> bool:
    """Whether it is open, an integer or a text."""
    return bound is None or type(bound) in (int, str)


def _is_single(read: RangeRead) -> bool:
    """Whether both bounds are the same key."""
    return type(read.low) is type(read.high) and bool(read.low == read.high)


def _slice(keys: list[Any], low: Any, high: Any) -> list[Any]:
    start = 0 if low is None else bisect_left(keys, low)
    return keys[start : len(keys) if high is None else bisect_right(keys, high)]
