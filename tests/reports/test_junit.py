"""JUnit XML: well-formed, as Jenkins and GitLab read it, and in agreement with the exit status."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import isoscope
from isoscope import check
from isoscope.cli.exit_status import status
from isoscope.levels import Level
from isoscope.reports import render_text
from isoscope.reports.findings import Result, Unreadable
from isoscope.reports.junit import render_junit
from tests.recorded import record
from tests.strategies import histories

if TYPE_CHECKING:
    from isoscope.verdict import Report

ABORTED = record([("write", "x", 1), ("abort",)], [("read", "x", 1)])
SKEWED = record([("read", "y", 0), ("write", "x", 1)], [("read", "x", 0), ("write", "y", 1)])
CLEAN = record([("write", "x", 1)], [("read", "x", 1)])

#: The attributes that an element may and must have in Jenkins' schema.
ATTRIBUTES = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, set()),
    "testsuite": (
        {"name", "time", "tests", "failures", "errors", "skipped"},
        {"name", "tests", "failures", "errors"},
    ),
    "properties": (set(), set()),
    "property": ({"name", "value"}, {"name", "value"}),
    "testcase": ({"name", "classname", "time"}, {"name", "classname"}),
    "failure": ({"type", "message"}, {"message"}),
    "error": ({"type", "message"}, {"message"}),
    "skipped": ({"type", "message"}, {"message"}),
}
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "testcase": {"failure", "error", "skipped"},
}


def parsed(text: str) -> ElementTree.Element:
    """The document, if its elements, attributes and counts are in order."""
    root = ElementTree.fromstring(text)
    for element in root.iter():
        allowed, required = ATTRIBUTES[element.tag]
        assert required <= element.attrib.keys() <= allowed
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set())
        if element.tag in ("testsuites", "testsuite"):
            counted = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
            for attribute, tag in ((name, tag) for name, tag in counted.items() if name in element.attrib):
                assert element.attrib[attribute] == str(len(list(element.iter(tag))))
    return root


def ends(text: str) -> dict[str, str]:
    """The end of each case of the only suite."""
    [suite] = parsed(text)
    return {case.attrib["name"]: next((end.tag for end in case), "passed") for case in suite.iter("testcase")}


def test_a_named_level_that_is_violated_is_a_failure_with_the_text() -> None:
    report = check(ABORTED, ["pl-2", "pl-1"])
    [suite] = parsed(render_junit([report]))
    broken, kept = suite.iter("testcase")
    [failure] = broken
    assert failure.attrib == {"type": "violated", "message": "No. The history broke PL-2: 1 aborted read."}
    assert failure.text == render_text(check(ABORTED, ["pl-2"]))
    assert (kept.attrib["name"], len(kept)) == ("pl-1", 0)


def test_a_named_level_that_is_unknown_is_an_error_with_its_reason() -> None:
    report = check(CLEAN, ["strict-serializable"])
    [suite] = parsed(render_junit([report]))
    [[error]] = suite.iter("testcase")
    assert error.tag == "error"
    assert error.attrib == {"type": "unknown", "message": f"unknown: {report.verdicts[0].reason}"}


def test_without_names_only_the_minimum_fails() -> None:
    found = ends(render_junit([check(SKEWED)]))
    assert found["serializable"] == "skipped"
    assert found["snapshot-isolation"] == "passed"
    assert "failure" not in found.values()
    assert ends(render_junit([check(ABORTED)]))["read-committed"] == "failure"


def test_a_history_that_cannot_be_read_is_an_error() -> None:
    text = render_junit([Unreadable(path="a.txt", error="a.txt:1: expected more\n\nhint: read on")])
    [[case]] = parsed(text)
    [error] = case
    assert case.attrib == {"classname": "a.txt", "name": "read"}
    assert error.attrib == {"type": "unreadable", "message": "a.txt:1: expected more"}
    assert error.text == "a.txt:1: expected more\n\nhint: read on"


def test_an_anomaly_that_was_looked_for_and_found_is_a_failure() -> None:
    found = ends(render_junit([isoscope.search(ABORTED, ["aborted-read", "thin-air-read"])]))
    assert found == {"aborted-read": "failure", "thin-air-read": "passed"}


def test_every_history_has_a_suite_of_its_own_in_the_order_given() -> None:
    results: list[Result] = [
        named(check(CLEAN), "b"),
        Unreadable(path="c", error="no"),
        named(check(ABORTED), "a"),
    ]
    root = parsed(render_junit(results))
    assert [suite.attrib["name"] for suite in root] == ["b", "c", "a"]


def named(report: Report, path: str) -> Report:
    return replace(report, history={**report.history, "path": path})


def test_seconds_appear_only_with_timings() -> None:
    report = replace(check(CLEAN), seconds={"load": 0.25, "check": 0.5})
    [suite] = parsed(render_junit([report], timings=True))
    assert suite.attrib["time"] == "0.750000"
    assert "time=" not in render_junit([report])


@pytest.mark.parametrize(
    "hostile", ["\x00\x1b[31m", "]]>", "<a b='&\">", "\udcff", "\uffff", "\r\n\t", "\x85"]
)
def test_hostile_characters_are_spelt_out_or_escaped(hostile: str) -> None:
    root = parsed(render_junit([Unreadable(path=hostile, error=f"{hostile}: no")]))
    [[[error]]] = root
    assert "no" in (error.text or "")
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", error.text or "")


@given(key=st.text(), value=st.text())
def test_any_key_and_value_can_be_written(key: str, value: str) -> None:
    history = record([("write", key, value), ("abort",)], [("read", key, value)])
    text = render_junit([check(history, ["pl-2"])])
    text.encode()
    parsed(text)


@given(history=histories(), asked=st.sets(st.sampled_from([Level.PL_2, Level.CAUSAL, Level.SERIALIZABLE])))
def test_a_file_is_red_if_and_only_if_the_exit_status_is(
    history: isoscope.History, asked: set[Level]
) -> None:
    levels = tuple(sorted(asked))
    report = check(history, levels or None)
    found = set(ends(render_junit([report])).values())
    assert status(report) == (1 if "failure" in found else 3 if "error" in found else 0)


def test_the_same_results_give_the_same_bytes() -> None:
    assert render_junit([check(ABORTED)]) == render_junit([check(ABORTED)])
