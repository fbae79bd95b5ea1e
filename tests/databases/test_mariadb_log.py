"""MariaDB: the order of versions in its binary log."""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

import pytest

from isoscope.databases import connect
from isoscope.databases.database import ConnectionLost
from isoscope.databases.mariadb import MariaDB, _log_status, binlog, connection
from isoscope.history import Status
from isoscope.levels import Level
from isoscope.run import Limits, run
from isoscope.verdict import Outcome
from tests.databases.mariadb_servers import (
    Mix,
    ask,
    begun,
    committed,
    on_a_server,
    opened,
    outcomes,
    url_of,
)

if TYPE_CHECKING:
    from isoscope.databases.database import Database


# The order of versions.


@on_a_server
def test_the_log_has_the_last_row_of_each_key_and_transaction(database: Database) -> None:
    session = begun(database)
    for value in (5, 6):
        session.write(1, value)
    session.commit()
    session.begin()
    session.write(1, 7)
    session.rollback()
    session.begin()
    session.insert(3, 8)
    session.commit()
    committed(database, k2=9, k1=10)
    assert sorted(database.version_order() or ()) == [(1, 6), (1, 10), (2, 9), (3, 8)]
    assert [value for key, value in database.version_order() or () if key == 1] == [6, 10]


@on_a_server
def test_the_log_proves_a_commit_with_a_lost_answer(place: connection.Place) -> None:
    database = Unanswered(url_of(place))
    found = run(database, Mix(sessions=1, operations=9), Limits(transactions=3))
    assert found.progress.indeterminate == 1
    assert outcomes(found, Level.STRICT_SERIALIZABLE) == {Level.STRICT_SERIALIZABLE: Outcome.HOLDS}
    assert found.history is not None
    (order,) = found.history.version_orders
    lost = next(iter(found.history))
    assert lost.status is Status.INDETERMINATE
    written = {operation.key: operation.value for operation in lost.operations if operation.kind == "write"}
    assert {key: versions[0] for key, versions in order.versions.items() if key in written} == written


class Unanswered(MariaDB):
    """Loses the connection after the first commit, which took place."""

    def __init__(self, url: str) -> None:
        super().__init__("repeatable-read", url=url, settings={})
        self._is_lost = False

    def session(self) -> Any:
        session = super().session()
        commit = session.commit

        def commit_and_lose() -> None:
            commit()
            if not self._is_lost:
                self._is_lost = True
                raise ConnectionLost("lost")

        session.commit = commit_and_lose  # type: ignore[method-assign]
        return session


@on_a_server
def test_a_server_that_logs_statements_is_told_to_log_rows(place: connection.Place) -> None:
    ask(place, "SET GLOBAL binlog_format=STATEMENT, binlog_row_image=MINIMAL")
    try:
        with opened(connect(url_of(place))) as database:
            database.insert([(1, 0)])
            committed(database, k1=5)
            assert database.version_order() == [(1, 5)]
    finally:
        ask(place, "SET GLOBAL binlog_format=ROW, binlog_row_image=FULL")


@on_a_server
def test_without_permission_to_read_the_log_there_is_no_order_of_versions(place: connection.Place) -> None:
    ask(place, "CREATE DATABASE guests")
    ask(place, "GRANT ALL ON guests.* TO guest@'127.0.0.1' IDENTIFIED BY 'guest'")
    database = connect(f"mysql://guest:guest@{place}/guests")
    try:
        assert ", no order of versions: Access denied" in database.open("register")
        database.insert([(1, 0)])
        committed(database, k1=5)
        assert database.version_order() is None
    finally:
        database.close()


@on_a_server
def test_without_a_log_there_is_no_order_of_versions() -> None:
    database = connect("mariadb", settings={"log_bin": "OFF"})
    try:
        assert database.open("register").endswith(", no order of versions: log_bin is OFF")
        assert database.version_order() is None
    finally:
        database.close()


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("MariaDB 10.11.19", "SHOW MASTER STATUS"),
        ("MySQL 8.0.40", "SHOW MASTER STATUS"),
        ("MySQL 8.4.0", "SHOW BINARY LOG STATUS"),
    ],
)
def test_the_end_of_the_log_is_asked_for_in_the_words_of_the_server(name: str, asked: str) -> None:
    assert _log_status(name) == asked


WriteRowsEvent = namedtuple("WriteRowsEvent", "rows")
UpdateRowsEvent = namedtuple("UpdateRowsEvent", "rows")
DeleteRowsEvent = namedtuple("DeleteRowsEvent", "rows")
XidEvent = namedtuple("XidEvent", "")


def test_events_of_one_transaction_are_taken_together() -> None:
    events = [
        WriteRowsEvent([{"values": {"k": 1, "v": 0}}, {"values": {"k": 2, "v": 3}}]),
        UpdateRowsEvent([{"after_values": {"k": 1, "v": 4}}]),
        XidEvent(),
        UpdateRowsEvent([{"after_values": {"k": 1, "v": 5}}]),
        DeleteRowsEvent([{"values": {"k": 1, "v": 5}}]),
        XidEvent(),
        UpdateRowsEvent([{"after_values": {"k": 2, "v": 6}}]),
    ]
    assert list(binlog.versions(events, {1: 0})) == [(2, 3), (1, 4)]
