"""`isoscope explain`: the catalogue of anomalies."""

from __future__ import annotations

import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from isoscope import anomalies, formats, profiles
from isoscope.anomalies import CATALOGUE, CatalogueEntry, Example, broken
from isoscope.checkers import CHECKERS, intervals, search
from isoscope.cli import terminal
from isoscope.errors import UsageError
from isoscope.levels import Level
from isoscope.reports import paragraph, render_counterexample
from isoscope.verdict import Claim

if TYPE_CHECKING:
    from isoscope.verdict import Anomaly

__all__ = ["command", "example_anomaly", "example_text", "reported"]

_SUFFIXES = {"plume": "txt", "jepsen": "edn", "aion": "json", "leopard": "leopard.jsonl"}
#: Claims without which an example does not show its anomaly.
_CLAIMED = {"cyclic-versions": (Claim.SEQUENTIAL_KEYS,)}


@click.command("explain")
@click.argument("name", metavar="ANOMALY", required=False)
@click.option("--example", is_flag=True, help="Print only the example history, ready for a file.")
def command(name: str | None, *, example: bool) -> None:
    """Explain an anomaly, with a small history that shows it.

    Without ANOMALY, list the catalogue. Every paper's name is understood (G1a, TAP-j, ...).

    \b
    Examples:
        isoscope explain aborted-read
        isoscope explain G1a --example > aborted.txt
    """
    if name is None:
        margin = max(map(len, CATALOGUE)) + 2
        entries = CATALOGUE.values()
        rows = (paragraph(e.meaning, head=e.name, margin=margin, width=terminal.width()) for e in entries)
        click.echo("\n".join(rows))
        return
    try:
        entry = anomalies.find(name)
    except ValueError as error:
        raise UsageError(f"{error}\n\nhint: `isoscope explain` lists them") from None
    if example:
        click.echo(_example(entry), nl=False)
    else:
        terminal.echo(_page(entry))


def reported() -> frozenset[str]:
    """Names of the anomalies that the checkers of this version report."""
    return frozenset(name for checker in (*CHECKERS, intervals) for name in checker.NAMES)


def example_text(entry: CatalogueEntry, *, width: int = 100, colour: bool = False) -> str:
    """The counterexample in the entry's example; empty if there is none or no method reports the anomaly."""
    with TemporaryDirectory() as folder:
        anomaly = example_anomaly(entry, folder)
    return (
        "" if anomaly is None else render_counterexample(anomaly, width=width, colour=colour, folder=folder)
    )


def example_anomaly(entry: CatalogueEntry, folder: str) -> Anomaly | None:
    """The anomaly that a method finds in the entry's example, which is written into `folder`."""
    if entry.example is None or entry.name not in reported():
        return None
    path = Path(folder) / f"example.{_SUFFIXES[entry.example.format]}"
    path.write_text(entry.example.text, encoding="utf-8")
    profile = profiles.load(entry.example.profile) if entry.example.profile else None
    claims = _CLAIMED.get(entry.name, ())
    found = search(formats.load(path), [entry.name], assume=claims, max_anomalies=1, profile=profile)
    [sighting] = found.sightings
    return sighting.anomalies[0]


def _example(entry: CatalogueEntry) -> str:
    if entry.example is None:
        raise UsageError(f"{entry.name} has no example history in this version")
    return entry.example.text


def _page(entry: CatalogueEntry) -> str:
    breaks = [str(level) for level in Level if level in broken(entry)]
    facts = {
        "also called": ", ".join(entry.aliases) or "-",
        "breaks": ", ".join(breaks) or "no level by itself",
        "counted": entry.counted,
        "source": entry.source,
    }
    width = terminal.width()
    rows = [paragraph(text, head=head, margin=13, width=width) for head, text in facts.items()]
    lines = [entry.title, "", paragraph(entry.meaning, width=width), "", *rows]
    if entry.name not in reported():
        lines += ["", "No method of this version reports it yet."]
    text = example_text(entry, width=width, colour=terminal.has_colour())
    lines += _example_lines("Example", entry.example, width, *(["", text] if text else []))
    lines += _example_lines("Allowed", entry.allowed, width)
    return "\n".join(lines)


def _example_lines(head: str, example: Example | None, width: int, *after: str) -> list[str]:
    if example is None:
        return []
    text = textwrap.indent(example.text, "    ").splitlines()
    how = f"{example.format}, --profile {example.profile}" if example.profile else example.format
    note = paragraph(f"{head} ({how}): {example.note}", width=width)
    return ["", note, "", *text, *after]
