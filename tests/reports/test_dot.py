"""DOT: a graph that Graphviz reads, one cluster for each counterexample."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from hypothesis import given

import isoscope
from isoscope.checkers import check, search
from isoscope.history import Term
from isoscope.reports import examples, render_dot
from isoscope.verdict import START, Method, Presence, Search, Sighting, Step
from tests.recorded import record
from tests.reports.anomalies import CASES, HOSTILE, HOSTILE_TERMS, circle
from tests.strategies import histories

HISTORY = record([("write", "x", 1), ("write", "y", 1)], [("read", "x", 0), ("read", "y", 1)])
#: Words, punctuation and quoted texts: all that a graph of ours is made of.
TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|->|[\w.#-]+|[{}\[\]=,;])')


def of(*anomalies: isoscope.Anomaly) -> Search:
    sighting = Sighting(
        name=anomalies[0].name,
        presence=Presence.FOUND,
        method=Method.VALUES,
        count=len(anomalies),
        anomalies=anomalies,
    )
    return Search(history={"path": "h.txt"}, sightings=(sighting,))


def tokens(text: str) -> list[str]:
    """The tokens of the graph; fails if the text is no graph."""
    found, place = [], 0
    while text[place:].strip():
        match = TOKEN.match(text, place)
        assert match, text[place : place + 60]
        found.append(match[1])
        place = match.end()
    assert found.count("{") == found.count("}")
    assert found.count("[") == found.count("]")
    return found


def accepted(text: str) -> bool:
    """Whether Graphviz reads it, if it is installed."""
    tokens(text)
    if not shutil.which("dot"):
        return True
    done = subprocess.run(["dot", "-Tcanon"], input=text.encode(), capture_output=True, check=False)
    return done.returncode == 0 and done.stderr == b""


def test_a_graph_has_boxes_with_operations_and_edges_by_kind() -> None:
    text = render_dot(check(HISTORY, ["read-atomic"]))
    assert text == (
        'digraph "<memory>" {\n'
        "  rankdir=LR;\n"
        '  node [shape=box, fontname="monospace", fontsize=11];\n'
        '  edge [fontname="sans-serif", fontsize=11];\n'
        '  subgraph "cluster 1" {\n'
        '    label="fractured-read-co";\n'
        '    "1 T1" [label="T1\\l* wrote x = 1\\l* wrote y = 1\\l"];\n'
        '    "1 T2" [label="T2\\l* read x = 0\\l* read y = 1\\l"];\n'
        '    "1 T1" -> "1 T2" [label="wr y", color="#0072b2", fontcolor="#0072b2", arrowhead=normal, '
        "style=solid];\n"
        '    "1 T2" -> "1 T1" [label="rw x", color="#b84f00", fontcolor="#b84f00", arrowhead=empty, '
        "style=dashed];\n"
        "  }\n"
        "}\n"
    )
    assert accepted(text)


def test_a_counterexample_stands_once_although_several_levels_have_it() -> None:
    report = check(HISTORY)
    found = list(examples(report))
    assert len(found) == len({(a.name, a.transactions, a.keys) for a in found})
    assert render_dot(report).count("subgraph") == len(found)
    assert sum(len(verdict.anomalies) for verdict in report.verdicts) > len(found)


def test_graphviz_reads_every_case() -> None:
    """All in one call: a file may hold many graphs."""
    graphs = [
        render_dot(search(isoscope.load(path), [path.parent.name]))
        for path in CASES
        if path.parent.name != "cyclic-versions"
    ]
    assert accepted("".join(graphs))


@given(histories())
def test_any_graph_can_be_read(history: isoscope.History) -> None:
    found = tokens(render_dot(check(history)))
    assert found[0] == "digraph"


ESCAPES = ("\\", 'a\\"b', "\\N\\l", "a\nb")


@pytest.mark.parametrize("key", [*HOSTILE, *ESCAPES, *map(Term, (*HOSTILE_TERMS, *ESCAPES))], ids=repr)
def test_a_hostile_key_stays_in_its_quotes(key: object) -> None:
    graph = render_dot(of(circle(2, key=key)))
    plain = tokens(render_dot(of(circle(2))))
    assert [token[0] for token in tokens(graph)] == [token[0] for token in plain]
    assert all(line.isprintable() for line in graph.splitlines())


def test_graphviz_reads_hostile_keys() -> None:
    keys = [*HOSTILE, *ESCAPES, *map(Term, (*HOSTILE_TERMS, *ESCAPES)), "x" * 10_000_000]
    graph = render_dot(of(*(circle(2, key=key) for key in keys)))
    assert accepted(graph)
    assert len(graph) < 2000 * len(keys)


@pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz is not installed")
def test_graphviz_shows_a_label_as_it_was() -> None:
    graph = render_dot(of(circle(2, key=Term(':a&lt;b\\N"c'))))
    done = subprocess.run(["dot", "-Tsvg"], input=graph, text=True, capture_output=True, check=True)
    assert "wr :a&amp;lt;b\\N&quot;c" in done.stdout


def test_the_initial_state_is_a_node_only_where_a_step_names_it() -> None:
    anomaly = circle(2)
    step = Step(before=START, after="T1", relation="ww", key="x")
    steps = isoscope.Anomaly(
        name=anomaly.name,
        transactions=anomaly.transactions,
        keys=anomaly.keys,
        steps=(*anomaly.steps, step),
        participants=anomaly.participants,
    )
    assert f'"1 {START}" [label="{START}", shape=ellipse];' in render_dot(of(steps))
    assert START not in render_dot(of(anomaly))
