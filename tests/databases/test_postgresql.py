"""PostgreSQL: what sessions and runs on it do, and what they leave."""

from __future__ import annotations

from contextlib import closing
from threading import Thread
from typing import Any

import pytest

from isoscope.databases import connect
from isoscope.databases.database import Aborted, ConnectionLost
from isoscope.errors import DatabaseError
from tests.databases.postgresql_servers import Running, opened, server

CONFLICT = "could not serialize access due to concurrent update"


@server
def test_a_temporary_server_names_its_version_and_leaves_nothing() -> None:
    database: Any = connect("postgresql")
    try:
        name = database.open("register")
        folder = database._server.folder
        assert folder.is_dir()
    finally:
        database.close()
    assert name.startswith("PostgreSQL ")
    assert name.endswith(", fsync off")
    assert not folder.exists()
    database.close()


@server
def test_without_a_logical_log_there_is_no_order_of_versions() -> None:
    database = connect("postgres", settings={"wal_level": "replica"})
    try:
        name = database.open("register")
        assert name.endswith("no order of versions: wal_level is replica, not logical")
        assert database.version_order() is None
    finally:
        database.close()


@server
def test_operations_do_what_they_say(running: Running) -> None:
    with opened(running.url()) as database, closing(database.session()) as session:
        session.begin()
        session.write(1, 2**62)
        session.insert(3, -3)
        session.delete(2)
        assert (session.read(1), session.read(2), session.read(3)) == (2**62, None, -3)
        assert session.range_read(1, 3) == [(1, 2**62), (3, -3)]
        assert session.commit() is None
        session.begin()
        session.write(1, 5)
        session.rollback()
        session.begin()
        assert session.range_read(0, 9) == [(1, 2**62), (3, -3)]
        session.rollback()


@server
def test_lists_grow_by_one_statement(running: Running) -> None:
    with opened(running.url(), content="list") as database, closing(database.session()) as session:
        session.begin()
        assert session.read(1) == ()
        session.append(1, 7)
        session.append(1, -8)
        session.insert(3, 9)
        assert (session.read(1), session.read(3), session.read(4)) == ((7, -8), (9,), None)
        session.commit()
        assert database.version_order() is None


@server
def test_a_conflict_aborts_the_transaction_and_the_next_one_can_begin(running: Running) -> None:
    with (
        opened(running.url()) as database,
        closing(database.session()) as one,
        closing(database.session()) as other,
    ):
        one.begin()
        assert one.read(1) == 0
        other.begin()
        other.write(1, 1)
        other.commit()
        with pytest.raises(Aborted, match=f"^{CONFLICT}$"):
            one.write(1, 2)
        one.begin()
        assert one.read(1) == 1
        one.rollback()


@server
def test_a_circle_of_dependencies_aborts_a_serializable_transaction(running: Running) -> None:
    with (
        opened(running.url(), "serializable") as database,
        closing(database.session()) as one,
        closing(database.session()) as other,
    ):
        for session, seen, written in (one, 1, 2), (other, 2, 1):
            session.begin()
            session.read(seen)
            session.write(written, 5 + seen)
        one.commit()
        with pytest.raises(Aborted, match=r"due to read/write dependencies among transactions$"):
            other.commit()


@server
def test_a_deadlock_aborts_one_of_the_two(running: Running) -> None:
    reasons = []

    def write(session: Any, key: int) -> None:
        try:
            session.write(key, 9)
        except Aborted as aborted:
            reasons.append(str(aborted))
        session.rollback()

    with (
        opened(running.url(), "read-committed") as database,
        closing(database.session()) as one,
        closing(database.session()) as other,
    ):
        for session, key in (one, 1), (other, 2):
            session.begin()
            session.write(key, 5)
        thread = Thread(target=write, args=(one, 2))
        thread.start()
        write(other, 1)
        thread.join()
    assert reasons == ["deadlock detected"]


@server
def test_a_lock_that_is_not_released_aborts_the_waiting_transaction(running: Running) -> None:
    with (
        opened(running.url(), settings={"lock_timeout": "50ms"}) as database,
        closing(database.session()) as one,
        closing(database.session()) as other,
    ):
        one.begin()
        one.write(1, 1)
        other.begin()
        with pytest.raises(Aborted, match=r"^canceling statement due to lock timeout$"):
            other.write(1, 2)


