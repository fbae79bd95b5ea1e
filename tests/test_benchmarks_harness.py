"""The harness: suites run at both sizes, results are stored, and the page is made of them alone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks import __main__ as harness
from benchmarks import record
from benchmarks.plot import Panel
from benchmarks.published import PUBLISHED
from benchmarks.suite import Measurement, Plot, Suite, combined, summarised
from benchmarks.suites import SUITES
from docs import benchmarks_page

from isoscope.errors import IsoscopeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.suite import Measured

PANEL = Panel(title="s", across="n", labels=["1", "2"], series={"ours": [1.0, 2.0]}, at=(1.0, 2.0))
MACHINE = record.Machine(cores=2, architecture="x86_64", python="3.11.7", rust="rustc 1", load=0.5)


def numbers(count: int) -> Iterator[Measured]:
    return summarised(
        range(1, count + 1),
        lambda number: Measurement(f"number {number}", {"twice": f"{2 * number} s"}),
        lambda points: [Plot(name="numbers", title=f"{len(points)} numbers", panels=[PANEL])],
    )


NUMBERS = Suite(title="Numbers", how="Counted.", full=lambda: numbers(3), quick=lambda: numbers(1))


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of results, and a table with one suite."""
    monkeypatch.setattr(harness, "SUITES", {"numbers": NUMBERS})
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    return tmp_path


