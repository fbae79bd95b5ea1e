"""`isoscope verify`: whether a certificate proves the verdicts that it carries."""

from __future__ import annotations

from pathlib import Path

import click

from isoscope.cli.options import parse_levels
from isoscope.errors import UsageError
from isoscope.verify import BadInputError
from isoscope.verify.command import report

__all__ = ["command"]

_ORDER = "the history comes first, then its certificate, which `isoscope check --certificate` writes"


@click.command("verify")
@click.argument("history", type=click.Path(exists=True, path_type=Path))
@click.argument("certificate", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--level", "levels", multiple=True, metavar="LEVEL", help="Verify only the verdict of this level."
)
def command(history: Path, certificate: Path, *, levels: tuple[str, ...]) -> int:
    """Verify a certificate: the proof of verdicts about a history.

    The verifier shares no code with the checkers: it reads HISTORY by itself and checks every step of
    CERTIFICATE against the definitions. It reads Plume text, Jepsen EDN and Parquet; convert other formats
    first. Exits 0 if every verdict is proved, 1 if one is not.

    \b
    Examples:
        isoscope verify history.txt history.certificate.gz
        isoscope verify history.edn history.certificate.gz --level serializable
    """
    try:
        status, text = report(history, certificate, [str(level) for level in parse_levels(levels)])
    except BadInputError as error:
        hint = f"\n\nhint: {_ORDER}" if str(error).startswith(f"{certificate}:") else ""
        raise UsageError(f"{error}{hint}") from None
    click.echo(text, nl=False)
    return status
