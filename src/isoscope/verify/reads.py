"""The transaction from which each external read takes its key, and all others that it observes.

Semantics: "External reads of registers", "Elements of lists", "Order of elements", "Non-repeatable reads",
"Observations". For a level that holds: every read that the level forbids raises `RejectedError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from isoscope.verify.explanation import SupposedInitial, external_reads, last_writes
from isoscope.verify.history import APPEND, READ, RejectedError, show
from isoscope.verify.predicates import Seen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.verify.explanation import Explanation
    from isoscope.verify.history import Transaction
    from isoscope.verify.levels import Level
    from isoscope.verify.version_order import Version, VersionOrder

__all__ = ["INITIAL", "Observation", "Reads"]

#: The number of the implicit first transaction.
INITIAL = -1


class Observation(NamedTuple):
    """An external read: the transaction that it reads the key from; of a list, writers of all elements."""

    place: int
    key: Any
    source: int
    all: tuple[int, ...]


class Reads:
    """Finds writers; `chosen` are the writers of reads of values that several transactions wrote."""

    def __init__(
        self, explanation: Explanation, known: VersionOrder, chosen: dict[Version, int], level: Level
    ) -> None:
        self._explanation = explanation
        self._last = explanation.writes.last
        self._counting = explanation.counting
        self._known = known
        self._chosen = chosen
        self._level = level
        self._appends = known.appends() if explanation.history.lists else {}
        self._whole: dict[Any, bool] = {}
        self._supposed = SupposedInitial()

    def of(self, t: Transaction) -> Iterator[Observation]:
        """All observations of a transaction in program order."""
        last, counting, chosen = self._last, self._counting, self._chosen
        cut = self._level.forbids_non_repeatable
        seen = Seen()
        for place, key, value in external_reads(t):
            if cut and seen.differs(key, value):
                raise RejectedError(f"{t} reads key {key} twice and differently")
            if isinstance(value, list):
                yield self._of_list(t, place, key, value)
                continue
            source: Any = last.get(key, {}).get(value)
            # The usual case: one transaction wrote the value, and it is not an initial one.
            is_plain = type(source) is int and source != t.number and counting[source] and not chosen
            if not is_plain or self._explanation.possible_initial(key, value):
                source = self._search(t, place, key, value)
            yield Observation(place, key, source, (source,))

    def _search(self, t: Transaction, place: int, key: Any, value: Any) -> int:
        """The writer of a read of a register, which the certificate must name if there are several."""
        writers = self._explanation.writes.of(key, value)
        possible = [number for number in writers if number != t.number and self._counting[number]]
        if self._explanation.possible_initial(key, value):
            possible.append(INITIAL)
        choice = self._chosen.get((t.number, place))
        if choice is None and len(possible) > 1:
            raise RejectedError(f"the certificate does not name the writer of operation {place} of {t}")
        if choice is None and possible:
            choice = possible[0]
        if choice not in possible:
            raise RejectedError(
                f"no possible writer of operation {place} of {t} took effect: it reads {value}"
            )
        if choice == INITIAL and not self._supposed.agrees(key, value):
            raise RejectedError(f"two values are supposed to be the initial one of key {key}")
        return choice

    def _of_list(self, t: Transaction, place: int, key: Any, value: list[Any]) -> Observation:
        canonical = self._known.canonical.get(key, [])
        if canonical[: len(value)] != value:
            raise RejectedError(f"the list of operation {place} of {t} is no beginning of the longest one")
        if not value:
            return Observation(place, key, INITIAL, ())
        if key not in self._whole:
            self._whole[key] = self._is_whole(key, canonical)
        if not self._whole[key]:
            raise RejectedError(
                f"key {key} shows the appends of a transaction out of order, or not from the first on"
            )
        writers = [self._appender(t, place, key, element) for element in value]
        number, last = writers[-1]
        if last_writes(self._explanation.history.transactions[number])[key] != last:
            raise RejectedError(f"the list of operation {place} of {t} ends inside another transaction")
        return Observation(place, key, number, tuple(dict.fromkeys(number for number, _ in writers)))

    def _is_whole(self, key: Any, canonical: list[Any]) -> bool:
        """Whether the longest list shows the appends of each transaction from the first one on, in order."""
        shown: dict[int, list[int]] = {}
        for element in canonical:
            for number, place in self._appends.get(key, {}).get(element, [])[:1]:
                shown.setdefault(number, []).append(place)
        transactions = self._explanation.history.transactions
        for number, places in shown.items():
            operations = enumerate(transactions[number].operations)
            own = [place for place, (kind, appended, _) in operations if kind == APPEND and appended == key]
            if places != own[: len(places)]:
                return False
        return True

    def _appender(self, t: Transaction, place: int, key: Any, element: Any) -> Version:
        versions = self._appends.get(key, {}).get(element, [])
        if len(versions) > 1:
            raise RejectedError(f"element {element} of key {key} was appended more than once")
        if not versions or versions[0][0] == t.number:
            raise RejectedError(
                f"no transaction that took effect appended {show(element)} of operation {place} of {t}"
            )
        return versions[0]

    def check_duplicates(self) -> None:
        """Raise `RejectedError` for a list that shows an element twice: no level allows that."""
        for t in self._explanation.history.transactions:
            if not self._counting[t.number]:
                continue
            for place, (kind, _, _) in enumerate(t.operations):
                if kind == READ and self._known.shows_duplicates(t, place):
                    raise RejectedError(f"operation {place} of {t} shows an element too often")
