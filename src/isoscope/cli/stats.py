"""`isoscope stats`: what a history holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from isoscope import formats
from isoscope.cli.options import format_option
from isoscope.history import EvidenceKind, Extent
from isoscope.reports import dumps

if TYPE_CHECKING:
    from isoscope.history import History

__all__ = ["command", "statistics"]


@click.command("stats")
@click.argument("path", metavar="HISTORY")
@format_option("the history")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(path: str, *, format_: str | None, as_json: bool) -> None:
    """Show what a history holds: sizes, evidence, repeated values.

    \b
    Example:
        isoscope stats history.edn
    """
    found = statistics(formats.load(path, format=format_))
    if as_json:
        click.echo(dumps(found))
        return
    for name, value in found.items():
        click.echo(_line(name, value))


def statistics(history: History) -> dict[str, Any]:
    """Sizes, operations by kind, evidence, initial value, repeated values and the reader's notes."""
    counts = history.counts
    lengths = [len(session.transactions) for session in history.sessions]
    kinds = (
        "read",
        "write",
        "append",
        "insert",
        "delete",
        "range-read",
        "begin",
        "commit",
        "abort",
    )
    return {
        "path": history.source.path,
        "format": history.source.format,
        "sessions": counts["sessions"],
        "transactions": counts["transactions"],
        **{status: counts[status] for status in ("committed", "aborted", "indeterminate")},
        "longest session": max(lengths, default=0),
        "operations": counts["operations"],
        **{f"{kind}s": counts[kind] for kind in kinds if counts[kind]},
        "keys": counts["keys"],
        "initial value": str(history.initial),
        "repeated values": history.evidence.repeated_values,
        "evidence": {str(kind): Extent(history.evidence[kind]).name.lower() for kind in EvidenceKind},
        "holds": history.columns.features(),
        "notes": dict(history.notes),
    }


def _line(name: str, value: Any) -> str:
    if isinstance(value, dict):
        value = ", ".join(f"{key}: {item}" for key, item in value.items()) or "none"
    elif isinstance(value, list):
        value = ", ".join(value) or "nothing special"
    elif isinstance(value, int):
        value = f"{value:,}"
    return f"{name:<16} {value}"
