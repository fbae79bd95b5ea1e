"""What the page of databases says of each driver beside its isolations."""

from __future__ import annotations

from isoscope.databases.catalogue import CATALOGUE

__all__ = ["facts"]


def facts(name: str) -> str:
    """How a database starts, its evidence, how far its driver was tested."""
    entry = CATALOGUE[name]
    said = {
        "Starts": entry.starts,
        "Nodes, with `--nodes`": entry.nodes,
        "Faults, with `--faults`": ", ".join(f"`{kind}`" for kind in entry.faults),
        "Install": f"`pip install 'isoscope[{entry.extra}]'`" if entry.extra else "",
        "Evidence": ", ".join(entry.evidence),
        "Tested": entry.tested.value,
        "Note": entry.note,
    }
    lines = [f"- {head}: {text}" for head, text in said.items() if text]
    return "\n".join([f"{entry.title}.", "", *lines])
