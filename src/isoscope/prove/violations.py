"""Proofs that a level is violated: a wrong read, a cycle, a session that goes back, or cases of these."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

from isoscope.prove.cycles import forbidden_cycle
from isoscope.prove.steps import Named, Steps, step_json
from isoscope.verify.explanation import external_reads, last_writes
from isoscope.verify.guarantees import EARLIER, LATER, versions_of
from isoscope.verify.history import READ, RejectedError
from isoscope.verify.reads import INITIAL
from isoscope.verify.supposition import Supposition
from isoscope.verify.wrong_reads import check_read, check_reads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isoscope.verify.explanation import Writes
    from isoscope.verify.levels import Level

__all__ = ["GaveUpError", "two_reads", "violation"]

_Proof: TypeAlias = dict[str, Any]
Version: TypeAlias = tuple[int, int]
_Split: TypeAlias = tuple[Version, dict[int, _Proof | None]]


class GaveUpError(Exception):
    """The search took too long."""


def violation(writes: Writes, level: Level, only: str | None, budget: int) -> _Proof | None:
    """A proof, None if there is none; `GaveUpError` if it takes more suppositions than the budget has."""
    search = _Search(writes, level, only, budget)
    return search.wrong_read() or search.prove()


def two_reads(writes: Writes, level: Level) -> _Proof | None:
    """Two reads that do not go together, whatever wrote the elements and in whichever order."""
    return _Search(writes, level, None, 0).two_reads()


class _Search:
    def __init__(self, writes: Writes, level: Level, only: str | None, budget: int) -> None:
        self.level = level
        self.supposition = Supposition(level, writes, only)
        self.transactions = writes.history.transactions
        self.named = Named([t.id for t in self.transactions])
        self.budget = budget

    def wrong_read(self) -> _Proof | None:
        """A read that is wrong by itself, or two that do not go together."""
        for read in self._reads():
            if self._is_accepted(check_read, read):
                return {"read": self.named.operation(read)}
        return self.two_reads()

    def two_reads(self) -> _Proof | None:
        for one, two in combinations(self._reads(), 2):
            if self._is_accepted(check_reads, one, two):
                return {"reads": [self.named.operation(one), self.named.operation(two)]}
        return None

    def _reads(self) -> list[Version]:
        counting = [t for t in self.transactions if self.supposition.counts(t.number)]
        return [(t.number, p) for t in counting for p, o in enumerate(t.operations) if o[0] == READ]

    def _is_accepted(self, check: Any, *reads: Version) -> bool:
        try:
            check(self.level, self.supposition, *reads)
        except RejectedError:
            return False
        return True

    def prove(self) -> _Proof | None:
        found = self.leaf()
        return found if found is not None else self._by_cases()

    def leaf(self) -> _Proof | None:
        """A proof without cases."""
        self.budget -= 1
        if self.budget < 0:
            raise GaveUpError
        if self.level.kind == "cut":
            return None
        steps = Steps(self.supposition)
        if self.level.kind in EARLIER:
            return self._goes_back(steps)
        cycle = forbidden_cycle(steps)
        return None if cycle is None else {"cycle": [step_json(self.named, edge) for edge in cycle]}

    def _goes_back(self, steps: Steps) -> _Proof | None:
        kind = self.level.kind
        for one, two in combinations(sorted(steps.counted, key=lambda t: (t.session, t.place)), 2):
            if one.session != two.session:
                continue
            for first, key, met in self._met(steps, one.number, EARLIER[kind]):
                for second, other, later in self._met(steps, two.number, LATER[kind]):
                    is_own = LATER[kind] == "write" and met is not None and met[0] == two.number
                    is_compared = other == key and met is not None and not is_own
                    chain = steps.after(key, later).get(met) if is_compared and met is not None else None
                    if chain is not None:
                        named = self.named.operation
                        versions = [*map(named, chain)]
                        return {
                            "session": {"first": named(first), "second": named(second), "versions": versions}
                        }
        return None

    def _met(self, steps: Steps, number: int, what: str) -> Iterator[tuple[Version, Any, Version | None]]:
        if what == "write":
            for key, version in versions_of(self.transactions[number]):
                yield version, key, version
            return
        for place, key in steps.reads(number):
            is_certain, shown = steps.shown(number, place)
            if is_certain:
                yield (number, place), key, shown

    # Cases.

    def _by_cases(self) -> _Proof | None:
        open_reads = [*self._open_reads()]
        if open_reads:
            return self._split_writer(*min(map(self._closed_cases, open_reads), key=_left_open))
        pairs = [*self._open_pairs()]
        for key, one, two in pairs:
            then = self._supposing(key, one, two, self.leaf)
            other = self._supposing(key, two, one, self.leaf)
            if then is not None or other is not None:
                then = then or self._supposing(key, one, two, self.prove)
                other = other or (self._supposing(key, two, one, self.prove) if then else None)
                return self._split_order(one, two, then, other)
        for key, one, two in pairs:
            then = self._supposing(key, one, two, self.prove)
            other = self._supposing(key, two, one, self.prove) if then is not None else None
            return self._split_order(one, two, then, other)
        return None

    def _split_order(self, one: Version, two: Version, then: Any, other: Any) -> _Proof | None:
        if then is None or other is None:
            return None
        order = [self.named.operation(one), self.named.operation(two)]
        return {"split": {"order": order}, "then": then, "else": other}

    def _supposing(self, key: Any, one: Version, two: Version, search: Any) -> Any:
        self.supposition.suppose_order(key, one, two)
        try:
            return search()
        finally:
            self.supposition.drop_order(key, one, two)

    def _open_reads(self) -> Iterator[tuple[int, int, set[int]]]:
        for t in self.transactions:
            if not self.supposition.counts(t.number):
                continue
            for place, key, value in external_reads(t, []):
                if isinstance(value, list) or key in self.supposition.history.unjudged:
                    continue
                writers = self.supposition.possible_writers(t.number, place)
                if len(writers) > 1:
                    yield t.number, place, writers

    def _closed_cases(self, read: tuple[int, int, set[int]]) -> _Split:
        """The cases of a read by its writers, with the proofs of those that need no further cases."""
        number, place, writers = read
        return (number, place), {w: self._if_written((number, place), w, self.leaf) for w in sorted(writers)}

    def _if_written(self, read: Version, writer: int, search: Callable[[], _Proof | None]) -> _Proof | None:
        self.supposition.writers[read] = writer
        try:
            return search()
        finally:
            del self.supposition.writers[read]

    def _split_writer(self, read: Version, closed: dict[int, _Proof | None]) -> _Proof | None:
        key = self.transactions[read[0]].operations[read[1]][1]
        cases = []
        for writer, known in closed.items():
            found = known or self._if_written(read, writer, self._by_cases)
            if found is None:
                return None
            version = None if writer == INITIAL else (writer, last_writes(self.transactions[writer])[key])
            cases.append([self.named.operation(version), found])
        return {"split": {"writer": self.named.operation(read)}, "cases": cases}

    def _open_pairs(self) -> Iterator[tuple[Any, Version, Version]]:
        steps = Steps(self.supposition)
        for key, versions in steps.versions.items():
            for one, two in combinations(versions, 2):
                if one[0] != two[0] and two not in steps.after(key, one) and one not in steps.after(key, two):
                    yield key, one, two


def _left_open(split: _Split) -> int:
    return sum(proof is None for proof in split[1].values())