def test_a_suite_runs_at_a_small_size_and_records_nothing(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    harness.main([])
    assert "number 1" in (printed := capsys.readouterr().out)
    assert "number 2" not in printed
    assert not [*results.iterdir()]


def test_a_recorded_suite_ran_at_full_size(results: Path) -> None:
    harness.main(["numbers", "--record"])
    stored = record.load("numbers", results)
    assert [one.name for one in stored.measurements] == ["number 1", "number 2", "number 3"]
    assert stored.figures("number 2") == {"twice": "4 s"}
    assert [plot.title for plot in stored.plots] == ["3 numbers"]
    assert stored.machine is not None
    assert stored.machine.cores > 0


def test_a_suite_that_ends_early_keeps_what_it_measured(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ended() -> Iterator[Measured]:
        yield Measurement("first", {"time": "1 s"})
        raise IsoscopeError("there is no server")

    suite = Suite(title="Ended", how="", full=ended)
    monkeypatch.setattr(harness, "SUITES", {"ended": suite})
    harness.main(["--record"])
    assert "skipped: there is no server" in capsys.readouterr().out
    assert [one.name for one in record.load("ended", results).measurements] == ["first"]


def test_a_suite_without_a_small_size_is_left_out(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(harness, "SUITES", {"long": Suite(title="Long", how="", full=lambda: numbers(1))})
    harness.main([])
    assert capsys.readouterr().out == "# long: only with --full\n"


def test_a_suite_that_does_not_exist_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        harness.main(["wek"])
    assert "no suite is called `wek`: startup, " in capsys.readouterr().err


def test_a_result_is_the_same_when_it_is_read_and_written_again(tmp_path: Path) -> None:
    result = record.Result.of([*numbers(2)], commit="1234567", machine=MACHINE)
    record.save("numbers", result, tmp_path)
    first = (tmp_path / "numbers.json").read_bytes()
    record.save("numbers", record.load("numbers", tmp_path), tmp_path)
    assert (tmp_path / "numbers.json").read_bytes() == first
    assert [plot.svg() for plot in record.load("numbers", tmp_path).plots] == [p.svg() for p in result.plots]


@pytest.mark.parametrize("path", sorted(record.RESULTS.iterdir()), ids=lambda path: path.stem)
def test_every_stored_result_is_of_a_suite_and_names_its_commit(path: Path) -> None:
    assert path.stem in SUITES
    told = json.loads(path.read_text(encoding="utf-8"))
    assert told["commit"]
    assert all(isinstance(figure, str) for one in told["measurements"] for figure in one["figures"].values())


def test_every_publication_names_suites_that_exist_or_says_why_there_is_none() -> None:
    for one in PUBLISHED:
        assert set(one.suites) <= SUITES.keys()
        assert one.suites or one.note


def test_parts_of_a_suite_have_tables_of_their_own_at_both_sizes() -> None:
    suite = combined("All", "How.", [NUMBERS, Suite(title="Long", how="Waited.", full=lambda: numbers(1))])
    assert [one.group for one in suite.full()] == ["Numbers"] * 4 + ["Long"] * 2
    assert suite.quick is not None
    assert [one.group for one in suite.quick()] == ["Numbers"] * 2
    assert suite.groups == {"Numbers": "Counted.", "Long": "Waited."}


def test_the_page_has_the_figures_of_the_results_and_the_texts_of_the_suites(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record.save("numbers", record.Result.of([*numbers(2)], commit="1234567", machine=MACHINE), results)
    monkeypatch.setattr(benchmarks_page, "SUITES", {"numbers": NUMBERS})
    monkeypatch.setattr(benchmarks_page, "PUBLISHED", ())
    monkeypatch.setattr(benchmarks_page, "result", lambda suite: record.load(suite, results))
    page = benchmarks_page.benchmarks()
    assert "## Numbers\n\nCounted.\n\n- suite: `numbers`\n- commit: 1234567\n" in page
    assert "- machine: 2 cores, x86_64, Python 3.11.7, load 0.5\n" in page
    assert "![2 numbers](benchmarks/numbers.svg)" in page
    assert page.endswith("|  | twice |\n| --- | --- |\n| number 1 | 2 s |\n| number 2 | 4 s |\n")
    assert [path.name for path in benchmarks_page.pictures()] == ["numbers.svg"]


def test_a_table_has_a_column_for_each_figure_that_some_measurement_has() -> None:
    lines = benchmarks_page.table([Measurement("a", {"x": "1"}), Measurement("b", {"y": "2"})]).splitlines()
    assert lines == ["|  | x | y |", "| --- | --- | --- |", "| a | 1 |  |", "| b |  | 2 |"]


def test_a_series_has_the_same_colour_in_every_panel() -> None:
    other = Panel(title="s", across="n", labels=["1"], series={"theirs": [3.0]})
    picture = Plot(name="n", title="t", panels=[PANEL, other]).svg()
    assert picture.count("#0072b2") == 1 + 1 + 2  # the legend, a line, and two points
    assert picture.count('stroke="#d55e00"') == 1 + 1 + 1


ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
QUOTE = re.compile(r"\[([^\]]*)\]\([^)#]*benchmarks\.md#([\w-]+)\)")
NUMBER = re.compile(r"\d[\d,.]*\d|\d")


def unrecorded(text: str) -> list[str]:
    """The numbers in links to a suite that are none of its figures."""
    suites = {benchmarks_page.anchor(name): name for name in SUITES}
    return [
        number
        for quoted, anchor in QUOTE.findall(text)
        if NUMBER.search(quoted)
        for number in set(NUMBER.findall(quoted)) - recorded(suites[anchor])
    ]


def recorded(suite: str) -> set[str]:
    """Every number in the names and figures of a result."""
    measurements = record.load(suite).measurements
    return {
        number
        for one in measurements
        for text in (one.name, *one.figures.values())
        for number in NUMBER.findall(text)
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_figures_that_a_page_quotes_are_recorded(page: Path) -> None:
    if page != benchmarks_page.PAGE:
        assert unrecorded(page.read_text(encoding="utf-8")) == []


def test_a_figure_that_was_not_recorded_is_found() -> None:
    anchor = benchmarks_page.anchor("startup")
    figure = record.load("startup").figures("start import isoscope")["best"]
    assert unrecorded(f"[{figure}](reference/benchmarks.md#{anchor})") == []
    assert unrecorded(f"[took 98.76 s](reference/benchmarks.md#{anchor})") == ["98.76"]
