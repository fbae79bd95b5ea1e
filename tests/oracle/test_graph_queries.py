"""Queries on graphs of GRAIL's histories give the verdicts of the native core (Qiu 2023, Table 5.4)."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks import graph_servers

import isoscope
from isoscope.graphdb import LEVELS, QueryMethod, Search, check, export, open_store
from isoscope.graphdb.queries import COMPONENT_RELATIONS
from isoscope.levels import Level
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.graphdb import DependencyGraph, GraphStore
    from isoscope.verdict import Report

ROOT = Path(__file__).parents[2]
ORACLE = Path(os.environ.get("ISOSCOPE_ORACLE") or ROOT.parent / "shared" / "oracle")
HISTORIES = sorted((ORACLE / "grail").glob("*/*.edn.gz"))
#: The sets List1 to List5 of the thesis; other lists and registers are not in its Table 5.4.
SETS = ("collection-time", "collection-time-nemesis", "rate", "rate-nemesis", "histories-30s")
#: Its shortest cycle that snapshot isolation forbids has three transactions.
DEEP = "rate-nemesis__70.edn.gz"
#: Table 5.4 over the supplied histories: how many have an anti-pattern of each level, by the depth.
TABLE_5_4 = {2: (0, 0, 6, 6, 18), 3: (0, 0, 7, 7, 18), 4: (0, 0, 7, 7, 18)}
SHORTEST_PATHS = (0, 0, 7, 7, 18)
#: Histories with as many transactions take minutes in bounded queries, and to load into a server. They
#: take part in `make test-deep`, and on Neo4j in
#: `ISOSCOPE_HYPOTHESIS=deep pytest -m server tests/oracle/test_graph_queries.py`.
MOST = 1_000_000 if os.environ.get("ISOSCOPE_HYPOTHESIS") == "deep" else 500
#: Queries that the method `random` may ask of one history.
STARTS = 100
pytestmark = pytest.mark.skipif(not HISTORIES, reason=f"no oracle at {ORACLE}")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A history as its graph, with the verdicts of the native core."""

    graph: DependencyGraph
    native: Report

    @property
    def name(self) -> str:
        return self.graph.name

    @property
    def is_small(self) -> bool:
        return bool(self.graph.facts["transactions"] < MOST)

    def is_violated(self, level: Level) -> bool:
        return self.native[level].outcome is Outcome.VIOLATED

    def bounded(self) -> Iterator[Search]:
        """Searches that are not complete, as far as they end soon."""
        for method in (QueryMethod.CYCLE, QueryMethod.FILTER, QueryMethod.RANDOM):
            if method is not QueryMethod.RANDOM or self.graph.facts["transactions"] < STARTS:
                yield Search(method=method, depth=2)


@pytest.fixture(scope="module")
def loaded() -> list[Loaded]:
    found = []
    for path in HISTORIES:
        history = isoscope.load(path)
        found.append(Loaded(export(history, path.name), isoscope.check(history, LEVELS)))
    return found


