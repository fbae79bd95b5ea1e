"""A store keeps named graphs: loading twice changes nothing, removing leaves the others alone."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pytest

import isoscope
from isoscope.databases.simulated import Simulated, run
from isoscope.errors import DatabaseError, UsageError
from isoscope.graphdb import LEVELS, QueryMethod, Search, check, export, open_store, questions
from isoscope.graphdb.model import blocks
from isoscope.graphdb.queries import level_file, level_statements, parameters_of, statements
from isoscope.history import Initial
from isoscope.levels import Level
from isoscope.verdict import Outcome
from isoscope.workloads import Workload
from tests.test_cases import CASES, FOLDER

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.graphdb import DependencyGraph, GraphStore

CYPHER = ("ladybug", "neo4j")
#: One history of each folder.
FIRST = [next(paths) for _, paths in groupby(CASES, key=lambda path: path.parent)]


def graph_of(case: str, name: str) -> DependencyGraph:
    return export(isoscope.load(FOLDER / case), name)


SKEW = "write-skew/violated-registers.edn"
FORK = "long-fork/violated-registers.edn"


def content(store: GraphStore) -> list[Any]:
    """How many vertices and edges there are, by kind."""
    queries = (
        "MATCH (v:{}) RETURN count(*)",
        "MATCH (:Transaction)-[e:{}]->(:Transaction) RETURN count(*)",
        "MATCH (:WriteEvent)-[e:{}]->(:ReadEvent) RETURN count(*)",
    )
    kinds = (
        ("Graph", "Transaction", "ReadEvent", "WriteEvent"),
        ("rw", "session", "snapshot"),
        ("event_wr",),
    )
    asked = zip(queries, kinds, strict=True)
    return [store.run(query.format(kind), {}).rows[0][0] for query, names in asked for kind in names]


def test_loading_twice_is_loading_once(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "graphs.lbug")) as store:
        store.load(graph_of(SKEW, "skew"))
        once = content(store)
        store.load(graph_of(SKEW, "skew"))
        assert content(store) == once
        assert once[:2] == [1, 2]


def test_a_graph_is_removed_and_the_others_stay(tmp_path: Path) -> None:
    path = str(tmp_path / "graphs.lbug")
    with open_store(path) as store:
        store.load(graph_of(SKEW, "skew"))
        alone = content(store)
        store.load(graph_of(FORK, "fork"))
        assert [graph["name"] for graph in store.graphs()] == ["fork", "skew"]
        assert store.remove("fork")
        assert not store.remove("fork")
        assert content(store) == alone
    with open_store(path) as store:
        assert check(store, Level.SERIALIZABLE).outcome is Outcome.VIOLATED
        assert store.remove("skew")
        assert content(store) == [0] * len(alone)


def test_what_is_asked_of_one_graph_is_not_answered_by_another() -> None:
    with open_store(":memory:") as store:
        store.load(graph_of(SKEW, "skew"))
        store.load(graph_of("write-skew/allowed-one-sees-the-other.edn", "allowed"))
        for method in (QueryMethod.SHORTEST_PATH, QueryMethod.CYCLE, QueryMethod.RANDOM):
            answers = [
                check(store, Level.SERIALIZABLE, name=name, search=Search(method=method))
                for name in ("skew", "allowed")
            ]
            assert [answer.cycle is not None for answer in answers] == [True, False]
        with pytest.raises(UsageError, match=r"there are several graphs \(stored: allowed, skew\)"):
            check(store, Level.SERIALIZABLE)


def test_cases_have_the_outcome_of_the_native_core_or_none() -> None:
    decided = 0
    histories = [isoscope.load(path) for path in FIRST]
    with open_store(":memory:") as store:
        store.load(*(export(history, str(place)) for place, history in enumerate(histories)))
        for place, (path, history) in enumerate(zip(FIRST, histories, strict=True)):
            judged = isoscope.check(history, LEVELS)
            for level in LEVELS:
                answer = check(store, level, name=str(place))
                if answer.outcome is not Outcome.UNKNOWN:
                    assert answer.outcome is judged[level].outcome, (path, level)
                    decided += 1
    assert decided > len(FIRST)


def test_a_wrong_read_breaks_a_level_by_itself() -> None:
    with open_store(":memory:") as store:
        store.load(graph_of("aborted-read/violated-register.edn", "aborted"))
        assert check(store, Level.PL_1).outcome is Outcome.HOLDS
        answer = check(store, Level.PL_2)
    assert answer.outcome is Outcome.VIOLATED
    assert [read.name for read in answer.reads] == ["aborted-read"]


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ([], []),
        ([(0, 1), (1, 2)], []),
        ([(3, 1), (2, 1)], [(1, 3)]),
        ([(2, 1), (5, 4), (9, 5)], [(1, 2), (4, 9)]),
    ],
)
def test_blocks_are_joined_where_backward_edges_overlap(
    edges: list[tuple[int, int]], expected: list[tuple[int, int]]
) -> None:
    assert blocks(edges) == expected


@pytest.mark.parametrize("dialect", CYPHER)
@pytest.mark.parametrize("method", [method for method in QueryMethod if method is not QueryMethod.COMPONENTS])
def test_every_level_has_a_query_that_says_whether_it_is_complete(dialect: str, method: QueryMethod) -> None:
    for level in LEVELS:
        text = level_file(dialect, method, level).read_text(encoding="utf-8")
        assert ("// Complete:" in text) == method.is_complete
        assert ("// Incomplete:" in text) != method.is_complete
        deeper = "".join(level_statements(dialect, Search(method=method, depth=7), level))
        assert ("2..7" in deeper) != method.is_complete
        assert "2..4" not in deeper


def test_both_dialects_have_the_same_ten_questions_and_more() -> None:
    asked = [[(question.name, question.about) for question in questions(dialect)] for dialect in CYPHER]
    assert asked[0] == asked[1]
    assert len(asked[0]) >= 10
    assert all(about.endswith(("?", ".")) for _, about in asked[0])


def test_every_question_has_an_answer() -> None:
    with open_store(":memory:") as store:
        store.load(graph_of(SKEW, "skew"))
        rows = {}
        for question in questions("ladybug"):
            [query] = statements(question.path.read_text(encoding="utf-8"))
            rows[question.name] = store.run(query, {"graph": "skew", "from": "T1", "to": "T2"}).rows
    assert len(rows["write-skews"]) == 1
    assert rows["wrong-reads"] == ()


def test_lost_updates_are_those_of_the_native_core() -> None:
    """In the last one, the transaction wrote before it read."""
    database = Simulated(isolation="snapshot-isolation", bug="lost-update", bug_rate=0.2)
    lists = Workload(transactions=300, min_operations=2, max_operations=5, keys=20, timestamps=True)
    lists = replace(lists, lists=True, max_writes_per_key=8, initial=Initial(value=None))
    history = run(database, lists).history
    [verdict] = isoscope.check(history, [Level.CURSOR_STABILITY]).verdicts
    with open_store(":memory:") as store:
        store.load(export(history, "lists"))
        paths = {question.name: question.path for question in questions(store.dialect)}
        rows = store.run(paths["lost-updates"].read_text(encoding="utf-8"), {"graph": "lists"}).rows
    found = {(row[0], row[1]) for row in rows}
    expected = [(anomaly.transactions, str(anomaly.keys[0])) for anomaly in verdict.anomalies]
    assert len(found) == verdict.anomaly_counts["lost-update"] == len(expected) > 1
    assert all(any((name, key) in found for name in names) for names, key in expected)


def test_statements_are_separated_by_semicolons_at_line_ends() -> None:
    assert statements("// a; comment\nRETURN 1;\nRETURN ';x';\n// nothing\n") == (
        "// a; comment\nRETURN 1",
        "RETURN ';x'",
    )


def test_parameters_of_a_query_are_those_outside_of_texts_and_comments() -> None:
    assert parameters_of("// $no\nMATCH (t {a: $b, c: '$d \\' $e'}) RETURN t.`$f`, $b + $g_1") == ["b", "g_1"]
    assert parameters_of('FOR t IN T FILTER t.x == @x AND t.y == "a@b" FOR u IN @@c RETURN 1') == ["x"]


def test_a_missing_driver_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ladybug", None)
    monkeypatch.setitem(sys.modules, "neo4j", None)
    for address in ("graphs.lbug", "bolt://127.0.0.1:1"):
        with pytest.raises(UsageError, match=r"pip install 'isoscope\[graph\]'"):
            open_store(address)


def test_what_cannot_be_opened_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        open_store(str(tmp_path))
    (tmp_path / "text").write_text("no database" * 1000)
    with pytest.raises(DatabaseError, match="cannot open"):
        open_store(str(tmp_path / "text"))
    with pytest.raises(DatabaseError, match=r"cannot use bolt://127.0.0.1:1: "):
        open_store("bolt://user:secret@127.0.0.1:1")


def test_levels_and_methods_that_have_no_query_are_refused() -> None:
    with open_store(":memory:") as store:
        store.load(graph_of(SKEW, "skew"))
        with pytest.raises(UsageError, match="no query decides causal"):
            check(store, Level.CAUSAL)
        with pytest.raises(UsageError, match="no query for strongly connected components"):
            check(store, Level.PL_1, search=Search(method=QueryMethod.COMPONENTS))
        with pytest.raises(UsageError, match="rejects the query"):
            store.run("MATCH (nothing:Nothing) RETURN nothing", {})
