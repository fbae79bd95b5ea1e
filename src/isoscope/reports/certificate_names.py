"""How certificates name transactions and operations, and what of a history they do not speak of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isoscope.explain import whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from isoscope.verdict import OperationPlace, Witness

__all__ = ["CONTRADICTORY", "REPEATED_ELEMENTS", "Names", "UncertifiedError"]

REPEATED_ELEMENTS = "elements of lists repeat"
OPEN = "values repeat, or ends of transactions are unknown"
CONTRADICTORY = "sources of the version order contradict each other, or may"


class UncertifiedError(Exception):
    """A level has no certificate; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names of one history, and what it holds that certificates do not speak of.

    `id_of` gives the id of a transaction by the label that proofs have, None if two transactions share it.
    `sources` are those that say something of the order of versions: lists, log, declared, timestamps.
    `is_contradictory`: they contradict each other. `repeats`: some value was written more than once.
    `has_open_ends`: a transaction is indeterminate.
    """

    id_of: Callable[[str], object]
    sources: frozenset[str] = frozenset()
    is_contradictory: bool = False
    repeats: bool = False
    has_open_ends: bool = False

    @property
    def has_recorded_orders(self) -> bool:
        """Whether more than values and lists says something of the order of versions."""
        return bool(self.sources - {"lists"})

    def transaction(self, transaction: Any) -> int | str | dict[str, str]:
        """A transaction by its id: a number or a text as it is, anything else as text."""
        is_plain = isinstance(transaction, int | str) and not isinstance(transaction, bool)
        return transaction if is_plain else {"edn": whole(transaction)}

    def transactions(self, transactions: Sequence[Any]) -> list[Any]:
        """Many transactions; integers, the usual ids, without a detour."""
        if {*map(type, transactions)} <= {int}:
            return [*transactions]
        return [*map(self.transaction, transactions)]

    def operation(self, place: OperationPlace) -> list[Any]:
        """An operation of a witness."""
        return [self.transaction(place.transaction), place.place]

    def labelled(self, label: str) -> Any:
        """A transaction by its label."""
        found = self.id_of(label)
        if found is None:
            raise UncertifiedError("two transactions have the same label")
        return self.transaction(found)

    def witness(self, witness: Witness) -> list[Any]:
        """An operation of a counterexample."""
        if witness.item < 0:
            raise UncertifiedError("the history has range reads of too many keys")
        return [self.labelled(witness.transaction), witness.item]

    def refuse_holds(self, level: str, *, is_replayed: bool) -> None:
        """Raise `UncertifiedError` if the format has no proof that such a level holds in such a history."""
        is_open = self.repeats and self.has_open_ends
        reasons = {OPEN: is_open and (level == "cut-isolation" or bool(self.sources))}
        if level != "cut-isolation":
            reasons |= {
                "values of a log or a declared order repeat": self.repeats and self._has("log", "declared"),
                "ends of transactions are unknown, beside a log": self.has_open_ends and self._has("log"),
                REPEATED_ELEMENTS: self.repeats and self._has("lists") and not is_replayed,
                CONTRADICTORY: self.is_contradictory and (is_replayed or self.repeats or self.has_open_ends),
            }
        _refuse(reasons)

    def refuse_violated(self, level: str) -> None:
        """Raise `UncertifiedError` if the verifier may not judge the proof, or each source needs its own."""
        if level == "cut-isolation":
            return
        is_open = self.repeats or self.has_open_ends
        _refuse(
            {
                CONTRADICTORY: self.is_contradictory,
                OPEN: self.repeats and self.has_open_ends and bool(self.sources),
                "sources of the version order may contradict each other": len(self.sources) > 1 and is_open,
            }
        )

    def refuse_clock(self) -> None:
        """Raise `UncertifiedError` if more than timestamps may have decided a clock level."""
        _refuse({OPEN: self.repeats or self.has_open_ends})

    def _has(self, *sources: str) -> bool:
        return not self.sources.isdisjoint(sources)


def _refuse(reasons: Mapping[str, bool]) -> None:
    for reason, applies in reasons.items():
        if applies:
            raise UncertifiedError(reason)
