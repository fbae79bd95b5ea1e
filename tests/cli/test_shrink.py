"""`shrink`: a small history is written, one line says what was kept, and what holds is refused."""

from __future__ import annotations

import os
import pty
import subprocess
from typing import TYPE_CHECKING

import pytest

import isoscope
from isoscope.verdict import Outcome
from tests.cli.running import COMMAND, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from isoscope.history import History

#: T3 sees one half of T1, between reads and writes that have nothing to do with it.
FRACTURED = """\
w(1,1,1,1)
w(2,1,1,1)
w(3,1,2,2)
r(3,1,3,3)
r(2,1,3,3)
r(1,0,3,3)
r(3,1,4,4)
"""
SMALL = "w(1,1,1,1)\nw(2,1,1,1)\nr(2,1,3,3)\nr(1,0,3,3)\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "history.txt").write_text(FRACTURED)
    (tmp_path / "fine.txt").write_text("w(1,1,1,1)\nr(1,1,2,2)\n")
    return tmp_path


def test_the_small_history_is_described_and_written(folder: Path) -> None:
    done = run("shrink", "history.txt", "small.txt", "--level", "ra")
    assert (done.status, done.err) == (0, "")
    first, blank, name, *lines = done.out.splitlines()
    assert first == "4 transactions -> 2, 7 operations -> 4: breaks read-atomic"
    assert (blank, name) == ("", "non-monotonic-read-co")
    assert "read key 1 = 0 (line 6)" in lines[2]
    assert (folder / "small.txt").read_text() == SMALL


def test_without_a_level_it_is_the_weakest_that_is_violated() -> None:
    done = run("shrink", "history.txt", "small.txt")
    weakest = isoscope.check(isoscope.load("history.txt")).weakest_violated[0]
    assert done.out.splitlines()[0].endswith(f": breaks {weakest}")
    [verdict] = isoscope.check(isoscope.load("small.txt"), [weakest]).verdicts
    assert verdict.outcome is Outcome.VIOLATED


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fine.txt", "--level", "causal"], "nothing to shrink: causal holds"),
        (["fine.txt"], "nothing to shrink: no level is violated"),
        (["fine.txt", "--level", "si", "--method", "timestamps"], "shrink: snapshot-isolation is unknown: "),
        (["history.txt", "--level", "nonsense"], "`nonsense`"),
    ],
)  # fmt: skip
def test_a_level_that_is_not_violated_is_refused_and_nothing_is_written(
    folder: Path, arguments: list[str], message: str
) -> None:
    path, *options = arguments
    done = run("shrink", path, "small.txt", *options)
    assert (done.status, done.out) == (2, "")
    assert message in done.err.splitlines()[0]
    assert not (folder / "small.txt").exists()


def test_a_name_that_says_no_format_is_refused_before_anything_is_read() -> None:
    done = run("shrink", "nowhere.txt", "small.xyz")
    assert done.status == 2
    assert done.err.startswith("error: small.xyz: the name does not say which format to write")


def test_the_history_itself_is_not_replaced(folder: Path) -> None:
    before = (folder / "history.txt").read_text()
    done = run("shrink", "history.txt", "./history.txt")
    assert (done.status, done.out) == (2, "")
    assert done.err == "error: ./history.txt would replace the history that it is a part of\n"
    assert (folder / "history.txt").read_text() == before


def test_losses_are_refused_unless_lossy(folder: Path) -> None:
    done = run("shrink", "history.txt", "small.awdit", "--level", "ra")
    assert done.status == 2
    assert "awdit cannot hold all of this history" in done.err
    assert not (folder / "small.awdit").exists()
    done = run("shrink", "history.txt", "small.awdit", "--level", "ra", "--lossy")
    assert done.status == 0
    assert "lost: the initial value (0, but nil in every file of this format)" in done.err.splitlines()


def test_a_dash_writes_the_history_alone_to_standard_output() -> None:
    done = run("shrink", "history.txt", "-", "--to", "plume", "--level", "ra")
    assert (done.status, done.out) == (0, SMALL)
    assert done.err.startswith("4 transactions -> 2,")


def test_the_initial_value_and_the_format_can_be_named(folder: Path) -> None:
    (folder / "odd").write_text("w(1,1,1,1)\nr(2,5,2,2)\n")
    done = run("shrink", "odd", "small.parquet", "--format", "plume", "--initial", "5", "--level", "rc")
    assert done.err == "error: nothing to shrink: read-committed holds\n"
    done = run("shrink", "odd", "small.parquet", "--format", "plume", "--level", "rc")
    assert done.out.startswith("2 transactions -> 1, 2 operations -> 1: breaks read-committed\n")


def test_a_claim_of_the_user_counts(folder: Path) -> None:
    path = "cyclic.edn"
    (folder / path).write_text(
        "{:type :ok, :process 0, :value [[:w :x 1]]}\n{:type :ok, :process 1, :value [[:w :x 2]]}\n"
        "{:type :ok, :process 2, :value [[:r :x 1]]}\n{:type :ok, :process 2, :value [[:r :x 2]]}\n"
        "{:type :ok, :process 3, :value [[:r :x 2]]}\n{:type :ok, :process 3, :value [[:r :x 1]]}\n"
    )
    assert run("shrink", path, "small.edn", "--level", "pl-1").status == 2
    done = run("shrink", path, "small.edn", "--level", "pl-1", "--assume", "sequential-keys")
    assert (done.status, done.out.splitlines()[0]) == (
        0,
        "6 transactions -> 6, 6 operations -> 6: breaks pl-1",
    )


def test_progress_is_shown_on_a_terminal_only() -> None:
    ours, its = pty.openpty()
    command = [*COMMAND, "shrink", "history.txt", "small.txt"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=its, check=False)
    os.close(its)
    shown = os.read(ours, 2**16).decode()
    os.close(ours)
    assert done.returncode == 0
    assert "\r\x1b[K2 transactions, 4 operations" in shown
    assert b"\x1b" not in done.stdout
    assert run("shrink", "history.txt", "small.txt").err == ""


def test_an_interrupt_leaves_the_old_file_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_history: History, still_broken: Callable[[History], bool], **_near: object) -> None:
        still_broken(isoscope.load("history.txt"))
        raise KeyboardInterrupt

    monkeypatch.setattr("isoscope.explain.shrink", interrupted)
    (folder / "small.txt").write_text("old")
    before = sorted(folder.iterdir())
    done = run("shrink", "history.txt", "small.txt")
    assert (done.status, done.out, done.err.strip()) == (130, "", "interrupted")
    assert (folder / "small.txt").read_text() == "old"
    assert sorted(folder.iterdir()) == before
