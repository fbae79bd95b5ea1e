"""A cycle that a level forbids, among the steps that are certain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.prove.steps import Edge, Steps, path
from isoscope.verify.explanation import last_writes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["forbidden_cycle"]

#: Kinds of steps after which no rw may stand in a cycle that breaks the level.
_APART = {"snapshot": ("rw",), "prefix": ("rw", "ww")}


def forbidden_cycle(steps: Steps) -> list[Edge] | None:
    """The steps of a cycle that the level forbids, None if there is none."""
    kind = steps.level.kind
    if kind in ("read-committed", "read-atomic", "causal"):
        return _plain([*(edge for edge in steps.edges if edge.by != "rw"), *steps.axioms()])
    edges = [edge for edge in steps.edges if kind != "pl-1" or edge.by not in ("wr", "rw")]
    if kind == "serializable":
        return _plain(edges)
    found = _plain([edge for edge in edges if edge.by != "rw"])
    if found or kind in ("pl-1", "pl-2"):
        return found
    if kind in _APART:
        return _apart(edges, _APART[kind])
    others: dict[str, Callable[[Steps, list[Edge]], list[Edge] | None]] = {
        "single": _single,
        "cursor": _cursor,
        "monotonic": _monotonic,
        "update": _update,
    }
    return others[kind](steps, edges)


def _by_start(edges: Iterable[Edge]) -> dict[int, list[Edge]]:
    found: dict[int, list[Edge]] = {}
    for edge in edges:
        found.setdefault(edge.start, []).append(edge)
    return found


def _back(edges: dict[int, list[Edge]], first: Edge) -> list[Edge] | None:
    """A shortest cycle that begins with an edge."""
    way = path(lambda at: edges.get(at, ()), [first.end], lambda at: at == first.start)
    return None if way is None else [first, *way]


def _plain(edges: list[Edge]) -> list[Edge] | None:
    graph = _by_start(edges)
    cycles = (_back(graph, edge) for edge in edges)
    return min((cycle for cycle in cycles if cycle), key=len, default=None)


def _apart(edges: list[Edge], kinds: tuple[str, ...]) -> list[Edge] | None:
    """No rw after one of these kinds: a node for each transaction and whether such a step led there."""
    doubled = []
    for edge in edges:
        end = 2 * edge.end + (edge.by in kinds)
        doubled.append((edge, 2 * edge.start, end))
        if edge.by != "rw":
            doubled.append((edge, 2 * edge.start + 1, end))
    names = {number: edge for number, (edge, _, _) in enumerate(doubled)}
    graph = _by_start(Edge(start, end, "", left=number) for number, (_, start, end) in enumerate(doubled))
    for first in edges:
        if first.by == "rw":
            continue
        start = 2 * first.end + (first.by in kinds)
        way = path(lambda at: graph.get(at, ()), [start], lambda at, to=first.start: at // 2 == to)  # type: ignore[misc]  # the default binds
        if way is not None:
            return [first, *(names[each.left] for each in way)]
    return None


def _single(_: Steps, edges: list[Edge]) -> list[Edge] | None:
    graph = _by_start(edge for edge in edges if edge.by != "rw")
    cycles = (_back(graph, edge) for edge in edges if edge.by == "rw")
    return min((cycle for cycle in cycles if cycle), key=len, default=None)


def _cursor(_: Steps, edges: list[Edge]) -> list[Edge] | None:
    for missed in edges:
        for back in edges if missed.by == "rw" else ():
            is_back = back.by == "ww" and (back.start, back.end) == (missed.end, missed.start)
            if is_back and _same(back.key, missed.key):
                return [missed, back]
    return None


def _same(one: Any, two: Any) -> bool:
    return type(one) is type(two) and bool(one == two)


def _monotonic(_: Steps, edges: list[Edge]) -> list[Edge] | None:
    graph = _by_start(edge for edge in edges if edge.by != "rw")
    for missed in edges:
        for last in edges if missed.by == "rw" else ():
            enters = last.by in ("wr", "ww") and last.end == missed.start and 0 <= last.entered <= missed.left
            way = (
                path(lambda at: graph.get(at, ()), [missed.end], lambda at, to=last.start: at == to)  # type: ignore[misc]  # the default binds
                if enters
                else None
            )
            if way is not None:
                return [missed, *way, last]
    return None


def _update(steps: Steps, edges: list[Edge]) -> list[Edge] | None:
    others = [t.number for t in steps.counted if not last_writes(t)]
    for other in [*others, -1]:
        left_out = {number for number in others if number != other}
        kept = [edge for edge in edges if edge.start not in left_out and edge.end not in left_out]
        found = _plain(kept)
        if found:
            return found
    return None
