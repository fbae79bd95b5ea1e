"""Range reads as reads of single keys, so that the definitions of levels know nothing of ranges.

A range read is replaced by one read for each row that it shows and for each other key of the history in its
range. Of these, the read of a key that does not exist shows nil; a read by a predicate says no more than that
the value does not match, and keeps the predicate for that. `docs/explanation/semantics.md` has the rules.
What is not judged stays behind as a range read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from isoscope.history import OperationKind, Range
from isoscope.recorder import build
from isoscope.reference.accesses import LEFT_OUT, ON_A_KEY, token
from isoscope.reference.predicates import is_known

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.history import History, Operation, Scalar, Transaction

__all__ = ["Rows", "is_set_aside"]


def is_set_aside(operation: Operation) -> bool:
    """Whether an operation of a history of single reads is not judged, or not all that it says."""
    return operation.kind is OperationKind.RANGE_READ


@dataclass(frozen=True)
class Rows:
    """A history as it was recorded."""

    recorded: History

    @cached_property
    def history(self) -> History:
        """The same with single reads only, and deletes that leave nothing but nil."""
        if not any(self._is_changed(o) for t in self.recorded for o in t.operations):
            return self.recorded
        transactions = (
            replace(t, operations=tuple(o for _, o in self._operations(t))) for t in self.recorded
        )
        versions = (
            (order.source, key, value)
            for order in self.recorded.version_orders
            for key, values in order.versions.items()
            for value in values
        )
        return build(transactions, initial=self.recorded.initial, versions=versions)

    @cached_property
    def places(self) -> list[list[int]]:
        """By transaction and place in `history`: the place of the operation that was recorded."""
        return [[place for place, _ in self._operations(t)] for t in self.recorded]

    def _is_changed(self, operation: Operation) -> bool:
        return is_set_aside(operation) or _of_single_key(operation) != operation

    def _operations(self, transaction: Transaction) -> Iterator[tuple[int, Operation]]:
        for place, operation in enumerate(transaction.operations):
            if not isinstance(operation.value, Range):
                yield place, _of_single_key(operation)
            elif _is_single(operation.value) or all(
                map(_is_bound, (operation.value.low, operation.value.high))
            ):
                yield from ((place, single) for single in self._single_reads(operation, operation.value))
            else:
                yield place, operation

    def _single_reads(self, read: Operation, seen: Range) -> Iterator[Operation]:
        left_out = [*self._left_out(read, seen)]
        is_judged = read.predicate is None or is_known(read.predicate)
        single = replace(read, kind=OperationKind.READ, predicate=None)
        reads = [replace(single, key=key, value=value) for key, value in seen.rows]
        reads += [replace(single, key=key, value=None) for key, _ in seen.tombstones]
        for key in left_out if is_judged else ():
            reads += self._read_of_nothing(single, key, read.predicate)
        yield from sorted(reads, key=lambda one: _place(one.key))
        if left_out and not is_judged:
            yield replace(read, value=Range(low=seen.low, high=seen.high))

    def _left_out(self, read: Operation, seen: Range) -> Iterable[Scalar]:
        shown = {token(key) for key, _ in (*seen.rows, *seen.tombstones)}
        for key in self.recorded.keys:
            if (
                token(key) not in shown
                and _lies_between(key, seen)
                and read.table in self._tables[token(key)]
            ):
                yield key

    def _read_of_nothing(self, single: Operation, key: Scalar, predicate: str | None) -> list[Operation]:
        """A list has no single value: it exists or not, and matches nothing but `:true`."""
        if token(key) in self._lists:
            absent = replace(single, key=key, value=None, predicate=LEFT_OUT)
            return [absent] if predicate in (None, ":true") else []
        says = LEFT_OUT if predicate is None else f"{LEFT_OUT}: {predicate}"
        return [replace(single, key=key, value=None, predicate=says)]

    @cached_property
    def _lists(self) -> set[object]:
        return {
            token(o.key)
            for t in self.recorded
            for o in t.operations
            if o.kind is OperationKind.APPEND or isinstance(o.value, tuple)
        }

    @cached_property
    def _tables(self) -> dict[object, set[str | None]]:
        """The tables that operations on each key, and range reads that show it, name."""
        named: dict[object, set[str | None]] = {token(key): set() for key in self.recorded.keys}
        for operation in (o for t in self.recorded for o in t.operations):
            if operation.kind in ON_A_KEY:
                named[token(operation.key)].add(operation.table)
            if isinstance(operation.value, Range):
                for key, _ in (*operation.value.rows, *operation.value.tombstones):
                    named[token(key)].add(operation.table)
        return named


def _of_single_key(operation: Operation) -> Operation:
    """A delete leaves nil, and a read that met a tombstone shows nil."""
    if operation.kind is OperationKind.DELETE and operation.value is not None:
        return replace(operation, value=None)
    if operation.kind is OperationKind.READ and operation.tombstone:
        return replace(operation, value=None, tombstone=False)
    return operation


def _is_bound(bound: object) -> bool:
    """Whether it is open, an integer or a text."""
    return bound is None or type(bound) in (int, str)


def _is_single(seen: Range) -> bool:
    """Whether both bounds are the same key, whatever it is."""
    return seen.low is not None and token(seen.low) == token(seen.high)


def _lies_between(key: Scalar, seen: Range) -> bool:
    """Whether the key is between the bounds, which are of its kind or open; the bounds are included."""
    if _is_single(seen):
        return token(key) == token(seen.low)
    bounds = [bound for bound in (seen.low, seen.high) if bound is not None]
    if any(type(bound) is not type(key) for bound in bounds):
        return False
    place = _place(key)
    return (seen.low is None or _place(seen.low) <= place) and (
        seen.high is None or place <= _place(seen.high)
    )


def _place(key: Scalar) -> tuple[int, int, str, str]:
    """The order of keys: integers, then texts by code points, then all others by their texts."""
    if isinstance(key, int) and not isinstance(key, bool):
        return 0, key, "", ""
    if isinstance(key, str):
        return 1, 0, key, ""
    return 2, 0, str(key), type(key).__name__
