"""`isoscope databases`: what can be run, what each promises, and how far it was tested."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from isoscope import profiles
from isoscope.cli import terminal
from isoscope.databases import ALIASES, DATABASES, driver
from isoscope.databases.catalogue import CATALOGUE
from isoscope.databases.database import refuse_unknown
from isoscope.reports import paragraph

if TYPE_CHECKING:
    from isoscope.databases.database import Database, Isolation

__all__ = ["command"]

_HEAD = ("database", "runs", "tested", "log of versions", "timestamps", "isolations, the default first")
_NEXT = """
`isoscope run NAME` runs one, and says whether it kept its promise. `isoscope databases NAME` has what each
isolation promises, how the database starts, and its settings."""
_MARGIN = 12


@click.command("databases")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(name: str | None, *, as_json: bool) -> None:
    """List the databases that can be run: isolations, promises, evidence.

    With NAME, show one in full: what each of its isolations is called by the vendor and promises, what its
    histories hold as evidence, how it starts, and how far the driver was tested.

    \b
    Examples:
        isoscope databases
        isoscope databases postgresql
        isoscope databases h2 --json
    """
    if name is None:
        documents = [_document(driver(one)) for one in DATABASES]
        click.echo(_json(documents) if as_json else _table())
        return
    name = ALIASES.get(name, name)
    refuse_unknown("database", name, list(DATABASES))
    found = driver(name)
    click.echo(_json(_document(found)) if as_json else _page(found, terminal.width()))


def _table() -> str:
    rows = terminal.in_columns([_HEAD, *map(_row, DATABASES)])
    return f"{rows}\n{_NEXT}"


def _row(name: str) -> tuple[str, ...]:
    entry, found = CATALOGUE[name], driver(name)
    return (
        name,
        entry.place.value,
        entry.tested.value,
        "yes" if entry.order else "-",
        "yes" if entry.timestamps else "-",
        ", ".join(found.ISOLATIONS),
    )


def _page(found: type[Database], width: int) -> str:
    entry = CATALOGUE[found.NAME]
    facts = {
        "starts": entry.starts,
        "nodes": f"with --nodes: {entry.nodes}" if entry.nodes else "",
        "faults": f"with --faults: {', '.join(entry.faults)}" if entry.faults else "",
        "install": f"pip install 'isoscope[{entry.extra}]'" if entry.extra else "",
        "evidence": ", ".join(entry.evidence),
        "tested": entry.tested.value,
        "note": entry.note,
    }
    lines = [paragraph(text, head=head, margin=_MARGIN, width=width) for head, text in facts.items() if text]
    parts = [f"{found.NAME} ({entry.title})", "\n".join(lines), _isolations(found, width)]
    if found.SETTINGS:
        parts.append(_settings(found, width))
    return "\n\n".join(parts)


def _isolations(found: type[Database], width: int) -> str:
    lines = ["Isolations, the default first"]
    for name, isolation in found.ISOLATIONS.items():
        vendor, documented = _vendor(found, name)
        promises = ", ".join(isolation.promises)
        lines += [
            f"  {name}" + (f" ({vendor})" if vendor else ""),
            paragraph(isolation.meaning, head="    does", margin=_MARGIN + 4, width=width),
            paragraph(
                promises + (f" ({documented})" if documented else ""),
                head="    promises",
                margin=_MARGIN + 4,
                width=width,
            ),
        ]
    return "\n".join(lines)


def _settings(found: type[Database], width: int) -> str:
    margin = max(map(len, found.SETTINGS)) + 4
    rows = [
        paragraph(text, head=f"  {name}", margin=margin, width=width) for name, text in found.SETTINGS.items()
    ]
    return "\n".join(["Settings, for --set NAME=VALUE", *rows])


def _vendor(found: type[Database], isolation: str) -> tuple[str, str]:
    """What the vendor calls an isolation, and the page that describes it."""
    name = profiles.of(found.NAME, isolation)
    if name is None:
        return "", ""
    profile = profiles.load(name)
    return f"{profile.database} {isolation.replace('-', ' ').upper()}", profile.documented


def _document(found: type[Database]) -> dict[str, Any]:
    entry = CATALOGUE[found.NAME]
    return {
        "name": found.NAME,
        "title": entry.title,
        "place": entry.place.value,
        "starts": entry.starts,
        "nodes": entry.nodes,
        "faults": list(entry.faults),
        "extra": entry.extra or None,
        "evidence": list(entry.evidence),
        "tested": entry.tested.value,
        "note": entry.note,
        "isolations": [_isolation(found, name, one) for name, one in found.ISOLATIONS.items()],
        "settings": dict(found.SETTINGS),
    }


def _isolation(found: type[Database], name: str, isolation: Isolation) -> dict[str, Any]:
    vendor, documented = _vendor(found, name)
    return {
        "name": name,
        "vendor": vendor,
        "meaning": isolation.meaning,
        "promises": list(isolation.promises),
        "documented": documented,
    }


def _json(found: Any) -> str:
    return json.dumps(found, indent=2, ensure_ascii=False)
