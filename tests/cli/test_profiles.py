"""`profiles`: the table, one profile in full, and both as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from isoscope.profiles import PROFILES, Profile, Statement
from tests.cli.running import run

if TYPE_CHECKING:
    from pathlib import Path


def test_profiles_lists_every_profile_once() -> None:
    done = run("profiles")
    assert done.status == 0
    head, *rows = done.out.splitlines()
    assert head.split()[:3] == ["profile", "snapshot", "locks"]
    assert [row.split()[0] for row in rows] == list(PROFILES)
    [row] = [row for row in rows if row.startswith("postgresql/serializable")]
    assert row.split() == [
        "postgresql/serializable", "first-statement", "writes", "wins", "ssi",
        "strong-snapshot-isolation,", "serializable",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "locks"),
    [
        ("mysql/serializable", "ranges, writes "),
        ("sqlite/rollback-journal", "reads, writes, commits (database) "),
        ("duckdb/snapshot-isolation", "none "),
    ],
)
def test_the_table_says_in_few_words_what_is_locked(name: str, locks: str) -> None:
    [row] = [line for line in run("profiles").out.splitlines() if line.startswith(name)]
    assert f"  {locks}" in row


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_a_profile_is_shown_in_full(profile: Profile) -> None:
    done = run("profiles", profile.name)
    assert done.status == 0
    assert done.out.startswith(f"{profile.name} ({profile.database})\n")
    words = " ".join(done.out.split())
    for said in (*profile.aliases, *profile.sources, *profile.notes, *profile.promises, *Statement):
        assert " ".join(said.split()) in words
    prose = [line for line in done.out.splitlines() if "://" not in line]
    assert max(map(len, prose)) <= 100


def test_a_profile_is_found_by_an_alias() -> None:
    assert run("profiles", "postgres/SER").out == run("profiles", "postgresql/serializable").out


def test_profiles_as_json_are_one_document() -> None:
    found = json.loads(run("profiles", "--json").out)
    assert [one["name"] for one in found] == list(PROFILES)
    assert found[0] == json.loads(run("profiles", found[0]["name"], "--json").out)
    assert found[0]["statements"]["update"] == {"lock": "exclusive", "read": "locking", "predicate": False}


def test_an_unknown_profile_is_one_message() -> None:
    done = run("profiles", "postgresql/serialisable")
    assert done.status == 2
    assert done.err.startswith("error: unknown profile `postgresql/serialisable`; did you mean ")


def test_a_file_of_ones_own_is_shown_and_its_mistakes_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.toml").write_text('extends = "postgres/rr"\ncertifier = "ssi"\n', encoding="utf-8")
    assert run("profiles", "my.toml").out.startswith("my.toml (PostgreSQL)\n")
    (tmp_path / "my.toml").write_text('extends = "postgres/rr"\ncertifier = "sis"\n', encoding="utf-8")
    done = run("profiles", "my.toml")
    assert done.status == 2
    assert done.err.startswith("error: my.toml:2:13: expected one of none, ssi,")
