"""`isoscope compare` and `isoscope stats --activity`: two runs side by side, and one over time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs that differ in one thing: in `bad.txt` a transaction read an aborted write."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.txt").write_text("w(1,1,1,1)\nr(1,1,2,2)\n")
    (tmp_path / "bad.txt").write_text("w(1,1,1,-1)\nr(1,1,2,2)\n")


def test_a_name_is_on_one_line_whatever_it_holds(tmp_path: Path) -> None:
    (tmp_path / "two\nlines.txt").write_text("w(1,1,1,1)\n")
    assert "\n\nA: good.txt\nB: two\\nlines.txt\n\n" in run("compare", "good.txt", "two\nlines.txt").out


def test_a_level_that_only_b_breaks_is_printed_and_is_the_status() -> None:
    done = run("compare", "good.txt", "bad.txt", "--level", "read-committed", "--level", "pl-1")
    assert (done.status, done.err) == (1, "")
    assert done.out == (
        "B breaks read-committed; A does not.\n"
        "A and B agree on 1 of 2 levels.\n"
        "\n"
        "A: good.txt\n"
        "B: bad.txt\n"
        "\n"
        "level           A      B\n"
        "read-committed  holds  violated\n"
        "\n"
        "anomaly       A  B\n"
        "aborted-read  0  1\n"
        "\n"
        "               A         B\n"
        "sessions       2         2\n"
        "transactions   2         2\n"
        "operations     2         2\n"
        "keys           1         1\n"
        "evidence       values    values\n"
        "abort rate     0 %       50 %\n"
        "indeterminate  0 %       0 %\n"
        "busiest key    1: 100 %  1: 100 %\n"
        "\n"
        "in neither run: latency p50; latency p95; latency p99; latency max; committed a second; under way,\n"
        "mean; under way, peak\n"
    )


def test_a_level_that_only_a_breaks_is_no_regression() -> None:
    done = run("compare", "bad.txt", "good.txt")
    assert done.status == 0
    assert "A breaks pl-2" in done.out
    assert "B does not." in done.out.replace("\n", " ")


@pytest.mark.parametrize(("levels", "status"), [((), 1), (("pl-1",), 0), (("pl-1", "causal"), 1)])
def test_without_a_named_level_the_minimum_decides(levels: tuple[str, ...], status: int) -> None:
    named = [argument for level in levels for argument in ("--level", level)]
    assert run("compare", "good.txt", "bad.txt", *named).status == status


def test_a_run_agrees_with_itself() -> None:
    done = run("compare", "bad.txt", "bad.txt")
    assert done.status == 0
    assert "A and B agree on every level.\n" in done.out


def test_a_comparison_as_json_has_both_answers_and_both_activities() -> None:
    done = run("compare", "good.txt", "bad.txt", "--level", "pl-2", "--json")
    found = json.loads(done.out)["comparison"]
    assert done.status == 1
    assert found["regressions"] == ["pl-2"]
    assert found["levels"] == [{"level": "pl-2", "a": "holds", "b": "violated"}]
    assert found["anomalies"] == [{"name": "aborted-read", "a": 0, "b": 1}]
    assert [found[side]["activity"]["abort_rate"] for side in "ab"] == [0.0, 0.5]
    assert done.out == run("compare", "good.txt", "bad.txt", "--level", "pl-2", "--json").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["good.txt", "nowhere.txt"], "cannot read nowhere.txt"),
        (["good.txt", "bad.txt", "--level", "best"], "unknown level"),
        (["good.txt"], "Missing argument 'B'"),
    ],
)
def test_runs_that_cannot_be_compared_are_one_message(arguments: list[str], message: str) -> None:
    done = run("compare", *arguments)
    assert (done.status, done.out) == (2, "")
    assert message in done.err


def test_a_narrow_terminal_has_narrow_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    run("generate", "a.parquet", "--lists", "--intervals", "--timestamps", "--transactions", 50)
    assert max(map(len, run("compare", "a.parquet", "a.parquet").out.splitlines())) <= 60


def test_stats_say_what_went_on_and_draw_it(tmp_path: Path) -> None:
    done = run("stats", "bad.txt", "--activity", "--plot", "bad.svg")
    assert done.status == 0
    assert "time             2 transactions by order of appearance\n" in done.out
    assert "latency          needs intervals on the client's clock; this history has no times\n" in done.out
    assert "did not commit   aborted 50 %, indeterminate 0 %\n" in done.out
    assert "busiest keys     1 (1 writer, 1 reader)\n" in done.out
    assert (tmp_path / "bad.svg").read_text().startswith("<svg ")
    assert "latency" not in run("stats", "bad.txt", "--plot", "bad.svg").out


def test_the_order_of_events_tells_who_was_under_way_and_no_latency(tmp_path: Path) -> None:
    events = [("invoke", 0), ("invoke", 1), ("ok", 0), ("info", 1)]
    lines = (
        f"{{:type :{kind}, :process {process}, :value [[:append :x {process}]]}}" for kind, process in events
    )
    (tmp_path / "h.edn").write_text("\n".join(lines))
    out = run("stats", "h.edn", "--activity").out
    assert "time             4 events by the order of invocations and completions\n" in out
    assert "under way        mean 1.5, peak 2\n" in out
    assert "did not commit   aborted 0 %, indeterminate 50 %\n" in out


def test_stats_have_every_number_that_the_charts_show_as_json() -> None:
    run("generate", "g.parquet", "--intervals", "--transactions", 400, "--abort-ratio", 0.2)
    found = json.loads(run("stats", "g.parquet", "--activity", "--json").out)["activity"]
    assert (found["clock"], found["unit"], found["missing"]) == ("client", "nanoseconds", {})
    assert sum(bucket["committed"] + bucket["aborted"] for bucket in found["buckets"]) == 400
    assert set(found["buckets"][0]["latency"]) == set(found["latency"]) == {"p50", "p95", "p99", "max"}
    assert found["keys_by_use"][0] == {"from": 1, "to": 1, "keys": found["keys_by_use"][0]["keys"]}
    assert len(found["keys"]) == 10


def test_a_plot_that_is_no_svg_or_cannot_be_written_is_one_message(tmp_path: Path) -> None:
    done = run("stats", "good.txt", "--plot", "out.png")
    assert (done.status, done.err.splitlines()[0]) == (2, "error: --plot out.png: the charts are SVG")
    done = run("stats", "good.txt", "--plot", "no/such/out.svg")
    assert (done.status, done.err) == (2, "error: cannot write no/such/out.svg: No such file or directory\n")
