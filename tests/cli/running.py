"""Runs commands: in this process, which is quick, or as a user would, in one of their own."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from isoscope import cli

COMMAND = [sys.executable, "-c", "from isoscope.cli import main; main()"]


@dataclass(frozen=True)
class Done:
    """The status and the output of a command."""

    status: int
    out: str
    err: str


class _Main:
    """`main` with click's test harness around it: the harness wants a click command."""

    name = "isoscope"

    @staticmethod
    def main(args: list[str], prog_name: str, **_: object) -> None:
        before = sys.argv
        sys.argv = [prog_name, *args]
        try:
            cli.main()
        finally:
            sys.argv = before


def run(*arguments: object, stdin: str | bytes | None = None) -> Done:
    """Runs `isoscope` with `arguments` in this process; fails on a traceback."""
    result = CliRunner().invoke(_Main(), [*map(str, arguments)], input=stdin)  # type: ignore[arg-type]
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert "Traceback" not in result.stderr
    return Done(result.exit_code, result.stdout, result.stderr)


def run_apart(*arguments: object, stdin: bytes = b"", stdout: str | None = None) -> Done:
    """Runs `isoscope` in a process of its own; its output goes to the file `stdout` if that is named."""
    command = [*COMMAND, *map(str, arguments)]
    if stdout is not None:
        with Path(stdout).open("wb") as sink:
            done = subprocess.run(command, input=stdin, stdout=sink, stderr=subprocess.PIPE, check=False)
        return Done(done.returncode, "", done.stderr.decode())
    done = subprocess.run(command, input=stdin, capture_output=True, check=False)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())
