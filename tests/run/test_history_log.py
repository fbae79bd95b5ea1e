"""A run that is killed leaves a history that can be checked, and that accuses no database wrongly."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import isoscope
from isoscope import checkers, formats
from isoscope.errors import FormatError, IsoscopeError, UsageError
from isoscope.history import Status
from isoscope.levels import Level
from isoscope.run import HistoryLog, Limits, Plan, execute, history_log
from tests.cli.running import COMMAND, run
from tests.interrupts import wait_until

if TYPE_CHECKING:
    from isoscope.run import CompletedRun

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def logged(
    workload: str, isolation: str = "serializable", transactions: int = 3000
) -> tuple[CompletedRun, HistoryLog]:
    plan = Plan.of(
        "simulated", isolation=isolation, workload=workload, limits=Limits(transactions=transactions)
    )
    log = HistoryLog("h.parquet")
    completed = execute(plan, log=log)
    log.close()
    return completed, log


@pytest.mark.parametrize("workload", ["key-value", "list-append", "smallbank"])
def test_the_log_of_a_whole_run_is_its_history(workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_log, "_PAUSE", 0.001)
    completed, log = logged(workload)
    assert log.problem == ""
    history = isoscope.load(log.path)
    assert history.source.format == "recording"
    assert list(history) == list(completed.history)
    assert history.initial == completed.history.initial


@pytest.mark.parametrize("workload", ["key-value", "list-append"])
@pytest.mark.parametrize("isolation", ["serializable", "snapshot-isolation"])
def test_a_log_that_ends_anywhere_holds_what_the_database_promised(
    workload: str, isolation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_log, "_PAUSE", 0.001)
    completed, log = logged(workload, isolation)
    data = Path(log.path).read_bytes()
    lengths = set()
    for share in range(1, 12):
        Path("cut.recording").write_bytes(data[: len(data) * share // 12])
        history = isoscope.load("cut.recording")
        lengths.add(len(history))
        for verdict in checkers.check(history, [Level.READ_COMMITTED, *completed.promises]).verdicts:
            assert str(verdict.outcome) != "violated", share
    assert len(lengths) > 1


def test_a_log_that_ends_early_holds_the_first_transactions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(history_log, "_PAUSE", 0.0005)
    _, log = logged("key-value", transactions=4_000)
    data = Path(log.path).read_bytes()
    Path("cut.recording").write_bytes(data[: len(data) * 3 // 4])
    history = isoscope.load("cut.recording")
    numbers = [one.id for one in history]
    assert numbers == [*range(1, len(history) + 1)]
    statuses = [one.status for one in history]
    assert Status.COMMITTED in statuses
    assert len(history) < 4_000


def test_a_changed_byte_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    _, log = logged("key-value")
    data = bytearray(Path(log.path).read_bytes())
    data[len(data) // 2] ^= 255
    Path("h.recording").write_bytes(data)
    with pytest.raises(FormatError, match="a frame that fits its checksum"):
        isoscope.load("h.recording")


@pytest.mark.parametrize("signal_", [signal.SIGKILL, signal.SIGABRT])
@pytest.mark.parametrize("database", ["sqlite", "simulated"])
def test_a_run_that_is_killed_leaves_a_history_that_can_be_checked(
    folder: Path, signal_: signal.Signals, database: str
) -> None:
    line = [*COMMAND, "run", database, "--seconds", "60"]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def has_frames() -> bool:
        # A file without a whole frame is an empty history; one without its head is none.
        with suppress(IsoscopeError):
            return any(len(isoscope.load(path)) > 0 for path in folder.glob("*.recording"))
        return False

    try:
        wait_until(has_frames)
    finally:
        process.send_signal(signal_)
        process.wait()
    [path] = folder.glob("*.recording")
    done = run("check", path)
    assert done.status == 0, done.out
    assert run("convert", path, "whole.parquet").status == 0
    assert len(isoscope.load("whole.parquet")) == len(isoscope.load(path)) > 0


def test_a_run_that_ends_well_leaves_no_log(folder: Path) -> None:
    assert run("run", "simulated", "--transactions", 500).status == 0
    assert [path.suffix for path in folder.iterdir()] == [".parquet"]


def test_the_log_of_a_killed_run_is_never_replaced(folder: Path) -> None:
    first = HistoryLog("x.parquet")
    second = HistoryLog("x.parquet")
    assert first.path != second.path
    for log in (first, second):
        log.close()
    assert not [*folder.glob("*.recording")]


def test_ctrl_c_while_the_history_is_written_names_the_log(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    """As while pyarrow is imported for it."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(formats, "save", interrupted)
    done = run("run", "simulated", "--transactions", 500)
    assert done.status == 130
    [path] = folder.glob("*.recording")
    assert f"history until then: {path.name}" in done.err
    assert len(isoscope.load(path)) == 500


def test_a_disk_that_is_full_ends_the_log_and_not_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("isoscope.run.history_log.os.write", full)
    completed, log = logged("key-value")
    assert log.problem == "No space left on device"
    assert len(completed.history) == 3000


def test_a_folder_that_cannot_be_written_is_refused_before_the_run(folder: Path) -> None:
    shutil.rmtree(folder / "missing", ignore_errors=True)
    with pytest.raises((UsageError, OSError)):
        HistoryLog(os.fspath(folder / "missing" / "x.parquet"))
