"""`isoscope databases`: what can be run, in full and as JSON."""

from __future__ import annotations

import json
from contextlib import nullcontext

import pytest

from isoscope.databases import DATABASES, connect
from isoscope.databases.catalogue import CATALOGUE
from isoscope.databases.nodes import FAULTS
from isoscope.errors import UsageError
from tests.cli.running import run


def test_every_database_has_a_row() -> None:
    done = run("databases")
    assert done.status == 0
    table, after = done.out.split("\n\n")
    head, *rows = table.splitlines()
    assert after.startswith("`isoscope run NAME` runs one")
    assert head.split("  ")[0] == "database"
    assert [row.split()[0] for row in rows] == [*DATABASES]
    tested = {row.split()[0]: row for row in rows}
    assert "run by hand" in tested["dgraph"]
    assert all("never run here" in tested[name] for name in ("cockroachdb", "yugabytedb", "arangodb"))


def test_one_database_is_told_in_full() -> None:
    done = run("databases", "h2")
    assert done.status == 0
    assert done.out.startswith("h2 (H2)\n\nstarts      in this process, in a JVM")
    assert "install     pip install 'isoscope[jdbc]'\n" in done.out
    assert "  serializable (H2 SERIALIZABLE)\n" in done.out
    assert "promises    snapshot-isolation\n" in done.out
    assert "Settings, for --set NAME=VALUE\n  lock_timeout  milliseconds" in done.out


def test_nodes_and_faults_of_a_database_are_told() -> None:
    told = run("databases", "cassandra").out
    assert "nodes       with --nodes: every node takes requests; every row is on three of them\n" in told
    assert "faults      with --faults: kill, pause, partition, slow\n" in told
    assert "\nfaults" not in run("databases", "sqlite").out


@pytest.mark.parametrize("name", DATABASES)
def test_the_faults_that_are_told_are_those_that_can_be_injected(name: str) -> None:
    for kind in [*FAULTS, "clock"]:
        given = nullcontext() if kind in CATALOGUE[name].faults else pytest.raises(UsageError)
        with given:
            connect(name).use_faults([kind])


@pytest.mark.parametrize("name", DATABASES)
def test_the_nodes_that_are_told_can_be_asked_for(name: str) -> None:
    given = nullcontext() if CATALOGUE[name].nodes else pytest.raises(UsageError)
    with given:
        connect(name, nodes=3)


def test_a_database_without_settings_has_no_heading_for_them() -> None:
    assert "Settings" not in run("databases", "duckdb").out


def test_an_alias_is_understood_and_json_says_the_same() -> None:
    found = json.loads(run("databases", "postgres", "--json").out)
    assert found["name"] == "postgresql"
    assert found["extra"] == "postgresql"
    assert found["isolations"][-1] == {
        "name": "serializable",
        "vendor": "PostgreSQL SERIALIZABLE",
        "meaning": "as repeatable-read; transactions that could form a cycle of dependencies are aborted",
        "promises": ["strong-snapshot-isolation", "serializable"],
        "documented": "https://www.postgresql.org/docs/current/transaction-iso.html",
    }
    assert [one["name"] for one in json.loads(run("databases", "--json").out)] == [*DATABASES]


def test_an_unknown_name_is_a_mistake_with_a_guess() -> None:
    done = run("databases", "hsqlbd")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("error: unknown database `hsqlbd`; did you mean `hsqldb`?\n")
