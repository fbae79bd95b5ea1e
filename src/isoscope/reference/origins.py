"""The origin of a value that breaks EXT: an older version, a newer one, an uncommitted one, or none.

The classes are those that CHRONOS reports (Li et al. 2025), here for lists too. If a value has several
writers, the first class that fits is taken: older, uncommitted, newer, never written.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from isoscope.levels import Level
from isoscope.reference import reads
from isoscope.reference.execution import started
from isoscope.reference.observations import INITIAL
from isoscope.reference.predicates import asks_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.history import Scalar, Transaction
    from isoscope.reference.execution import Execution

__all__ = ["Origin", "shows"]

NEVER_WRITTEN = ("never-written", None)


def shows(found: object, state: object) -> bool:
    """Whether a read shows a state: the same value, or no value that its predicate asks for."""
    if isinstance(found, str):
        return isinstance(state, str) or not asks_for(found, state)
    return found == state


@dataclass(frozen=True)
class Origin:
    """Names the origin of a value of a key that the reader should not have read."""

    execution: Execution
    reader: Transaction
    key: Scalar

    def of(self, found: object) -> tuple[str, int | None]:
        """The class of a value or list of `reads.token`s, and its writer, of several the nearest in AR."""
        if self.execution.shape(self.key) == "list":
            assert isinstance(found, tuple)
            return self.of_list(found)
        older = [t for t in self.visible if shows(found, self.written(t)[-1])]
        initial = self.execution.initial(self.key)
        if older or (initial is not None and shows(found, initial)):
            return "older-version", older[-1].number if older else INITIAL
        transactions = self.execution.transactions
        writers = [t for t in transactions if any(shows(found, value) for value in self.written(t))]
        replaced = [t for t in writers if not shows(found, self.written(t)[-1])]
        return self.of_writers(writers, replaced) or NEVER_WRITTEN

    def of_list(self, found: tuple[object, ...]) -> tuple[str, int | None]:
        """A list is an older state of the key, a newer one, one within a transaction, or never was."""
        transactions = self.execution.transactions
        if not {*found} <= {value for t in transactions for value in self.written(t)}:
            return NEVER_WRITTEN
        if found in self.states[:-1]:
            size = self.states.index(found)
            return "older-version", self.visible[size - 1].number if size else INITIAL
        due = self.states[-1]
        if found[: len(due)] == due:
            writers = [t for t in transactions if found[len(due)] in self.written(t)]
            if origin := self.of_writers(writers):
                return origin
        left_out = [t for t in transactions if not self.is_judged(t) and {*found} & {*self.written(t)}]
        inside = [*left_out, *(self.torn(len(found)) if found == due[: len(found)] else ())]
        return ("uncommitted", self.nearest(inside)) if inside else NEVER_WRITTEN

    @cached_property
    def states(self) -> list[tuple[object, ...]]:
        """The states of the list: the initial one, and that after each visible transaction."""
        sizes = range(len(self.visible) + 1)
        return [self.execution.appended(self.key, self.visible[:size]) for size in sizes]

    def torn(self, length: int) -> list[Transaction]:
        """The transaction of which a list of this length shows some appends only."""
        after = zip(self.visible, self.states[1:], strict=True)
        return [t for t, state in after if len(state) > length][:1]

    def of_writers(
        self, writers: list[Transaction], replaced: Iterable[Transaction] = ()
    ) -> tuple[str, int | None] | None:
        """The origin if the reader cannot have seen these; `replaced`: not even if they are visible."""
        uncommitted = [t for t in writers if t in replaced or self.is_uncommitted(t)]
        if uncommitted:
            return "uncommitted", self.nearest(uncommitted)
        newer = [t for t in writers if t not in self.visible]
        return ("newer-version", self.nearest(newer)) if newer else None

    def is_uncommitted(self, t: Transaction) -> bool:
        """Whether it never committed, or was running when the reader started."""
        if t is self.reader or not self.is_judged(t):
            return True
        if self.execution.level is Level.CLOCK_SERIALIZABLE or t in self.visible:
            return False
        return started(t) <= started(self.reader)

    def is_judged(self, t: Transaction) -> bool:
        """Whether it counts as committed and has timestamps; on a key that is judged, all that count have."""
        return t in self.execution.arbitration

    def nearest(self, transactions: Iterable[Transaction]) -> int:
        """The first to commit; of those that did not, the first in the input."""
        numbers = {t.number for t in transactions}
        committed = [t.number for t in self.execution.arbitration if t.number in numbers]
        return committed[0] if committed else min(numbers)

    @cached_property
    def visible(self) -> list[Transaction]:
        """The writers of the key that the reader should see, in the order of AR."""
        return self.execution.visible(self.reader, self.key)

    def written(self, t: Transaction) -> list[object]:
        """The values that the transaction wrote to the key, or appended to it."""
        return reads.installed(t, self.key)
