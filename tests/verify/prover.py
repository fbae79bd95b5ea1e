"""Looks for a proof of a violation by trying everything: every read, every cycle, then every split of cases.

What it finds is only a candidate for the verifier. If a level holds, it finds nothing, however long it looks.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from isoscope.verify import cycles
from isoscope.verify.certificate import Names
from isoscope.verify.explanation import Writes, last_writes
from isoscope.verify.guarantees import versions_of
from isoscope.verify.history import RejectedError
from isoscope.verify.levels import LEVELS, Level
from isoscope.verify.proof import Proof
from isoscope.verify.reads import INITIAL
from isoscope.verify.supposition import Supposition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.verify.history import History

Json = dict[str, Any]


def prove(history: History, level: str) -> Json | None:
    """A proof that the level is violated, None if there is none."""
    return _Prover(history, LEVELS[level]).search()


class _Prover:
    def __init__(self, history: History, level: Level) -> None:
        self.level = level
        self.transactions = history.transactions
        self.supposition = Supposition(level, Writes(history), None)
        self.names = Names(history)
        self.checker = Proof(level, self.supposition, self.names)

    def search(self) -> Json | None:
        leaf = next((leaf for leaf in self.leaves() if self.accepts(leaf)), None)
        if leaf is not None:
            return leaf
        for split in self.splits():
            return split  # the first split decides: if a proof exists, it exists below every split
        return None

    def accepts(self, proof: Json) -> bool:
        try:
            self.checker.check(proof, 0)
        except RejectedError:
            return False
        return True

    def name(self, number: int) -> Any:
        return None if number == INITIAL else self.transactions[number].id

    def operation(self, version: tuple[int, int] | None) -> Any:
        return None if version is None else [self.name(version[0]), version[1]]

    def operations(self) -> list[list[Any]]:
        return [[t.id, place] for t in self.transactions for place in range(len(t.operations))]

    def leaves(self) -> Iterator[Json]:
        for read in self.operations():
            yield {"read": read}
        for one, two in combinations(self.operations(), 2):
            yield {"reads": [one, two]}
        if self.level.kind in (
            "read-your-writes",
            "monotonic-reads",
            "monotonic-writes",
            "writes-follow-reads",
        ):
            yield from self.back_steps()
        else:
            yield from ({"cycle": found} for found in self.cycles())

    def back_steps(self) -> Iterator[Json]:
        versions = [None, *(version for t in self.transactions for _, version in versions_of(t))]
        for one in self.operations():
            for two in self.operations():
                for start in versions:
                    for end in versions:
                        chain = [self.operation(start), self.operation(end)]
                        yield {"session": {"first": one, "second": two, "versions": chain}}

    def cycles(self) -> Iterator[list[Json]]:
        steps = [step for step in [*self.steps(), *self.axioms()] if self.is_step(step)]
        for start in [None, *(t.id for t in self.transactions)]:
            yield from self.extend(steps, [], start, start)

    def extend(self, steps: list[Json], path: list[Json], start: Any, at: Any) -> Iterator[list[Json]]:
        met = {step["from"] for step in path}
        for step in steps:
            if step["from"] != at or step["to"] in met - {start}:
                continue
            if step["to"] == start:
                yield [*path, step]
            else:
                yield from self.extend(steps, [*path, step], start, step["to"])

    def is_step(self, step: Json) -> bool:
        try:
            cycles.read_step(self.level, self.supposition, self.names, step)
        except RejectedError:
            return False
        return True

    def steps(self) -> Iterator[Json]:
        for one in self.transactions:
            yield {"by": "initial", "from": None, "to": one.id}
            for two in self.transactions:
                ends = {"from": one.id, "to": two.id}
                yield {"by": "session"} | ends
                yield {"by": "real-time"} | ends
                yield from ({"by": "wr", "read": place} | ends for place in range(len(two.operations)))
                for key, end in versions_of(two):
                    for other, start in versions_of(one):
                        if other == key:
                            yield {
                                "by": "ww",
                                "versions": [self.operation(start), self.operation(end)],
                            } | ends
                    for place in range(len(one.operations)):
                        shown = self.shown(one.number, place)
                        if shown is not self:
                            chain = [self.operation(shown), self.operation(end)]
                            yield {"by": "rw", "read": place, "versions": chain} | ends

    def shown(self, number: int, place: int) -> Any:
        try:
            return self.supposition.version_read(number, place)
        except RejectedError:
            return self

    def axioms(self) -> Iterator[Json]:
        if self.level.kind not in ("read-committed", "read-atomic", "causal"):
            return
        plain = [step for step in self.steps() if step["by"] in ("wr", "session") and self.is_step(step)]
        for reader in self.transactions:
            for place, (_, key, _) in enumerate(reader.operations):
                for seen in self.transactions:
                    if key not in last_writes(seen):
                        continue
                    for source in [None, *(t.id for t in self.transactions)]:
                        for chain in self.extend(plain, [], reader.id, seen.id):
                            yield {
                                "by": "axiom",
                                "from": seen.id,
                                "to": source,
                                "reader": reader.id,
                                "read": place,
                                "sees": chain,
                            }

    def splits(self) -> Iterator[Json | None]:
        """At most one split: of an effect, else of a writer, else of an order that is open."""
        for t in self.transactions:
            if t.status == "indeterminate" and t.number not in self.supposition.effects:
                yield self.split_effect(t.number)
                return
        for t in self.transactions:
            for place in range(len(t.operations)):
                writers = self.open_writers(t.number, place)
                if writers:
                    yield self.split_writer(t.number, place, writers)
                    return
        for key, versions in self.counted_versions().items():
            for one, two in combinations(versions, 2):
                before = self.supposition.before
                if one[0] != two[0] and not before(key, one, two) and not before(key, two, one):
                    yield self.split_order(key, one, two)
                    return

    def split_effect(self, number: int) -> Json | None:
        found = []
        for took_effect in (True, False):
            self.supposition.effects[number] = took_effect
            found.append(self.search())
            del self.supposition.effects[number]
        if None in found:
            return None
        return {"split": {"took_effect": self.name(number)}, "then": found[0], "else": found[1]}

    def open_writers(self, number: int, place: int) -> set[int]:
        if (number, place) in self.supposition.writers:
            return set()
        try:
            found = self.supposition.possible_writers(number, place)
        except RejectedError:
            return set()
        return found if len(found) > 1 else set()

    def split_writer(self, number: int, place: int, writers: set[int]) -> Json | None:
        cases = []
        for writer in sorted(writers):
            self.supposition.writers[number, place] = writer
            found = self.search()
            del self.supposition.writers[number, place]
            if found is None:
                return None
            key = self.transactions[number].operations[place][1]
            version = None if writer == INITIAL else (writer, last_writes(self.transactions[writer])[key])
            cases.append([self.operation(version), found])
        return {"split": {"writer": [self.name(number), place]}, "cases": cases}

    def counted_versions(self) -> dict[Any, list[tuple[int, int]]]:
        versions: dict[Any, list[tuple[int, int]]] = {}
        for t in self.transactions:
            if self.supposition.counts(t.number):
                for key, version in versions_of(t):
                    versions.setdefault(key, []).append(version)
        return versions

    def split_order(self, key: Any, one: tuple[int, int], two: tuple[int, int]) -> Json | None:
        found = []
        for first, second in ((one, two), (two, one)):
            self.supposition.suppose_order(key, first, second)
            found.append(self.search())
            self.supposition.drop_order(key, first, second)
        if None in found:
            return None
        names = [self.operation(one), self.operation(two)]
        return {"split": {"order": names}, "then": found[0], "else": found[1]}
