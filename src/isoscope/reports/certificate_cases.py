"""Cases of a proof as a tree: a counterexample lists the ends of the tree, each with all that it supposes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from isoscope.reports.certificate_names import UncertifiedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.verdict import Step

__all__ = ["Leaf", "Literal", "closed_part", "tree"]


@dataclass(frozen=True, slots=True)
class Literal:
    """A supposition: a read shows a write (None: the initial version), or one version is before another."""

    first: list[Any]
    second: list[Any] | None
    is_order: bool = False

    def opposite(self) -> Literal:
        """Of an order, the other one."""
        assert self.second is not None, "an order has two versions"
        return Literal(self.second, self.first, is_order=True)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A cycle, and what it supposes."""

    supposed: tuple[Literal, ...]
    proof: dict[str, Any]

    def without(self, literal: Literal) -> Leaf:
        """The leaf inside the case that supposes the literal."""
        return replace(self, supposed=tuple(each for each in self.supposed if each != literal))


def closed_part(supposed: Sequence[Step], circle: Sequence[Step]) -> Sequence[Step]:
    """The circle, which may begin with some of the orders that are supposed."""
    steps = [*supposed, *circle]
    for start in reversed(range(len(supposed) + 1)):
        part = steps[start:]
        if len(part) > 1 and part[-1].after == part[0].before:
            return part
    return circle


def tree(leaves: Sequence[Leaf]) -> dict[str, Any]:
    """The proof that splits by the suppositions of the leaves."""
    for leaf in leaves:
        if not leaf.supposed:
            return leaf.proof
    if not leaves:
        raise UncertifiedError("the counterexample does not show every case")
    literal = leaves[0].supposed[0]
    if literal.is_order:
        return {
            "split": {"order": [literal.first, literal.second]},
            "then": _case(leaves, literal, [literal.opposite()]),
            "else": _case(leaves, literal.opposite(), [literal]),
        }
    return {"split": {"writer": literal.first}, "cases": _cases_of_writers(leaves, literal.first)}


def _cases_of_writers(leaves: Sequence[Leaf], read: list[Any]) -> list[list[Any]]:
    supposed = [each for leaf in leaves for each in leaf.supposed if not each.is_order and each.first == read]
    found: list[Literal] = []
    found += [each for place, each in enumerate(supposed) if each not in supposed[:place]]
    return [[each.second, _case(leaves, each, [other for other in found if other != each])] for each in found]


def _case(leaves: Sequence[Leaf], literal: Literal, excluded: Sequence[Literal]) -> dict[str, Any]:
    """The proof of one case: of the leaves that do not suppose something else."""
    return tree(
        [leaf.without(literal) for leaf in leaves if not any(each in excluded for each in leaf.supposed)]
    )
