"""The command line: one file for each command; results on stdout, everything else on stderr.

Exit status: 0 holds or nothing asked, 1 violated, 2 bad input or usage, 3 a named level is unknown.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import NoReturn

import click

from isoscope import __version__
from isoscope.errors import IsoscopeError

__all__ = ["BAD_INPUT", "COMMANDS", "main"]

BAD_INPUT = 2

#: Commands with their summaries, so that `--help` need not import them.
COMMANDS = {
    "check": "Check recorded histories against isolation levels",
    "compare": "Compare two runs: verdicts, anomalies, latency, throughput",
    "convert": "Convert a history to another format",
    "demo": "Run embedded databases and show what a violation looks like",
    "explain": "Explain an anomaly, with a small history that shows it",
    "generate": "Generate a history of any size, valid or broken as asked",
    "levels": "List the isolation levels and what each implies",
    "profiles": "List the profiles of databases: their mechanisms, level by level",
    "run": "Run a workload on a database and check what it promises",
    "serve": "Check a running database online, over HTTP",
    "shrink": "Shrink a history to the few transactions that break a level",
    "stats": "Show what a history holds: sizes, evidence, repeated values",
    "watch": "Check a growing file of transactions, in the terminal",
}


class _Commands(click.Group):
    """Imports a command only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"isoscope.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="isoscope")
def _isoscope() -> None:
    """Did this database keep its isolation promise?

    Start with `isoscope demo`, or check a history of your own:

    \b
        isoscope check history.txt
        isoscope check history.edn --level snapshot-isolation
    """


def main() -> NoReturn:
    """Run the command line; a user's mistake is one message and status 2."""
    try:
        status = _isoscope(standalone_mode=False)
        sys.stdout.flush()
    except IsoscopeError as error:
        fail(str(error))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(BAD_INPUT)
    except click.UsageError as error:
        usage = error.ctx.command_path if error.ctx else "isoscope"
        fail(f"{error.format_message()}\n\nhint: `{usage} --help` lists what is possible")
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except OSError as error:
        # The rest of the buffer cannot be written either: Python must not try again when it exits.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
        fail(f"cannot write the output: {error.strerror or error}")
    except SystemExit:
        # click raises this when the reader of our output has closed it, as `head` does: no error.
        sys.exit(0)
    sys.exit(status if isinstance(status, int) else 0)


def fail(message: str) -> NoReturn:
    """Reports the user's mistake and stops."""
    click.echo(f"error: {message}", err=True)
    sys.exit(BAD_INPUT)
