"""A profile as a file: TOML, one file for a database, one table for each of its levels.

A file without `levels` is one level by itself. `extends` takes everything from another profile, of the same
file or a known one, but for what is said anew. `docs/how-to/write-a-profile.md` describes the keys.
"""

from __future__ import annotations

import re
import tomllib
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from isoscope import levels
from isoscope.errors import FormatError, UsageError
from isoscope.profiles.profile import (
    Certifier,
    Conduct,
    Granularity,
    Lock,
    Profile,
    Read,
    Snapshot,
    Statement,
)
from isoscope.profiles.table import Table, excerpt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isoscope.levels import Level

__all__ = ["parse"]

#: What a statement does unless a profile says otherwise: reads show the snapshot, all else locks its rows.
_USUAL: Mapping[Statement, Conduct] = MappingProxyType(
    {
        Statement.SELECT: Conduct(),
        Statement.SELECT_FOR_SHARE: Conduct(lock=Lock.SHARE, read=Read.LOCKING),
        Statement.SELECT_FOR_UPDATE: Conduct(lock=Lock.EXCLUSIVE, read=Read.LOCKING),
        Statement.INSERT: Conduct(lock=Lock.EXCLUSIVE, read=Read.LOCKING),
        Statement.UPDATE: Conduct(lock=Lock.EXCLUSIVE, read=Read.LOCKING),
        Statement.DELETE: Conduct(lock=Lock.EXCLUSIVE, read=Read.LOCKING),
    }
)
_HEAD = ("database", "documented", "aliases", "sources", "notes", "levels")
_LEVEL = (
    "extends",
    "protocol",
    "snapshot",
    "granularity",
    "first-updater-wins",
    "compares-inserts",
    "clock-skew",
    "certifier",
    "commit-lock",
    "statements",
    "promises",
    "register-promises",
    "documented",
    "aliases",
    "sources",
    "notes",
)
_CONDUCT = ("lock", "read", "predicate")
#: Certifiers that compare the writers of a row.
_COMPARING = (Certifier.OPTIMISTIC_WRITES, Certifier.TIMESTAMP_ORDER)
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_POSITION = re.compile(r" \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$")


def parse(
    text: str, *, name: str, path: str = "<string>", known: Callable[[str], Profile]
) -> dict[str, Profile]:
    """The profiles of a document by level; of one without `levels` a single one, whose level is empty.

    `name` stands before the level in their names; `known` finds what they extend, or raises `UsageError`.
    Raises `FormatError`.
    """
    return _Document(Table(_content(text, path), document=text, path=path), name, known).profiles()


