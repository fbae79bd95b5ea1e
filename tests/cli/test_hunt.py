"""`isoscope hunt`: findings of different shapes, a page with a table, and a campaign that goes on."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from isoscope import checkers, formats
from isoscope.cli.hunt import command
from isoscope.errors import DatabaseError, UsageError
from isoscope.run import execute
from isoscope.run.campaign import Combination, combinations
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

    from isoscope.run import CompletedRun, Plan

LOSSY = "simulated,bug=lost-update,bug_rate=1,latency=200"


def hunt(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, standalone_mode=False, catch_exceptions=False)


@pytest.mark.slow
def test_a_broken_promise_is_found_shrunk_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The history is longer: the search starts around the anomaly.
    monkeypatch.setattr("isoscope.run.campaign._SHRUNK_BELOW", 100)
    arguments = (
        "--isolation",
        "snapshot-isolation",
        "--seconds",
        "700ms",
        "--keys",
        "3",
        "--out",
        str(tmp_path),
    )
    done = hunt(LOSSY, *arguments)
    assert done.return_value == 1
    assert f"No. {LOSSY} at snapshot-isolation broke its promise (1 run, " in done.output
    findings = [json.loads(line) for line in (tmp_path / "findings.jsonl").read_text().splitlines()]
    lost = next(one for one in findings if one["anomaly"] == "lost-update")
    assert lost["is_broken"]
    assert lost["transactions"] <= 4
    shrunk = formats.load(tmp_path / lost["history"])
    assert len(shrunk) == lost["transactions"]
    assert checkers.check(shrunk, [lost["level"]]).verdicts[0].outcome is Outcome.VIOLATED
    page = (tmp_path / "index.html").read_text()
    assert f'href="{lost["report"]}"' in page
    assert "<strong>broken</strong>" in page
    assert (tmp_path / lost["report"]).exists()
    assert list(tmp_path.glob("simulated-*.parquet")), "the whole history of a broken promise is kept"
    shapes = [(one["level"], one["anomaly"], one["pattern"]) for one in findings]
    assert len(shapes) == len(set(shapes)), "one finding for each shape"


def test_a_campaign_goes_on_where_it_was(tmp_path: Path) -> None:
    same = ("simulated", "--isolation", "serializable", "--seconds", "100ms", "--out", str(tmp_path))
    assert hunt(*same).return_value == 0
    first = (tmp_path / "runs.jsonl").read_text()
    assert hunt(*same).return_value == 0
    assert (tmp_path / "runs.jsonl").read_text() == first, "nothing is left to run"
    (tmp_path / "runs.jsonl").write_text(first[:-20])  # cut off while it was written
    answer = "Yes. Every promise was kept (1 run, 0 findings)."
    assert answer in hunt(*same, "--seeds", "1").output.splitlines()
    assert hunt(*same, "--seeds", "2").return_value == 0
    seeds = [json.loads(line)["seed"] for line in (tmp_path / "runs.jsonl").read_text().splitlines()[1:]]
    assert seeds[-1] == 1


def test_a_budget_that_is_spent_leaves_the_answer_open_for_the_rest(tmp_path: Path) -> None:
    arguments = ("--isolation", "serializable", "--seconds", "100ms", "--budget", "10ms", "--seeds", "3")
    done = hunt("simulated", *arguments, "--out", str(tmp_path))
    assert done.return_value == 0
    assert "Yes. Every promise was kept so far (1 run, 2 left, 0 findings)." in done.output.splitlines()
    assert "the budget is spent: the same command goes on" in done.output.splitlines()


def test_a_database_that_cannot_run_is_a_row_with_a_problem(tmp_path: Path) -> None:
    arguments = ("--isolation", "serializable", "--seconds", "1s", "--out", str(tmp_path))
    done = hunt("sqlite:/nowhere/x.db", *arguments)
    assert done.return_value == 3
    said = "Not decided: sqlite:/nowhere/x.db at serializable did not run (1 run, 0 findings).\n"
    assert done.output.splitlines(keepends=True)[1] == said
    assert "nowhere" in (tmp_path / "index.html").read_text()


def test_ctrl_c_ends_the_campaign_and_the_run_that_it_cut_off_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(plan: Plan) -> CompletedRun:
        completed = execute(plan)
        return replace(completed, run=replace(completed.run, interrupted=True))

    same = ("simulated", "--isolation", "serializable", "--seconds", "100ms", "--out", str(tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr("isoscope.run.campaign.execute", interrupted)
        done = hunt(*same, "--seeds", "2")
    assert done.return_value == 3
    assert "interrupted: the same command goes on" in done.output
    assert "Not decided: nothing was run (0 runs, 2 left, 0 findings)." in done.output.splitlines()
    assert "run 2 of 2" not in done.output
    again = hunt(*same, "--seeds", "2").output.splitlines()
    assert "Yes. Every promise was kept (2 runs, 0 findings)." in again


def test_the_grid_is_complete_and_mistakes_are_refused_before_anything_runs() -> None:
    grid = combinations(["simulated", "sqlite"], faults=["", "clock"], seeds=2)
    assert len(grid) == 2 * 2 * (4 + 2)
    assert grid[0] == Combination(
        database="simulated", isolation="serializable", workload="key-value", faults="", seed=0
    )
    with pytest.raises(UsageError, match="expected a name with settings"):
        combinations(["simulated,latency"])
    with pytest.raises(UsageError, match="unknown database `squlite`; did you mean `sqlite`"):
        combinations(["squlite"])
    with pytest.raises(UsageError, match="no database of the campaign has an isolation chaos"):
        combinations(["sqlite"], isolations=["chaos"])
    with pytest.raises(UsageError, match="unknown fault for simulated `clok`; did you mean `clock`"):
        combinations(["simulated", "sqlite"], faults=["", "clok"])
    with pytest.raises(UsageError, match="expected kinds, as `kill,pause`, or a schedule"):
        combinations(["simulated"], faults=["clock@"])
    assert len(combinations(["simulated", "sqlite"], faults=["clock"])) == 4 + 2, "one of them has clocks"


@pytest.mark.slow
def test_a_finding_of_a_database_at_a_url_is_a_file_of_the_folder(tmp_path: Path) -> None:
    arguments = ("--isolation", "read-uncommitted", "--keys", "3", "--sessions", "6", "--seconds", "1s")
    hunt(f"sqlite:{tmp_path / 'x.db'}", *arguments, "--out", str(tmp_path / "o"))
    assert [*(tmp_path / "o").glob("001-sqlite-*.parquet")]


@pytest.mark.parametrize("nodes", ["0", "10", "three", ""])
def test_the_number_of_nodes_is_one_that_can_be_started(nodes: str) -> None:
    with pytest.raises(UsageError, match=f"`nodes` is a number from 1 to 9, not `{nodes}`"):
        combinations([f"simulated,nodes={nodes}"])


def test_a_setting_is_given_once() -> None:
    with pytest.raises(UsageError, match="simulated,nodes=2,nodes=3: `nodes` is there twice"):
        combinations(["simulated,nodes=2,nodes=3"])


def test_a_password_is_neither_printed_nor_written(tmp_path: Path) -> None:
    url = "postgresql://tester:s3/c:r@et@127.0.0.1:1/name,synchronous_commit=off"
    [one] = combinations([url], isolations=["serializable"])
    assert one.database == "postgresql://tester@127.0.0.1:1/name,synchronous_commit=off"
    assert one.target == url
    assert "s3" not in repr(one)
    url = "etcd://tester:s3cret@127.0.0.1:1"
    with pytest.raises(UsageError, match="the URL of etcd makes no sense: etcd://tester@127") as refused:
        combinations([url])
    assert "s3cret" not in str(refused.value)
    url = "mariadb://tester:s3cret@127.0.0.1:1"
    done = hunt(url, "--isolation", "serializable", "--out", str(tmp_path))
    assert done.return_value == 3
    written = [path.read_text() for path in tmp_path.iterdir()]
    assert all("s3cret" not in text for text in [done.output, *written, *map(str, tmp_path.iterdir())])
    assert "mariadb://tester@127.0.0.1:1" in done.output


def test_a_run_that_could_not_begin_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(plan: Plan) -> CompletedRun:
        raise DatabaseError("simulated is not there")

    same = ("simulated", "--isolation", "serializable", "--seconds", "100ms", "--out", str(tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr("isoscope.run.campaign.execute", missing)
        assert hunt(*same).return_value == 3
    assert "Yes. Every promise was kept (1 run, 0 findings)." in hunt(*same).output.splitlines()
