"""Nodes and faults in reports: text, JSON, the page, pictures and charts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from isoscope import checkers
from isoscope.activity import activity
from isoscope.history import Deployment, Fault, History, Interval, Operation, OperationKind, Transaction
from isoscope.recorder import build
from isoscope.reports import document, render_plot, render_svg, render_text
from isoscope.reports.fault_times import render_fault_times
from isoscope.reports.html import render_html
from isoscope.reports.schema import schema

LEVEL = "strong-snapshot-isolation"


def transaction(number: int, session: int, at: int, kind: OperationKind, value: int) -> Transaction:
    operation = Operation(kind=kind, key="x", value=value)
    return Transaction(
        number=0,
        id=number,
        session=0,
        session_id=session,
        operations=(operation,),
        interval=Interval(at, at + 1000),
    )


@pytest.fixture
def stale() -> History:
    """A read at n2 of what was overwritten at n1, while n2 was separated."""
    history = build(
        [
            transaction(1, 0, 1_000, OperationKind.WRITE, 1),
            transaction(2, 0, 10_000, OperationKind.WRITE, 2),
            transaction(3, 1, 20_000, OperationKind.READ, 1),
        ]
    )
    faults = (
        Fault(kind="kill", node="n1", start=2_500, stop=4_000),
        Fault(kind="partition", node="<n2>", start=15_000, remark="it never ended"),
    )
    deployment = Deployment(nodes={0: "n1", 1: "<n2>"}, faults=faults)
    return History(history.columns, replace(history.source, deployment=deployment))


def test_a_counterexample_names_the_node_and_the_faults_that_went_on(stale: History) -> None:
    report = checkers.check(stale, [LEVEL])
    text = render_text(report)
    assert "session 1 at <n2> (partition of <n2>)" in text
    assert "session 0 at n1" in text
    assert "nodes: <n2>: 1 session, n1: 1 session" in text
    assert "faults: kill 1, partition 1" in text


def test_the_document_has_nodes_and_faults_and_follows_the_schema(stale: History) -> None:
    found = document(checkers.check(stale, [LEVEL]))
    Draft202012Validator(schema()).validate(found)
    assert found["history"]["deployment"] == stale.deployment.document()
    participants = found["verdicts"][0]["anomalies"][0]["participants"]
    assert {one["transaction"]: one["node"] for one in participants}["T3"] == "<n2>"
    assert {one["transaction"]: one.get("faults") for one in participants}["T3"] == ["partition of <n2>"]


def test_the_page_has_the_faults_on_a_time_axis_and_nothing_of_them_is_markup(stale: History) -> None:
    page = render_html(checkers.check(stale, [LEVEL]))
    assert "Faults while it ran" in page
    assert "<n2>" not in page
    assert "&lt;n2&gt;" in page
    assert "it never ended" in page
    [anomaly] = checkers.check(stale, [LEVEL]).verdicts[0].anomalies
    assert "session 1 at &lt;n2&gt;" in render_svg(anomaly)


def test_a_chart_has_a_band_for_each_fault(stale: History) -> None:
    plot = render_plot(activity(stale), title="x")
    assert plot.count("<title>kill of n1</title>") == plot.count("<title>partition of &lt;n2&gt;</title>") > 0


def test_a_history_without_faults_has_no_picture_of_them() -> None:
    assert render_fault_times({}) == ""
    assert render_fault_times({"deployment": {"nodes": [[1, "n1"]], "faults": []}}) == ""
