"""TiDB without TiDB: timestamps in the shape of a recorded exchange, other servers, and a paused process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from isoscope.databases import connect, driver
from isoscope.databases.database import ConnectionLost
from isoscope.databases.mariadb import connection
from isoscope.databases.mariadb.connection import errors
from isoscope.databases.mariadb.tidb import TiDBSession, end_of
from isoscope.errors import DatabaseError, UsageError
from isoscope.levels import Level
from tests.interrupts import wait_until

START, COMMIT = 470498304430178304, 470498304431226880
#: As a server of August 2026 told it.
TOLD = f'{{"txn_scope":"global","start_ts":{START},"commit_ts":{COMMIT},"txn_commit_mode":"2pc"}}'


class Recorded:
    """A connection that answers from a recorded exchange, and keeps what was asked."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers, self.asked = answers, list[str]()

    def cursor(self) -> Recorded:
        return self

    def execute(self, statement: str) -> int:
        self.asked.append(statement)
        return 1

    def fetchone(self) -> tuple[Any]:
        return (self.answers[self.asked[-1]],)


def test_a_commit_has_the_timestamps_of_the_oracle() -> None:
    recorded = Recorded({"SELECT @@tidb_current_ts": str(START), "SELECT @@tidb_last_txn_info": TOLD})
    session = TiDBSession(recorded, "`d`.`t`", "register")
    session.begin()
    session.write(1, 2)
    told = session.commit()
    assert told is not None
    assert (told[0].physical, told[1].physical) == (START, COMMIT)
    assert recorded.asked == [
        "START TRANSACTION",
        "SELECT @@tidb_current_ts",
        "UPDATE `d`.`t` SET v=2 WHERE k=1",
        "COMMIT",
        "SELECT @@tidb_last_txn_info",
    ]


def test_a_commit_whose_timestamp_is_not_told_is_not_taken_for_aborted() -> None:
    class Interrupted(Recorded):
        def execute(self, statement: str) -> int:
            if "last_txn_info" in statement:
                raise errors()(1317, "Query execution was interrupted")
            return super().execute(statement)

    session = TiDBSession(Interrupted({"SELECT @@tidb_current_ts": str(START)}), "`d`.`t`", "register")
    session.begin()
    with pytest.raises(ConnectionLost, match="the commit timestamp is not told: query interrupted"):
        session.commit()


@pytest.mark.parametrize(
    "told", ["", "{}", TOLD.replace(str(START), "7"), f'{{"start_ts":{START},"commit_ts":0}}']
)
def test_a_transaction_that_only_read_ends_where_it_started(told: str) -> None:
    assert end_of(told, START) == START


def test_it_is_judged_by_its_own_promises() -> None:
    assert connect("tidb", isolation="optimistic").promises == (Level.SNAPSHOT_ISOLATION,)
    assert connect("tidb").promises == (Level.PL_2,)


def test_another_server_is_refused() -> None:
    database: Any = connect("tidb")
    assert database._title("8.0.11-TiDB-v8.5.0") == "TiDB v8.5.0"
    with pytest.raises(DatabaseError, match=r"the server is no TiDB, but 10\.11\.19-MariaDB"):
        database._title("10.11.19-MariaDB")


class Control(Recorded):
    """A connection outside of transactions, too; `_sock` is cut by faults."""

    open = True

    def __init__(self) -> None:
        super().__init__({"SELECT VERSION()": "8.0.11-TiDB-v8.4.0-this-is-a-placeholder"})
        self._sock = self
        self.is_cut = False

    def __enter__(self) -> Control:
        return self

    def __exit__(self, *_: object) -> None: ...

    def cursor(self) -> Control:
        return self

    def fetchall(self) -> list[tuple[Any]]:
        return [(self.answers.get(self.asked[-1], 0),)]

    def shutdown(self, _how: int) -> None:
        self.is_cut = True

    def close(self) -> None:
        self.open = False


def test_it_opens_without_a_binary_log(monkeypatch: pytest.MonkeyPatch) -> None:
    control = Control()
    monkeypatch.setattr(connection, "connect", lambda *_, **__: control)
    database = connect("tidb://root@127.0.0.1:4000/test")
    assert database.open("register") == "TiDB v8.4.0-this-is-a-placeholder"
    assert database.version_order() is None
    assert not any("log_bin" in asked or "STATUS" in asked for asked in control.asked)
    database.close()


def test_the_process_of_a_server_is_paused_and_its_sessions_are_cut(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "tidb-server"
    program.write_text('#!/bin/sh\necho "$@" > arguments\nexec sleep 600\n')
    program.chmod(0o700)  # for no other user: the server runs as this one
    monkeypatch.setenv("ISOSCOPE_TIDB", str(program))
    monkeypatch.setattr(connection, "connect", lambda *_, **__: Control())
    database: Any = connect("tidb")
    nodes = database.use_faults(["pause", "cut"])
    try:
        database.open("register")
        assert database.nodes == ("n1",)
        session = database.session_at("n1")
        [pid] = nodes.servers["n1"].processes()
        nodes.inject("pause", "n1")
        wait_until(lambda: _state(pid) == "T")
        nodes.heal("pause", "n1")
        wait_until(lambda: _state(pid) != "T")
        nodes.inject("cut", "n1")
        assert session._connection.is_cut
        arguments = (nodes.servers["n1"].folder / "arguments").read_text()
        assert "-store unistore -path data -host 127.0.0.1 " in arguments
    finally:
        database.close()
    assert not Path(f"/proc/{pid}").exists()
    assert not database._control.open


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_missing_program_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOSCOPE_TIDB", raising=False)
    monkeypatch.setenv("PATH", "")
    database = driver("tidb")("optimistic", settings={})
    with pytest.raises(DatabaseError, match="there is no tidb-server on this machine\n\nhint: ISOSCOPE_TIDB"):
        database.open("register")
    database.close()


def test_faults_are_those_of_one_process() -> None:
    with pytest.raises(UsageError, match="not at a URL"):
        connect("tidb://root@127.0.0.1:4000/test").use_faults(["pause"])
    with pytest.raises(UsageError, match="tidb takes the faults pause, cut: its store for tests"):
        connect("tidb").use_faults(["kill"])
