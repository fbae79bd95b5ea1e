"""Binary relations as sets of pairs: transitive closure, cycles, components; and the order of sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

    from isoscope.history import History

__all__ = ["Relation", "closure", "components", "is_acyclic", "session_order"]

#: Pairs of numbers of transactions.
Relation: TypeAlias = frozenset[tuple[int, int]]
Node = TypeVar("Node", bound="Hashable")


def closure(relation: frozenset[tuple[Node, Node]]) -> frozenset[tuple[Node, Node]]:
    """The transitive closure."""
    reached = {before: {after for b, after in relation if b == before} for before, _ in relation}
    for middle, beyond in reached.items():
        for afters in reached.values():
            afters.update(beyond if middle in afters else ())
    return frozenset((before, after) for before, afters in reached.items() for after in afters)


def is_acyclic(closed: frozenset[tuple[Node, Node]]) -> bool:
    """Whether nothing comes before itself in a transitive relation."""
    return all(before != after for before, after in closed)


def components(relation: frozenset[tuple[Node, Node]]) -> frozenset[frozenset[Node]]:
    """Strongly connected components of more than one node."""
    closed = closure(relation)
    mutual = {pair for pair in closed if pair[::-1] in closed}
    return frozenset(frozenset(b for a, b in mutual if a == node) for node, _ in mutual)


def session_order(history: History, count: frozenset[int]) -> Relation:
    """SO: all pairs of a session, not only neighbours."""
    return frozenset(
        (before, after)
        for session in history.sessions
        for place, before in enumerate(session.transactions)
        for after in session.transactions[place + 1 :]
        if {before, after} <= count
    )
