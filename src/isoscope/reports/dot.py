"""The counterexamples of a history as a graph for Graphviz: one cluster each, transactions as nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.explain import shown
from isoscope.reports.findings import examples
from isoscope.reports.picture.labels import operation
from isoscope.reports.picture.layout import circles, participants_of
from isoscope.reports.plain_text import printable, shortened
from isoscope.reports.relations import RELATIONS
from isoscope.verdict import START

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.reports.picture.links import Link
    from isoscope.verdict import Anomaly, Participant, Report, Search

__all__ = ["render_dot"]

_STATUS = {"aborted": "dashed", "indeterminate": "dotted"}


def render_dot(report: Report | Search) -> str:
    """One graph for the report; an inferred edge is dashed, an operation that matters has a star."""
    lines = [
        f"digraph {_quoted(str(report.history['path']))} {{",
        "  rankdir=LR;",
        '  node [shape=box, fontname="monospace", fontsize=11];',
        '  edge [fontname="sans-serif", fontsize=11];',
        *(
            line
            for number, anomaly in enumerate(examples(report), start=1)
            for line in _clusters(anomaly, number)
        ),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _clusters(anomaly: Anomaly, number: int) -> Iterator[str]:
    for place, (caption, links) in enumerate(circles(anomaly), start=1):
        name = f"{number}.{place}" if caption else str(number)
        title = f"{anomaly.name}, {caption.removesuffix(':')}" if caption else anomaly.name
        yield from _cluster(name, title, participants_of(anomaly, links if caption else None), links)


def _cluster(
    name: str, title: str, participants: Sequence[Participant], links: Sequence[Link]
) -> Iterator[str]:
    known = {participant.transaction for participant in participants} | {START}
    drawn = [link for link in links if {link.before, link.after} <= known]
    yield f"  subgraph {_quoted(f'cluster {name}')} {{"
    yield f"    label={_label(title)};"
    if any(START in (link.before, link.after) for link in drawn):
        yield f"    {_node(name, START)} [label={_label(START)}, shape=ellipse];"
    yield from (_transaction(name, participant) for participant in participants)
    yield from (_edge(name, link) for link in drawn)
    yield "  }"


def _transaction(name: str, participant: Participant) -> str:
    named = shortened(shown(participant.session), 14)
    session = "" if participant.session is None else f" (session {named}{participant.at})"
    status = "" if participant.status == "committed" else f" {participant.status}"
    rows = [
        f"{'*' if each.index in participant.matters else ' '} {operation(each)}"
        for each in participant.operations
    ]
    more = [f"  ... {participant.left_out:,} more"] if participant.left_out else []
    heading = f"{shortened(participant.transaction, 24)}{session}{status}"
    style = f", style={_STATUS[participant.status]}" if participant.status in _STATUS else ""
    return f"    {_node(name, participant.transaction)} [label={_label(heading, *rows, *more)}{style}];"


def _edge(name: str, link: Link) -> str:
    relation = RELATIONS.get(link.relation, RELATIONS["wr"])
    style = "dashed" if link.inferred else "solid"
    return (
        f"    {_node(name, link.before)} -> {_node(name, link.after)} [label={_label(link.label)}, "
        f'color="{relation.light}", fontcolor="{relation.light}", arrowhead={relation.dot_head}, '
        f"style={style}];"
    )


def _node(name: str, transaction: str) -> str:
    return _quoted(f"{name} {transaction}")


def _label(first: str, *rows: str) -> str:
    """Lines that begin at the left; Graphviz reads entities in labels, so an ampersand is one."""
    lines = [_escaped(line.replace("&", "&amp;")) for line in (first, *rows)]
    return f'"{lines[0]}"' if len(lines) == 1 else '"' + "".join(f"{line}\\l" for line in lines) + '"'


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """A text of which Graphviz reads every character as it is."""
    return printable(text).replace("\\", r"\\").replace('"', r"\"")
