"""`isoscope.check` and its report: from a path, a history, transactions or a table, with plain names."""

from __future__ import annotations

import inspect
import json
import pydoc
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import isoscope
from isoscope.reports import render_text
from isoscope.run import run_database

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BROKEN = "w(1,1,1,1)\nr(1,1,2,2)\nr(1,0,2,2)\n"
ROWS: dict[str, list[Any]] = {
    "transaction": [1, 2, 2],
    "session": [1, 2, 2],
    "kind": ["write", "read", "read"],
    "key": ["x", "x", "x"],
    "value": [1, 1, 0],
}
ZERO = isoscope.Initial(value=0)


class Capsule:
    """A table of a library that Isoscope does not know."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "run.txt"
    file.write_text(BROKEN)
    return file


@pytest.fixture
def report(path: Path) -> isoscope.Report:
    return isoscope.check(path, ["cut-isolation", "read-committed", "pl-1"])


@pytest.mark.parametrize(
    "given",
    [
        str,
        lambda path: path,
        isoscope.load,
        lambda path: [*isoscope.load(path)],
        lambda path: iter(isoscope.load(path)),
        lambda path: isoscope.load(path).to_arrow(),
        lambda path: isoscope.load(path).to_arrow().to_batches()[0],
        lambda path: isoscope.load(path).to_arrow().to_reader(),
        lambda path: Capsule(isoscope.load(path).to_arrow()),
        lambda path: pa.table(ROWS),
    ],
    ids=["name", "path", "history", "list", "iterator", "table", "batch", "reader", "capsule", "texts"],
)
def test_whatever_holds_the_history_is_checked(given: Callable[[Path], Any], path: Path) -> None:
    report = isoscope.check(given(path), "cut-isolation")
    assert [verdict.level for verdict in report] == ["cut-isolation"]
    assert not report.holds("cut-isolation")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_data_frame_is_checked(library: str, path: Path) -> None:
    frames = pytest.importorskip(library)
    assert not isoscope.check(frames.DataFrame(ROWS), "ci").holds("ci")
    with_gap = {**ROWS, "value": [1, 1, None]}
    assert isoscope.check(frames.DataFrame(with_gap), "ci").holds("ci")


def test_a_history_survives_pandas(path: Path) -> None:
    pytest.importorskip("pandas")
    history = isoscope.load(path)
    assert isoscope.check(history.to_pandas(), "ci")["ci"].anomaly_counts == {"non-repeatable-read": 1}


def test_pandas_that_is_missing_is_one_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(isoscope.UsageError, match="pandas is not installed"):
        isoscope.load(path).to_pandas()


@pytest.mark.parametrize("elements", [[1, 2, 3], ["a", "b", "c"], [2**70, 1, 2]])
def test_a_table_has_every_list_in_full_and_reads_back(elements: list[Any]) -> None:
    recorder = isoscope.Recorder()
    for number, element in enumerate(elements, start=1):
        with recorder.transaction(session=number % 2) as t:
            t.append("x", element)
            t.read("x", elements[:number])
            t.read("y", None)
            t.read("z", isoscope.UNKNOWN)
    with recorder.transaction(session=7):
        pass
    table = recorder.history().to_arrow()
    assert "value_length" not in table.column_names
    again = isoscope.check(table, "pl-2")
    assert again.holds("pl-2")
    assert again.history["operations"] == 12


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"kind": ["read"], "key": [1]}, "no column `transaction`: it has kind, key"),
        ({**ROWS, "kind": ["write", "read", "look"]}, "look"),
        ({**ROWS, "invoke": ["a", "b", "c"]}, "the table cannot be read"),
    ],
)
def test_a_table_that_is_no_history_is_one_clear_error(table: dict[str, list[Any]], message: str) -> None:
    with pytest.raises(isoscope.UsageError, match=message):
        isoscope.check(pa.table(table), "ci")


def test_the_initial_values_of_a_table_can_be_given() -> None:
    rows = {"transaction": [1], "kind": ["read"], "key": ["x"], "value": [5]}
    assert isoscope.check(pa.table(rows), "pl-2").holds("pl-2")
    assert not isoscope.check(pa.table(rows), "pl-2", initial=ZERO).holds("pl-2")


@pytest.mark.parametrize("source", [7, [1, 2], {"a": 1}, None, [object()]])
def test_anything_else_is_refused_by_its_type(source: Any) -> None:
    with pytest.raises(TypeError, match="expected a path, a History, a list of Transactions, or a table"):
        isoscope.check(source)


def test_settings_of_files_are_refused_for_a_history(path: Path) -> None:
    history = isoscope.load(path)
    with pytest.raises(isoscope.UsageError, match="`format` is for files"):
        isoscope.check(history, format="plume")
    with pytest.raises(isoscope.UsageError, match="has its initial values already"):
        isoscope.check(history, initial=ZERO)


def test_a_single_name_is_a_single_level(path: Path) -> None:
    assert [verdict.level for verdict in isoscope.check(path, "ci")] == ["cut-isolation"]
    assert isoscope.search(path, "TAP-j").sightings[0].count == 1
    with pytest.raises(ValueError, match="unknown level"):
        isoscope.check(path, "nonsense")


def test_a_profile_is_named(path: Path) -> None:
    report = isoscope.check(path, profile="postgresql/serializable")
    assert report.mechanisms is not None


def test_a_report_is_asked_by_level(report: isoscope.Report) -> None:
    assert report["ci"].outcome is isoscope.Outcome.VIOLATED
    assert report[isoscope.Level.PL_1].outcome is isoscope.Outcome.HOLDS
    assert ("ci" in report, "causal" in report) == (True, False)
    assert report.holds("pl-1")
    assert not report.holds("causal"), "read-committed is violated, and causal implies it"
    with pytest.raises(KeyError, match="pl-2 was not asked for"):
        report["pl-2"]
    with pytest.raises(KeyError, match="cursor-stability was not asked for"):
        report.holds("cursor-stability")


def test_an_unknown_level_is_not_held(path: Path) -> None:
    path.write_text("w(1,1,1,1)\n")
    report = isoscope.check(path, "clock-snapshot-isolation")
    assert report["clock-snapshot-isolation"].outcome is isoscope.Outcome.UNKNOWN
    assert not report.holds("clock-snapshot-isolation")


def test_a_report_has_no_truth_value(report: isoscope.Report) -> None:
    with pytest.raises(TypeError, match=r"ask `report\.holds"):
        bool(report)


def test_a_report_shows_itself(report: isoscope.Report, path: Path, tmp_path: Path) -> None:
    assert str(report) == render_text(report).rstrip("\n")
    assert repr(report).startswith(f"<Report No. {path} broke cut isolation and read committed: ")
    assert json.loads(report.to_json())["verdicts"][0]["level"] == "cut-isolation"
    page = report._repr_html_()
    assert "<svg" in page
    assert "<script" not in page
    assert "violated</b>: read-committed, cut-isolation" in page
    report.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")


def test_a_notebook_escapes_what_a_history_holds(tmp_path: Path) -> None:
    recorder = isoscope.Recorder(initial=0)
    with recorder.transaction(session="<b>") as t:
        t.read("<script>", "<img>")
    page = isoscope.check(recorder.history(), "pl-2")._repr_html_()
    assert "<script>" not in page
    assert "<img>" not in page


def test_a_search_shows_itself(path: Path) -> None:
    found = isoscope.search(path, ["TAP-j", "tap-k"])
    assert repr(found) == f"<Search {path}: found non-repeatable-read; absent fractured-read-co>"
    assert "found" in str(found)
    assert "<svg" in found._repr_html_()


def test_an_unasked_report_has_one_line(path: Path) -> None:
    assert repr(isoscope.check(path, [])) == "<Report No level is decided.>"


@pytest.mark.parametrize(
    "function", [isoscope.check, isoscope.search, isoscope.shrink, isoscope.watch, run_database]
)
def test_help_says_what_each_argument_is(function: Callable[..., Any]) -> None:
    shown = pydoc.plain(pydoc.render_doc(function))
    described = {"history", "source"}
    if function is isoscope.search:  # the others are those of `check`
        described |= {*inspect.signature(isoscope.check).parameters}
    for name in inspect.signature(function).parameters.keys() - described:
        assert f"\n    {name} " in shown, name


def test_the_room_of_runs_is_a_function_too() -> None:
    assert callable(isoscope.run)
    assert [*inspect.signature(isoscope.run).parameters] == ["target", "levels", "options"]
    assert "isoscope.run(" in pydoc.plain(pydoc.render_doc(isoscope.run))
    result = isoscope.run("simulated", transactions=50, sessions=2)
    assert str(result.answer.outcome) == "yes"
    assert repr(result).startswith("<DatabaseRun Yes. ")
    assert str(result).startswith("Yes. ")
    with pytest.raises(TypeError, match=r"compare `\.answer\.outcome`"):
        bool(result)


def test_a_run_is_verified_live_and_its_history_kept(tmp_path: Path) -> None:
    result = isoscope.run(
        "simulated",
        "serializable",
        isolation="serializable",
        transactions=200,
        live=True,
        profile="postgresql/serializable",
        out=tmp_path / "run.parquet",
    )
    assert result.report.mechanisms is not None
    assert [verdict.level for verdict in result.report] == ["serializable"]
    assert result.progress.committed <= 200
    assert isoscope.load(tmp_path / "run.parquet") == result.history


def test_a_history_shrinks_to_a_level(path: Path) -> None:
    history = isoscope.load(path)
    small = isoscope.shrink(history, "ci")
    assert not isoscope.check(small, "ci").holds("ci")
    assert len(isoscope.shrink(history)) == 2
    assert isoscope.shrink(history, lambda part: len(part) > 0).counts["operations"] == 0
    with pytest.raises(ValueError, match="nothing to shrink: pl-1 holds"):
        isoscope.shrink(history, "pl-1")
