"""Snapshot isolation by the BC-graph and by Adya's own graph, as in Figures 1 and 2 of the BC-graphs paper.

The start-ordered serialization graph has an edge from each transaction that had committed to each that began
then: all of them, or only those from which the others follow. Some cycles are allowed there, so the search
goes through the cycles of every component until it finds a forbidden one: without two rw edges in a row. The
BC-graph is searched for any cycle at all. Both are plain Python, and the histories satisfy the level.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias

from benchmarks.plot import Panel
from benchmarks.suite import Measurement, Plot, Suite, summarised
from isoscope._native import dependencies
from isoscope.history import Initial, Interval
from isoscope.levels import Level
from isoscope.workloads import Workload, generate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from isoscope.history import History, Transaction

__all__ = ["LIMIT", "METHODS", "SUITE", "Point", "TooLongError", "measure_all", "measurement", "plots"]

SIZES = (100, 200, 400, 800, 1_600, 3_200, 6_400)
LIMIT = 10.0

#: By node: successors, each with whether the edge is rw.
Graph: TypeAlias = list[list[tuple[int, bool]]]


class TooLongError(Exception):
    """The time limit was reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Seconds to build and to search, by method; None: the limit was reached."""

    transactions: int
    built: Mapping[str, float]
    searched: Mapping[str, float | None]


def workload(transactions: int) -> Workload:
    """As in the paper: 24 clients, transactions of one to eight operations, 20 writes to a key."""
    return Workload(
        sessions=24,
        transactions=transactions,
        min_operations=1,
        max_operations=8,
        lists=True,
        max_writes_per_key=20,
        level=Level.SNAPSHOT_ISOLATION,
        lag=8,
        intervals=True,
        initial=Initial(value=None),
        seed=10,
    )


def measure_all(sizes: tuple[int, ...] = SIZES, limit: float = LIMIT) -> Iterator[Point]:
    """Every size; a method that was too slow for one is not asked about larger ones."""
    slow: set[str] = set()
    for size in sizes:
        history = generate(workload(size))
        built: dict[str, float] = {}
        searched: dict[str, float | None] = {}
        for name, (build, search) in METHODS.items():
            built[name], searched[name] = (
                (0.0, None) if name in slow else _timed(history, build, search, limit)
            )
            if searched[name] is None:
                slow.add(name)
        yield Point(transactions=size, built=built, searched=searched)


def _timed(
    history: History, build: Callable[[History], Graph], search: Callable[[Graph, float], bool], limit: float
) -> tuple[float, float | None]:
    started = perf_counter()
    graph = build(history)
    built = perf_counter() - started
    started = perf_counter()
    try:
        if search(graph, started + limit):
            raise AssertionError("a history with snapshot isolation has a forbidden cycle")
    except TooLongError:
        return built, None
    return built, perf_counter() - started


def _edges(history: History) -> Iterator[tuple[int, int, bool]]:
    for edge in dependencies(history.columns):
        yield edge.before, edge.after, edge.relation == "rw"


def _starts(history: History, *, all_pairs: bool) -> Iterator[tuple[int, int]]:
    """Transactions that had committed at each begin; or only those without a committed successor."""
    times = [_interval(transaction) for transaction in history]
    events = [(start, False, number) for number, (start, _) in enumerate(times)]
    events += [(end, True, number) for number, (_, end) in enumerate(times)]
    done: list[int] = []
    for _, is_commit, number in sorted(events):
        if not is_commit:
            yield from ((before, number) for before in done)
            continue
        if not all_pairs:
            done = [other for other in done if times[other][1] >= times[number][0]]
        done.append(number)


def _interval(transaction: Transaction) -> tuple[int, int]:
    match transaction.interval:
        case Interval(int() as start, int() as end):
            return start, end
    raise AssertionError("the workload has intervals")


def begins_and_commits(history: History) -> Graph:
    """Begins have even numbers, commits odd ones."""
    graph: Graph = [[(node + 1, False)] if node % 2 == 0 else [] for node in range(2 * len(history))]
    for before, after, is_rw in _edges(history):
        graph[2 * before + (not is_rw)].append((2 * after + is_rw, is_rw))
    for before, after in _starts(history, all_pairs=False):
        graph[2 * before + 1].append((2 * after, False))
    return graph


def all_starts(history: History) -> Graph:
    """The start-ordered serialization graph."""
    return _start_ordered(history, all_pairs=True)


def consecutive_starts(history: History) -> Graph:
    """The same with fewer edges."""
    return _start_ordered(history, all_pairs=False)


def _start_ordered(history: History, *, all_pairs: bool) -> Graph:
    graph: Graph = [[] for _ in range(len(history))]
    for before, after, is_rw in _edges(history):
        graph[before].append((after, is_rw))
    for before, after in _starts(history, all_pairs=all_pairs):
        graph[before].append((after, False))
    return graph


def has_begin_commit_cycle(graph: Graph, deadline: float) -> bool:
    """Whether there is any cycle."""
    _ = deadline  # linear
    return max(map(len, _components(graph)), default=0) > 1


def has_forbidden_cycle(graph: Graph, deadline: float) -> bool:
    """Whether a cycle has no two rw edges in a row: cycles of each component are gone through."""
    for members in _components(graph):
        inside = set(members)
        for start in sorted(members) if len(members) > 1 else ():
            if any(map(_is_forbidden, _cycles(graph, start, inside, deadline))):
                return True
            inside.remove(start)
    return False


def _is_forbidden(cycle: list[bool]) -> bool:
    return not any(one and other for one, other in zip(cycle, [*cycle[1:], cycle[0]], strict=True))


def _cycles(graph: Graph, start: int, inside: set[int], deadline: float) -> Iterator[list[bool]]:
    """Which edges are rw, for every cycle through `start` that meets no node twice."""
    path, kinds, ahead = {start: None}, list[bool](), [iter(graph[start])]
    while ahead:
        if perf_counter() > deadline:
            raise TooLongError
        for node, is_rw in ahead[-1]:
            if node == start:
                yield [*kinds, is_rw]
            elif node in inside and node not in path:
                path[node] = None
                kinds.append(is_rw)
                ahead.append(iter(graph[node]))
                break
        else:
            ahead.pop()
            path.popitem()
            del kinds[-1:]


def _components(graph: Graph) -> list[list[int]]:
    """Kosaraju's algorithm: a second search against the edges, in the reverse order of finishing."""
    backwards: Graph = [[] for _ in graph]
    for node, successors in enumerate(graph):
        for after, is_rw in successors:
            backwards[after].append((node, is_rw))
    left = [node for tree in _trees(graph, range(len(graph))) for node in tree]
    return list(_trees(backwards, reversed(left)))


