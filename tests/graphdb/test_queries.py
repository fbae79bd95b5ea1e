"""Queries find what the specification finds, on random histories: bounded ones only short cycles."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

import isoscope
from isoscope.checkers import version_order
from isoscope.graphdb import LEVELS, QueryMethod, Search, check, export, open_store
from isoscope.history import Initial, Operation, OperationKind, Transaction
from isoscope.levels import Level
from isoscope.recorder import build
from isoscope.verdict import Outcome
from tests.graphdb.specification import dependencies, forbids, is_broken, is_broken_at_all, of_level
from tests.reference.version_histories import random_version_history
from tests.seeds import seeds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.graphdb import Answer, DependencyGraph, GraphStore
    from isoscope.history import History
    from tests.graphdb.specification import Edge

SEEDS = seeds(30, deep=1_000)
BOUNDED = (QueryMethod.CYCLE, QueryMethod.FILTER, QueryMethod.RANDOM)


@pytest.fixture(scope="module")
def store() -> Iterator[GraphStore]:
    with open_store(":memory:") as opened:
        yield opened


@pytest.fixture(scope="module")
def graphs(store: GraphStore) -> list[tuple[History, DependencyGraph]]:
    """Random histories, and their graphs, which are stored."""
    histories = [random_version_history(random.Random(seed), most=8) for seed in range(SEEDS)]
    found = [export(history, f"random-{seed}") for seed, history in enumerate(histories)]
    store.load(*found)
    return list(zip(histories, found, strict=True))


def assert_found(answer: Answer, edges: Sequence[Edge]) -> None:
    """The cycle of an answer is one of the graph, and the level forbids it."""
    if answer.cycle is None:
        return
    numbers, relations = answer.cycle.transactions, answer.cycle.relations
    followed = zip(numbers, [*numbers[1:], numbers[0]], relations, strict=True)
    assert set(followed) <= set(edges)
    assert forbids(answer.level, relations)


def test_the_graph_between_events_projects_onto_the_one_between_transactions(
    graphs: list[tuple[History, DependencyGraph]],
) -> None:
    for history, graph in graphs:
        labels = {transaction.number: transaction.label for transaction in history}
        found = [(labels[a], labels[b], relation) for a, b, relation in dependencies(graph)]
        assert sorted(found) == sorted(version_order.edges(history)), graph.name


def test_queries_find_what_the_specification_finds(
    store: GraphStore, graphs: list[tuple[History, DependencyGraph]]
) -> None:
    seen = set()
    for history, graph in graphs:
        edges = dependencies(graph)
        judged = isoscope.check(history, LEVELS, time_limit=5)
        for level in LEVELS:
            answer = check(store, level, name=graph.name)
            mine = of_level(level, edges)
            assert_found(answer, edges)
            if not answer.reads and not graph.facts["is_contradictory"]:
                assert (answer.cycle is not None) == is_broken_at_all(level, mine), (graph.name, level)
            if answer.outcome is not Outcome.UNKNOWN:
                assert answer.outcome is judged[level].outcome, (graph.name, level)
            seen.add((level, answer.outcome))
    assert {outcome for _, outcome in seen} == {*Outcome}
    assert {level for level, outcome in seen if outcome is Outcome.VIOLATED} == {*LEVELS} - {Level.PL_1}


@pytest.mark.parametrize("method", BOUNDED)
def test_bounded_queries_find_every_short_cycle_and_nothing_else(
    store: GraphStore, graphs: list[tuple[History, DependencyGraph]], method: QueryMethod
) -> None:
    found = 0
    for _, graph in graphs:
        edges = dependencies(graph)
        for level, depth in ((Level.SERIALIZABLE, 2), (Level.SNAPSHOT_ISOLATION, 3), (Level.PL_2, 4)):
            answer = check(store, level, name=graph.name, search=Search(method=method, depth=depth))
            assert_found(answer, edges)
            assert answer.outcome is not Outcome.HOLDS
            if not answer.reads and not graph.facts["is_contradictory"]:
                expected = is_broken(level, of_level(level, edges), depth)
                assert (answer.cycle is not None) == expected, (graph.name, level)
                found += expected
    assert found >= 3


def ring(length: int) -> History:
    """Each transaction misses the write of the one before: one cycle, of so many `rw`."""
    return build(
        [
            Transaction(
                number=place,
                id=place,
                session=place,
                session_id=place,
                operations=(
                    Operation(kind=OperationKind.READ, key=place, value=0),
                    Operation(kind=OperationKind.WRITE, key=(place + 1) % length, value=1),
                ),
            )
            for place in range(length)
        ],
        initial=Initial(value=0),
    )


def test_the_complete_query_finds_a_cycle_of_any_length(store: GraphStore) -> None:
    store.load(export(ring(50), "ring"))
    bounded = check(store, Level.SERIALIZABLE, name="ring", search=Search(method=QueryMethod.CYCLE))
    assert bounded.outcome is Outcome.UNKNOWN
    assert bounded.reason.startswith("there is no such cycle of at most 4 transactions; longer ones")
    complete = check(store, Level.SERIALIZABLE, name="ring")
    assert complete.outcome is Outcome.VIOLATED
    assert complete.cycle is not None
    assert len(complete.cycle.transactions) == 50
    assert check(store, Level.SNAPSHOT_ISOLATION, name="ring").outcome is Outcome.HOLDS


def test_the_same_question_has_the_same_answer(store: GraphStore) -> None:
    store.load(export(ring(5), "again"))
    search = Search(method=QueryMethod.RANDOM, depth=5, seed=3)
    answers = [check(store, Level.SERIALIZABLE, name="again", search=search) for _ in range(3)]
    assert len({(str(answer.cycle), answer.queries) for answer in answers}) == 1
