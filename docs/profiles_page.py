"""The page of all profiles."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from docs import markdown
from isoscope.cli.profiles import locks
from isoscope.profiles import DATABASES, PROFILES, Profile, Statement

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["profiles"]


def profiles() -> str:
    """Every profile: the table, then each with its statements, sources and notes."""
    intro = (
        "What `isoscope profiles` prints. [The method of intervals](../explanation/intervals.md) says what "
        "the mechanisms are; [write a profile](../how-to/write-a-profile.md) how to say it of another "
        "database. *Locks* are those that are held until the end of the transaction by plain reads, by "
        "writes, and while a transaction commits."
    )
    head = ["profile", "snapshot", "locks", "first updater", "certifier", "promises"]
    table = markdown.table(head, map(_profile_row, PROFILES.values()))
    return markdown.page(
        "Profiles", intro, table, *(part for name in DATABASES for part in _profiles_of(name))
    )


def _profile_row(profile: Profile) -> list[str]:
    return [
        f"[`{profile.name}`](#{profile.name.replace('/', '')})",
        str(profile.snapshot),
        locks(profile),
        "wins" if profile.first_updater_wins else "",
        "" if profile.certifier == "none" else str(profile.certifier),
        markdown.links(profile.promises),
    ]


def _profiles_of(database: str) -> Iterator[str]:
    of_database = [profile for profile in PROFILES.values() if profile.name.startswith(f"{database}/")]
    yield f"## {of_database[0].database}"
    for profile in of_database:
        yield f"### {profile.name}"
        yield markdown.facts({"Protocol": profile.protocol, "Also called": markdown.codes(profile.aliases)})
        yield markdown.table(
            ["statement", "locks", "reads", "predicate"], map(partial(_conduct, profile), Statement)
        )
        yield "\n".join(f"- {note}" for note in (*profile.notes, f"Sources: {', '.join(profile.sources)}"))


def _conduct(profile: Profile, statement: Statement) -> list[str]:
    conduct = profile.statements[statement]
    return [f"`{statement}`", str(conduct.lock), str(conduct.read), "locked" if conduct.predicate else ""]