@pytest.fixture(scope="module")
def ladybug(loaded: list[Loaded], tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    """All histories in the embedded database."""
    with open_store(str(tmp_path_factory.mktemp("graphs") / "graphs.lbug")) as store:
        store.load(*(one.graph for one in loaded))
        yield store


@pytest.fixture(scope="module")
def neo4j(loaded: list[Loaded]) -> Iterator[GraphStore]:
    """The small histories, or all, in a server."""
    with ExitStack() as stack:
        try:
            address = stack.enter_context(graph_servers.neo4j())
        except graph_servers.UnavailableError as reason:
            pytest.skip(str(reason))
        store = stack.enter_context(open_store(address))
        store.load(*(one.graph for one in loaded if one.is_small))
        yield store


def assert_native(store: GraphStore, one: Loaded, search: Search, level: Level) -> None:
    answer = check(store, level, name=one.name, search=search)
    assert answer.outcome is one.native[level].outcome, (one.name, search, level)


def assert_sound(store: GraphStore, one: Loaded, search: Search, level: Level) -> None:
    """A bounded query does not say `holds`, and finds nothing that is not there."""
    answer = check(store, level, name=one.name, search=search)
    assert answer.outcome is not Outcome.HOLDS
    assert answer.outcome is Outcome.UNKNOWN or one.is_violated(level), (one.name, search, level)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_history_has_the_verdicts_of_the_native_core(ladybug: GraphStore, loaded: list[Loaded]) -> None:
    for one in loaded:
        for level in LEVELS:
            assert_native(ladybug, one, Search(), level)
    assert {one.native[level].outcome for one in loaded for level in LEVELS} == {
        Outcome.HOLDS,
        Outcome.VIOLATED,
    }


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_bounded_queries_find_nothing_that_is_not_there(ladybug: GraphStore, loaded: list[Loaded]) -> None:
    for one in (one for one in loaded if one.is_small):
        for search in one.bounded():
            for level in LEVELS:
                assert_sound(ladybug, one, search, level)


# Depth 2 takes seconds, the others minutes.
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "depth",
    [
        pytest.param(depth, marks=[pytest.mark.deep if depth in (3, 4) else pytest.mark.slow])
        for depth in TABLE_5_4
    ],
)
def test_as_many_histories_have_anti_patterns_as_in_the_table_of_the_thesis(
    ladybug: GraphStore, loaded: list[Loaded], depth: int
) -> None:
    """At the largest depth without large histories, whose query takes long, unless the test is deep."""
    mine = [one for one in loaded if one.name.partition("__")[0] in SETS]
    asked = [one for one in mine if depth < max(TABLE_5_4) or one.is_small]
    left = [one for one in mine if one not in asked]
    search = Search(method=QueryMethod.CYCLE, depth=depth)
    for level, expected in zip(LEVELS, TABLE_5_4[depth], strict=True):
        found = [one for one in asked if check(ladybug, level, name=one.name, search=search).cycle]
        assert len(found) == expected - sum(one.is_violated(level) for one in left), level
        assert all(one.is_violated(level) for one in found)


@pytest.mark.slow
def test_the_native_core_has_the_line_of_shortest_paths(loaded: list[Loaded]) -> None:
    mine = [one for one in loaded if one.name.partition("__")[0] in SETS]
    assert tuple(sum(one.is_violated(level) for one in mine) for level in LEVELS) == SHORTEST_PATHS


@pytest.mark.slow
def test_depth_two_misses_what_depth_three_finds(ladybug: GraphStore) -> None:
    for level in (Level.SNAPSHOT_ISOLATION, Level.PARALLEL_SNAPSHOT_ISOLATION):
        searches = [Search(method=QueryMethod.CYCLE, depth=depth) for depth in (2, 3)]
        found = [check(ladybug, level, name=DEEP, search=one).outcome for one in (*searches, Search())]
        assert found == [Outcome.UNKNOWN, Outcome.VIOLATED, Outcome.VIOLATED]


@pytest.mark.server
@pytest.mark.timeout(1800)
def test_neo4j_gives_the_verdicts_of_the_native_core(neo4j: GraphStore, loaded: list[Loaded]) -> None:
    small = [one for one in loaded if one.is_small]
    for one in small:
        for level in LEVELS:
            assert_native(neo4j, one, Search(), level)
    violated = {level for one in small for level in LEVELS if one.is_violated(level)}
    assert violated == {*LEVELS} - {Level.PL_1}


@pytest.mark.server
@pytest.mark.timeout(1800)
def test_components_of_neo4j_give_the_verdicts_of_the_native_core(
    neo4j: GraphStore, loaded: list[Loaded]
) -> None:
    for one in (one for one in loaded if one.is_small):
        for level in COMPONENT_RELATIONS:
            assert_native(neo4j, one, Search(method=QueryMethod.COMPONENTS), level)


@pytest.mark.server
@pytest.mark.timeout(1800)
def test_bounded_queries_of_neo4j_find_nothing_that_is_not_there(
    neo4j: GraphStore, loaded: list[Loaded]
) -> None:
    for one in (one for one in loaded if one.is_small):
        for search in one.bounded():
            for level in LEVELS:
                assert_sound(neo4j, one, search, level)
