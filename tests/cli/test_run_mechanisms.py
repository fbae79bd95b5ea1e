"""`isoscope run --live` of a database that tells no timestamps: in this process, and by a service."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from isoscope import profiles
from isoscope.live.check_settings import CheckSettings
from isoscope.live.journal import Fsync
from isoscope.live.service import Settings
from tests.live.served import served

from .running import run

if TYPE_CHECKING:
    from pathlib import Path

SMALL = ("--transactions", 200, "--sessions", 3, "--seed", 5)


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def serving(name: str) -> Settings:
    return Settings(check=CheckSettings(levels=(), profile=profiles.load(name)), fsync=Fsync.NEVER)


def test_a_run_verifies_the_mechanisms_of_the_database_while_it_goes_on() -> None:
    done = run("run", "sqlite", *SMALL, "--live", "--json")
    assert done.status == 0, done.err
    assert "live: verified " in done.err
    assert ", against sqlite/" in done.err
    mechanisms = json.loads(done.out)["mechanisms"]
    assert mechanisms["profile"].startswith("sqlite/")
    assert "violated" not in {row["outcome"] for row in mechanisms["verdicts"]}


def test_a_check_afterwards_says_the_same(tmp_path: Path) -> None:
    live = json.loads(run("run", "sqlite", *SMALL, "--live", "--json").out)["mechanisms"]
    [path] = tmp_path.glob("sqlite-*.parquet")
    after = json.loads(run("check", path, "--profile", live["profile"], "--json").out)["mechanisms"]
    assert live["verdicts"] == after["verdicts"]


def test_a_service_with_the_profile_is_told_intervals(tmp_path: Path) -> None:
    name = profiles.of("sqlite", "serializable")
    assert name is not None
    with served(tmp_path / "data", settings=serving(name)) as client:
        done = run("run", "sqlite", *SMALL, "--live", client.url)
        assert f"200 transactions told to {client.url}; sessions" in done.err
        client.service.flush()
        so_far = client.service.status()["mechanisms"]
    assert (so_far["transactions"], so_far["late"], so_far["pending"]) == (200, 0, 0)
    assert so_far["counts"] == {}


def test_a_service_with_another_profile_is_not_told_anything(tmp_path: Path) -> None:
    with served(tmp_path / "data", settings=serving("postgresql/serializable")) as client:
        done = run("run", "sqlite", *SMALL, "--live", client.url)
    assert done.status == 2
    assert "checks the profile postgresql/serializable, and the run is of sqlite/" in done.err
    assert not [*tmp_path.glob("sqlite-*")]


def test_a_profile_without_live_says_nothing() -> None:
    done = run("run", "sqlite", *SMALL, "--profile", "sqlite/serializable")
    assert done.status == 2
    assert "--profile is for --live" in done.err


def trace(transaction: str, verb: str, start: int, **more: object) -> str:
    row = {
        "threadID": transaction.partition(",")[0],
        "transactionID": transaction,
        "operationTraceType": verb,
        "startTimestamp": start,
        "finishTimestamp": start + 1,
        **more,
    }
    return json.dumps(row)


def cell(value: int) -> list[dict[str, object]]:
    return [{"table": "t", "primaryKey": "1", "valueMap": {"v": value}}]


#: The third one reads what was overwritten long before; operations of the first two stand among each other.
TRACE = [
    trace("1,1", "UPDATE", 10, writeTupleList=cell(7)),
    trace("2,1", "BEGIN", 11),
    trace("1,1", "COMMIT", 12),
    trace("2,1", "UPDATE", 14, writeTupleList=cell(8)),
    trace("2,1", "COMMIT", 20),
    trace("3,1", "SELECT", 30, readTupleList=cell(7)),
    trace("3,1", "COMMIT", 32),
]


def test_a_file_of_operations_is_watched(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join(TRACE) + "\n")
    done = run("watch", path, "--profile", "postgresql/read-committed", "--to-the-end")
    assert done.status == 1, done.err
    assert done.out.splitlines()[0] == (
        "consistent-read: inconsistent-read (stale) in transaction '3,1', key 't/1/v', against '1,1'"
    )
    assert "broke consistent-read" in done.out


def test_a_line_that_is_no_operation_is_named_by_its_place_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join([*TRACE[:5], "{}", *TRACE[5:]]) + "\n")
    done = run("watch", path, "--profile", "postgresql/read-committed", "--to-the-end")
    assert done.status == 2
    assert f"{path}:6" in done.err


@pytest.mark.parametrize("given", [("--level", "si"), ("--keep", 1)])
def test_options_of_levels_are_refused_with_a_profile(tmp_path: Path, given: tuple[object, ...]) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join(TRACE) + "\n")
    done = run("watch", path, "--profile", "postgresql/read-committed", *given)
    assert done.status == 2
    assert "says nothing about the mechanisms of a profile" in done.err
