"""Every edge has operations that justify it."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

from isoscope._native import dependencies
from isoscope.history import OperationKind
from isoscope.reference.dependencies import Dependencies, Edge
from isoscope.reference.versions import RULES, Versions

from .told import told
from .version_histories import random_version_history

if TYPE_CHECKING:
    from isoscope.history import History, Operation

SEEDS = 200


def edges(history: History, *rules: str) -> set[Edge]:
    versions = Versions(history)
    graph = Dependencies(versions).under(versions.known(rules))
    return {edge for edge in graph.edges if edge.relation != "real-time"}


def assert_justified(history: History, edge: Edge) -> None:
    transactions = list(history)
    found = [transactions[number].operations[place] for number, place in edge.operations]
    writes = [operation for operation in found if operation.kind is not OperationKind.READ]
    owners = [number for number, _ in edge.operations]
    if edge.relation == "wr":
        assert owners == [edge.after, edge.before]
        assert found[1].value in shown(found[0])
    elif edge.relation == "ww":
        assert owners[-2:] == [edge.before, edge.after]
        assert (len(found) == 3) == (edge.source == "list read")
        assert len(writes) == 2
    else:
        assert owners == [edge.before, edge.after]
        assert writes == found[1:]
        assert found[1].value not in shown(found[0])


def shown(read: Operation) -> tuple[object, ...]:
    return read.value if isinstance(read.value, tuple) else (read.value,)


def test_the_operations_of_an_edge_belong_to_its_transactions() -> None:
    seen: Counter[str] = Counter()
    for seed in range(SEEDS):
        history = random_version_history(random.Random(seed))
        versions = Versions(history)
        if versions.contradictions:
            continue
        for edge in Dependencies(versions).under(versions.known(RULES)).edges:
            seen[edge.relation] += 1
            if edge.relation in ("wr", "ww", "rw"):
                assert_justified(history, edge)
    assert seen.keys() == {"wr", "ww", "rw", "session", "real-time"}


def test_the_native_core_knows_the_same_versions_to_be_next() -> None:
    """Where sources, reads and program order meet, it leaves out what follows from something else."""
    seen = skipped = 0
    for seed in range(SEEDS):
        history = random_version_history(random.Random(seed))
        versions = Versions(history)
        if versions.contradictions:
            continue
        known = versions.known(["read-then-write"])
        expected = Dependencies(versions).under(known).relation("rw")
        found = dependencies(history.columns)
        assert {(one.before, one.after) for one in found if one.relation == "rw"} == expected, seed
        seen += len(expected)
        skipped += len(known.closed) - len(known.neighbours)
    assert seen > SEEDS
    assert skipped > SEEDS


def test_edges_of_a_register() -> None:
    x = ("str", "x")
    assert edges(told("1: w(x,1)", "2: r(x,1)", "3: w(x,2)", x=[1, 2])) == {
        Edge(0, 1, "wr", x, ((1, 0), (0, 0))),
        Edge(0, 2, "ww", x, ((0, 0), (2, 0)), "declared"),
        Edge(1, 2, "rw", x, ((1, 0), (2, 0)), "declared"),
    }


def test_edges_of_a_list() -> None:
    """A read shows every writer, and misses the one right after the last."""
    x = ("str", "x")
    assert edges(told("1: a(x,1)", "2: a(x,2)", "3: r(x,[1;2])", "3: r(x,[1])")) == {
        Edge(0, 1, "ww", x, ((2, 0), (0, 0), (1, 0)), "list read"),
        Edge(0, 2, "wr", x, ((2, 0), (0, 0))),
        Edge(1, 2, "wr", x, ((2, 0), (1, 0))),
        Edge(0, 3, "wr", x, ((3, 0), (0, 0))),
        Edge(3, 1, "rw", x, ((3, 0), (1, 0)), "list read"),
        Edge(2, 3, "session"),
    }


def test_a_read_of_the_initial_state_misses_every_version_that_may_be_the_first() -> None:
    found = edges(told("1: w(x,1)", "2: w(x,2)", "3: r(x,0)"))
    assert {(edge.before, edge.after, edge.relation) for edge in found} == {(2, 0, "rw"), (2, 1, "rw")}


def test_a_list_that_is_no_beginning_of_the_longest_shows_its_writers_and_misses_nobody() -> None:
    found = edges(told("1: a(x,1)", "2: a(x,2)", "3: a(x,3)", "4: r(x,[1;2])", "5: r(x,[2])"))
    of_last = {(edge.before, edge.after, edge.relation) for edge in found if 4 in edge[:2]}
    assert of_last == {(1, 4, "wr")}
    assert (3, 2, "rw") in {(edge.before, edge.after, edge.relation) for edge in found}


def test_what_a_transaction_does_with_its_own_writes_is_no_edge() -> None:
    assert edges(told("1: a(x,1) r(x,[1]) a(x,2) r(x,[1;2])")) == set()


def test_the_read_that_orders_appends_is_one_of_their_key_that_shows_them_all() -> None:
    history = told("1: a(x,1) a(y,1)", "2: a(x,2) a(y,2)", "3: r(y,[1;2]) r(x,[1]) r(x,[1;2])")
    found = {place for edge in edges(history) if edge.relation == "ww" for place in edge.operations[:1]}
    assert found == {(2, 0), (2, 2)}
