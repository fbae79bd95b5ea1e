"""`isoscope levels`: the lattices."""

from __future__ import annotations

import click

from isoscope import levels
from isoscope.errors import UsageError
from isoscope.levels import DEFINITIONS, Definition, Family, Level
from isoscope.reports import paragraph

__all__ = ["command"]

_FAMILIES = {
    Family.CLOCK: "against the database's own clock",
    Family.REAL_TIME: "with real time",
    Family.SESSION: "with session order",
    Family.SESSIONLESS: "without sessions",
}


@click.command("levels")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List the isolation levels and what each implies.

    \b
    Examples:
        isoscope levels
        isoscope levels snapshot-isolation
    """
    if name is None:
        click.echo("\n\n".join([*map(_family, _FAMILIES), _undecided()]))
        return
    try:
        click.echo(_one(DEFINITIONS[levels.parse(name)]))
    except ValueError as error:
        raise UsageError(f"{error}\n\nhint: `isoscope levels` lists them") from None


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


def _one(definition: Definition) -> str:
    level = definition.level
    weaker = [str(other) for other in Level if other in levels.implied(level) and other is not level]
    stronger = [str(other) for other in Level if other in levels.implying(level) and other is not level]
    facts = {
        "also called": ", ".join(definition.aliases) or "-",
        "implies": ", ".join(weaker) or "-",
        "implied by": ", ".join(stronger) or "-",
        "source": definition.source,
    }
    rows = [paragraph(text, head=head, margin=13) for head, text in facts.items()]
    lines = [f"{level} ({_FAMILIES[definition.family]})", "", paragraph(definition.meaning), "", *rows]
    if not definition.decided:
        lines += ["", paragraph(_bounds(stronger, weaker))]
    return "\n".join(lines)


def _bounds(stronger: list[str], weaker: list[str]) -> str:
    """What other levels say of a level that no method decides."""
    if not stronger and not weaker:
        return "No method decides it, and nothing implies it: the answer is always unknown."
    return (
        "No method decides it: it holds where a level that implies it does, is violated where one that it "
        "implies is, and is unknown otherwise."
    )
