"""The profiles that come with Isoscope, and the way to those of users: by name, or in a file."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from isoscope import levels
from isoscope.errors import FormatError, UsageError
from isoscope.profiles import document
from isoscope.profiles.profile import Profile

if TYPE_CHECKING:
    from isoscope.levels import Level

__all__ = ["DATABASES", "PROFILES", "find", "load", "of", "parse", "parse_level"]

#: Each has a file of its own.
DATABASES = (
    "postgresql",
    "mysql",
    "mariadb",
    "sqlite",
    "duckdb",
    "etcd",
    "galera",
    "cassandra",
    "simulated",
    "arangodb",
    "aurora",
    "aurora-postgresql",
    "cockroachdb",
    "db2",
    "derby",
    "dgraph",
    "firebird",
    "foundationdb",
    "h2",
    "hsqldb",
    "mongodb",
    "nuodb",
    "oceanbase",
    "opengauss",
    "oracle",
    "polardb",
    "redis",
    "rocksdb",
    "sap-hana",
    "seekdb",
    "singlestore",
    "spanner",
    "sqlserver",
    "tidb",
    "turso",
    "yugabytedb",
)
_SUFFIX = ".toml"
_HINT = "`isoscope profiles` lists them; a file of your own is FILE.toml, or FILE.toml/LEVEL"
#: What drivers call differently: database, isolation, a setting and its value in lower case.
_SET = MappingProxyType(
    {
        ("hsqldb", "read-committed", "transaction_control", "mvcc"): "hsqldb/mvcc-read-committed",
        ("hsqldb", "repeatable-read", "transaction_control", "mvcc"): "hsqldb/mvcc-serializable",
        ("hsqldb", "serializable", "transaction_control", "mvcc"): "hsqldb/mvcc-serializable",
        ("mariadb", "repeatable-read", "innodb_snapshot_isolation", "on"): "mariadb/snapshot-isolation",
        ("galera", "repeatable-read", "innodb_snapshot_isolation", "on"): "galera/snapshot-isolation",
        ("etcd", "read-set", "reads", "local"): "etcd/read-set-local",
        ("etcd", "written-keys", "reads", "local"): "etcd/written-keys-local",
        ("etcd", "none", "reads", "local"): "etcd/none-local",
        ("sqlite", "serializable", "journal_mode", "delete"): "sqlite/rollback-journal",
    }
)


class _Profiles(Mapping[str, Profile]):
    """All of them by name; files are read when they are needed."""

    def __getitem__(self, name: str) -> Profile:
        database, _, level = name.partition("/")
        if database not in DATABASES:
            raise KeyError(name)
        return _database(database)[level]

    def __iter__(self) -> Iterator[str]:
        return (profile.name for database in DATABASES for profile in _database(database).values())

    def __len__(self) -> int:
        return sum(1 for _ in self)


PROFILES: Mapping[str, Profile] = _Profiles()


def load(name: str) -> Profile:
    """The profile called `name`, or that of a file: `FILE.toml`, or `FILE.toml/LEVEL` if it has several.

    Raises `UsageError` or `FormatError`.
    """
    path, level = _split(name)
    if path is None:
        return find(name)
    found = parse(_text(path), name=path, path=path)
    if level is None and len(found) == 1:
        return next(iter(found.values()))
    if level in found and level:
        return found[level]
    known = " or ".join(f"`{path}/{one}`" for one in found if one)
    problem = f"{path} has several levels" if level is None else f"{path} has no level `{level}`"
    raise UsageError(f"{problem}\n\nhint: {f'ask for {known}' if known else f'it is one level: `{path}`'}")


def parse(text: str, *, name: str, path: str = "<string>") -> Mapping[str, Profile]:
    """The profiles of a document by level; what they extend are those that come with Isoscope."""
    return document.parse(text, name=name, path=path, known=find)


def find(name: str) -> Profile:
    """The profile that comes with Isoscope under this name or alias; raises `UsageError` with the nearest."""
    spelling = levels.normalise(name)
    if spelling in PROFILES:
        return PROFILES[spelling]
    names = _names()
    if spelling in names:
        return PROFILES[names[spelling]]
    close = dict.fromkeys(names[near] for near in difflib.get_close_matches(spelling, names))
    of_database = [other for other in PROFILES if other.startswith(f"{spelling}/")]
    guesses = " or ".join(f"`{guess}`" for guess in (of_database or close))
    guess = f"; did you mean {guesses}?" if guesses else ""
    raise UsageError(f"unknown profile `{name}`{guess}\n\nhint: {_HINT}")


def parse_level(name: str) -> tuple[Level, ...]:
    """The level called `name`; for a vendor's, such as `postgresql:repeatable read`, what it promises.

    Raises `ValueError` if there is no such level, and `UsageError` if the vendor has none of that name.
    """
    database, colon, isolation = name.partition(":")
    if not colon or levels.normalise(database) == "elle":
        return (levels.parse(name),)
    return find(f"{database}/{isolation.strip()}").promises


def of(database: str, isolation: str, settings: Mapping[str, str] = MappingProxyType({})) -> str | None:
    """The name of the profile of a driver's database with this isolation and settings, if there is one."""
    for setting, value in settings.items():
        if (database, isolation, setting, value.lower()) in _SET:
            return _SET[database, isolation, setting, value.lower()]
    name = f"{database}/{isolation}"
    return name if name in PROFILES else None


@cache
def _database(name: str) -> Mapping[str, Profile]:
    path = files("isoscope.profiles").joinpath(name + _SUFFIX)
    return parse(path.read_text(encoding="utf-8"), name=name, path=path.name)


@cache
def _names() -> Mapping[str, str]:
    """Every spelling of every profile."""
    return {
        spelling: profile.name
        for profile in PROFILES.values()
        for spelling in (profile.name, *profile.aliases)
    }


def _split(name: str) -> tuple[str | None, str | None]:
    """File and level, if it is a file that is named."""
    if name.endswith(_SUFFIX):
        return name, None
    path, suffix, level = name.rpartition(_SUFFIX + "/")
    return (path + _SUFFIX, level) if suffix else (None, None)


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise FormatError(
            path=path, byte=error.start, expected="TOML, which is UTF-8", found="other bytes"
        ) from None
