"""Every report type can write a report on any history."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

import isoscope
from isoscope.checkers import check, search
from isoscope.checkers.version_order import NAMES
from isoscope.explain import message
from isoscope.history import Operation, OperationKind, Range
from isoscope.recorder import build
from isoscope.reports import examples, render_dot, render_json, render_svg, render_text
from isoscope.reports.html import render_html
from isoscope.reports.junit import render_junit
from isoscope.reports.sarif import render_sarif
from isoscope.reports.step_summary import render_step_summary
from tests.recorded import record
from tests.reference.test_predicates import closed_histories, transaction
from tests.reference.version_histories import claims, version_histories
from tests.strategies import any_histories, histories, jepsen_histories

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import History
    from isoscope.verdict import Report, Search

ANY = st.one_of(
    histories(), any_histories(), jepsen_histories(), closed_histories(), version_histories(unique=False)
)


def write_all(report: Report | Search) -> None:
    for render in (render_text, render_dot, render_html):
        assert render(report)
    for text in (render_json(report), render_sarif([report])):
        assert json.loads(text)
    for text in (render_junit([report]), *map(render_svg, examples(report))):
        assert ET.fromstring(text) is not None
    assert render_step_summary([report])


@given(history=ANY, assume=claims())
def test_every_report_can_be_written(history: History, assume: tuple[str, ...]) -> None:
    write_all(check(history, assume=assume, max_anomalies=3))
    write_all(search(history, NAMES, assume=assume, max_anomalies=3))


def test_a_list_that_shows_a_later_append_of_its_reader_has_a_text(tmp_path: Path) -> None:
    """The first two read the same version, of which the list says that it came after their own."""
    path = tmp_path / "h.edn"
    path.write_text(
        "{:type :ok, :process 2, :value [[:r :x [1 2]] [:r :x [1]] [:r :x [1 2 3]] [:append :x 1]]}\n"
        "{:type :ok, :process 2, :value [[:r :x [1 2 3]] [:append :x 2]]}\n"
        "{:type :ok, :process 1, :value [[:r :x [1]] [:append :x 3]]}\n"
    )
    report = check(isoscope.load(path))
    write_all(report)
    [lost] = [anomaly for anomaly in examples(report) if anomaly.name == "lost-update"]
    assert [(step.before, step.relation, step.after) for step in lost.steps] == [
        ("T1", "ww", "T2"),
        ("T2", "rw", "T1"),
    ]


def test_an_update_of_a_value_that_was_updated_has_a_text() -> None:
    history = record(
        [("read", "x", 3), ("write", "x", 1)],
        [("read", "x", 3), ("write", "x", 2)],
        [("read", "x", 1), ("write", "x", 3)],
    )
    report = check(history)
    write_all(report)
    [lost] = [anomaly for anomaly in examples(report) if anomaly.name == "lost-update"]
    assert message(lost) == (
        "T1 and T2 both read x = 3 and both wrote it: T1 wrote 1 and T2 wrote 2, and neither saw the other's "
        "write. Whichever came first was lost."
    )


def test_a_predicate_read_may_miss_a_key_without_a_write() -> None:
    shown, missed = (
        Operation(kind=OperationKind.RANGE_READ, key=None, value=Range(rows=rows), predicate=":true")
        for rows in ((("x", 0),), ())
    )
    report = check(build([transaction([shown, missed])], initial=isoscope.Initial(value=0)), ["serializable"])
    [verdict] = report.verdicts
    assert verdict.anomaly_counts == {"non-repeatable-read": 1, "predicate-read-miss": 1}
    assert message(verdict.anomalies[-1]) == (
        "T0 read rows that match :true and was not shown x, although the initial value of x matches."
    )
