"""`isoscope run --live`: the service hears of everything while it happens, and a run outlives the service."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from isoscope.live.check_settings import CheckSettings
from isoscope.live.service import Settings
from tests.live.sent_batches import answers
from tests.live.served import served

from .running import run

if TYPE_CHECKING:
    from pathlib import Path

# Few keys and long transactions, so that a fault shows.
SMALL = ("--transactions", 300, "--sessions", 3, "--keys", 8, "--min-txn-length", 8, "--max-txn-length", 8,
         "--seed", 5)  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# This fault shows also when the machine's load keeps transactions from overlapping.
@pytest.mark.parametrize("bug", [(), ("--set", "bug=fractured-commit", "--set", "bug_rate=0.2")])
def test_the_service_says_what_a_check_of_the_recorded_history_says(
    tmp_path: Path, bug: tuple[str, ...]
) -> None:
    # A run begins with 0 in every key.
    settings = Settings(check=CheckSettings(initial=0))
    with served(tmp_path / "data", settings=settings) as client:
        done = run(
            "run", "simulated", *SMALL, *bug, "--isolation", "snapshot-isolation", "--live", client.url
        )
        assert f"transactions told to {client.url}; sessions were held up for " in done.err
        client.service.flush()
        online = client.service.report()
    offline = run("check", "simulated-snapshot-isolation.parquet", "--method", "timestamps", "--json")
    verdicts = json.loads(offline.out)["verdicts"]
    assert {row["level"]: (row["outcome"], row["anomaly_counts"]) for row in verdicts} == answers(online)
    assert (verdicts[0]["outcome"] == "violated") == bool(bug)
    assert online.history["transactions"] == 300


def test_a_service_that_is_not_there_does_not_cost_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("isoscope.run.service_verification.PATIENCE", 0.2)
    with served(tmp_path / "data") as client:
        url = client.url
    done = run("run", "simulated", *SMALL, "--live", url)
    assert done.status == 2
    assert f"error: the service at {url} cannot be reached" in done.err
    assert [path.suffix for path in tmp_path.glob("simulated-*")] == [".parquet"]


def test_a_database_without_timestamps_is_one_message(tmp_path: Path) -> None:
    with served(tmp_path / "data") as client:
        done = run("run", "sqlite", *SMALL, "--live", client.url)
    assert done.status == 2
    assert "error: the database gives no timestamps" in done.err
