"""Levels as queries on graph databases beside the native core: the experiments of Qiu 2023, chapter 5.

Neo4j is left out where its server cannot be had.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from benchmarks import graph_servers
from benchmarks.graph_cases import EXPERIMENTS, Case
from benchmarks.measure import time_of_lines
from benchmarks.suite import DATA
from isoscope import formats
from isoscope.checkers import graph, version_order
from isoscope.graphdb import LEVELS, QueryMethod, Search, check, export, open_store
from isoscope.graphdb.queries import COMPONENT_RELATIONS
from isoscope.levels import Level
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isoscope.graphdb import GraphStore
    from isoscope.history import History

__all__ = ["ASKED", "DEPTHS", "METHODS", "Asked", "Point", "line", "measure", "measure_all"]

REPEATS = 2
#: The native core is quick, and a busy machine disturbs short measurements most.
_NATIVE_REPEATS = 30
ASKED = (Level.SERIALIZABLE, Level.SNAPSHOT_ISOLATION)
METHODS = (QueryMethod.SHORTEST_PATH, QueryMethod.CYCLE)
DEPTHS = (2, 3, 4, 5)


class Asked(NamedTuple):
    """A query: where, how and for which level."""

    store: str
    method: QueryMethod
    depth: int
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What was measured on one history, in seconds."""

    case: Case
    factors: Mapping[str, float]
    yardstick: float
    native: float
    loading: Mapping[str, float]
    queries: Mapping[Asked, float]


def measure_all(cases: Sequence[Case] = EXPERIMENTS) -> Iterator[Point]:
    """Every history on every store that can be had."""
    with ExitStack() as stack:
        stores: dict[str, GraphStore] = {"LadybugDB": stack.enter_context(open_store(":memory:"))}
        try:
            address = stack.enter_context(graph_servers.neo4j())
            stores["Neo4j"] = stack.enter_context(open_store(address))
            _warm(stores["Neo4j"], cases[0])
        except graph_servers.UnavailableError as reason:
            print(f"Neo4j is left out: {reason}", flush=True)
        for case in cases:
            yield measure(case, stores)


def measure(case: Case, stores: Mapping[str, GraphStore]) -> Point:
    """One history: the native core, and each store with each query."""
    history = case.history()
    name = f"{case.experiment} {case.value}"
    started = perf_counter()
    exported = export(history, name)
    exporting = perf_counter() - started
    DATA.mkdir(exist_ok=True)
    formats.save(history, DATA / "graph.edn", lossy=True)
    loading: dict[str, float] = {}
    queries: dict[Asked, float] = {}
    for label, store in stores.items():
        started = perf_counter()
        store.load(exported)
        loading[label] = exporting + perf_counter() - started
        for search, level in _asked(case, store):
            asked = Asked(label, search.method, search.depth, level)
            queries[asked] = min(_timed(store, name, search, level) for _ in range(REPEATS))
        store.remove(name)
    return Point(
        case=case,
        factors=_factors(history),
        yardstick=min(time_of_lines(DATA / "graph.edn") for _ in range(_NATIVE_REPEATS)),
        native=min(_native(history) for _ in range(_NATIVE_REPEATS)),
        loading=loading,
        queries=queries,
    )


def _asked(case: Case, store: GraphStore) -> Iterator[tuple[Search, Level]]:
    if case.experiment == "depth":
        yield from ((Search(method=QueryMethod.CYCLE, depth=d), level) for d in DEPTHS for level in LEVELS)
        return
    is_every = case.experiment.startswith("every query")
    for method in QueryMethod if is_every else METHODS:
        if method is not QueryMethod.COMPONENTS:
            yield from ((Search(method=method), level) for level in (LEVELS if is_every else ASKED))
        elif store.has_components:
            yield from ((Search(method=method), level) for level in COMPONENT_RELATIONS)


def _warm(store: GraphStore, case: Case) -> None:
    """Java compiles what it runs often: the first queries are slow whatever they ask."""
    exported = export(case.history(), "warm")
    for _ in range(10):
        store.load(exported)
        for method in METHODS:
            for level in LEVELS:
                check(store, level, name="warm", search=Search(method=method))
    store.remove("warm")


def _timed(store: GraphStore, name: str, search: Search, level: Level) -> float:
    started = perf_counter()
    answer = check(store, level, name=name, search=search)
    seconds = perf_counter() - started
    if answer.outcome is Outcome.HOLDS and not search.method.is_complete:
        raise AssertionError("a bounded query cannot show that a level holds")
    return seconds


def _native(history: History) -> float:
    started = perf_counter()
    version_order.judge(history, asked=LEVELS, max_anomalies=1)
    return perf_counter() - started


def _factors(history: History) -> dict[str, float]:
    counted = graph.characteristics(history)
    return {
        "vertices": counted.vertices,
        "edges": counted.edges,
        "traversals": counted.traversals,
        "density": counted.density,
        "aborted": history.counts["aborted"],
    }


def line(point: Point) -> str:
    """A point as it is printed while others are measured."""
    ratios = [seconds / point.native for seconds in point.queries.values()]
    return (
        f"{point.case.experiment} {point.case.value}: {point.factors['vertices']:,.0f} transactions, "
        f"native {point.native * 1e3:.2f} ms, queries {min(ratios):,.0f} to {max(ratios):,.0f} times that"
    )
