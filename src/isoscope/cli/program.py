"""The group of all commands."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from isoscope import __version__
from isoscope.cli import COMMANDS

__all__ = ["group", "run"]


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


@click.group("isoscope", cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="isoscope")
def group() -> None:
    """Did this database keep its isolation promise?

    Start with `isoscope demo`, or check a history of your own:

    \b
        isoscope check history.txt
        isoscope check history.edn --level snapshot-isolation
    """


def run() -> int:
    """Runs the command of this process; its exit status."""
    status = group(standalone_mode=False)
    if sys.stdout is not None:
        sys.stdout.flush()
    return status if isinstance(status, int) else 0
