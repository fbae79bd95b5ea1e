"""What is so in every explanation of a history that agrees with the cases around a step of a proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.verify.explanation import Explanation, external_reads, last_writes
from isoscope.verify.history import APPEND, COMMITTED, INSTALLS, READ, UNKNOWN, RejectedError
from isoscope.verify.levels import GUARANTEES, OF_ROWS
from isoscope.verify.predicates import fits
from isoscope.verify.reads import INITIAL
from isoscope.verify.version_order import VersionOrder

if TYPE_CHECKING:
    from isoscope.verify.explanation import Writes
    from isoscope.verify.history import Transaction
    from isoscope.verify.levels import Level
    from isoscope.verify.version_order import Version

__all__ = ["Supposition"]

_WEAK = ("read-committed", "read-atomic", "causal")


class Supposition:
    """The history, and what cases suppose: effects of transactions, writers of reads, orders of versions."""

    def __init__(self, level: Level, writes: Writes, only: str | None) -> None:
        self.level = level
        self.writes = writes
        self.history = writes.history
        self.transactions = writes.history.transactions
        self.forced = Explanation(writes)
        self.known = VersionOrder(self.forced, only, cautious=self.history.effective is None)
        self.effects: dict[int, bool] = {}
        self.writers: dict[Version, int] = {}
        self._orders: dict[tuple[Any, Version, Version], int] = {}
        self._external: dict[int, dict[int, Any]] = {}

    def suppose_order(self, key: Any, one: Version, two: Version) -> None:
        """From now on the first version comes before the second."""
        self._orders[key, one, two] = self._orders.get((key, one, two), 0) + 1

    def drop_order(self, key: Any, one: Version, two: Version) -> None:
        """Take back one supposition of this order."""
        self._orders[key, one, two] -= 1

    def counts(self, number: int) -> bool:
        """Whether the transaction counts as committed."""
        supposed = self.effects.get(number)
        if supposed is not None:
            return supposed
        return self.forced.counting[number] or number in self.writers.values()

    def require(self, number: int) -> Transaction:
        """The transaction, which must count."""
        t = self.transactions[number]
        if not self.counts(number):
            raise RejectedError(f"{t} is not known to have taken effect")
        return t

    def key_of_version(self, version: Version) -> Any:
        """The key of a version; `RejectedError` if the operation is none."""
        t = self.require(version[0])
        kind, key, _ = t.operations[version[1]]
        if kind not in INSTALLS or (kind != APPEND and last_writes(t)[key] != version[1]):
            raise RejectedError(f"operation {version[1]} of {t} left no version")
        return key

    def require_judged(self, key: Any) -> None:
        """Reads of keys that are used as lists, and also otherwise, prove nothing."""
        if key in self.history.unjudged:
            raise RejectedError(f"key {key} is both a register and a list")

    def external_read(self, number: int, place: int) -> Any:
        """What an external read shows of others; `RejectedError` if the operation is none."""
        t = self.require(number)
        if number not in self._external:
            self._external[number] = {at: value for at, _, value in external_reads(t, [])}
        kind, key, _ = t.operations[place]
        if kind != READ or place not in self._external[number]:
            raise RejectedError(f"operation {place} of {t} is no external read with a known result")
        self.require_judged(key)
        return self._external[number][place]

    def possible_writers(self, number: int, place: int) -> set[int]:
        """The transactions from which a read of a register can have its value."""
        if (number, place) in self.writers:
            return {self.writers[number, place]}
        key, value = self.transactions[number].operations[place][1], self.external_read(number, place)
        if isinstance(value, list):
            raise RejectedError(f"operation {place} of {self.transactions[number]} reads a list")
        found = self.possible_authors(number, key, value)
        if self._may_be_initial(key, value):
            found.add(INITIAL)
        if not found and self.level.kind in GUARANTEES:  # an intermediate read observes its writer
            replaced = self.writes.earlier.get(key, {}).get(value, [])
            found = {n for n in replaced if n != number and self.effects.get(n) is not False}
        return found

    def possible_authors(self, reader: int, key: Any, value: Any) -> set[int]:
        """Other transactions that may have taken effect and left this value, or appended this element."""
        numbers = self.writes.of(key, value)
        return {n for n in numbers if n != reader and self.effects.get(n) is not False}

    def _may_be_initial(self, key: Any, value: Any) -> bool:
        said = self.history.initial
        initial = said.of(key)
        writes = self.writes
        if self.history.effective is not None:
            return self.forced.possible_initial(key, value)
        if writes.is_of_first_transaction(key, value):
            return False
        if initial is UNKNOWN:
            return self._may_be_unknown(key, value)
        if not fits(initial, value):
            return False
        authors = writes.of(key, initial) + writes.earlier.get(key, {}).get(initial, [])
        return not (said.replaceable and any(map(self.counts, authors)))

    def _may_be_unknown(self, key: Any, value: Any) -> bool:
        """Whether an unknown initial value may be this one: the first that was read and never written."""
        for number, other in self.writes.unwritten(key):
            if fits(other, value):
                return True
            if self.forced.counting[number]:
                return False
        return self.writes.may_have_been_first(key, value, self.forced.counting)

    def sources(self, number: int, place: int) -> set[int]:
        """The transactions that an external read certainly observes: one writer, or those of elements."""
        value = self.external_read(number, place)
        if not isinstance(value, list):
            possible = self.possible_writers(number, place)
            return possible if len(possible) == 1 else set()
        key = self.transactions[number].operations[place][1]
        found = set()
        for element in value:
            possible = self.possible_authors(number, key, element)
            if len(possible) == 1:
                found |= possible
        return found

    def dependencies(self, number: int, place: int) -> set[int]:
        """Where steps by wr come from that lead to an external read ("First transactions")."""
        found = self.sources(number, place)
        filling = self.history.filled.get(self.transactions[number].operations[place][1])
        if filling is not None and filling != number and self.level.kind in OF_ROWS:
            return found | {filling}
        return found

    def source(self, number: int, place: int) -> int:
        """The transaction that an external read takes its key from; `RejectedError` if it is open."""
        value = self.external_read(number, place)
        t = self.transactions[number]
        if isinstance(value, list):
            key = t.operations[place][1]
            possible = self.possible_authors(number, key, value[-1]) if value else {INITIAL}
        else:
            possible = self.possible_writers(number, place)
        if len(possible) != 1:
            raise RejectedError(f"operation {place} of {t} has {len(possible)} possible writers")
        return next(iter(possible))

    def version_read(self, number: int, place: int) -> Version | None:
        """The version that an external read shows, None for the initial one."""
        source = self.source(number, place)
        if source == INITIAL:
            return None
        key = self.transactions[number].operations[place][1]
        value = self.external_read(number, place)
        writer = self.require(source)
        if not isinstance(value, list):
            return source, last_writes(writer)[key]
        if self.known.canonical.get(key, [])[: len(value)] != value:
            raise RejectedError(f"the list of operation {place} shows no state that there ever was")
        if value.count(value[-1]) > 1 or len(self.writes.of(key, value[-1])) > 1:
            # The canonical list may have another append of the same value in this place.
            raise RejectedError(f"the element {value[-1]} of operation {place} repeats")
        places = [
            at for at, operation in enumerate(writer.operations) if operation == (APPEND, key, value[-1])
        ]
        if len(places) != 1:
            raise RejectedError(f"{writer} appended {value[-1]} more than once")
        return source, places[0]

    def before(self, key: Any, one: Version | None, two: Version | None) -> bool:
        """Whether the first version is known to come before the second."""
        if one is None or two is None:
            return one is None and two is not None
        if self._orders.get((key, one, two)) or self.known.before(key, one, two):
            return True
        if self.known.is_first(key, one) or self.known.is_first(key, two):
            return self.known.is_first(key, one)
        if one[0] == two[0]:
            return one[1] < two[1] and not self.known.before(key, two, one)
        return self._inferred(one[0], two[0])

    def _inferred(self, one: int, two: int) -> bool:
        """Whether the opposite order of their versions would close a cycle of two at this level."""
        level = self.level
        if level.kind in _WEAK or level.kind in GUARANTEES:
            return False
        if level.sessions and self.in_session(one, two):
            return True
        if level.real_time and self.in_real_time(one, two):
            return True
        return level.kind != "pl-1" and self.reads_from(two, one)

    def reads_from(self, reader: int, writer: int) -> bool:
        """Whether some external read of the one certainly shows a write of the other."""
        t = self.transactions[reader]
        return any(
            key not in self.history.unjudged and writer in self.sources(reader, place)
            for place, key, _ in external_reads(t, [])
        )

    def in_session(self, one: int, two: int) -> bool:
        """Whether the first is before the second in a session."""
        first, second = self.transactions[one], self.transactions[two]
        return first.session == second.session and first.place < second.place

    def in_real_time(self, one: int, two: int) -> bool:
        """Whether the first was over before the second began."""
        first, second = self.transactions[one], self.transactions[two]
        known = first.status == COMMITTED and first.end is not None and second.begin is not None
        return known and (first.end or 0) < (second.begin or 0)
