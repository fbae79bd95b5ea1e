"""The public API of runs: the answers of the command line, from Python."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from isoscope.errors import UsageError
from isoscope.levels import Level
from isoscope.run import Limits, Plan, VerifiedSummary, execute, run_hermitage, verify_live
from isoscope.verdict import Decision, Outcome
from tests.cli.running import run as command

if TYPE_CHECKING:
    from pathlib import Path

SMALL = Limits(transactions=200)
BUG = {"bug": "dirty-read", "bug_rate": "1"}


def plan(target: str = "simulated", **given: Any) -> Plan:
    return Plan.of(target, parameters={"sessions": 3, "keys": 5}, limits=SMALL, **given)


def test_a_completed_run_checks_itself_and_says_whether_the_promise_was_kept() -> None:
    completed = execute(plan(isolation="snapshot-isolation"))
    answer = completed.check().answer
    assert answer.outcome is Decision.YES
    assert (answer.levels, answer.is_promise) == (completed.promises, True)
    assert (answer.broken, answer.unknown) == ((), ())


def test_a_broken_promise_names_its_levels() -> None:
    completed = execute(plan(isolation="snapshot-isolation", settings=BUG))
    answer = completed.check().answer
    assert answer.outcome is Decision.NO
    assert set(answer.broken) <= set(completed.promises)
    assert Level.PL_2 in answer.weakest


def test_a_level_that_was_asked_replaces_the_promise() -> None:
    completed = execute(plan(isolation="serializable"))
    answer = completed.check(levels=(Level.PL_1,)).answer
    assert (answer.outcome, answer.levels, answer.is_promise) == (Decision.YES, (Level.PL_1,), False)


def test_python_and_the_command_line_give_the_same_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--sessions", 3, "--keys", 5, "--transactions", 200, "--isolation", "serializable", "--json"]
    printed = json.loads(command("run", "simulated", *options).out)["run"]
    completed = execute(plan(isolation="serializable"))
    document = completed.document()
    assert document.keys() == printed.keys()
    same = document.keys() - {"seconds", "committed", "aborted", "operations", "reasons"}
    assert {name: document[name] for name in same} == {name: printed[name] for name in same}


def test_without_a_limit_a_run_takes_ten_seconds() -> None:
    assert Plan.of("simulated").limits.seconds == 10
    assert Plan.of("simulated", limits=SMALL).limits.seconds is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"isolation": "serail"}, "unknown isolation of simulated `serail`"),
        ({"settings": {"bugs": "x"}}, "unknown setting of simulated `bugs`"),
        ({"workload": "list-apend"}, "did you mean `list-append`"),
    ],
)
def test_an_unknown_name_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan(**given)


@pytest.mark.parametrize(
    ("target", "given"),
    [
        ("postgresql", {"nodes": 2}),
        ("postgresql://one", {"urls": ["postgresql://other"]}),
        ("galera", {}),
        ("galera://one", {"urls": ["galera://other"]}),
        ("etcd", {"settings": {"reads": "local"}}),
    ],
)
def test_a_replica_that_shows_the_past_is_not_judged_by_the_clock_unless_a_profile_is_named(
    target: str, given: dict[str, Any]
) -> None:
    asked = plan(target, **given)
    with pytest.raises(UsageError, match="may show the past\\n\\nhint: leave out --live"):
        verify_live(asked)
    with closing(verify_live(asked, profile="postgresql/read-committed")) as verification:
        assert verification.summary() is None


@pytest.mark.parametrize("target", ["postgresql", "postgresql://one", "galera://one", "etcd"])
def test_a_node_that_shows_no_past_is_judged_by_the_clock(target: str) -> None:
    with closing(verify_live(plan(target))) as verification:
        assert verification.summary() is None


def test_a_run_is_verified_live_with_the_profile_of_its_database() -> None:
    asked = plan("sqlite")
    completed = execute(asked, verification=verify_live(asked))
    assert isinstance(completed.verification, VerifiedSummary)
    assert completed.verification.profile == "sqlite/serializable"
    report = completed.check()
    assert report.mechanisms is not None
    assert Outcome.VIOLATED not in {verdict.outcome for verdict in report.mechanisms.verdicts}
    offline = completed.mechanisms
    assert offline is not None
    assert offline.history["transactions"] == len(completed.history)


def test_a_database_without_a_profile_cannot_be_verified_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isoscope.profiles.of", lambda *_: None)
    with pytest.raises(UsageError, match="no profile says what simulated promises at serializable"):
        verify_live(plan(isolation="serializable"))


def test_a_run_without_recording_has_no_history() -> None:
    completed = execute(plan(), record=False)
    assert completed.run.history is None
    with pytest.raises(ValueError, match="the run was not recorded"):
        completed.check()


def test_a_sink_needs_recorded_transactions() -> None:
    asked = plan("sqlite")
    with pytest.raises(ValueError, match="a sink and `until_violated` need recorded transactions"):
        execute(asked, record=False, verification=verify_live(asked))


def test_hermitage_compares_an_isolation_with_what_is_known() -> None:
    seen: list[str] = []
    [result] = run_hermitage(
        "simulated",
        isolation="read-committed",
        progress=lambda _, script: seen.append("opening" if script is None else script.script.name),
    )
    assert (result.isolation, result.is_weaker) == ("read-committed", False)
    assert seen[0] == "opening"
    assert len(seen) == 1 + len(result.scripted.results)
