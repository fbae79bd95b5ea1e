"""How far a run is: one line that changes on a terminal, and what Ctrl-C does there."""

from __future__ import annotations

import signal
import subprocess
import sys
from time import sleep
from typing import TYPE_CHECKING

import pytest

from isoscope.cli.progress import ProgressLine, Waiting, progress_text
from isoscope.run import Limits, Progress
from tests.interrupts import wait_for_write

from .running import COMMAND
from .test_terminal import on_a_terminal

if TYPE_CHECKING:
    from pathlib import Path


def progress(seconds: float, committed: int, aborted: int = 0, indeterminate: int = 0) -> Progress:
    return Progress(
        seconds=seconds,
        committed=committed,
        aborted=aborted,
        indeterminate=indeterminate,
        operations=10 * committed,
    )


@pytest.mark.parametrize(
    ("shown", "limits", "text"),
    [
        (progress(2, 3000, 50), Limits(seconds=10), "2 s, 3,000 committed (1,500/s), 50 aborted, 8 s left"),
        (progress(2, 100), Limits(transactions=400), "2 s, 100 committed (50/s), 0 aborted, 6 s left"),
        (
            progress(2, 100),
            Limits(seconds=5, transactions=400),
            "2 s, 100 committed (50/s), 0 aborted, 3 s left",
        ),
        (progress(60, 60), Limits(seconds=3660), "60 s, 60 committed (1/s), 0 aborted, 60 min left"),
        (progress(1, 2, 0, 1), Limits(), "1 s, 2 committed (2/s), 0 aborted, 1 indeterminate"),
        (progress(0, 0), Limits(transactions=5), "0 s, 0 committed (0/s), 0 aborted"),
    ],
)
def test_progress_is_time_rate_aborts_and_what_is_left(shown: Progress, limits: Limits, text: str) -> None:
    assert progress_text(shown, limits) == text


def test_without_a_terminal_there_is_a_line_every_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine(Limits()) as line:
        for seconds in (0.1, 9.9, 10.0, 10.1, 20.2):
            line(progress(seconds, 5))
    assert [text.split(",")[0] for text in capsys.readouterr().err.splitlines()] == ["10 s", "20 s"]


def test_a_terminal_shows_one_line_that_changes_and_is_gone_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = on_a_terminal("run", "simulated", "--seconds", "0.5", "--sessions", "2", width=60)
    shown, _, rest = printed.partition("history: ")
    lines = shown.split("\r\x1b[K")
    assert lines[1] == "opening simulated ..."
    assert len(lines) > 4
    assert all(" committed (" in line and len(line) < 60 for line in lines[2:-1])
    assert lines[-1] == ""
    assert "\r" not in rest


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_keeps_what_was_recorded(tmp_path: Path) -> None:
    command = [*COMMAND, "run", "sqlite:there.db", "--sessions", "2", "--seconds", "100"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_for_write(tmp_path / "there.db")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert err == "interrupted: what happened until then is kept\nhistory: sqlite-serializable.parquet\n"
    assert process.returncode == 0
    assert out.startswith("Yes. SQLite ")


def test_a_long_check_says_so_and_a_short_one_does_not(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with Waiting("checking a.txt"):
        pass
    assert capfd.readouterr().err == ""
    monkeypatch.setattr("isoscope.cli.progress._PERIOD", 0.05)
    with Waiting("checking a.txt"):
        sleep(0.3)
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == "checking a.txt: 0 s"
    assert 2 <= len(lines) <= 6


def test_a_long_check_changes_one_line_of_a_terminal(tmp_path: Path) -> None:
    code = (
        "from isoscope.cli import progress; from time import sleep; progress._PATIENCE = 0.05\n"
        "with progress.Waiting('checking a.txt'): sleep(0.8)"
    )
    shown = on_a_terminal(command=[sys.executable, "-c", code])
    assert "\x1b[Kchecking a.txt: 0 s" in shown
    assert shown.endswith("\r\x1b[K")