@server
def test_committing_a_failed_transaction_is_an_abort(running: Running) -> None:
    with opened(running.url()) as database, closing(database.session()) as session:
        session.begin()
        session.write(2, 7)
        with pytest.raises(Aborted, match=r"^duplicate key value violates unique constraint"):
            session.insert(1, 1)
        with pytest.raises(Aborted, match=r"^current transaction is aborted"):
            session.read(1)
        with pytest.raises(Aborted, match=r"^the transaction had failed before$"):
            session.commit()
        session.begin()
        assert session.read(2) == 0
        session.rollback()


@server
@pytest.mark.parametrize("change", ["write", "delete"])
def test_changing_a_row_that_is_not_there_is_an_abort(running: Running, change: str) -> None:
    with opened(running.url()) as database, closing(database.session()) as session:
        session.begin()
        with pytest.raises(Aborted, match=r"^the row is not there$"):
            getattr(session, change)(*{"write": (3, 1), "delete": (3,)}[change])


@server
@pytest.mark.parametrize("call", ["read", "commit", "begin"])
def test_a_connection_that_is_cut_is_lost_and_its_end_never_fails(running: Running, call: str) -> None:
    with opened(running.url()) as database:
        session: Any = database.session()
        if call != "begin":
            session.begin()
            session.write(1, 1)
        running.ask(f"SELECT pg_terminate_backend({session._libpq.backend_pid}, 5000)")
        with pytest.raises(
            ConnectionLost, match=r"^(terminating connection due to|server closed the connection)"
        ):
            getattr(session, call)(*{"read": (1,)}.get(call, ()))
        session.rollback()
        session.close()
        session.close()
        with closing(database.session()) as again:
            again.begin()
            assert again.read(1) == 0


@server
def test_a_full_disk_ends_the_run(running: Running) -> None:
    with opened(running.url()) as database, closing(database.session()) as session:
        table = database._table  # type: ignore[attr-defined]
        running.ask(
            f"CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN "
            f"RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100'; END$$;"
            f"CREATE TRIGGER full_disk BEFORE UPDATE ON {table} EXECUTE FUNCTION full_disk()"
        )
        session.begin()
        with pytest.raises(
            DatabaseError, match="cannot go on: could not extend file: No space left on device"
        ):
            session.write(1, 1)


@server
def test_without_the_right_to_replicate_there_is_no_order_of_versions(running: Running) -> None:
    url = running.user("guest")
    running.ask("GRANT CREATE ON DATABASE postgres TO guest")
    database = connect(url)
    try:
        name = database.open("register")
        assert ", no order of versions: " in name
        assert "replication" in name
        assert database.version_order() is None
    finally:
        database.close()


@server
def test_a_server_at_a_url_is_left_as_it_was(running: Running) -> None:
    def things() -> list[Any]:
        return running.ask(
            "SELECT count(*) FROM pg_namespace WHERE nspname ~ 'isoscope_' UNION ALL "
            "SELECT count(*) FROM pg_publication UNION ALL SELECT count(*) FROM pg_replication_slots"
        )

    with opened(running.url()) as database:
        abandoned = database.session()
        abandoned.begin()
        abandoned.write(1, 1)
        assert things() == [(1,), (1,), (1,)]
    assert things() == [(0,), (0,), (0,)]
    abandoned.close()


@server
@pytest.mark.parametrize("durable", ["on", "off"])
def test_the_order_of_versions_is_that_of_commits(running: Running, durable: str) -> None:
    with opened(running.url(), "read-committed", settings={"synchronous_commit": durable}) as database:
        with closing(database.session()) as one, closing(database.session()) as other:
            one.begin()
            other.begin()
            one.write(1, 11)
            one.write(1, 12)
            other.write(2, 21)
            other.commit()
            one.insert(3, 31)
            one.commit()
            one.begin()
            one.write(1, 13)
            one.rollback()
            database.insert([(4, 40)])
            one.begin()
            one.write(4, 41)
            one.delete(2)
            one.commit()
        assert list(database.version_order() or ()) == [(2, 21), (1, 12), (3, 31), (4, 41)]


@server
def test_the_log_shows_the_commit_of_a_lost_client(running: Running) -> None:
    with opened(running.url()) as database:
        session: Any = database.session()
        session.begin()
        session.write(1, 1)
        session._libpq.send_query(b"COMMIT")
        session.close()
        assert list(database.version_order() or ()) == [(1, 1)]
