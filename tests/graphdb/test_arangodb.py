"""The store of ArangoDB against an exchange as its documentation shows it; no server could be had."""

from __future__ import annotations

import pytest

from isoscope.errors import DatabaseError, UsageError
from isoscope.graphdb import LEVELS, QueryMethod, Search, check, open_store
from isoscope.graphdb.arangodb import _key
from isoscope.graphdb.model import EVENT_EDGES, TRANSACTION_EDGES
from isoscope.graphdb.queries import COMPONENT_RELATIONS, level_file, statements
from isoscope.levels import Level
from isoscope.verdict import Outcome
from tests.arango_exchange import Exchange, refused, replayed
from tests.graphdb.test_store import SKEW, graph_of

VERTICES = ("Graph", "Transaction", "ReadEvent", "WriteEvent")
EDGES = (*TRANSACTION_EDGES, "did", *EVENT_EDGES)


def opening() -> list[Exchange]:
    """The first collection is there already."""
    first, *names = VERTICES
    return [
        Exchange("GET", "/_api/version", {"version": "3.11.5"}),
        refused("POST", "/_api/collection", 1207, f"duplicate name: {first}"),
        *(Exchange("POST", "/_api/collection", {}, body={"name": name, "type": 2}) for name in names),
        *(Exchange("POST", "/_api/collection", {}, body={"name": name, "type": 3}) for name in EDGES),
    ]


def result(*found: object) -> Exchange:
    return Exchange("POST", "/_api/cursor", {"result": [*found], "hasMore": False}, 201)


def test_a_graph_is_removed_and_then_imported_collection_by_collection() -> None:
    graph = graph_of(SKEW, "skew")
    removals = [result() for _ in range(1 + len(EDGES) + 3 + 1)]
    imported = [*graph.vertices, *(table.type for table in graph.edges if table.rows), "Graph"]
    imports = [Exchange("POST", f"/_api/document/{name}?silent=true", [], 202) for name in imported]
    with replayed([*opening(), *removals, *imports]) as url, open_store(url) as store:
        store.load(graph)


def test_a_level_is_decided_by_aql_and_by_pregel() -> None:
    facts = {"_id": "Graph/skew", **graph_of(SKEW, "skew").facts}
    exchanges = [
        *opening(),
        result(facts),
        result(),
        result(),
        result(facts),
        result(),
        Exchange("POST", "/_api/control_pregel", "4711"),
        Exchange("GET", "/_api/control_pregel/4711", {"state": "running"}),
        Exchange("GET", "/_api/control_pregel/4711", {"state": "done"}),
        result(),
    ]
    with replayed(exchanges) as url, open_store(url) as store:
        assert check(store, Level.PL_2).outcome is Outcome.HOLDS
        components = Search(method=QueryMethod.COMPONENTS)
        assert check(store, Level.PL_1, search=components).outcome is Outcome.HOLDS
        with pytest.raises(UsageError, match="components do not decide snapshot-isolation"):
            check(store, Level.SNAPSHOT_ISOLATION, search=components)


def test_rows_have_columns_and_documents_lose_the_attributes_of_the_database() -> None:
    vertex = {"_id": "Transaction/x", "_key": "x", "_rev": "r", "name": "T1"}
    path = {"vertices": [vertex], "edges": []}
    exchanges = [
        *opening(),
        result({"key": 1, "n": 2}),
        result(path),
        refused("POST", "/_api/cursor", 1501, "no"),
    ]
    with replayed(exchanges) as url, open_store(url) as store:
        assert store.run("RETURN {key: 1, n: 2}", {"unused": 1}).columns == ("key", "n")
        assert store.run("RETURN p", {}).rows == (
            ({"vertices": [{"name": "T1", "label": "Transaction"}], "edges": []},),
        )
        with pytest.raises(UsageError, match="rejects the query: no"):
            store.run("RETURN", {})


def test_pregel_that_fails_is_an_error() -> None:
    failed = Exchange("GET", "/_api/control_pregel/1", {"state": "fatal error"})
    with (
        replayed([*opening(), Exchange("POST", "/_api/control_pregel", "1"), failed]) as url,
        open_store(url) as store,
        pytest.raises(DatabaseError, match="Pregel did not finish: fatal error"),
    ):
        store.components("skew", ("ww",))


def test_every_method_has_its_queries_in_aql() -> None:
    for method in QueryMethod:
        levels = COMPONENT_RELATIONS if method is QueryMethod.COMPONENTS else LEVELS
        for level in levels:
            text = level_file("arangodb", method, level).read_text(encoding="utf-8")
            assert all(one.count("FOR") >= 1 and "RETURN" in one for one in statements(text))
            assert ("// Complete:" in text) == method.is_complete


def test_keys_of_documents_have_only_characters_that_are_allowed() -> None:
    assert _key("a b/ü:T1") == "a%20b%2F%FC:T1"
