"""`isoscope convert`: the same history in another format."""

from __future__ import annotations

import os

import click

from isoscope import formats
from isoscope.cli.options import FormatName, format_option
from isoscope.errors import UsageError

__all__ = ["command"]


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@format_option("IN")
@click.option("--to", type=FormatName(), help="Format of OUT.")
@click.option("--lossy", is_flag=True, help="Write what OUT can hold, and say what is lost.")
def command(source: str, target: str, *, format_: str | None, to: str | None, lossy: bool) -> None:
    """Convert a history to another format.

    The format of OUT follows from its name (.txt, .edn, .json, .hist, .parquet, ...; then .gz or .zst).
    What OUT cannot hold is refused by name, unless --lossy.

    \b
    Examples:
        isoscope convert run.edn run.parquet
        isoscope convert run.parquet run.txt.gz --lossy
    """
    if target != "-" and os.path.realpath(source) == os.path.realpath(target):
        raise UsageError(f"{target} would replace the history that is converted\n\nhint: name another OUT")
    history = formats.load(source, format=format_)
    for loss in formats.save(history, target, format=to, lossy=lossy):
        click.echo(f"lost: {loss}", err=True)
