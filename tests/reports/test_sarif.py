"""SARIF 2.1.0: the essentials of its schema, lines of the input, and fingerprints that stay."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

import isoscope
from isoscope import __version__, check
from isoscope.anomalies import CATALOGUE
from isoscope.explain import message
from isoscope.reports.findings import Unreadable
from isoscope.reports.sarif import render_sarif
from tests.formats.binary import bincode
from tests.recorded import record
from tests.test_cases import VIOLATED, each

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.reports.findings import Result

#: From the schema: the properties that an object must have, and the others that we write.
SHAPES: dict[str, tuple[set[str], set[str]]] = {
    "run": ({"tool"}, {"columnKind", "invocations", "results"}),
    "driver": ({"name"}, {"semanticVersion", "rules"}),
    "rule": ({"id"}, {"shortDescription", "fullDescription", "help", "properties"}),
    "result": (
        {"message"},
        {"ruleId", "ruleIndex", "level", "locations", "relatedLocations", "partialFingerprints", "properties"}
        | {"codeFlows"},
    ),
    "notification": ({"message"}, {"level", "locations"}),
    "invocation": ({"executionSuccessful"}, {"toolExecutionNotifications"}),
    "location": (set(), {"id", "physicalLocation", "message"}),
}


def assert_shape(found: dict[str, Any], kind: str) -> None:
    required, optional = SHAPES[kind]
    assert required <= found.keys() <= required | optional


def assert_location(found: dict[str, Any]) -> None:
    assert_shape(found, "location")
    physical = found["physicalLocation"]
    uri = physical["artifactLocation"]["uri"]
    assert re.fullmatch(r"[\w/.~%:-]+", uri, re.ASCII)
    assert urlsplit(uri).scheme in ("", "file")
    region = physical.get("region", {"startLine": 1})
    assert region.keys() in ({"startLine"}, {"byteOffset", "byteLength"})
    assert region.get("startLine", 1) >= 1


def run_of(*results: Result) -> dict[str, Any]:
    """The only run of the log, if it keeps the essentials of the schema."""
    log = json.loads(render_sarif(results))
    assert (log["version"], log.keys()) == ("2.1.0", {"$schema", "version", "runs"})
    run: dict[str, Any]
    [run] = log["runs"]
    assert_shape(run, "run")
    assert_shape(run["tool"]["driver"], "driver")
    rules = run["tool"]["driver"]["rules"]
    for rule in rules:
        assert_shape(rule, "rule")
        assert rule["shortDescription"]["text"]
    for result in run["results"]:
        assert_result(result, rules)
    [invocation] = run["invocations"]
    assert_shape(invocation, "invocation")
    for note in invocation["toolExecutionNotifications"]:
        assert_shape(note, "notification")
        assert note["level"] in ("error", "warning", "note")
    return run


def assert_result(result: dict[str, Any], rules: list[dict[str, Any]]) -> None:
    assert_shape(result, "result")
    assert result["level"] in ("error", "warning")
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["message"]["text"]
    related = result["relatedLocations"]
    assert [location["id"] for location in related] == list(range(1, len(related) + 1))
    flows = [
        step["location"]
        for flow in result.get("codeFlows", [])
        for step in flow["threadFlows"][0]["locations"]
    ]
    for location in (*result["locations"], *related, *flows):
        assert_location(location)


@pytest.fixture
def skewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> isoscope.History:
    example = CATALOGUE["write-skew"].example
    assert example is not None
    (tmp_path / "skew.edn").write_text(example.text)
    monkeypatch.chdir(tmp_path)
    return isoscope.load("skew.edn")


def test_the_rules_are_the_catalogue() -> None:
    driver = run_of()["tool"]["driver"]
    assert (driver["name"], driver["semanticVersion"]) == ("Isoscope", __version__)
    assert [rule["id"] for rule in driver["rules"]] == list(CATALOGUE)


@each(VIOLATED)
def test_the_results_of_a_case_are_in_order(path: Path) -> None:
    report = check(isoscope.load(path))
    results = run_of(report)["results"]
    shown = {message(anomaly) for verdict in report.verdicts for anomaly in verdict.anomalies}
    assert bool(results) == bool(shown)
    assert {result["message"]["text"].replace("\\", "") for result in results} <= {
        text.replace("\\", "") for text in shown
    }
    prints = [result["partialFingerprints"]["isoscope/v1"] for result in results]
    assert len(set(prints)) == len(prints)


def test_a_result_points_to_the_lines_of_its_operations(skewed: isoscope.History) -> None:
    [result] = run_of(check(skewed))["results"]
    places = [result["locations"][0], *result["relatedLocations"]]
    assert {place["physicalLocation"]["artifactLocation"]["uri"] for place in places} == {"skew.edn"}
    assert {place["physicalLocation"]["region"]["startLine"] for place in places} == {1, 2}


def test_a_circle_is_a_code_flow_with_a_reason_for_each_step(skewed: isoscope.History) -> None:
    [result] = run_of(check(skewed))["results"]
    [flow] = result["codeFlows"]
    assert flow["message"]["text"] == "T0 (rw) T1 (rw) T0"
    texts = [step["location"]["message"]["text"] for step in flow["threadFlows"][0]["locations"]]
    assert [text.partition(",")[0] for text in texts] == ["T0 before T1 (rw)", "T1 before T0 (rw)"]


def test_results_that_decide_the_exit_status_are_errors_and_others_warnings(
    skewed: isoscope.History,
) -> None:
    [warned] = run_of(check(skewed))["results"]
    [failed] = run_of(check(skewed, ["serializable"]))["results"]
    assert (warned["level"], failed["level"]) == ("warning", "error")
    [found] = run_of(isoscope.search(skewed, ["write-skew"]))["results"]
    assert found["level"] == "error"


def test_an_anomaly_that_breaks_many_levels_is_one_result(skewed: isoscope.History) -> None:
    [result] = run_of(check(skewed))["results"]
    assert result["properties"]["found"] == 1
    assert {"serializable", "strong-session-serializable"} <= {*result["properties"]["levels"]}


def test_the_fingerprint_stays_where_the_file_moves(skewed: isoscope.History, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    moved = (tmp_path / "skew.edn").rename(tmp_path / "elsewhere" / "run.edn")
    [before] = run_of(check(skewed))["results"]
    [after] = run_of(check(isoscope.load(moved)))["results"]
    assert before["partialFingerprints"] == after["partialFingerprints"]
    assert before["locations"] != after["locations"]


def test_a_named_level_that_is_unknown_is_a_note(skewed: isoscope.History) -> None:
    report = check(skewed, ["strict-serializable"], method="values")
    run = run_of(report)
    [answer, note] = run["invocations"][0]["toolExecutionNotifications"]
    assert (answer["level"], answer["message"]["text"]) == ("note", report.answer.sentence)
    assert note["level"] == "warning"
    assert note["message"]["text"].startswith("strict-serializable is unknown: ")
    [alone] = run_of(replace(report, asked=()))["invocations"][0]["toolExecutionNotifications"]
    assert alone["level"] == "note"


def test_a_history_that_cannot_be_read_makes_the_run_unsuccessful() -> None:
    [invocation] = run_of(Unreadable(path="a b.txt", error="a b.txt: no"))["invocations"]
    assert invocation["executionSuccessful"] is False
    [note] = invocation["toolExecutionNotifications"]
    assert (note["level"], note["message"]["text"]) == ("error", "a b.txt: no")
    assert note["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b.txt"


@pytest.mark.parametrize("name", ["a b|c.txt", "ünï.txt", "x:1.txt", "%41.txt", "[x](y).txt"])
def test_any_name_of_a_file_is_a_location(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / name).write_text("w(1,1,1,-1)\nr(1,1,2,2)\n")
    monkeypatch.chdir(tmp_path)
    [result] = run_of(check(isoscope.load(name)))["results"]
    physical = result["locations"][0]["physicalLocation"]
    assert unquote(physical["artifactLocation"]["uri"]) == name
    assert physical["region"] == {"startLine": 2}


def test_a_row_of_parquet_is_no_line_and_a_whole_path_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    isoscope.save(record([("write", "x", 1), ("abort",)], [("read", "x", 1)]), path)
    [result] = run_of(check(isoscope.load(path)))["results"]
    assert result["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": path.as_uri()}}}]


def test_a_place_in_a_file_that_is_no_text_is_a_byte(tmp_path: Path) -> None:
    path = tmp_path / "history.bincode"
    path.write_bytes(bincode([([(1, 1, 5, 1)], 0)], [([(0, 1, 5, 1)], 1)]))
    [result] = run_of(check(isoscope.load(path)))["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert f"history.bincode: byte {region['byteOffset']})" in result["message"]["text"]
    assert region["byteLength"] == 0


@pytest.mark.parametrize(
    ("key", "shown"), [("[a](b)", r"\[a\](b)"), ("{0}", "{{0}}"), ("{a}", "{a}"), ("[a]", "[a]")]
)
def test_a_key_is_never_a_link_or_a_gap_to_be_filled(key: str, shown: str) -> None:
    history = record([("write", key, 1), ("abort",)], [("read", key, 1)])
    [result] = run_of(check(history))["results"]
    assert f'"{shown}"' in result["message"]["text"]


@given(key=st.text(), value=st.text())
def test_any_key_and_value_can_be_written(key: str, value: str) -> None:
    history = record([("write", key, value), ("abort",)], [("read", key, value)])
    [result] = run_of(check(history, ["pl-2"]))["results"]
    assert result["ruleId"] == "aborted-read"


def test_the_same_results_give_the_same_bytes(skewed: isoscope.History) -> None:
    assert render_sarif([check(skewed)]) == render_sarif([check(skewed)])


def test_a_long_value_is_cut_in_the_middle() -> None:
    history = record([("write", "x", "a" * 10_000), ("abort",)], [("read", "x", "a" * 10_000)])
    run = run_of(check(history, ["pl-2"]))
    assert len(json.dumps(run["results"])) < 5_000
