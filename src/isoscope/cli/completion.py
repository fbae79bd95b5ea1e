"""`isoscope completion`: the script that completes commands and options in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["command"]


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script that completes commands in your shell.

    \b
    bash: isoscope completion bash > ~/.local/share/bash-completion/completions/isoscope
    zsh:  isoscope completion zsh > ~/.zfunc/_isoscope    (a folder of $fpath)
    fish: isoscope completion fish > ~/.config/fish/completions/isoscope.fish

    A new shell then completes with the tab key.
    """
    from isoscope.cli.program import group  # noqa: PLC0415 - it imports this command

    found = get_completion_class(shell)
    if found is None:
        raise AssertionError(f"click does not know {shell}")
    click.echo(found(group, {}, "isoscope", "_ISOSCOPE_COMPLETE").source())
