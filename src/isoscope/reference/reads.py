"""Reads that no order of transactions can excuse: TAP-a to TAP-f and TAP-j of Liu et al. 2024, Table 1.

For lists also what Kingsbury and Alvaro 2020 call duplicate elements and incompatible order. Where both
are silent (repeated values, unknown initial values, indeterminate transactions),
`docs/explanation/semantics.md` has the rule that is spelt out here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from isoscope.history import Status
from isoscope.reference.accesses import (
    INSTALLS,
    LEFT_OUT,
    NIL,
    asked,
    installed,
    installed_before,
    is_empty,
    is_left_out,
    known_reads,
    reads_of,
    seen,
    shape,
    token,
    writers,
)
from isoscope.reference.counted import counted, shapes
from isoscope.reference.initial_states import (
    declared_initial,
    initial_value,
    is_first,
    is_inserted_first,
    is_open,
    may_be_absent,
    may_be_left_out,
)
from isoscope.reference.left_out import hides, left_unmatched
from isoscope.reference.lists import foreign_part, longest_lists, shows_duplicates
from isoscope.reference.predicates import asks_for
from isoscope.reference.rows import Rows

if TYPE_CHECKING:
    from isoscope.history import History, Operation, Transaction

__all__ = [
    "INSTALLS",
    "LEFT_OUT",
    "NIL",
    "Finding",
    "Judgement",
    "asked",
    "counted",
    "cut_isolation_holds",
    "declared_initial",
    "foreign_part",
    "hides",
    "initial_value",
    "installed",
    "installed_before",
    "is_empty",
    "is_first",
    "is_inserted_first",
    "is_left_out",
    "is_open",
    "judge",
    "known_reads",
    "left_unmatched",
    "longest_lists",
    "may_be_absent",
    "may_be_left_out",
    "reads_of",
    "seen",
    "shape",
    "shapes",
    "shows_duplicates",
    "token",
    "writers",
]


class Finding(NamedTuple):
    """One anomaly: its name, and the read that shows it by numbers of transaction and operation.

    The operation is that of the history of single reads; `Rows.places` has the one that was recorded.
    """

    transaction: int
    operation: int
    name: str


#: What a read showed of a key: its value, the elements of a list, or the predicate that left it out.
Observed: TypeAlias = list[object] | str


@dataclass(frozen=True)
class Judgement:
    """Everything found, and how many reads had several possible writers."""

    findings: frozenset[Finding]
    repeated_reads: int


def cut_isolation_holds(history: History) -> bool:
    """Cut isolation: no transaction observes one key in two states."""
    return all(finding.name != "non-repeatable-read" for finding in judge(history).findings)


def judge(history: History, effective: frozenset[int] | None = None) -> Judgement:
    """Every anomaly of every read that is judged; `effective` transactions took effect, if that is known."""
    history = Rows(history).history
    transactions = list(history)
    count = counted(history) if effective is None else effective
    took_effect = [t for t in transactions if t.number in count]
    kinds = shapes(history) if effective is None else {token(k): shape(took_effect, k) for k in history.keys}
    findings: set[Finding] = set()
    repeated = 0
    for key in history.keys:
        kind = kinds[token(key)]
        if kind not in ("register", "list"):
            continue
        judge_key = (_Register if kind == "register" else _List)(history, transactions, count, key)
        for reader in transactions:
            if reader.number in count:
                findings |= judge_key.reads(reader)
        repeated += judge_key.repeated
    return Judgement(frozenset(findings), repeated)


def _differ(one: Observed, other: Observed) -> bool:
    """Whether a key cannot have been in one state for both; it can for two predicates that leave it out."""
    if isinstance(one, str) and isinstance(other, str):
        return False
    if isinstance(one, str):
        return any(asks_for(one, value) for value in other)
    return _differ(other, one) if isinstance(other, str) else one != other


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
        earlier: list[Observed] = []
        differs = False
        for place, read in reads_of(reader, self.key):
            names, observed = self.read(reader, place, read)
            found |= {Finding(reader.number, place, name) for name in names}
            if observed is None:
                continue
            if not differs and any(_differ(observed, other) for other in earlier):
                differs = True
                found.add(Finding(reader.number, place, "non-repeatable-read"))
            earlier.append(observed)
        return found

    def read(self, reader: Transaction, place: int, read: Operation) -> tuple[set[str], Observed | None]:
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

    @cached_property
    def may_be_absent(self) -> bool:
        return may_be_absent(self.history, self.transactions, self.count, self.key)

    def read(self, reader: Transaction, place: int, read: Operation) -> tuple[set[str], Observed | None]:
        if asked(read) is not None:
            return self.read_of_nothing(reader, place, read)
        value = token(read.value)
        own = installed_before(reader, self.key, place)
        if own:
            return self.own_read(reader, place, value, own), None
        self.repeated_now = False
        is_initial = value == self.initial or (value == NIL and self.may_be_absent)
        name = self.excuse(reader, place, value, extra=is_initial, middle=False)
        self.repeated += self.repeated_now
        return ({name} if name else set()), [value]

    def read_of_nothing(
        self, reader: Transaction, place: int, read: Operation
    ) -> tuple[set[str], Observed | None]:
        """A predicate left the key out."""
        predicate = asked(read) or ""
        own = installed_before(reader, self.key, place)
        if own:
            return ({"not-my-own-write"} if asks_for(predicate, own[-1]) else set()), None
        possible = hides(self.history, self.transactions, self.count, reader, read)
        self.repeated += len(possible) > 1
        return (set() if possible else {"predicate-read-miss"}), predicate

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

    def read(self, reader: Transaction, place: int, read: Operation) -> tuple[set[str], Observed | None]:
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
