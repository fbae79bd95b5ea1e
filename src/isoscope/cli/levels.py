"""`isoscope levels`: the lattices, and a page for each level."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from isoscope import levels, profiles
from isoscope.anomalies import CATALOGUE
from isoscope.anomalies.level_examples import level_example
from isoscope.cli import terminal
from isoscope.cli.options import parse_levels
from isoscope.levels import DEFINITIONS, FORMAL, Definition, Family, Level
from isoscope.reports import paragraph

if TYPE_CHECKING:
    from isoscope.anomalies import Example

__all__ = ["command"]

_FAMILIES = {
    Family.CLOCK: "against the database's own clock",
    Family.REAL_TIME: "with real time",
    Family.SESSION: "with session order",
    Family.SESSIONLESS: "without sessions",
}
_MARGIN = 13


@click.command("levels")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List the isolation levels and what each implies.

    With a NAME, explain that level. NAME is a level, one of its aliases, or what a vendor calls a level,
    after the name of the database.

    \b
    Examples:
        isoscope levels
        isoscope levels snapshot-isolation
        isoscope levels "postgresql:repeatable read"
    """
    if name is None:
        click.echo("\n\n".join([*map(_family, _FAMILIES), _undecided()]))
        return
    pages = [_page(DEFINITIONS[level]) for level in parse_levels([name])]
    click.echo("\n\n".join(pages))


def _family(family: Family) -> str:
    chosen = (definition for definition in DEFINITIONS.values() if definition.family is family)
    rows = [_row(definition) for definition in chosen if definition.decided]
    return "\n".join([f"Levels {_FAMILIES[family]}, stronger before weaker", *rows])


def _undecided() -> str:
    rows = [_row(definition) for definition in DEFINITIONS.values() if not definition.decided]
    return "\n".join(["Levels that no method decides: known by name, some by what implies them", *rows])


def _row(definition: Definition) -> str:
    implies = ", ".join(map(str, definition.implies)) or "nothing weaker"
    return f"  {definition.level:<44} => {implies}"


def _page(definition: Definition) -> str:
    """The level in plain words, its definition, its names, the anomalies that it admits, two histories."""
    level, width = definition.level, terminal.width()
    weaker = [str(other) for other in Level if other in levels.implied(level) and other is not level]
    stronger = [str(other) for other in Level if other in levels.implying(level) and other is not level]
    facts = {
        "definition": FORMAL[level],
        "note": f"{definition.note}; many databases use the name for another level."
        if definition.note
        else "",
        "vendors": "; ".join(_vendors(level)),
        "admits": ", ".join(_admitted(level)) or "no anomaly of the catalogue",
        "also called": ", ".join(definition.aliases) or "-",
        "implies": ", ".join(weaker) or "-",
        "implied by": ", ".join(stronger) or "-",
        "source": definition.source,
    }
    rows = [paragraph(text, head=head, margin=_MARGIN, width=width) for head, text in facts.items() if text]
    head = f"{level} ({_FAMILIES[definition.family]})"
    lines = [head, "", paragraph(definition.meaning, width=width), "", *rows]
    if not definition.decided:
        lines += ["", paragraph(_bounds(stronger, weaker), width=width)]
    for said, example in zip(
        ("Breaks it", "The nearest that does not"), level_example(level) or (), strict=False
    ):
        lines += _history(said, example, width)
    return "\n".join(lines)


def _vendors(level: Level) -> list[str]:
    """The levels of databases whose promise this is, as vendors call them."""
    return [
        f"{profile.database} {profile.isolation}"
        for profile in profiles.PROFILES.values()
        if level in profile.promises and profile.documented
    ]


def _admitted(level: Level) -> list[str]:
    """The anomalies that the level and the levels that it implies do not forbid."""
    return [
        entry.name
        for entry in CATALOGUE.values()
        if entry.breaks and not levels.implied(level) & {*entry.breaks}
    ]


def _history(head: str, example: Example, width: int) -> list[str]:
    note = paragraph(f"{head} ({example.format}): {example.note}", width=width)
    return ["", note, "", *textwrap.indent(example.text, "    ").splitlines()]


def _bounds(stronger: list[str], weaker: list[str]) -> str:
    """What other levels say of a level that no method decides."""
    if not stronger and not weaker:
        return "No method decides it, and nothing implies it: the answer is always unknown."
    return (
        "No method decides it: it holds where a level that implies it does, is violated where one that it "
        "implies is, and is unknown otherwise."
    )
