"""`isoscope stats`: what a history holds."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isoscope import formats
from isoscope.activity import activity
from isoscope.checkers import graph, version_order
from isoscope.cli import terminal
from isoscope.cli.options import format_option
from isoscope.errors import UsageError
from isoscope.history import EvidenceKind, Extent
from isoscope.reports import activity_document, activity_lines, dumps, paragraph, render_plot

if TYPE_CHECKING:
    from isoscope.history import History

__all__ = ["command", "graph_statistics", "statistics"]

#: Names of the document that read otherwise in the text: a level holds, a history contains.
_LABELS = {"holds": "contains"}


@click.command("stats")
@click.argument("path", metavar="HISTORY")
@format_option("the history")
@click.option("--graph", "with_graph", is_flag=True, help="Also count the dependency graph.")
@click.option("--activity", "with_activity", is_flag=True,
              help="Also say what went on: latency, throughput, abort rate, busiest keys.")  # fmt: skip
@click.option("--plot", metavar="OUT.svg", help="Write what --activity says as a page of charts.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    path: str,
    *,
    format_: str | None,
    with_graph: bool,
    with_activity: bool,
    plot: str | None,
    as_json: bool,
) -> None:
    """Show what a history holds: sizes, evidence, repeated values.

    Time is the client's clock if the history has it, else the database's, else an order; the output and the
    charts say which. With --activity --json, the document has every number that the charts show.

    \b
    Examples:
        isoscope stats history.edn
        isoscope stats history.edn --graph
        isoscope stats history.edn --activity --plot history.svg
    """
    if plot is not None and not plot.lower().endswith(".svg"):
        raise UsageError(f"--plot {plot}: the charts are SVG\n\nhint: let the name end in .svg")
    history = formats.load(path, format=format_)
    found = statistics(history)
    if with_graph:
        found |= graph_statistics(history)
    counted = activity(history) if with_activity or plot else None
    if counted and plot:
        _write(plot, render_plot(counted, title=history.source.path))
    shown = counted if with_activity else None
    if as_json:
        click.echo(dumps(found | ({"activity": activity_document(shown)} if shown else {})))
        return
    for name, value in (found | dict(activity_lines(shown) if shown else ())).items():
        click.echo(_line(_LABELS.get(name, name), value))


def _write(path: str, content: str) -> None:
    try:
        Path(path).write_text(content, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None


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
        "holds": formats.features_of(history),
        **_deployment(history),
        "notes": dict(history.notes),
    }


def _deployment(history: History) -> dict[str, Any]:
    """How many sessions each node has, and how often each fault was injected."""
    deployment = history.deployment
    nodes = Counter(deployment.nodes.values())
    faults = Counter(fault.kind for fault in deployment.faults)
    return {
        **({"nodes": dict(sorted(nodes.items()))} if nodes else {}),
        **({"faults": dict(sorted(faults.items()))} if faults else {}),
    }


def graph_statistics(history: History) -> dict[str, Any]:
    """The sizes of the dependency graph, and the number of keys that each source orders."""
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
    head = f"{name:<16} "
    if not sys.stdout.isatty():
        return f"{head}{value}"  # One line for each name: other programs read it.
    return paragraph(str(value), width=terminal.width(), head=head, margin=len(head))
