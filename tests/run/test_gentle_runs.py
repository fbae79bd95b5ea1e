"""A default run lets most transactions commit, adapts where they do not, and may end at a violation."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

import pytest

import isoscope
from isoscope.run import Limits, Plan, execute
from isoscope.run.active_sessions import ActiveSessions, default_sessions
from tests.cli.running import run as command

if TYPE_CHECKING:
    from pathlib import Path

BUG = {"bug": "dirty-read", "bug_rate": "1"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "isolation", "settings"),
    [
        ("sqlite", "serializable", {}),
        ("sqlite", "serializable", {"journal_mode": "wal"}),
        ("sqlite", "read-uncommitted", {}),
        ("duckdb", "snapshot-isolation", {}),
        ("simulated", "serializable", {}),
        ("simulated", "snapshot-isolation", {}),
    ],
)
def test_most_transactions_of_a_default_run_commit(
    target: str, isolation: str, settings: dict[str, str]
) -> None:
    plan = Plan.of(target, isolation=isolation, settings=settings, limits=Limits(seconds=3))
    progress = execute(plan).run.progress
    assert progress.committed > 100
    assert progress.aborted < 0.2 * (progress.committed + progress.aborted)


def test_sessions_follow_the_cores_within_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {}
    for cores in (1, 6, 64):
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        found[cores] = default_sessions()
    assert found == {1: 4, 6: 6, 64: 8}
    assert default_sessions(3) == 3


def test_sessions_are_halved_while_most_transactions_abort() -> None:
    active = ActiveSessions(10, adapts=True)
    counts = []
    for committed, aborted in ((10, 80), (40, 80), (60, 200), (70, 330), (80, 460), (90, 590)):
        active.note(committed, aborted)
        counts.append(active.count)
    assert counts == [10, 5, 2, 2, 2, 2]


@pytest.mark.parametrize(("adapts", "committed", "aborted"), [(False, 10, 500), (True, 260, 250)])
def test_sessions_stay_if_their_number_was_named_or_half_commit(
    adapts: bool, committed: int, aborted: int
) -> None:
    active = ActiveSessions(10, adapts=adapts)
    active.note(committed, aborted)
    assert active.count == 10


def test_a_single_session_stays() -> None:
    active = ActiveSessions(1, adapts=True)
    active.note(0, 500)
    assert active.count == 1


def test_a_contended_run_goes_on_with_fewer_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    contended = ["--keys", "1", "--read-ratio", "0", "--min-txn-length", "4", "--seconds", "2"]
    done = command("run", "simulated", "--isolation", "snapshot-isolation", *contended)
    assert done.status == 0
    assert "most transactions were aborted: " in done.err
    assert " of 8 sessions went on; --sessions keeps a number" in done.err
    named = command("run", "simulated", "--isolation", "snapshot-isolation", "--sessions", "8", *contended)
    assert "went on" not in named.err


def test_a_run_ends_when_its_promise_is_broken() -> None:
    started = monotonic()
    result = isoscope.run(
        "simulated", isolation="snapshot-isolation", settings=BUG, seconds=60, until_violated=True
    )
    assert monotonic() - started < 30
    assert str(result.answer.outcome) == "no"
    assert result.completed.run.found_violation


def test_a_run_that_keeps_its_promise_ends_by_time() -> None:
    result = isoscope.run("simulated", seconds=1.5, until_violated=True)
    assert 1.4 < result.progress.seconds < 15
    assert str(result.answer.outcome) == "yes"
    assert not result.completed.run.found_violation


def test_a_run_without_a_record_cannot_end_at_a_violation() -> None:
    done = command("run", "simulated", "--no-record", "--until-violated")
    assert (done.status, done.err.splitlines()[0]) == (
        2,
        "error: --no-record leaves nothing for --until-violated",
    )
