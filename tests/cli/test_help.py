"""Help, version, start-up, and what happens to a user's mistake, a closed pipe and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from isoscope import __version__
from isoscope.cli import COMMANDS
from tests.cli.running import COMMAND, run

if TYPE_CHECKING:
    from pathlib import Path


def test_help_lists_every_command() -> None:
    for flag in ("--help", "-h"):
        done = run(flag)
        assert done.status == 0
        for name, summary in COMMANDS.items():
            assert any(line.split() == [name, *summary.split()] for line in done.out.splitlines()), name


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_help_whose_first_line_is_the_line_of_the_overview(name: str) -> None:
    done = run(name, "--help")
    assert done.status == 0
    assert done.out.startswith(f"Usage: isoscope {name}")
    command = import_module(f"isoscope.cli.{name}").command
    assert (command.help or "").splitlines()[0] == f"{COMMANDS[name]}."
    assert f"{COMMANDS[name]}." in " ".join(done.out.split())


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_the_packages(flag: str) -> None:
    assert run(flag).out == f"isoscope, version {__version__}\n"


@pytest.mark.parametrize(
    ("shell", "mark"),
    [("bash", "complete -o"), ("zsh", "#compdef isoscope"), ("fish", "complete --no-files")],
)
def test_a_shell_gets_a_script_that_completes(shell: str, mark: str) -> None:
    done = run("completion", shell)
    assert done.status == 0
    assert mark in done.out
    assert "_ISOSCOPE_COMPLETE" in done.out


@pytest.mark.parametrize(
    ("words", "place", "shown"),
    [("isoscope ch", 1, "plain,check\n"), ("isoscope check --le", 2, "plain,--level\n")],
)
def test_a_shell_asks_how_a_line_can_go_on(words: str, place: int, shown: str) -> None:
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(place), "_ISOSCOPE_COMPLETE": "bash_complete"}
    done = subprocess.run(
        COMMAND, env={**os.environ, **asked}, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, shown, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chek", "h.txt"], "No such command 'chek'. Did you mean `check`?"),
        (["xyz"], "No such command 'xyz'."),
        (["check"], "Missing argument 'HISTORY...'"),
        (["check", "--colour", "h.txt"], "No such option '--colour'"),
        (["check", "--max-anomalies", "0", "h.txt"], "Invalid value for '--max-anomalies'"),
        (["check", "--method", "guess", "h.txt"], "Invalid value for '--method'"),
        (["check", "--assume", "serial-keys", "h.txt"], "Invalid value for '--assume'"),
        (["check", "--format", "yaml", "h.txt"], "Invalid value for '--format'"),
        (["check", "--level"], "Option '--level' requires an argument"),
        (["convert", "h.txt"], "Missing argument 'OUT'"),
        (["stats"], "Missing argument 'HISTORY'"),
        (["generate"], "Missing argument 'OUT'"),
        (["generate", "o.txt", "--read-ratio", "2"], "Invalid value for '--read-ratio'"),
        (["generate", "o.txt", "--keys", "0"], "Invalid value for '--keys'"),
        (["levels", "a", "b"], "Got unexpected extra argument (b)"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_message_with_a_hint(arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert done.status == 2
    assert done.out == ""
    assert done.err.startswith("error: ")
    assert message.replace("'", "") in done.err.replace("'", "")
    assert done.err.endswith("--help` lists what is possible\n")


def test_no_arguments_at_all_show_what_is_possible() -> None:
    done = run()
    assert done.status in {0, 2}
    assert "check" in done.out + done.err
    assert "Traceback" not in done.err


def best_seconds(*command: str) -> float:
    """Processor time: that of the clock depends on what else the machine does."""

    def once() -> float:
        before = os.times()
        subprocess.run(command, check=True, capture_output=True)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    return min(once() for _ in range(5))


@pytest.mark.parametrize(
    ("command", "limit"),
    [([sys.executable, "-c", "import isoscope"], 0.1), ([*COMMAND, "--help"], 0.15)],
    ids=["import", "help"],
)
def test_start_up_is_quick_compared_with_python_itself(command: list[str], limit: float) -> None:
    bare = best_seconds(sys.executable, "-c", "pass")
    assert best_seconds(*command) - bare < limit


def test_help_imports_nothing_heavy() -> None:
    script = "import sys, isoscope.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert not {"pyarrow", "zstandard", "numpy", "isoscope.formats"} & set(done.stdout.split())


def test_a_closed_pipe_is_no_error() -> None:
    """As in `isoscope explain | head -1`."""
    process = subprocess.Popen([*COMMAND, "explain"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 0
    assert err == b""


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_with_one_word_and_status_130(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    process = subprocess.Popen(
        [*COMMAND, "check", str(fifo)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    writer = os.open(fifo, os.O_WRONLY)  # returns when the command has opened its end
    try:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        os.close(writer)
    assert (process.returncode, out, err.strip()) == (130, "", "interrupted")