def _trees(graph: Graph, roots: Iterable[int]) -> Iterator[list[int]]:
    """The nodes that a depth-first search finds from each root, in the order in which it leaves them."""
    seen: set[int] = set()
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        left, path, ahead = list[int](), [root], [iter(graph[root])]
        while ahead:
            for node, _ in ahead[-1]:
                if node not in seen:
                    seen.add(node)
                    path.append(node)
                    ahead.append(iter(graph[node]))
                    break
            else:
                ahead.pop()
                left.append(path.pop())
        yield left


#: How each builds its graph and searches it.
METHODS: Mapping[str, tuple[Callable[[History], Graph], Callable[[Graph, float], bool]]] = {
    "BC-graph": (begins_and_commits, has_begin_commit_cycle),
    "consecutive starts": (consecutive_starts, has_forbidden_cycle),
    "all starts": (all_starts, has_forbidden_cycle),
}


def measurement(point: Point) -> Measurement:
    """Seconds to build and to search."""
    figures = {name: _cell(point, name) for name in METHODS}
    return Measurement(f"{point.transactions:,} transactions", figures)


def _cell(point: Point, name: str) -> str:
    searched = point.searched[name]
    return "too long" if searched is None else f"{point.built[name]:.3f} + {searched:.3f} s"


def plots(points: list[Point]) -> Iterator[Plot]:
    """Seconds with and without building the graph; what took too long stands at the limit."""

    def panel(title: str, *, building: bool) -> Panel:
        series = {
            name: [
                LIMIT if (spent := point.searched[name]) is None else spent + building * point.built[name]
                for point in points
            ]
            for name in METHODS
        }
        labels = [f"{point.transactions}" for point in points]
        return Panel(title=title, across="transactions", labels=labels, series=series)

    panels = [panel("build and search, s", building=True), panel("search, s", building=False)]
    yield Plot(name="adya", title="Snapshot isolation by two graphs", panels=panels)


SUITE = Suite(
    title="Snapshot isolation, by the BC-graph and by Adya's",
    how=f"Seconds to build a graph and to search it; {LIMIT:g} s are the limit of a search. How far the "
    "BC-graph is ahead of consecutive starts depends on contention: with many keys they are close together.",
    full=lambda: summarised(measure_all(), measurement, plots),
    quick=lambda: summarised(measure_all((100, 200, 400), limit=1.0), measurement, plots),
)
