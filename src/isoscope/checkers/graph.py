"""The dependency graph in numbers: the dataset characteristics of Qiu 2023, section 5.2.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope import _native

if TYPE_CHECKING:
    from isoscope.history import History

__all__ = ["Characteristics", "characteristics"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Characteristics:
    """Sizes; edges of a kind count once between two transactions.

    `traversals` are the lengths of all cycles that meet no transaction twice, added up: a search from every
    transaction finds each as often. `traversals_are_partial` if there were too many to count.
    """

    vertices: int
    wr: int
    ww: int
    rw: int
    components: int
    largest_component: int
    traversals: int
    traversals_are_partial: bool

    @property
    def edges(self) -> int:
        """Of all kinds."""
        return self.wr + self.ww + self.rw

    @property
    def density(self) -> float:
        """Edges for each vertex."""
        return self.edges / self.vertices if self.vertices else 0.0


def characteristics(history: History) -> Characteristics:
    """The dependency graph of the transactions that the client knows to be committed."""
    found = _native.graph_statistics(history.columns)
    vertices, (wr, ww, rw), components, largest, traversals, is_partial = found
    return Characteristics(
        vertices=vertices,
        wr=wr,
        ww=ww,
        rw=rw,
        components=components,
        largest_component=largest,
        traversals=traversals,
        traversals_are_partial=is_partial,
    )
