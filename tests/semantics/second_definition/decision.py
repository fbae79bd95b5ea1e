"""Verdicts of the second definition: a level holds if some explanation meets it, otherwise it is violated."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING

from tests.semantics.second_definition.conditions import Explained, commit_order, prefix
from tests.semantics.second_definition.explanations import (
    CUT,
    LENIENT,
    LEVELS,
    START,
    VERSION_LEVELS,
    WEAK_LEVELS,
)

if TYPE_CHECKING:
    from tests.semantics.second_definition.explanations import Attribution, Case, Txn, World

DEFINED_PREFIX = "prefix (definition)"


class TooManyError(Exception):
    """The history has more explanations than are worth the time."""


class Decision:
    """Which levels some explanation of a history meets."""

    def __init__(self, case: Case, limit: int = 30_000) -> None:
        """Try the explanations, at most `limit` of them."""
        self.case, self.left = case, limit
        self.answer = dict.fromkeys((*LEVELS, DEFINED_PREFIX), False)
        for world in case.worlds():
            self.explain(world)

    def explain(self, world: World) -> None:
        """Try every choice of writers."""
        reads = self.case.external(world)
        shown = [self.case.candidates(world, read) for read in reads]
        strict = not self.case.wrong_own(world) and not any(wrong for _, wrong in shown)
        repeatable = not self.case.unrepeatable(world)
        allowed = [
            level
            for level in self.answer
            if (strict or level in LENIENT) and (repeatable or level.removesuffix(" (definition)") not in CUT)
        ]
        for choice in product(*(found for found, _ in shown)):
            attribution = dict(zip(reads, choice, strict=True))
            if self.case.all_shown(world, attribution):
                self.attribute(world, attribution, allowed)
                self.order(world, attribution, [level for level in allowed if level in VERSION_LEVELS])

    def attribute(self, world: World, attribution: Attribution, allowed: list[str]) -> None:
        """The levels that ask for a commit order."""
        for level in allowed:
            if self.answer[level]:
                continue
            if level == DEFINED_PREFIX:
                self.answer[level] = prefix(self.case, world, attribution)
            elif level in WEAK_LEVELS:
                met = level == "cut-isolation" or commit_order(self.case, world, attribution, level)
                self.answer[level] = met

    def order(self, world: World, attribution: Attribution, allowed: list[str]) -> None:
        """The levels from a version order: try every order of versions."""
        keys = self.case.key_names
        writers = [[n for n in world.effect if key in self.case.txns[n].written()] for key in keys]
        for orders in product(*map(permutations, writers)):
            allowed = [level for level in allowed if not self.answer[level]]
            if not allowed:
                return
            self.left -= 1
            if self.left < 0:
                raise TooManyError
            named = {key: (START, *order) for key, order in zip(keys, orders, strict=True)}
            explained = Explained(self.case, world, attribution, named)
            for level in allowed:
                self.answer[level] = explained.meets(level)


def decide(case: Case) -> dict[str, bool]:
    """Whether some explanation meets each level."""
    return Decision(case).answer


def replay(case: Case, sessions: bool) -> bool:
    """`serializable` a third time: run the transactions one by one in some order."""
    for world in case.worlds():
        for order in permutations(world.effect):
            at = {number: place for place, number in enumerate(order)}
            if sessions and any(at[a] > at[b] for a, b in case.session_pairs(world)):
                continue
            state = dict(world.initial)
            if all(runs(case.txns[number], state) for number in order):
                return True
    return False


def runs(txn: Txn, state: dict[str, object]) -> bool:
    """Run one transaction; whether its reads return what they returned."""
    for op in txn.ops:
        if op.write:
            state[op.key] = op.value
        elif op.value is not None and state[op.key] != op.value:
            return False
    return True
