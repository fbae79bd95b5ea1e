"""The group of all commands."""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in COMMANDS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        close = get_close_matches(name, COMMANDS, n=1)
        guess = f" Did you mean `{close[0]}`?" if close else ""
        raise click.UsageError(f"No such command '{name}'.{guess}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group("isoscope", cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="isoscope")
def group() -> None:
    """Did this database keep its isolation promise?

    Start with `isoscope demo`, or check a history of your own:

    \b
        isoscope check history.txt
        isoscope check history.edn --level snapshot-isolation
    """


def run() -> int:
    """Runs the command of this process; its exit status."""
    try:
        status = group(standalone_mode=False, prog_name="isoscope")
    except SystemExit as error:
        # A shell asked how a line can go on: click prints the answer and exits.
        if "_ISOSCOPE_COMPLETE" not in os.environ:
            raise
        status = error.code
    if sys.stdout is not None:
        sys.stdout.flush()
    return status if isinstance(status, int) else 0
