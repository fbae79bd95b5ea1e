"""Lines of a certificate for one level of a small history, found by trying what the verifier may accept."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from isoscope.prove.limits import MOST_OPERATIONS, MOST_TRANSACTIONS
from isoscope.prove.orders import all_orders
from isoscope.prove.steps import Named
from isoscope.prove.violations import GaveUpError, two_reads, violation
from isoscope.verify.certificate import Certificate
from isoscope.verify.explanation import Explanation
from isoscope.verify.history import INDETERMINATE, BadInputError, RejectedError
from isoscope.verify.levels import BY_THE_CLOCK, LEVELS
from isoscope.verify.verification import IMPLIED, Verification
from isoscope.verify.version_order import VersionOrder
from isoscope.verify.witnessed import Witnessed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.verify.choices import Choice
    from isoscope.verify.explanation import Writes
    from isoscope.verify.history import History
    from isoscope.verify.levels import Level

__all__ = ["Prover"]

_Line: TypeAlias = dict[str, Any]
MOST_TO_PERMUTE = 6
_BUDGET = 3000
_HEADER = {"isoscope_certificate": 1}


class Prover:
    """Tries proofs for one history, as the verifier reads it, and finds some if the history is small."""

    def __init__(self, history: History) -> None:
        self._history = history
        operations = sum(len(t.operations) for t in history.transactions)
        self._searches = len(history.transactions) <= MOST_TRANSACTIONS and operations <= MOST_OPERATIONS
        self._verification = Verification(history, Certificate([_HEADER]))
        self._named = Named([_name(t.id) for t in history.transactions])
        #: Every content that proved some level: the next one may have the same.
        self._contents: list[_Line] = []

    def accepts(self, lines: Sequence[_Line]) -> bool:
        """Whether the verifier accepts the level of the last line; the others are its witnesses."""
        try:
            certificate = Certificate([_HEADER, *lines])
        except BadInputError:
            return False
        self._verification.certificate = certificate
        return self._verification.find(certificate.levels[-1]).verified

    def holds(self, level: str, contents: Sequence[_Line]) -> tuple[_Line, list[tuple[_Line, str]]] | None:
        """A line and its witnesses, each with a source; `contents` are orders that may show why."""
        if not self._searches:
            return None
        line = {"level": level, "outcome": "holds"}
        for found in self._holding(level, [*contents, *self._contents]):
            self._contents += [content for content, _ in found if content not in self._contents]
            return line, found
        for clock, contained in BY_THE_CLOCK.items():
            if level in contained and self.accepts([line | {"implied_by": clock}]):
                return line | {"implied_by": clock}, []
        return None

    def _holding(self, name: str, contents: list[_Line]) -> Iterator[list[tuple[_Line, str]]]:
        level = LEVELS[name]
        try:
            explained = self._verification.explained()
        except RejectedError:
            return
        for choice, writes in explained.writes.items():
            if level.kind == "cut":
                contents = [{}]
            fitting = [c for c in contents if self._fits(c, choice)]
            if not explained.is_contradictory or level.kind == "cut":
                yield from ([(found, "")] for found in self._shown(level, writes, choice, fitting, None))
                continue
            by_source = [
                next(((found, source) for found in self._shown(level, writes, choice, fitting, source)), None)
                for source in VersionOrder(Explanation(writes)).present()
            ]
            found_all = [each for each in by_source if each is not None]
            if len(found_all) == len(by_source) and found_all:
                yield found_all

    def _fits(self, content: _Line, choice: Choice) -> bool:
        effects = {*content.get("took_effect", [])} if self._has_open_ends() else set()
        return not content or effects == {self._named.ids[n] for n in choice.effects}

    def _has_open_ends(self) -> bool:
        return any(t.status == INDETERMINATE for t in self._history.transactions)

    def _shown(
        self, level: Level, writes: Writes, choice: Choice, contents: list[_Line], only: str | None
    ) -> Iterator[_Line]:
        few = len(self._history.transactions) <= MOST_TO_PERMUTE
        for content in chain(contents, all_orders(writes, level, self._named, only) if few else ()):
            witness = {k: v for k, v in content.items() if k not in ("elements", "rows", "initial")}
            witness |= self._choice(choice)
            try:
                Witnessed(writes, self._verification.names).check(level, witness, only)
            except (RejectedError, BadInputError, KeyError):
                continue
            yield witness

    def _choice(self, choice: Choice) -> _Line:
        named = self._named
        return {
            "took_effect": [named.transaction(number) for number in choice.effects],
            "initial": [named.operation(read) for read in choice.initial],
            "elements": [
                [named.operation(read), [*map(named.operation, shown)]] for read, shown in choice.elements
            ],
            "rows": [[source, [*map(named.operation, shown)]] for source, shown in choice.rows],
        }

    def violated(self, level: str) -> _Line | None:
        """The line of a level that is violated."""
        if not self._searches:
            return None
        line = {"level": level, "outcome": "violated"}
        if level in IMPLIED:
            found = self.violated(IMPLIED[level])
            return None if found is None else found | line | {"implied": IMPLIED[level]}
        try:
            if level == "cut-isolation" or not self._verification.is_contradictory():
                proof = violation(self._verification.writes, LEVELS[level], None, _BUDGET)
                if proof is not None:
                    return line | {"proof": proof}
            return self._in_each(line, LEVELS[level])
        except (GaveUpError, RejectedError):
            proof = two_reads(self._verification.writes, LEVELS[level])
            return None if proof is None else line | {"proof": proof}

    def _in_each(self, line: _Line, level: Level) -> _Line | None:
        explained = self._verification.explained()
        entries = []
        for choice, writes in explained.writes.items():
            part: _Line
            if explained.is_contradictory and level.kind != "cut":
                sources = VersionOrder(Explanation(writes)).present()
                proofs = [(source, violation(writes, level, source, _BUDGET)) for source in sources]
                if not proofs or any(proof is None for _, proof in proofs):
                    return None
                part = {"sources": [{"source": source, "proof": proof} for source, proof in proofs]}
            else:
                proof = violation(writes, level, None, _BUDGET)
                if proof is None:
                    return None
                part = {"proof": proof}
            entries.append(self._choice(choice) | part)
        return line | {"explanations": entries}


def _name(transaction: Any) -> Any:
    if isinstance(transaction, int | str):
        return transaction
    return {"edn": "nil" if transaction is None else str(transaction)}
