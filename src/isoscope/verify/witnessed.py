"""Why a level holds: a witness and its explanation, against the definition of the level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.verify import adya, cut, guarantees, serializable, snapshot, weak
from isoscope.verify.certificate import as_list
from isoscope.verify.explanation import Explanation, check_shown
from isoscope.verify.history import INDETERMINATE, RejectedError
from isoscope.verify.levels import GUARANTEES
from isoscope.verify.orders import check_events, check_order, commits, refuse_ranges, refuse_unjudged
from isoscope.verify.reads import INITIAL, Reads
from isoscope.verify.version_order import VersionOrder

if TYPE_CHECKING:
    from isoscope.verify.certificate import Names
    from isoscope.verify.explanation import Writes
    from isoscope.verify.levels import Level
    from isoscope.verify.version_order import Version

__all__ = ["Witnessed"]

_WEAK = ("read-committed", "read-atomic", "causal")


class Witnessed:
    """A history, and the names that a witness gives to what is in it."""

    def __init__(self, writes: Writes, names: Names) -> None:
        self.writes = writes
        self.history = writes.history
        self.names = names

    def check(self, level: Level, witness: dict[str, Any], only: str | None) -> None:
        """Raise `RejectedError` unless the witness shows that the level holds; `only`: by that source."""
        explanation = self._explanation(witness)
        refuse_ranges(explanation)
        if level.kind == "cut":  # equal results do not differ, whatever kind of key they are of
            cut.check(explanation)
            return
        refuse_unjudged(explanation)
        known = VersionOrder(explanation, only)
        if known.ambiguous_rows:
            raise RejectedError("values of a log or a declared order have several possible writers")
        if known.ambiguous_elements and level.kind not in ("serializable", "snapshot", "prefix"):
            raise RejectedError("elements of lists have several possible writers")
        if level.kind in GUARANTEES:
            orders = self._version_orders(explanation, witness)
            guarantees.check(level.kind, explanation, known, self._chosen(witness), orders)
            return
        self._check_order(level, explanation, known, witness)

    def _explanation(self, witness: dict[str, Any]) -> Explanation:
        if "took_effect" not in witness or self.history.effective is not None:
            explanation = Explanation(self.writes)
            check_shown(explanation)
            return explanation
        numbers = self.names.transactions(witness["took_effect"])
        for number in numbers:
            if self.history.transactions[number].status != INDETERMINATE:
                raise RejectedError(f"{self.history.transactions[number]} is not indeterminate")
        explanation = Explanation(self.writes, numbers)
        check_shown(explanation)
        for key, values in self.history.recorded.get("log", {}).items():
            for value in values:
                writers = self.writes.of(key, value)
                if len(writers) == 1 and not explanation.counting[writers[0]]:
                    raise RejectedError(
                        f"the log shows that {self.history.transactions[writers[0]]} took effect"
                    )
        return explanation

    def _version_orders(self, explanation: Explanation, witness: dict[str, Any]) -> list[list[Version]]:
        """The versions of each key: as they are listed, or in the order of their writers."""
        if "versions" in witness:
            listed = as_list(witness["versions"], "orders")
            return [[self.names.operation(version) for version in as_list(one, "versions")] for one in listed]
        numbers = self.names.transactions(witness.get("order", witness.get("events")))
        of_key: dict[Any, list[Version]] = {}
        for number in commits(numbers) if "events" in witness else dict.fromkeys(numbers):
            if explanation.counting[number]:
                for key, version in guarantees.versions_of(self.history.transactions[number]):
                    of_key.setdefault(key, []).append(version)
        return [*of_key.values()]

    def _chosen(self, witness: dict[str, Any]) -> dict[Version, int]:
        chosen: dict[Version, int] = {}
        for entry in as_list(witness.get("writers", []), "writers"):
            if not isinstance(entry, list) or len(entry) != 2:
                raise RejectedError(f"{entry!r} is no read with its writer")
            writer = INITIAL if entry[1] is None else self.names.operation(entry[1])[0]
            chosen[self.names.operation(entry[0])] = writer
        return chosen

    def _check_order(
        self, level: Level, explanation: Explanation, known: VersionOrder, witness: dict[str, Any]
    ) -> None:
        numbers = self.names.transactions(witness.get("order", witness.get("events")))
        by_events = level.kind in ("snapshot", "prefix")
        if by_events and "order" in witness:
            numbers = [number for each in numbers for number in (each, each)]
        if by_events:
            check_events(explanation, numbers, level)
        order = commits(numbers) if by_events or "events" in witness else numbers
        if not by_events:
            check_order(explanation, order, level)
        position = [-1] * len(self.history.transactions)
        for place, number in enumerate(order):
            position[number] = place
        known.check(position)
        if by_events:
            snapshot.check(
                explanation,
                numbers,
                conflicts=level.kind == "snapshot",
                believes_lists=known.believes_lists,
            )
        elif level.kind == "serializable":
            if not level.phantoms:
                cut.check(explanation)
            serializable.check(
                explanation, order, believes_lists=known.believes_lists, phantoms=level.phantoms
            )
        else:
            self._check_dependencies(level, explanation, known, witness, order=order)

    def _check_dependencies(
        self,
        level: Level,
        explanation: Explanation,
        known: VersionOrder,
        witness: dict[str, Any],
        *,
        order: list[int],
    ) -> None:
        reads = Reads(explanation, known, self._chosen(witness), level)
        if level.kind == "pl-1":
            reads.check_duplicates()
        elif level.kind in _WEAK:
            weak.check(level.kind, self.history, reads, order)
        else:
            adya.check(level, self.history, reads, order)
