"""Observations: the write-read relation WR of Biswas and Enea 2019, Definition 2.1, read off the values.

A read of a register observes one transaction. A read of a list observes the writer of every element: to
see an element in the middle of a list is to see its writer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from isoscope.reference import reads
from isoscope.reference.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import History, Operation, Scalar, Transaction

__all__ = ["INITIAL", "Observation", "Observations"]

#: The implicit first transaction, which wrote every key before any other transaction.
INITIAL = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One external read, at `place` of the program order of `reader`.

    `seen`: the transactions whose writes it shows, without the initial one. `source`: the transaction that it
    reads the key from, of a list the writer of the last element; None if that is not known.
    """

    reader: int
    place: int
    key: object
    seen: frozenset[int]
    source: int | None


class Observations:
    """What the transactions of a history that count as committed observed; keys are `reads.token`s.

    An empty transaction takes part in nothing, so it is not among those that count here.
    """

    def __init__(self, history: History) -> None:
        self.history = Rows(history).history
        self.transactions = list(self.history)
        empty = {t.number for t in self.transactions if reads.is_empty(t)}
        self.counted = reads.counted(history) - empty

    @cached_property
    def shapes(self) -> dict[object, str]:
        """What each key holds: `register`, `list`, or a reason not to judge it."""
        count = [t for t in self.transactions if t.number in self.counted]
        return {reads.token(key): reads.shape(count, key) for key in self.history.keys}

    @cached_property
    def all(self) -> tuple[Observation, ...]:
        """Every observation, in the order of the history."""
        return tuple(
            observation
            for reader in self.transactions
            if reader.number in self.counted
            for place, read in reads.known_reads(reader)
            for observation in self._of(reader, place, read)
        )

    @cached_property
    def canonical_lists(self) -> dict[object, list[object]]:
        """The elements of each list in the order that its longest read shows; none if two of them differ."""
        found = {
            reads.token(key): reads.longest_lists(self.transactions, self.counted, key)
            for key in self._keys_of_shape("list")
        }
        return {key: longest[0] if len(longest) == 1 else [] for key, longest in found.items()}

    def writer(self, key: object, value: object) -> int | None:
        """The only transaction that can have written `value`, if there is only one and it counts."""
        possible = {t.number for t in self.transactions if value in self._installed(t, key)}
        if value == self._initial_values.get(key) or (value == reads.NIL and key in self._absent):
            possible.add(INITIAL)
        only = possible.pop() if len(possible) == 1 else None
        return only if only == INITIAL or only in self.counted else None

    def installers(self, key: object) -> frozenset[int]:
        """Transactions that count and write the key."""
        return frozenset(
            t.number for t in self.transactions if t.number in self.counted and self._installed(t, key)
        )

    def appenders_beyond(self, key: object, elements: list[object]) -> frozenset[int]:
        """Transactions that count and append something to the key that is not among `elements`."""
        return frozenset(
            t.number
            for t in self.transactions
            if t.number in self.counted and not set(self._installed(t, key)) <= set(elements)
        )

    def _of(self, reader: Transaction, place: int, read: Operation) -> Iterator[Observation]:
        key = reads.token(read.key)
        if self.shapes[key] == "register" and not reads.installed_before(reader, read.key, place):
            source = self._source(reader, read)
            if source is not None and source != reader.number:
                seen = frozenset({source} - {INITIAL})
                yield Observation(reader=reader.number, place=place, key=key, seen=seen, source=source)
        elif self.shapes[key] == "list":
            elements = reads.foreign_part(reader, place, read)
            if elements is not None:
                yield self._of_list(reader, place, key, elements)

    def _source(self, reader: Transaction, read: Operation) -> int | None:
        """The only transaction that can have written what a read of a register shows, or leaves out."""
        if reads.asked(read) is None:
            return self.writer(reads.token(read.key), reads.token(read.value))
        possible = reads.hides(self.history, self.transactions, self.counted, reader, read)
        if len(possible) != 1:
            return None
        [only] = possible
        if only is None:
            return INITIAL
        return only if only in self.counted else None

    def _of_list(self, reader: Transaction, place: int, key: object, elements: list[object]) -> Observation:
        # No transaction can have seen its own later append: such an element is no evidence about others.
        writers = [w if w != reader.number else None for e in elements for w in [self.writer(key, e)]]
        seen = frozenset(writer for writer in writers if writer is not None)
        source = writers[-1] if writers else INITIAL
        return Observation(reader=reader.number, place=place, key=key, seen=seen, source=source)

    @cached_property
    def _initial_values(self) -> dict[object, object]:
        registers = self._keys_of_shape("register")
        return {
            reads.token(key): reads.initial_value(self.history, self.transactions, self.counted, key)
            for key in registers
        }

    @cached_property
    def _absent(self) -> set[object]:
        """Registers that may not have existed at first."""
        registers = self._keys_of_shape("register")
        absent = reads.may_be_absent
        return {
            reads.token(key)
            for key in registers
            if absent(self.history, self.transactions, self.counted, key)
        }

    def _keys_of_shape(self, shape: str) -> list[Scalar]:
        return [key for key in self.history.keys if self.shapes[reads.token(key)] == shape]

    def _installed(self, transaction: Transaction, key: object) -> list[object]:
        return [value for other, value in self._writes[transaction.number] if other == key]

    @cached_property
    def _writes(self) -> dict[int, list[tuple[object, object]]]:
        return {
            t.number: [
                (reads.token(o.key), reads.token(o.value)) for o in t.operations if o.kind in reads.INSTALLS
            ]
            for t in self.transactions
        }
