"""`generate --profile`: a history of a database that works as a profile says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import isoscope
from isoscope.history import OperationKind

from .running import run

if TYPE_CHECKING:
    from pathlib import Path

SMALL = ("--transactions", "100", "--sessions", "5", "--keys", "20")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_operation_has_the_interval_in_which_its_client_waited(folder: Path) -> None:
    done = run("generate", "out.parquet", *SMALL, "--profile", "mysql/serializable")
    assert done.status == 0
    assert done.err.startswith("committed: ")
    history = isoscope.load(folder / "out.parquet")
    assert history.counts["transactions"] == 100
    assert all(operation.interval for transaction in history for operation in transaction.operations)


def test_the_same_seed_gives_the_same_file(folder: Path) -> None:
    files = []
    for seed in ("1", "1", "2"):
        options = ("--profile", "postgresql/serializable", "--seed", seed)
        assert run("generate", "out.parquet", *SMALL, *options).status == 0
        files.append((folder / "out.parquet").read_bytes())
    assert files[0] == files[1] != files[2]


def test_clients_do_what_is_asked_for(folder: Path) -> None:
    shares = ("--range-ratio", "0.3", "--insert-ratio", "0.3", "--delete-ratio", "0.3", "--lost-ratio", "0.2")
    more = ("--for-update-ratio", "0.3", "--for-share-ratio", "0.3", "--distribution", "zipfian")
    done = run("generate", "out.parquet", *SMALL, *shares, *more, "--profile", "mysql/rr")
    assert done.status == 0, done.err
    history = isoscope.load(folder / "out.parquet")
    assert all(history.counts[kind] for kind in ("range-read", "insert", "delete", "indeterminate"))
    statements = {
        operation.statement
        for transaction in history
        for operation in transaction.operations
        if operation.kind is OperationKind.READ
    }
    assert statements == {None, "select for update", "select for share"}


def test_a_fault_without_an_occasion_is_reported_with_a_hint() -> None:
    options = ("--profile", "postgresql/read-committed", "--bug", "missed-certifier")
    done = run("generate", "out.parquet", *SMALL, *options)
    assert done.status == 0
    assert "injected missed-certifier: 0, of which 0 can be seen\nhint: there was no occasion" in done.err


def test_the_number_of_injected_faults_is_reported() -> None:
    options = ("--profile", "postgresql/read-committed", "--bug", "missing-lock", "--bug-rate", "1")
    done = run("generate", "out.parquet", *SMALL, *options)
    assert done.status == 0
    assert "injected missing-lock: " in done.err
    assert "injected missing-lock: 0" not in done.err


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--profile", "postgres"], "unknown profile `postgres`"),
        (["--profile", "mysql/rr", "--bug", "write-skew"], "write-skew"),
        (["--profile", "mysql/rr", "--isolation", "serializable"], "knows nothing of --isolation"),
        (["--profile", "mysql/rr", "--lists"], "knows nothing of --lists"),
        (["--profile", "mysql/rr", "--distribution", "hotspot"], "a uniform or a zipfian distribution"),
        (["--profile", "mysql/rr", "--insert-ratio", "1", "--delete-ratio", "1"], "more than 1 together"),
        (["--range-ratio", "0.5"], "--range-ratio is for a database with a profile"),
        (["--isolation", "serializable", "--clock-error", "5"], "--clock-error is for a database"),
    ],
    ids=lambda options: " ".join(options) if isinstance(options, list) else "",
)
def test_options_that_contradict_each_other_are_refused(
    folder: Path, options: list[str], complaint: str
) -> None:
    done = run("generate", "out.parquet", *options)
    assert done.status == 2
    assert complaint in done.err
    assert not list(folder.iterdir())
