"""What a query must find, in plain Python over the edges of an exported graph: cycles of any length."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from isoscope.graphdb.model import RELATIONS
from isoscope.levels import Level

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.graphdb import DependencyGraph

#: Before, after, relation.
Edge: TypeAlias = tuple[int, int, str]


def dependencies(graph: DependencyGraph) -> list[Edge]:
    """The dependencies between transactions."""
    tables = [table for table in graph.edges if table.type in RELATIONS]
    return sorted((row["before"], row["after"], row["type"]) for table in tables for row in table.rows)


def forbids(level: Level, relations: Sequence[str]) -> bool:
    """Whether a level forbids a cycle of these relations."""
    missed = [relation == "rw" for relation in relations]
    if level is Level.PL_1:
        return set(relations) == {"ww"}
    if level is Level.PL_2:
        return not any(missed)
    if level is Level.PARALLEL_SNAPSHOT_ISOLATION:
        return sum(missed) <= 1
    if level is Level.SNAPSHOT_ISOLATION:
        return not any(one and other for one, other in zip(missed, [*missed[1:], missed[0]], strict=True))
    return True


def closed_walks(edges: Sequence[Edge], length: int) -> Iterator[tuple[Edge, ...]]:
    """Every walk of at most so many edges that ends where it started."""
    walks: list[tuple[Edge, ...]] = [(edge,) for edge in edges]
    for _ in range(length):
        yield from (walk for walk in walks if walk[0][0] == walk[-1][1])
        walks = [(*walk, edge) for walk in walks for edge in edges if edge[0] == walk[-1][1]]


def is_broken(level: Level, edges: Sequence[Edge], length: int) -> bool:
    """Whether there is a forbidden cycle of at most so many transactions."""
    return any(forbids(level, [edge[2] for edge in walk]) for walk in closed_walks(edges, length))


def is_broken_at_all(level: Level, edges: Sequence[Edge]) -> bool:
    """Whether there is a forbidden cycle of any length: reachability of (transaction, how it was entered)."""
    states = {(edge[1], edge[2] == "rw", _missed(edge), edge[0], edge[2] == "rw") for edge in edges}
    reached = {state for state in states if _allows(level, state[2])}
    frontier = list(reached)
    while frontier:
        at, by_rw, missed, start, first_rw = frontier.pop()
        for before, after, relation in edges:
            if before != at or not _continues(level, relation, by_rw=by_rw):
                continue
            state = (after, relation == "rw", min(2, missed + (relation == "rw")), start, first_rw)
            if _allows(level, state[2]) and state not in reached:
                reached.add(state)
                frontier.append(state)
    return any(
        at == start and not (level is Level.SNAPSHOT_ISOLATION and by_rw and first_rw)
        for at, by_rw, _, start, first_rw in reached
    ) and bool(edges)


def _missed(edge: Edge) -> int:
    return int(edge[2] == "rw")


def _allows(level: Level, missed: int) -> bool:
    limits = {Level.PL_1: 0, Level.PL_2: 0, Level.PARALLEL_SNAPSHOT_ISOLATION: 1}
    return missed <= limits.get(level, 2)


def _continues(level: Level, relation: str, *, by_rw: bool) -> bool:
    return not (level is Level.SNAPSHOT_ISOLATION and by_rw and relation == "rw")


def of_level(level: Level, edges: Sequence[Edge]) -> list[Edge]:
    """The edges that can be on a cycle that the level forbids."""
    kinds = {Level.PL_1: ("ww",), Level.PL_2: ("ww", "wr")}.get(level, RELATIONS)
    return [edge for edge in edges if edge[2] in kinds]
