"""`isoscope profiles`: which mechanisms each level of each database is made of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from isoscope import profiles
from isoscope.cli import terminal
from isoscope.profiles import PROFILES, Certifier, Granularity, Lock, Profile, Statement
from isoscope.reports import paragraph

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["command", "locks"]

_HEAD = ("profile", "snapshot", "locks", "first updater", "certifier", "promises")
_CHANGES = (Statement.INSERT, Statement.UPDATE, Statement.DELETE)


@click.command("profiles")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(name: str | None, *, as_json: bool) -> None:
    """List the profiles of databases: their mechanisms, level by level.

    With NAME, show one in full: DATABASE/LEVEL, or a file of your own, FILE.toml or FILE.toml/LEVEL.

    \b
    Examples:
        isoscope profiles
        isoscope profiles postgresql/serializable
        isoscope profiles my.toml --json
    """
    if name is None:
        found = list(PROFILES.values())
        click.echo(
            _json([_document(one) for one in found])
            if as_json
            else terminal.in_columns([_HEAD, *map(_row, found)])
        )
        return
    profile = profiles.load(name)
    click.echo(_json(_document(profile)) if as_json else _one(profile, terminal.width()))


def locks(profile: Profile) -> str:
    """The locks that statements of a profile keep until the end of their transaction, in few words."""
    select = profile.statements[Statement.SELECT]
    parts = [] if select.lock is Lock.NONE else ["ranges" if select.predicate else "reads"]
    if all(profile.statements[one].lock is not Lock.NONE for one in _CHANGES):
        parts.append("writes")
    if profile.commit_lock is not Lock.NONE:
        parts.append("commits")
    where = "" if profile.granularity is Granularity.ROW or not parts else f" ({profile.granularity})"
    return (", ".join(parts) or "none") + where


def _row(profile: Profile) -> tuple[str, ...]:
    certifier = "-" if profile.certifier is Certifier.NONE else str(profile.certifier)
    wins = "wins" if profile.first_updater_wins else "-"
    promises = ", ".join(profile.promises) or "-"
    return profile.name, str(profile.snapshot), locks(profile), wins, certifier, promises


def _one(profile: Profile, width: int) -> str:
    facts = {
        "also called": ", ".join(profile.aliases) or "-",
        "protocol": profile.protocol or "-",
        "snapshot": str(profile.snapshot),
        "locks are on": str(profile.granularity),
        "at commit": str(profile.commit_lock),
        "first updater": _first_updater(profile),
        "certifier": str(profile.certifier),
        "clocks": "of several machines" if profile.clock_skew else "one",
        "promises": ", ".join(profile.promises) or "-",
        "of registers": ", ".join(profile.register_promises),
        "documented": profile.documented,
    }
    rows = [paragraph(text, head=head, margin=15, width=width) for head, text in facts.items() if text]
    remarks = _remarks("Notes", profile.notes, width) + _remarks("Sources", profile.sources, width)
    return "\n".join([f"{profile.name} ({profile.database})", "", *rows, "", *_statements(profile), *remarks])


def _first_updater(profile: Profile) -> str:
    if not profile.first_updater_wins:
        return "has no right"
    return "wins, also against an insert" if profile.compares_inserts else "wins"


def _statements(profile: Profile) -> list[str]:
    lines = [f"{'statement':<20}{'locks':<12}{'reads':<14}predicate"]
    for statement in Statement:
        conduct = profile.statements[statement]
        predicate = "locked" if conduct.predicate else "-"
        lines.append(f"{statement:<20}{conduct.lock:<12}{conduct.read:<14}{predicate}")
    return lines


def _remarks(head: str, remarks: Iterable[str], width: int) -> list[str]:
    lines = [paragraph(remark, head="  -", margin=4, width=width) for remark in remarks]
    return ["", head, *lines] if lines else []


def _document(profile: Profile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "database": profile.database,
        "level": profile.level,
        "protocol": profile.protocol,
        "snapshot": profile.snapshot,
        "granularity": profile.granularity,
        "first_updater_wins": profile.first_updater_wins,
        "compares_inserts": profile.compares_inserts,
        "clock_skew": profile.clock_skew,
        "certifier": profile.certifier,
        "commit_lock": profile.commit_lock,
        "statements": {
            statement: {"lock": one.lock, "read": one.read, "predicate": one.predicate}
            for statement, one in ((each, profile.statements[each]) for each in Statement)
        },
        "promises": profile.promises,
        "register_promises": profile.register_promises,
        "documented": profile.documented,
        "aliases": profile.aliases,
        "sources": profile.sources,
        "notes": profile.notes,
    }


def _json(found: Any) -> str:
    return json.dumps(found, indent=2, ensure_ascii=False)
