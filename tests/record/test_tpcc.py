"""TPC-C through the recorder: every level is decided, at both ends."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from benchmarks.applications.servers import MariaDB, PostgreSQL, Simulated, SQLite, Target
from benchmarks.applications.tpcc import Sizes, broken_conditions
from benchmarks.recorded_tpcc import prepare, run

import isoscope
from isoscope.record import record
from tests.databases.mariadb_servers import on_a_server, started
from tests.databases.postgresql_servers import Running, server

if TYPE_CHECKING:
    from pathlib import Path

SIZES = Sizes(warehouses=1, districts=2, customers=10, items=50)


@server
@pytest.mark.parametrize(("level", "outcome"), [("serializable", "holds"), ("read-committed", "violated")])
def test_tpcc_is_serializable_only_at_serializable(
    running: Running, tmp_path: Path, level: str, outcome: str
) -> None:
    target = PostgreSQL(running.where)
    assert outcome_of(target, level, tmp_path) == outcome
    if outcome == "holds":
        with closing(target.connect("")) as connection:
            assert [*broken_conditions(connection.cursor())] == []


@on_a_server
def test_tpcc_at_repeatable_read_of_mariadb_is_not_serializable(tmp_path: Path) -> None:
    with started() as place:
        where = {"host": place.host, "port": place.port, "user": place.user, "password": place.password}
        assert outcome_of(MariaDB(where), "repeatable-read", tmp_path) == "violated"


@pytest.mark.parametrize(("level", "outcome"), [("serializable", "holds"), ("read-committed", "violated")])
def test_tpcc_on_the_simulated_database_is_serializable_only_at_serializable(
    tmp_path: Path, level: str, outcome: str
) -> None:
    assert outcome_of(Simulated(level), level, tmp_path) == outcome


def test_tpcc_on_sqlite_is_serializable_and_consistent(tmp_path: Path) -> None:
    target = SQLite(tmp_path / "tpcc.db")
    # Clients of one file would wait for each other all the time.
    assert outcome_of(target, "serializable", tmp_path, clients=1) == "holds"
    with closing(target.connect("")) as connection:
        assert [*broken_conditions(connection.cursor())] == []


def outcome_of(target: Target, level: str, folder: Path, *, clients: int = 3) -> str:
    prepare(target, SIZES)
    with record() as recorded:
        run(target, SIZES, transactions=120, clients=clients, level=level)
    report = isoscope.check(isoscope.load(recorded.save(folder / "tpcc.program")), "serializable")
    return str(report.verdicts[0].outcome)
