"""`isoscope explain`: the catalogue of anomalies."""

from __future__ import annotations

import textwrap

import click

from isoscope import anomalies
from isoscope.anomalies import CATALOGUE, CatalogueEntry, broken
from isoscope.checkers import CHECKERS
from isoscope.errors import UsageError
from isoscope.levels import Level
from isoscope.reports import paragraph

__all__ = ["command", "reported"]


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
        click.echo("\n".join(paragraph(entry.meaning, head=entry.name, margin=margin) for entry in entries))
        return
    try:
        entry = anomalies.find(name)
    except ValueError as error:
        raise UsageError(f"{error}\n\nhint: `isoscope explain` lists them") from None
    click.echo(_example(entry) if example else _page(entry), nl=not example)


def reported() -> frozenset[str]:
    """Names of the anomalies that the checkers of this version report."""
    return frozenset(name for checker in CHECKERS for name in checker.NAMES)


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
    rows = [paragraph(text, head=head, margin=13) for head, text in facts.items()]
    lines = [entry.title, "", paragraph(entry.meaning), "", *rows]
    if entry.name not in reported():
        lines += ["", "No method of this version reports it yet."]
    for head, example in (("Example", entry.example), ("Allowed", entry.allowed)):
        if example is not None:
            lines += ["", f"{head} ({example.format}): {example.note}", ""]
            lines += textwrap.indent(example.text, "    ").splitlines()
    return "\n".join(lines)
