"""Violations: a wrong read, a cycle, a session that goes back, or cases of which each has one of these.

Everything that a proof uses must be so in every explanation of the history, or be supposed by a case around
it. `docs/reference/certificates.md` has the forms.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from isoscope.verify import cycles, wrong_reads
from isoscope.verify.certificate import Names, as_list, check_fields
from isoscope.verify.guarantees import EARLIER, LATER
from isoscope.verify.history import INDETERMINATE, INSTALLS, READ, RejectedError
from isoscope.verify.reads import INITIAL
from isoscope.verify.supposition import Supposition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.verify.explanation import Writes
    from isoscope.verify.levels import Level

__all__ = ["Proof", "check"]

_FORMS = {"read", "reads", "cycle", "session", "split"}
_DEEPEST = 100


def check(level: Level, writes: Writes, proof: Any, only: str | None) -> None:
    """Raise `RejectedError` unless the proof shows that the level is violated."""
    supposition = Supposition(level, writes, only)
    Proof(level, supposition, Names(writes.history)).check(proof, 0)


class Proof:
    """Checks proofs, with what the cases around the present one suppose."""

    def __init__(self, level: Level, supposition: Supposition, names: Names) -> None:
        self.level = level
        self.supposition = supposition
        self.names = names
        self.transactions = supposition.history.transactions

    def check(self, proof: Any, depth: int) -> None:
        """Raise `RejectedError` unless the proof, or the part of it so deep inside, shows a violation."""
        check_fields(proof, {*_FORMS, "lemmas", "then", "else", "cases"}, "a proof")
        forms = proof.keys() & _FORMS
        if len(forms) != 1:
            raise RejectedError("a proof needs one of read, reads, cycle, session and split")
        if depth > _DEEPEST:
            raise RejectedError(f"a proof is nested more than {_DEEPEST} times")
        proved = [self._lemma(lemma, depth) for lemma in as_list(proof.get("lemmas", []), "lemmas")]
        (form,) = forms
        if form == "split":
            self._split(proof, depth)
        else:
            self._leaf(form, proof[form])
        for key, one, two in proved:
            self.supposition.drop_order(key, one, two)

    def _lemma(self, lemma: Any, depth: int) -> tuple[Any, Any, Any]:
        check_fields(lemma, {"order", "because"}, "a lemma")
        key, one, two = self._two_versions(lemma.get("order"))
        with self._ordered(key, two, one):
            self.check(lemma.get("because"), depth + 1)
        self.supposition.suppose_order(key, one, two)
        return key, one, two

    @contextmanager
    def _ordered(self, key: Any, one: Any, two: Any) -> Iterator[None]:
        self.supposition.suppose_order(key, one, two)
        try:
            yield
        finally:
            self.supposition.drop_order(key, one, two)

    def _two_versions(self, order: Any) -> tuple[Any, Any, Any]:
        if not isinstance(order, list) or len(order) != 2:
            raise RejectedError(f"{order!r} are not two versions")
        one, two = (self.names.operation(name) for name in order)
        key = self.supposition.key_of_version(one)
        if self.supposition.key_of_version(two) != key or one[0] == two[0]:
            raise RejectedError(f"{order!r} are not versions of one key by two transactions")
        return key, one, two

    def _split(self, proof: dict[str, Any], depth: int) -> None:
        split = proof["split"]
        check_fields(split, {"order", "writer", "took_effect"}, "a split")
        if len(split) != 1:
            raise RejectedError("a split has one of order, writer and took_effect")
        if "writer" in split:
            check_fields(proof, {"split", "cases", "lemmas"}, "a split by writers")
            self._split_writer(split["writer"], proof.get("cases"), depth)
            return
        check_fields(proof, {"split", "then", "else", "lemmas"}, "a split")
        if "order" in split:
            key, one, two = self._two_versions(split["order"])
            for (first, second), branch in (((one, two), "then"), ((two, one), "else")):
                with self._ordered(key, first, second):
                    self.check(proof.get(branch), depth + 1)
            return
        self._split_effect(self.names.transaction(split["took_effect"]), proof, depth)

    def _split_effect(self, number: int, proof: dict[str, Any], depth: int) -> None:
        effects = self.supposition.effects
        if self.transactions[number].status != INDETERMINATE or number in effects:
            raise RejectedError(f"whether {self.transactions[number]} took effect is not open")
        for took_effect, branch in ((True, "then"), (False, "else")):
            effects[number] = took_effect
            self.check(proof.get(branch), depth + 1)
        del effects[number]

    def _split_writer(self, name: Any, cases: Any, depth: int) -> None:
        number, place = self.names.operation(name)
        supposition = self.supposition
        supposition.external_read(number, place)
        possible = supposition.possible_writers(number, place)
        if not isinstance(cases, list) or (number, place) in supposition.writers:
            raise RejectedError(f"the writer of operation {place} of {self.transactions[number]} is not open")
        covered = set()
        for case in cases:
            if not isinstance(case, list) or len(case) != 2:
                raise RejectedError(f"{case!r} is no case of a split by writers")
            writer = INITIAL if case[0] is None else self.names.operation(case[0])[0]
            covered.add(writer)
            supposition.writers[number, place] = writer
            self.check(case[1], depth + 1)
            del supposition.writers[number, place]
        if not possible <= covered:
            raise RejectedError(
                f"a possible writer of operation {place} of {self.transactions[number]} has no case"
            )

    def _leaf(self, form: str, content: Any) -> None:
        if form == "read":
            wrong_reads.check_read(self.level, self.supposition, self.names.operation(content))
        elif form == "reads":
            if not isinstance(content, list) or len(content) != 2:
                raise RejectedError("expected two reads")
            one, two = (self.names.operation(name) for name in content)
            wrong_reads.check_reads(self.level, self.supposition, one, two)
        elif form == "cycle":
            cycles.check(self.level, self.supposition, self.names, content)
        else:
            self._goes_back(content)

    def _goes_back(self, content: Any) -> None:
        """A session guarantee: the second operation meets a version before that of the first."""
        check_fields(content, {"first", "second", "versions"}, "a session proof")
        if self.level.kind not in EARLIER:
            raise RejectedError("the level is no session guarantee")
        first, second = (self.names.operation(content.get(name)) for name in ("first", "second"))
        one, two = self.transactions[first[0]], self.transactions[second[0]]
        if one.session != two.session or one.place >= two.place:
            raise RejectedError(f"{one} is not before {two} in a session")
        met = self._met(first, EARLIER[self.level.kind]), self._met(second, LATER[self.level.kind])
        chain = cycles.chain(self.supposition, self.names, content.get("versions"))
        if one.operations[first[1]][1] != two.operations[second[1]][1]:
            raise RejectedError("the two operations are of different keys")
        if LATER[self.level.kind] == "write" and met[0] is not None and met[0][0] == two.number:
            raise RejectedError(f"{two} does not go back behind its own version")
        if (chain[-1], chain[0]) != met:
            raise RejectedError(f"the versions do not lead from what {two} met to what {one} met")

    def _met(self, operation: tuple[int, int], what: str) -> Any:
        number, place = operation
        kind = self.transactions[number].operations[place][0]
        if what == "read":
            if kind != READ:
                raise RejectedError(f"operation {place} of {self.transactions[number]} is no read")
            self.supposition.external_read(number, place)
            return self.supposition.version_read(number, place)
        if kind not in INSTALLS:
            raise RejectedError(f"operation {place} of {self.transactions[number]} is no write")
        self.supposition.key_of_version(operation)
        return operation
