"""How a history is explained: which transactions count, and which writes a read can show.

Semantics: "Indeterminate transactions", "Possible writers", "Explicit writes of the initial value", "Unknown
initial values". An explanation may suppose more than the history says; `Explanation` answers for both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.verify.history import (
    ABORTED,
    APPEND,
    COMMITTED,
    DELETE,
    INDETERMINATE,
    INSTALLS,
    READ,
    UNKNOWN,
    WRITE,
    RejectedError,
    Term,
)
from isoscope.verify.predicates import Unmatched, fits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.verify.history import History, Transaction

__all__ = [
    "NOTHING",
    "Explanation",
    "SupposedInitial",
    "Writes",
    "check_shown",
    "external_reads",
    "last_writes",
    "takes_part",
]

#: The state of a key of which no read shows the initial value.
NOTHING = Term("nothing", "no value")


def takes_part(transaction: Transaction) -> bool:
    """Whether it writes, or reads something that is known."""
    return any(
        kind in INSTALLS or (kind == READ and value is not UNKNOWN)
        for kind, _, value in transaction.operations
    )


def last_writes(transaction: Transaction) -> dict[Any, int]:
    """The place of the last write, delete or append of each key."""
    return {key: place for place, (kind, key, _) in enumerate(transaction.operations) if kind in INSTALLS}


def external_reads(
    transaction: Transaction, wrong: list[int] | None = None
) -> Iterator[tuple[int, Any, Any]]:
    """(place, key, value) of each external read; of a list, the part *P* that others wrote.

    "Own reads of registers", "Own reads of lists": the place of an own read that is wrong is added to
    `wrong`; without that list it raises `RejectedError`.
    """
    own: dict[Any, Any] = {}
    for place, (kind, key, value) in enumerate(transaction.operations):
        if kind != READ:
            _write(own, kind, key, value)
            continue
        seen = _beside_own(own[key], value) if key in own else value
        if seen is NOTHING:
            if wrong is None:
                raise RejectedError(f"{transaction} does not read what it wrote itself in operation {place}")
            wrong.append(place)
        elif seen is not UNKNOWN:
            yield place, key, seen


def _write(own: dict[Any, Any], kind: str, key: Any, value: Any) -> None:
    """The own writes after another operation."""
    if kind in (WRITE, DELETE):
        own[key] = value
    elif kind == APPEND:
        own[key] = [*own[key], value] if isinstance(own.get(key), list) else [value]


def _beside_own(own: Any, value: Any) -> Any:
    """What a read shows beside own writes: *P* of a list; UNKNOWN if nothing, NOTHING if it is wrong."""
    if value is UNKNOWN or own is UNKNOWN or isinstance(own, list) != isinstance(value, list):
        return UNKNOWN
    if not isinstance(own, list):
        return UNKNOWN if fits(own, value) else NOTHING
    end = len(value) - len(own)
    return value[:end] if end >= 0 and value[end:] == own else NOTHING


class Writes:
    """All writes of a history by key and value; built once, shared by all explanations.

    `last` has the numbers of the transactions that did not abort and whose last write of the key is the
    value; `earlier` those that replaced it themselves, `failed` those that aborted. An appended element is
    always in `last`.
    """

    def __init__(self, history: History) -> None:
        self.history = history
        self.last: dict[Any, dict[Any, Any]] = {}
        self.earlier: dict[Any, dict[Any, list[int]]] = {}
        self.failed: dict[Any, dict[Any, list[int]]] = {}
        for t in history.transactions:
            if t.status == ABORTED:
                self._add_failed(t)
            else:
                self._add(t)
        self._unwritten: dict[Any, list[tuple[int, Any]]] | None = None
        self._wrong: dict[int, tuple[list[bool], set[tuple[Any, Any]]]] = {}
        self._unmatched: dict[tuple[Any, Any], list[int]] = {}

    def _add_failed(self, t: Transaction) -> None:
        for kind, key, value in t.operations:
            if kind in INSTALLS:
                self.failed.setdefault(key, {}).setdefault(value, []).append(t.number)

    def _add(self, t: Transaction) -> None:
        written: dict[Any, Any] = {}
        for kind, key, value in t.operations:
            if kind in (WRITE, DELETE):
                if key in written and written[key] != value:
                    self.earlier.setdefault(key, {}).setdefault(written[key], []).append(t.number)
                written[key] = value
            elif kind == APPEND:
                self._put(key, value, t.number)
        for key, value in written.items():
            self._put(key, value, t.number)

    def _put(self, key: Any, value: Any, number: int) -> None:
        """A single writer is kept as its number, several as a list: most values have one."""
        values = self.last.get(key)
        if values is None:
            values = self.last[key] = {}
        before = values.get(value)
        if before is None:
            values[value] = number
        elif isinstance(before, list):
            before.append(number)
        else:
            values[value] = [before, number]

    def of(self, key: Any, value: Any) -> list[int]:
        """The transactions that did not abort and left this value, or appended this element."""
        if type(value) is Unmatched:
            return self._not_matching(key, value)
        found = self.last.get(key, {}).get(value)
        return [] if found is None else found if isinstance(found, list) else [found]

    def _not_matching(self, key: Any, value: Unmatched) -> list[int]:
        """The transactions that did not abort and left what the predicate does not match."""
        known = self._unmatched.get((key, value))
        if known is None:
            left = [written for written in self.last.get(key, {}) if value.allows(written)]
            known = sorted({number for written in left for number in self.of(key, written)})
            self._unmatched[key, value] = known
        return known

    def bad_writers(self, key: Any, value: Any, reader: int) -> set[int]:
        """The transactions whose write a read shows that has no possible writer, whatever became of them."""
        if type(value) is Unmatched:
            return set()
        replaced, failed = (part.get(key, {}).get(value, []) for part in (self.earlier, self.failed))
        own = [reader] if reader in self.of(key, value) else []
        return {*replaced, *failed, *own}

    def has_repeated(self) -> bool:
        """Whether a value was left, or an element appended, more than once."""
        return any(isinstance(found, list) for values in self.last.values() for found in values.values())

    def was_written(self, key: Any, value: Any) -> bool:
        """Whether any transaction wrote it, whatever became of it."""
        return any(value in part.get(key, {}) for part in (self.last, self.earlier, self.failed))

    def is_of_first_transaction(self, key: Any, value: Any) -> bool:
        """Whether a read of it cannot show what was before the transaction that fills the key.

        "First transactions".
        """
        if key not in self.history.filled or isinstance(value, list):
            return False
        return type(value) is Unmatched or self.was_written(key, value)

    def unwritten(self, key: Any) -> list[tuple[int, Any]]:
        """Readers that did not abort, and the values of the key that they read and no transaction wrote."""
        if self._unwritten is None:
            self._unwritten = {}
            for t in self.history.transactions:
                for _, read_key, value in external_reads(t, []) if t.status != ABORTED else ():
                    is_value = not isinstance(value, list | Unmatched)
                    if is_value and not self.was_written(read_key, value):
                        self._unwritten.setdefault(read_key, []).append((t.number, value))
        return self._unwritten.get(key, [])

    def may_have_been_first(self, key: Any, value: Any, counting: list[bool]) -> bool:
        """Whether an unknown initial value that no read tells may be this one.

        "Repeated initial values", "Keys that may not exist at first", "Predicates".
        """
        if type(value) is Unmatched or (value is None and key in self.history.may_be_absent):
            return True
        parts = (self.earlier, self.failed)
        authors = {*self.of(key, value), *(n for part in parts for n in part.get(key, {}).get(value, []))}
        return len(authors) > 1 and (key, value) not in self._without_writers(counting)

    def _without_writers(self, counting: list[bool]) -> set[tuple[Any, Any]]:
        """Values of keys that some counting transaction read, and that no other one can have left there."""
        known = self._wrong.get(id(counting))
        if known is None or known[0] is not counting:
            found = set()
            for t in self.history.transactions:
                for _, key, value in external_reads(t, []) if counting[t.number] else ():
                    if not isinstance(value, list) and not {*self.of(key, value)} - {t.number}:
                        found.add((key, value))
            known = self._wrong[id(counting)] = (counting, found)
        return known[1]


class SupposedInitial:
    """An initial value that may be any of several is one value for all reads of the key."""

    def __init__(self) -> None:
        self._values: dict[Any, Any] = {}
        self._left_out: dict[Any, list[Unmatched]] = {}

    def agrees(self, key: Any, value: Any) -> bool:
        """Whether a read of it goes together with the reads of it before."""
        if type(value) is Unmatched:
            self._left_out.setdefault(key, []).append(value)
            return key not in self._values or value.allows(self._values[key])
        if self._values.setdefault(key, value) != value:
            return False
        return all(other.allows(value) for other in self._left_out.get(key, ()))


class Explanation:
    """Which transactions count, by what the history shows and by what is supposed."""

    def __init__(self, writes: Writes, took_effect: Iterable[int] | None = None) -> None:
        self.writes = writes
        self.history = writes.history
        chosen = _effects(writes) if took_effect is None else set(took_effect)
        self.counting = [
            t.status == COMMITTED or (t.status == INDETERMINATE and t.number in chosen)
            for t in self.history.transactions
        ]
        self._initial: dict[Any, Any] = {}

    def initial(self, key: Any) -> Any:
        """What a read of the untouched key shows: its initial value, [] for a list, NOTHING if none can.

        UNKNOWN if it may be any value that several transactions wrote ("Repeated initial values").
        """
        known = self._initial.get(key, self)
        if known is self:
            known = self._initial[key] = self._find_initial(key)
        return known

    def _find_initial(self, key: Any) -> Any:
        if key in self.history.lists:
            return []
        said = self.history.initial
        value = said.of(key)
        if value is UNKNOWN:
            shown = [value for number, value in self.writes.unwritten(key) if self.counting[number]]
            nothing = UNKNOWN if self.history.effective is None else NOTHING
            return shown[0] if shown else nothing
        if said.replaceable and self._is_written(key, value):
            return NOTHING
        return value

    def _is_written(self, key: Any, value: Any) -> bool:
        numbers = self.writes.of(key, value) + self.writes.earlier.get(key, {}).get(value, [])
        return any(self.counting[number] for number in numbers)

    def may_be_shown(self, number: int) -> bool:
        """Whether a read may show a write of the transaction: it took effect, or aborted."""
        return self.counting[number] or self.history.transactions[number].status == ABORTED

    def possible_initial(self, key: Any, value: Any) -> bool:
        """Whether the initial version of a register may have this value."""
        initial = self.initial(key)
        if self.writes.is_of_first_transaction(key, value):
            return False
        if initial is UNKNOWN:
            return self.writes.may_have_been_first(key, value, self.counting)
        if initial is NOTHING:
            return type(value) is Unmatched and self.history.initial.is_open(key)
        return fits(initial, value)


def check_shown(explanation: Explanation) -> None:
    """Raise `RejectedError` if a counting transaction read what no writer that took effect can have written.

    A read without possible writers is wrong by itself, but shows a write too, if the value has any.
    """
    writes = explanation.writes
    for t in explanation.history.transactions if explanation.history.has_indeterminate else ():
        if not explanation.counting[t.number]:
            continue
        for place, key, value in external_reads(t, []):
            for element in value if isinstance(value, list) else [value]:
                possible = {number for number in writes.of(key, element) if number != t.number}
                possible = possible or writes.bad_writers(key, element, t.number)
                if not possible or any(map(explanation.may_be_shown, possible)):
                    continue
                if isinstance(value, list) or not explanation.possible_initial(key, value):
                    raise RejectedError(f"no writer of what operation {place} of {t} shows took effect")


def _effects(writes: Writes) -> set[int] | frozenset[int]:
    effective = writes.history.effective
    return _forced(writes) if effective is None else effective


def _forced(writes: Writes) -> set[int]:
    """Indeterminate transactions that count in every explanation.

    Each is the only transaction that can have written what a counting one read, or a log shows its version.
    """
    history = writes.history
    forced: set[int] = set()
    if not history.has_indeterminate:
        return forced
    waiting = [t for t in history.transactions if t.status == COMMITTED]
    for key, values in history.recorded.get("log", {}).items():
        waiting += _add_single(writes, forced, [(key, value) for value in values], reader=-1)
    while waiting:
        t = waiting.pop()
        seen: list[tuple[Any, Any]] = []
        misplaced: list[int] = []
        for _, key, value in external_reads(t, misplaced):
            seen += [(key, element) for element in value] if isinstance(value, list) else [(key, value)]
        # A wrong own read may show own appends: it proves nothing of others with the same value.
        for _, key, value in (t.operations[place] for place in misplaced):
            elements = value if isinstance(value, list) else []
            seen += [(key, element) for element in elements if t.number not in writes.of(key, element)]
        waiting += _add_single(writes, forced, seen, reader=t.number)
    return forced


def _add_single(
    writes: Writes, forced: set[int], seen: list[tuple[Any, Any]], *, reader: int
) -> list[Transaction]:
    """The new ones among the only possible writers of what was seen."""
    transactions = writes.history.transactions
    new = []
    for key, value in seen:
        others = {number for number in writes.of(key, value) if number != reader}
        others = others or writes.bad_writers(key, value, reader)
        if len(others) != 1 or may_be_initial(writes, key, value):
            continue
        number = others.pop()
        if transactions[number].status == INDETERMINATE and number not in forced:
            forced.add(number)
            new.append(transactions[number])
    return new


def may_be_initial(writes: Writes, key: Any, value: Any) -> bool:
    if key in writes.history.lists:
        return False
    if writes.is_of_first_transaction(key, value):
        return False
    initial = writes.history.initial.of(key)
    if initial is UNKNOWN:
        return type(value) is Unmatched or (value is None and key in writes.history.may_be_absent)
    return fits(initial, value)
