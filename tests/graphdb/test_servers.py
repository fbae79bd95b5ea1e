"""The same graphs and queries on servers: Neo4j, and ArcadeDB over the same protocol."""

from __future__ import annotations

import random
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from benchmarks import graph_servers

from isoscope.errors import UsageError
from isoscope.graphdb import LEVELS, QueryMethod, Search, check, export, open_store, questions
from isoscope.graphdb.queries import statements
from isoscope.levels import Level
from isoscope.verdict import Outcome
from tests.graphdb.specification import dependencies, is_broken, is_broken_at_all, of_level
from tests.graphdb.test_queries import assert_found, ring
from tests.graphdb.test_store import SKEW, graph_of
from tests.reference.version_histories import random_version_history

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.graphdb import DependencyGraph, GraphStore

SEEDS = 12
SERVERS = {"neo4j": graph_servers.neo4j, "arcadedb": graph_servers.arcadedb}
pytestmark = pytest.mark.server


@pytest.fixture(scope="module", params=SERVERS)
def store(request: pytest.FixtureRequest) -> Iterator[GraphStore]:
    """A store on a server that the tests start."""
    with ExitStack() as stack:
        try:
            address = stack.enter_context(SERVERS[request.param]())
        except graph_servers.UnavailableError as reason:
            pytest.skip(str(reason))
        yield stack.enter_context(open_store(address))


@pytest.fixture(scope="module")
def graphs(store: GraphStore) -> list[DependencyGraph]:
    """Graphs of random histories, which are stored."""
    histories = [random_version_history(random.Random(seed), most=8) for seed in range(SEEDS)]
    found = [export(history, f"random-{seed}") for seed, history in enumerate(histories)]
    store.load(*found)
    return found


def test_complete_queries_find_what_the_specification_finds(
    store: GraphStore, graphs: list[DependencyGraph]
) -> None:
    seen = set()
    for graph in graphs:
        edges = dependencies(graph)
        for level in LEVELS:
            answer = check(store, level, name=graph.name)
            assert_found(answer, edges)
            if not answer.reads and not graph.facts["is_contradictory"]:
                expected = is_broken_at_all(level, of_level(level, edges))
                assert (answer.cycle is not None) == expected, (graph.name, level)
            seen.add(answer.outcome)
    assert seen == {*Outcome}


@pytest.mark.parametrize("method", [QueryMethod.CYCLE, QueryMethod.FILTER, QueryMethod.RANDOM])
def test_bounded_queries_find_every_short_cycle(
    store: GraphStore, graphs: list[DependencyGraph], method: QueryMethod
) -> None:
    for graph in graphs:
        edges, level = dependencies(graph), Level.SNAPSHOT_ISOLATION
        answer = check(store, level, name=graph.name, search=Search(method=method, depth=3))
        assert_found(answer, edges)
        if not answer.reads and not graph.facts["is_contradictory"]:
            assert (answer.cycle is not None) == is_broken(level, edges, 3), graph.name


def test_a_long_cycle_is_found_and_a_graph_can_be_replaced_and_removed(store: GraphStore) -> None:
    store.load(export(ring(30), "ring"))
    store.load(export(ring(40), "ring"))
    answer = check(store, Level.SERIALIZABLE, name="ring")
    assert answer.cycle is not None
    assert len(answer.cycle.transactions) == 40
    assert store.remove("ring")
    assert not store.remove("ring")
    [[left]] = store.run("MATCH (t:Transaction {graph: 'ring'}) RETURN count(*)", {}).rows
    assert left == 0


def test_every_question_has_an_answer(store: GraphStore) -> None:
    store.load(graph_of(SKEW, "skew"))
    rows = {}
    for question in questions(store.dialect):
        [query] = statements(question.path.read_text(encoding="utf-8"))
        rows[question.name] = store.run(query, {"graph": "skew", "from": "T0", "to": "T1"}).rows
    assert len(rows["write-skews"]) == 1


def test_a_query_that_the_server_rejects_is_one_message(store: GraphStore) -> None:
    with pytest.raises(UsageError, match="rejects the query"):
        store.run("MATCH nonsense", {})
