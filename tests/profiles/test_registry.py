"""Profiles that come with Isoscope: complete, with sources, found by every name, and true to the drivers."""

from __future__ import annotations

from importlib.resources import files
from itertools import product

import pytest

from isoscope import profiles
from isoscope.databases import DATABASES as DRIVEN
from isoscope.databases import driver
from isoscope.errors import UsageError
from isoscope.levels import DEFINITIONS, Level
from isoscope.profiles import (
    DATABASES,
    PROFILES,
    Certifier,
    Granularity,
    Lock,
    Profile,
    Read,
    Snapshot,
    Statement,
)

ALL = list(PROFILES.values())
CHANGES = (Statement.INSERT, Statement.UPDATE, Statement.DELETE)


def test_every_file_is_a_database_and_every_database_has_a_file() -> None:
    found = (path.name for path in files("isoscope.profiles").iterdir())
    assert sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")) == sorted(DATABASES)


@pytest.mark.parametrize("profile", ALL, ids=lambda profile: profile.name)
def test_a_profile_has_sources_promises_that_are_decided_and_all_statements(profile: Profile) -> None:
    assert profile.sources
    assert profile.protocol
    assert profile.promises
    assert all(DEFINITIONS[level].decided for level in profile.promises)
    assert list(profile.statements) == list(Statement)


@pytest.mark.parametrize("profile", ALL, ids=lambda profile: profile.name)
def test_the_first_updater_can_win_only_over_a_snapshot_of_the_transaction(profile: Profile) -> None:
    assert not profile.first_updater_wins or profile.snapshot is not Snapshot.STATEMENT


@pytest.mark.parametrize("profile", ALL, ids=lambda profile: profile.name)
def test_a_locked_predicate_is_locked_by_a_lock(profile: Profile) -> None:
    for conduct in profile.statements.values():
        assert not conduct.predicate or conduct.lock is not Lock.NONE


@pytest.mark.parametrize("profile", ALL, ids=lambda profile: profile.name)
def test_what_is_not_uncommitted_promises_more_than_pl_1(profile: Profile) -> None:
    uncommitted = profile.statements[Statement.SELECT].read is Read.UNCOMMITTED
    assert (profile.promises == ("pl-1",)) == uncommitted


def test_no_name_is_that_of_two_profiles() -> None:
    names = [name for profile in ALL for name in (profile.name, *profile.aliases)]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("profile", ALL, ids=lambda profile: profile.name)
def test_a_profile_is_found_by_every_one_of_its_names(profile: Profile) -> None:
    assert all(profiles.load(name) == profile for name in (profile.name, *profile.aliases))


def test_spelling_does_not_matter() -> None:
    assert profiles.load("PostgreSQL/Repeatable Read").name == "postgresql/repeatable-read"
    assert profiles.load("postgres/ser").name == "postgresql/serializable"


@pytest.mark.parametrize(
    ("name", "guess"),
    [
        ("postgresql/serialisable", "`postgresql/serializable`"),
        ("mysql", "`mysql/read-uncommitted` or `mysql/read-committed` or"),
        ("duckdb/ser", "`duckdb/snapshot-isolation`"),
    ],
)
def test_an_unknown_profile_is_answered_with_the_nearest(name: str, guess: str) -> None:
    with pytest.raises(UsageError) as caught:
        profiles.load(name)
    assert str(caught.value).startswith(f"unknown profile `{name}`; did you mean {guess}")
    assert "`isoscope profiles` lists them" in str(caught.value)


def test_what_is_like_nothing_gets_no_guess() -> None:
    with pytest.raises(UsageError, match="unknown profile `qqq`\n"):
        profiles.load("qqq")
    assert "qqq" not in PROFILES
    assert "postgresql/qqq" not in PROFILES


DRIVERS = [(name, isolation) for name in DRIVEN for isolation in driver(name).ISOLATIONS]


@pytest.mark.parametrize(("database", "isolation"), DRIVERS)
def test_a_database_that_can_be_driven_has_a_profile_that_promises_the_same(
    database: str, isolation: str
) -> None:
    name = profiles.of(database, isolation)
    assert name is not None
    promised = driver(database).ISOLATIONS[isolation].promises
    clock = {Level.CLOCK_SERIALIZABLE, Level.CLOCK_SNAPSHOT_ISOLATION}
    assert {*PROFILES[name].promises} == {*promised} - clock


@pytest.mark.parametrize(
    ("database", "isolation", "settings", "name"),
    [
        ("mariadb", "repeatable-read", {"innodb_snapshot_isolation": "ON"}, "mariadb/snapshot-isolation"),
        ("mariadb", "repeatable-read", {"innodb_snapshot_isolation": "OFF"}, "mariadb/repeatable-read"),
        ("sqlite", "serializable", {"journal_mode": "delete"}, "sqlite/rollback-journal"),
        ("sqlite", "serializable", {"journal_mode": "wal"}, "sqlite/serializable"),
        ("sqlite", "serializable", {"latency": "0"}, "sqlite/serializable"),
        ("nowhere", "serializable", {}, None),
        ("duckdb", "serializable", {}, None),
    ],
)
def test_settings_may_change_the_profile(
    database: str, isolation: str, settings: dict[str, str], name: str | None
) -> None:
    assert profiles.of(database, isolation, settings) == name


def test_postgresql_blocks_nobody_with_a_predicate() -> None:
    found = [profile for profile in ALL if profile.name.startswith("postgresql/")]
    assert not any(conduct.predicate for profile in found for conduct in profile.statements.values())


def test_what_read_committed_lets_go_at_once_is_no_lock() -> None:
    assert profiles.load("derby/rc").statements[Statement.SELECT].lock is Lock.NONE
    assert profiles.load("derby/repeatable-read").statements[Statement.SELECT].lock is Lock.SHARE


@pytest.mark.parametrize("database", ["cockroachdb", "yugabytedb"])
def test_databases_of_several_clocks_hold_no_locks_and_choose_their_snapshot(database: str) -> None:
    profile = PROFILES[f"{database}/serializable"]
    assert profile.snapshot is Snapshot.TRANSACTION
    assert {conduct.lock for conduct in profile.statements.values()} == {Lock.NONE}


def test_sqlite_locks_its_file_and_writers_keep_readers_out_only_at_the_commit() -> None:
    profile = PROFILES["sqlite/rollback-journal"]
    assert profile.granularity is Granularity.DATABASE
    assert {profile.statements[one].lock for one in CHANGES} == {Lock.UPDATE}
    assert profile.commit_lock is Lock.EXCLUSIVE


def test_optimistic_databases_lock_nothing() -> None:
    for profile, statement in product(ALL, CHANGES):
        if profile.certifier in (Certifier.OPTIMISTIC_WRITES, Certifier.TIMESTAMP_ORDER):
            assert profile.statements[statement].lock is Lock.NONE
