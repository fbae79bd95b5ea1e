"""Colours and width as a terminal has them: a pseudo terminal stands for it."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from isoscope.reports.terminal import columns
from tests.cli.running import COMMAND, run

if TYPE_CHECKING:
    from collections.abc import Sequence

CASE = Path(__file__).parents[1] / "histories" / "read-skew" / "violated-register.edn"
ASKED = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS")


def environment(**settings: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ASKED}
    return {**kept, "TERM": "xterm-256color", **settings}


def on_a_terminal(
    *arguments: str,
    width: int = 80,
    settings: dict[str, str] | None = None,
    command: Sequence[str] = COMMAND,
) -> str:
    """What a command prints on a terminal of this width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    with subprocess.Popen(
        [*command, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(**(settings or {})),
    ) as process:
        os.close(theirs)
        printed = b"".join(_parts(ours))
    os.close(ours)
    assert process.returncode in (0, 1)
    return printed.decode().replace("\r\n", "\n")


def _parts(terminal: int) -> list[bytes]:
    parts = []
    try:
        while part := os.read(terminal, 65536):
            parts.append(part)
    except OSError:  # so Linux says that the other side is closed
        pass
    return parts


def piped(*arguments: str, **settings: str) -> str:
    done = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, env=environment(**settings), check=False, text=True
    )
    return done.stdout


def test_a_terminal_gets_colours_and_a_pipe_none() -> None:
    coloured = on_a_terminal("check", str(CASE))
    assert "\x1b[31m\x1b[1mviolated\x1b[0m" in coloured
    assert "\x1b[1mfractured-read-co\x1b[0m: 1 found" in coloured
    assert "\x1b" not in piped("check", str(CASE))
    assert "\x1b" not in run("check", CASE).out


@pytest.mark.parametrize(
    ("settings", "has_colour"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
def test_the_environment_has_the_last_word_on_colours(settings: dict[str, str], *, has_colour: bool) -> None:
    assert ("\x1b" in on_a_terminal("explain", "read-skew", settings=settings)) == has_colour


def test_colours_can_be_forced_upon_a_pipe_but_not_upon_a_document() -> None:
    assert "\x1b[1m" in piped("check", str(CASE), FORCE_COLOR="1")
    assert "\x1b" not in piped("check", str(CASE), "--json", FORCE_COLOR="1")


def test_reports_in_files_have_no_colours(tmp_path: Path) -> None:
    on_a_terminal("demo", "--out", str(tmp_path))
    assert "\x1b" not in (tmp_path / "report.txt").read_text()


@pytest.mark.parametrize(
    ("width", "widest"), [(40, 60), (60, 60), (80, 80), (100, 100), (120, 120), (300, 120)]
)
def test_a_report_is_as_wide_as_the_terminal_from_60_columns_to_120(width: int, widest: int) -> None:
    printed = on_a_terminal("explain", "commit-order-conflict", width=width)
    assert widest - 12 < max(map(columns, printed.splitlines())) <= widest


def test_without_a_terminal_text_is_100_columns_wide() -> None:
    assert on_a_terminal("explain", "read-skew", width=100, settings={"NO_COLOR": "1"}) == piped(
        "explain", "read-skew"
    )


def test_stats_are_lines_of_a_terminal_and_else_one_line_for_each_name() -> None:
    # A path of any length stays on one line, so it counts for nothing here.
    shown = on_a_terminal("stats", str(CASE)).replace(str(CASE), "history.edn").splitlines()
    assert max(map(len, shown)) <= 80
    lines = run("stats", CASE).out.splitlines()
    assert all(line[:16].strip() and line[16] == " " for line in lines)
    assert any(line.startswith("contains ") for line in lines)
    assert len(shown) > len(lines)
