"""`graph`: load, list, remove, check, query, open."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from isoscope.graphdb import open_store
from tests.cli.running import run

CASES = Path(__file__).parents[1] / "histories"
SKEW = CASES / "write-skew" / "violated-registers.edn"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("graph") / "graphs.lbug")
    done = run("graph", "load", SKEW, path)
    assert done.status == 0
    assert done.out.startswith(f"graph violated-registers of {SKEW}: 2 transactions, ")
    return path


def test_levels_are_checked_and_the_status_is_that_of_the_named_ones(database: str) -> None:
    done = run("graph", "check", database)
    assert done.status == 0
    assert "method shortest-path: complete\n" in done.out
    assert "snapshot-isolation            holds\n" in done.out
    assert "serializable                  violated: T" in done.out
    assert "\nwrite-skew\n" in done.out
    assert run("graph", "check", database, "--level", "ser").status == 1
    assert run("graph", "check", database, "--level", "si").status == 0


def test_an_incomplete_method_says_so(database: str) -> None:
    done = run("graph", "check", database, "--level", "si", "--method", "cycle", "--depth", "3")
    assert done.status == 3
    assert "incomplete, `holds` cannot be shown" in done.out
    assert "no such cycle of at most 3 transactions; longer ones were not searched" in " ".join(
        done.out.split()
    )


def test_json_has_the_graph_and_the_answers(database: str) -> None:
    found = json.loads(run("graph", "check", database, "--json").out)
    assert found["graph"]["transactions"] == 2
    answers = {answer["level"]: answer for answer in found["answers"]}
    assert answers["serializable"]["relations"] == ["rw", "rw"]
    assert answers["serializable"]["anomaly"] == "write-skew"
    assert answers["pl-1"] == {
        "level": "pl-1", "outcome": "holds", "method": "shortest-path", "complete": True, "reason": "",
        "anomaly": "", "transactions": [], "relations": [], "wrong_reads": [],
    }  # fmt: skip


def test_a_counterexample_and_a_result_are_drawn(database: str, tmp_path: Path) -> None:
    one, two = tmp_path / "one.svg", tmp_path / "two.svg"
    run("graph", "check", database, "--svg", one)
    query = "MATCH p = (a:Transaction)-[:rw]->(:Transaction)-[:rw]->(a) RETURN p"
    done = run("graph", "query", database, query, "--svg", two)
    assert done.status == 0
    assert one.read_text().startswith("<svg")
    assert two.read_text().startswith("<svg")
    done = run("graph", "query", database, "busiest-keys", "--svg", tmp_path / "three.svg")
    assert "no cycle" in done.err
    assert run("graph", "check", database, "--svg", "picture.png").status == 2


def test_questions_are_listed_and_asked(database: str, tmp_path: Path) -> None:
    listed = run("graph", "query", database)
    assert "busiest-keys          Which keys cause the most dependencies?\n" in listed.out
    rows = json.loads(run("graph", "query", database, "write-skews", "--json").out)
    assert len(rows) == 1
    assert set(rows[0]) == {"transaction", "missed", "partner", "missed_too"}
    mine = tmp_path / "mine.cypher"
    mine.write_text("// mine\nMATCH (t:Transaction) WHERE t.number >= $least RETURN count(*) AS n\n")
    done = run("graph", "query", database, mine, "--set", "least=1")
    assert done.out == "n\n1\n\n1 row\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["query", "{}", "busiest"], "there is no question `busiest`"),
        (["query", "{}", "missing.cypher"], "cannot read missing.cypher"),
        (["query", "{}", "MATCH (x:Nothing) RETURN x"], "LadybugDB rejects the query"),
        (["query", "{}", "// nothing to run"], "there is no query in it"),
        (["query", "{}", "blocks", "--set", "x"], "--set x: expected NAME=VALUE"),
        (["check", "{}", "--name", "other"], "there is no graph other (stored: violated-registers)"),
        (["check", "{}", "--level", "causal"], "no query decides causal"),
        (["check", "missing.lbug"], "there is no missing.lbug"),
        (["remove", "{}", "other"], "there is no graph other (stored: violated-registers)"),
        (["query", "{}", "why-before", "--set", "from=T1"], "the query needs $to\n\nhint: --set to=VALUE"),
        (["query", "{}", "MATCH (t:Transaction) DETACH DELETE t"], "in a read-only database"),
        (["list", "ftp://127.0.0.1:1"], "no graph database is at ftp://"),
        (["list", "bolt://127.0.0.1:1"], "hint: is a server of a graph database running there?"),
        (["list", "http://127.0.0.1:1"], "cannot use http://127.0.0.1:1: "),
        (["list", "ladybug:"], "the name of the database is empty"),
    ],
)
def test_a_mistake_is_one_message(database: str, arguments: list[str], message: str) -> None:
    done = run("graph", *(argument.replace("{}", database) for argument in arguments))
    assert done.status == 2
    assert done.err.startswith("error: ")
    assert done.err.count("error: ") == 1
    assert message in done.err


def test_a_prompt_answers_one_question_after_another(database: str) -> None:
    typed = ".questions\nblocks\nMATCH (t:Transaction)\nRETURN count(*) AS n;\nnonsense\n.exit\nblocks\n"
    done = run("graph", "open", database, stdin=typed)
    assert done.status == 0
    assert "write-skews " in done.out
    assert "n\n2\n\n1 row\n" in done.out
    assert done.out.count("block  transactions") == 1
    assert "error: there is no question `nonsense`" in done.err


def test_graphs_are_listed_and_removed(tmp_path: Path) -> None:
    path = str(tmp_path / "two.lbug")
    run("graph", "load", SKEW, path, "--name", "one")
    run("graph", "load", SKEW, path, "--name", "two")
    assert [graph["name"] for graph in json.loads(run("graph", "list", path, "--json").out)] == ["one", "two"]
    assert run("graph", "remove", path, "one").out == "graph one removed\n"
    assert run("graph", "list", path).out.startswith("graph two of ")
    assert run("graph", "remove", path, "two").status == 0
    assert run("graph", "list", path).out == "no graphs\n"


NAMES = """{:type :ok, :process 0, :value [[:w "a'b" "x\\"y"] [:w "ключ ☃" "'; DROP"]]}
{:type :ok, :process 1, :value [[:r "a'b" "x\\"y"] [:r "ключ ☃" "'; DROP"] [:w "a'b" "`$q"]]}
{:type :info, :process 2, :value [[:r "a'b" nil] [:w "ключ ☃" "ü"]]}
{:type :fail, :process 3, :value [[:w "a'b" "gone"]]}
{:type :ok, :process 4, :value [[:r "ключ ☃" "ü"] [:r "a'b" "gone"]]}
"""


def test_names_keys_and_values_may_have_quotes_and_any_letters(tmp_path: Path) -> None:
    history, path = tmp_path / "names.edn", str(tmp_path / "names.lbug")
    history.write_text(NAMES, encoding="utf-8")
    name = 'o\'brien "☃" $graph'
    assert run("graph", "load", history, path, "--name", name).out.startswith(f"graph {name} of ")
    run("graph", "load", history, path, "--name", "other")
    rows = json.loads(run("graph", "query", path, "busiest-keys", "--name", name, "--json").out)
    assert {row["key"] for row in rows} == {"a'b", "ключ ☃"}
    done = run("graph", "check", path, "--name", name)
    assert done.status == 1
    assert "pl-1                          holds\n" in done.out
    assert "pl-2                          violated: T4 read a'b = gone (aborted-read)\n" in done.out
    statuses = "MATCH (t:Transaction {graph: $graph}) RETURN t.status AS status ORDER BY t.number"
    found = json.loads(run("graph", "query", path, statuses, "--name", name, "--json").out)
    assert [row["status"] for row in found] == ["committed", "committed", "indeterminate", "committed"]
    assert run("graph", "remove", path, name).status == 0
    assert [graph["name"] for graph in json.loads(run("graph", "list", path, "--json").out)] == ["other"]


def test_an_empty_history_has_a_graph_without_vertices(tmp_path: Path) -> None:
    history, path = tmp_path / "empty.edn", str(tmp_path / "empty.lbug")
    history.touch()
    done = run("graph", "load", history, path, "--format", "jepsen")
    assert done.out == f"graph empty of {history}: 0 transactions, 0 dependencies\n"
    assert run("graph", "check", path, "--level", "ser").out.startswith(
        "serializable                  holds\n"
    )


def test_a_graph_with_reads_by_predicates_leaves_levels_unknown(tmp_path: Path) -> None:
    path = str(tmp_path / "rows.lbug")
    run("graph", "load", next((CASES / "predicate-read-miss").glob("violated-*")), path)
    found = json.loads(run("graph", "check", path, "--json").out)["answers"]
    assert "predicates" in found[-1]["reason"]
    assert found[-1]["outcome"] == "unknown"


def test_a_graph_from_which_a_transaction_was_deleted_is_not_judged(tmp_path: Path) -> None:
    path = str(tmp_path / "damaged.lbug")
    run("graph", "load", CASES / "aborted-read" / "violated-register.edn", path)
    with open_store(path) as store:
        store.run("MATCH (t:Transaction) DETACH DELETE t", {})
    done = run("graph", "check", path)
    assert done.status == 2
    assert "was changed: the vertex violated-register:T" in done.err
