"""What `isoscope graph` prints: answers, and the tables of queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.cli import terminal
from isoscope.reports import paragraph, render_counterexample
from isoscope.reports.plain_text import counted
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isoscope.graphdb import Answer, Table

__all__ = ["answer_document", "answers_text", "cell", "facts_text", "table_document", "table_text"]

_MARGIN = 30
#: Reads of a level that are listed; the others are counted.
_READS = 5


def facts_text(facts: Mapping[str, Any]) -> str:
    """The sizes of a stored graph, in one line."""
    sizes = f"{counted(facts['transactions'], 'transaction')}, {facts['edges']:,} dependencies"
    return f"graph {facts['name']} of {facts['path']}: {sizes}"


def answers_text(facts: Mapping[str, Any], answers: Sequence[Answer]) -> str:
    """The outcome of each level, then each counterexample once."""
    lines = [paragraph(_outcome(a), head=str(a.level), margin=_MARGIN, width=_width()) for a in answers]
    lines += ["", facts_text(facts), f"method {answers[0].method}: {_worth(answers[0])}"]
    for shown in dict.fromkeys(_counterexamples(answers)):
        lines += ["", shown]
    return "\n".join(lines)


def answer_document(answer: Answer) -> dict[str, Any]:
    """An answer as JSON."""
    found = answer.cycle
    return {
        "level": str(answer.level),
        "outcome": str(answer.outcome),
        "method": str(answer.method),
        "complete": answer.method.is_complete,
        "reason": answer.reason,
        "anomaly": found.anomaly.name if found else "",
        "transactions": list(found.anomaly.transactions) if found else [],
        "relations": list(found.relations) if found else [],
        "wrong_reads": [
            {"name": r.name, "transaction": r.transaction, "key": r.key, "value": r.value}
            for r in answer.reads
        ],
    }


def table_document(table: Table) -> list[dict[str, Any]]:
    """The rows of a result as JSON."""
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def table_text(table: Table) -> str:
    """A result in columns; vertices and edges are shown by their names."""
    rows = [table.columns, *(tuple(map(cell, row)) for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join([*padded, "", counted(len(table.rows), "row")])


def cell(value: Any) -> str:
    """A value of a result: a path as `T1 (wr) T2`, a vertex by its name, an edge by its type."""
    if isinstance(value, dict):
        return _element(value)
    if isinstance(value, list):
        return f"[{', '.join(map(cell, value))}]"
    text = "" if value is None else str(value)
    return text if text.isprintable() else ascii(text)


def _element(value: Mapping[str, Any]) -> str:
    if "vertices" in value and "edges" in value:
        names = [cell(vertex) for vertex in value["vertices"]]
        steps = (f" ({edge['label']}) {name}" for edge, name in zip(value["edges"], names[1:], strict=True))
        return names[0] + "".join(steps)
    if "type" in value or "name" not in value:
        return str(value.get("type") or value.get("label", ""))
    return str(value["name"])


def _worth(answer: Answer) -> str:
    return "complete" if answer.method.is_complete else "incomplete, `holds` cannot be shown"


def _outcome(answer: Answer) -> str:
    if answer.cycle is not None:
        return f"{answer.outcome}: {answer.cycle}"
    if answer.reads:
        shown = "; ".join(
            f"{read.transaction} read {cell(read.key)} = {cell(read.value)} ({read.name})"
            for read in answer.reads[:_READS]
        )
        more = f"; and {len(answer.reads) - _READS} more" if len(answer.reads) > _READS else ""
        return f"{answer.outcome}: {shown}{more}"
    return f"{answer.outcome}: {answer.reason}" if answer.reason else str(answer.outcome)


def _counterexamples(answers: Sequence[Answer]) -> Iterator[str]:
    for answer in answers:
        if answer.outcome is Outcome.VIOLATED and answer.cycle is not None:
            anomaly = answer.cycle.anomaly
            yield f"{anomaly.name}\n\n{render_counterexample(anomaly, width=_width())}"


def _width() -> int:
    return terminal.width()
