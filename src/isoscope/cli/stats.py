"""`isoscope stats`: what a history holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from isoscope import formats
from isoscope.checkers import graph, version_order
from isoscope.cli.options import format_option
from isoscope.history import EvidenceKind, Extent
from isoscope.reports import dumps

if TYPE_CHECKING:
    from isoscope.history import History

__all__ = ["command", "graph_statistics", "statistics"]


@click.command("stats")
@click.argument("path", metavar="HISTORY")
@format_option("the history")
@click.option("--graph", "with_graph", is_flag=True, help="Also count the dependency graph.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(path: str, *, format_: str | None, with_graph: bool, as_json: bool) -> None:
    """Show what a history holds: sizes, evidence, repeated values.

    \b
    Example:
        isoscope stats history.edn
        isoscope stats history.edn --graph
    """
    history = formats.load(path, format=format_)
    found = statistics(history)
    if with_graph:
        found |= graph_statistics(history)
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


def graph_statistics(history: History) -> dict[str, Any]:
    """The dependency graph in numbers, and by which source how many keys are ordered."""
    counted = graph.characteristics(history)
    ordered = version_order.ordered(history)
    return {
        "vertices": counted.vertices,
        "edges": counted.edges,
        "edges by kind": {"wr": counted.wr, "ww": counted.ww, "rw": counted.rw},
        "density": round(counted.density, 4),
        "components": counted.components,
        "largest component": counted.largest_component,
        "traversals": counted.traversals,
        "more traversals": counted.traversals_are_partial,
        "keys by order": {row.source or "nothing": row.keys for row in ordered},
        "wholly ordered": {row.source or "nothing": row.whole for row in ordered},
    }


def _line(name: str, value: Any) -> str:
    if isinstance(value, dict):
        value = ", ".join(f"{key}: {item}" for key, item in value.items()) or "none"
    elif isinstance(value, list):
        value = ", ".join(value) or "nothing special"
    elif isinstance(value, bool):
        value = "yes" if value else "no"
    elif isinstance(value, int):
        value = f"{value:,}"
    return f"{name:<16} {value}"