def _content(text: str, path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem = _POSITION.search(str(error))
        lines = text.splitlines() or [""]
        line = int(problem["line"]) if problem and problem["line"] else len(lines)
        column = int(problem["column"]) if problem and problem["line"] else len(lines[-1]) + 1
        said = _POSITION.sub("", str(error))
        raise FormatError(
            path=path,
            expected="TOML",
            found=f"something else: {said[:1].lower()}{said[1:]}",
            line=line,
            column=column,
            excerpt=excerpt(lines[line - 1]) if line <= len(lines) else "",
            caret=column,
        ) from None


class _Document:
    """The profiles of one file, each made when it is asked for: they may extend each other."""

    def __init__(self, head: Table, name: str, known: Callable[[str], Profile]) -> None:
        self._head = head
        self._name = name
        self._known = known
        self._made: dict[str, Profile] = {}
        self._under_way: set[str] = set()

    def profiles(self) -> dict[str, Profile]:
        tables = self._head.table("levels")
        if tables is None:
            self._head.allow(("database", *_LEVEL))
            return {"": self._profile("", self._head)}
        self._head.allow(_HEAD)
        if not list(tables):
            raise self._head.mistake("levels", "at least one level")
        for level in tables:
            if not _NAME.fullmatch(level):
                raise tables.mistake(level, "a name of small letters, digits and hyphens", of_value=False)
        return {level: self._of_level(level, tables) for level in tables}

    def _of_level(self, level: str, tables: Table) -> Profile:
        if level not in self._made:
            if level in self._under_way:
                raise tables.mistake(level, "a profile that does not extend itself", found=f"`{level}`")
            self._under_way.add(level)
            table = tables.table(level)
            assert table is not None, "it is one of its keys"
            table.allow(_LEVEL)
            self._made[level] = self._profile(level, table)
        return self._made[level]

    def _profile(self, level: str, table: Table) -> Profile:
        profile = self._unchecked(level, table)
        if profile.first_updater_wins and profile.certifier in _COMPARING:
            key = "first-updater-wins" if "first-updater-wins" in table else "certifier"
            raise table.mistake(
                key,
                f'`first-updater-wins = false` beside `certifier = "{profile.certifier}"`',
                hint=f"`{profile.certifier}` compares the writers of a row itself",
            )
        return profile

    def _unchecked(self, level: str, table: Table) -> Profile:
        base = self._base(table)
        return Profile(
            name=f"{self._name}/{level}" if level else self._name,
            database=self._head.text("database") or base.database or self._name,
            level=level or base.level or self._name,
            protocol=table.text("protocol") or base.protocol,
            snapshot=table.choice("snapshot", Snapshot) or base.snapshot,
            granularity=table.choice("granularity", Granularity) or base.granularity,
            first_updater_wins=_flag(table, "first-updater-wins", base.first_updater_wins),
            compares_inserts=_flag(table, "compares-inserts", base.compares_inserts),
            clock_skew=_flag(table, "clock-skew", base.clock_skew),
            certifier=table.choice("certifier", Certifier) or base.certifier,
            commit_lock=table.choice("commit-lock", Lock) or base.commit_lock,
            statements=_statements(table, base.statements),
            promises=_promises(table, "promises", base.promises),
            register_promises=_promises(table, "register-promises", _inherited(table, base)),
            documented=table.text("documented") or self._documented(base),
            aliases=self._aliases(level, table),
            sources=self._remarks("sources", table, base.sources),
            notes=self._remarks("notes", table, base.notes),
        )

    def _documented(self, base: Profile) -> str:
        """The page that the file names, else that of the profile that is extended, else a source."""
        pages = (one for one in self._head.texts("sources") if one.startswith("https://"))
        return self._head.text("documented") or base.documented or next(pages, "")

    def _remarks(self, key: str, table: Table, inherited: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the level, then those of all levels."""
        return tuple(dict.fromkeys((*(table.texts(key) or inherited), *self._head.texts(key))))

    def _base(self, table: Table) -> Profile:
        name = table.text("extends")
        if name is None:
            for key in ("snapshot", "certifier", "first-updater-wins"):
                if key not in table:
                    hint = 'say it, or take it from another profile with `extends = "DATABASE/LEVEL"`'
                    raise table.mistake(key, f"`{key}`", hint=hint)
            return _NOTHING
        tables = self._head.table("levels")
        if tables is not None and name in tables:
            return self._of_level(name, tables)
        try:
            return self._known(name)
        except UsageError as error:
            problem, _, hint = str(error).partition("\n\nhint: ")
            raise table.mistake("extends", "a profile that is there", found=problem, hint=hint) from None

    def _aliases(self, level: str, table: Table) -> tuple[str, ...]:
        """Every other spelling: of the database, of the level, or of both."""
        if not level:
            return table.texts("aliases")
        databases = (self._name, *self._head.texts("aliases"))
        spelled = (level, *table.texts("aliases"))
        return tuple(f"{database}/{one}" for database in databases for one in spelled)[1:]


def _inherited(table: Table, base: Profile) -> tuple[Level, ...]:
    """A profile that says anew what it promises takes no promise from the one that it extends."""
    return () if "promises" in table else base.register_promises


def _promises(table: Table, key: str, inherited: tuple[Level, ...]) -> tuple[Level, ...]:
    if key not in table:
        return inherited
    try:
        return tuple(map(levels.parse, table.texts(key)))
    except ValueError as error:
        raise table.mistake(key, "levels", found=str(error), hint="`isoscope levels` lists them") from None


def _statements(table: Table, base: Mapping[Statement, Conduct]) -> Mapping[Statement, Conduct]:
    tables = table.table("statements")
    if tables is None:
        return base
    tables.allow(map(str, Statement))
    return MappingProxyType({one: _conduct(tables.table(one), base[one]) for one in Statement})


def _conduct(table: Table | None, base: Conduct) -> Conduct:
    if table is None:
        return base
    table.allow(_CONDUCT)
    return Conduct(
        lock=table.choice("lock", Lock) or base.lock,
        read=table.choice("read", Read) or base.read,
        predicate=_flag(table, "predicate", base.predicate),
    )


def _flag(table: Table, key: str, base: bool) -> bool:  # noqa: FBT001 - the value that is inherited
    flag = table.flag(key)
    return base if flag is None else flag


_NOTHING = Profile(
    name="",
    database="",
    level="",
    protocol="",
    snapshot=Snapshot.STATEMENT,
    first_updater_wins=False,
    certifier=Certifier.NONE,
    statements=_USUAL,
)
