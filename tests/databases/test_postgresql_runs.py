"""Runs on PostgreSQL: what each isolation shows, and what a run leaves if the server dies."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from time import sleep
from typing import TYPE_CHECKING, Any, Literal

import pytest

from isoscope.checkers import check
from isoscope.databases import connect
from isoscope.databases.database import ConnectionLost
from isoscope.databases.postgresql.server import find_programs
from isoscope.databases.postgresql.session import PostgreSQLSession
from isoscope.errors import DatabaseError
from isoscope.history import Status, VersionSource
from isoscope.levels import Level
from isoscope.run import Limits, Progress, Run, run
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isoscope.workloads.clients import Insert, Operations, Program

try:
    find_programs()
except DatabaseError as error:
    pytestmark = [pytest.mark.server, pytest.mark.skip(reason=str(error).partition("\n")[0])]
else:
    pytestmark = [pytest.mark.server]

HOLDS, VIOLATED = Outcome.HOLDS, Outcome.VIOLATED


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Reads and blind writes of a few keys, half of each."""

    content: Literal["register", "list"] = "register"
    sessions: int = 8
    keys: int = 20
    operations: int = 5

    def rows(self) -> list[tuple[int, int]]:
        return [(key, 0) for key in range(self.keys)]

    def clients(self, insert: Insert) -> list[Iterator[Program]]:
        return [self._programs(session) for session in range(self.sessions)]

    def _programs(self, session: int) -> Iterator[Program]:
        random, counter = Random(session), count(1)
        while True:
            steps = [(random.random() < 0.5, random.randrange(self.keys)) for _ in range(self.operations)]

            def program(operations: Operations, steps: list[tuple[bool, int]] = steps) -> None:
                change = operations.append if self.content == "list" else operations.write
                for is_read, key in steps:
                    if is_read:
                        operations.read(key)
                    else:
                        change(key, next(counter) * self.sessions + session)

            yield program


def outcomes(found: Run, *levels: Level) -> list[Outcome]:
    assert found.problem is None
    assert found.history is not None
    assert found.progress.committed > 100
    return [verdict.outcome for verdict in check(found.history, levels).verdicts]


def anomalies(found: Run, level: Level) -> set[str]:
    assert found.history is not None
    (verdict,) = check(found.history, [level]).verdicts
    return {anomaly.name for anomaly in verdict.anomalies}


def driven(isolation: str, content: Literal["register", "list"]) -> Run:
    return run(connect("postgresql", isolation=isolation), Mix(content=content), Limits(transactions=2000))


@pytest.mark.parametrize("content", ["register", "list"])
def test_repeatable_read_is_snapshot_isolation_and_shows_write_skew(
    content: Literal["register", "list"],
) -> None:
    found = driven("repeatable-read", content)
    levels = Level.STRONG_SNAPSHOT_ISOLATION, Level.SNAPSHOT_ISOLATION, Level.SERIALIZABLE
    assert outcomes(found, *levels) == [HOLDS, HOLDS, VIOLATED]
    assert "write-skew" in anomalies(found, Level.SERIALIZABLE)
    assert found.reasons["could not serialize access due to concurrent update"] > 0


@pytest.mark.parametrize("content", ["register", "list"])
def test_serializable_is_serializable_and_more(content: Literal["register", "list"]) -> None:
    found = driven("serializable", content)
    assert outcomes(found, Level.SERIALIZABLE, Level.STRICT_SERIALIZABLE) == [HOLDS, HOLDS]


@pytest.mark.parametrize("content", ["register", "list"])
def test_read_committed_breaks_read_atomic(content: Literal["register", "list"]) -> None:
    found = driven("read-committed", content)
    levels = Level.READ_COMMITTED, Level.STRONG_PL_2, Level.READ_ATOMIC
    assert outcomes(found, *levels) == [HOLDS, HOLDS, VIOLATED]


def interfered(strike: Callable[[int], None], limits: Limits) -> tuple[Run, Path]:
    """A run during which `strike` gets the process id of the server; and the folder of the server."""
    database: Any = connect("postgresql", isolation="serializable")
    folders: list[Path] = []

    def progress(now: Progress) -> None:
        if now.committed > 20 and not folders:
            folders.append(database._server.folder)
            strike(database._server._process.pid)

    return run(database, Mix(), limits, progress=progress), folders[0]


def backends(server: int) -> list[int]:
    """The processes that a server has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().rpartition(") ")
        except OSError:
            continue
        if int(rest.split()[1]) == server:
            found.append(int(name.split()[0]))
    return found


def test_a_server_that_dies_leaves_one_clear_problem_and_the_history() -> None:
    struck: list[int] = []
    segments: list[str] = []

    def strike(server: int) -> None:
        segments.append(Path(f"/proc/{server}/cwd/postmaster.pid").read_text().splitlines()[6].split()[1])
        struck.extend([server, *backends(server)])
        for process in struck:
            os.kill(process, signal.SIGKILL)

    found, folder = interfered(strike, Limits(seconds=60))
    assert found.problem is not None
    assert found.problem.splitlines()[0] == "PostgreSQL has died"
    assert found.history is not None
    assert found.progress.committed > 20
    assert found.progress.seconds < 60
    assert not folder.exists()
    assert len(struck) > 8
    assert not any(Path(f"/proc/{process}").exists() for process in struck)
    shared = Path("/proc/sysvipc/shm").read_text().splitlines()
    assert segments[0] not in [line.split()[1] for line in shared]


def test_a_server_that_recovers_goes_on_and_its_log_is_whole() -> None:
    def strike(server: int) -> None:
        sessions = [p for p in backends(server) if b"127.0.0.1" in Path(f"/proc/{p}/cmdline").read_bytes()]
        os.kill(sessions[0], signal.SIGKILL)
        sleep(0.1)

    # The run lasts until its sessions have connected again, however long that takes.
    found, _ = interfered(strike, Limits(transactions=1500, rate=500))
    assert found.problem is None
    assert sum(found.reasons[reason] for reason in found.reasons if "connection" in reason) >= 8
    assert outcomes(found, Level.STRICT_SERIALIZABLE) == [HOLDS]
    assert found.history is not None
    committed = [t for t in found.history if t.status is Status.COMMITTED]
    written = {(op.key, op.value) for t in committed for op in t.operations if op.kind == "write"}
    (order,) = found.history.version_orders
    assert {(key, value) for key, values in order.versions.items() for value in values} <= written | {
        (op.key, op.value) for t in found.history for op in t.operations if t.status is Status.INDETERMINATE
    }


def test_the_log_proves_the_commit_of_an_indeterminate_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unheard(PostgreSQLSession):
        def commit(self) -> None:
            super().commit()
            raise ConnectionLost("the answer got lost")

    monkeypatch.setattr("isoscope.databases.postgresql.PostgreSQLSession", Unheard)
    found = run(connect("postgresql"), Mix(sessions=1), Limits(transactions=5))
    assert found.progress.indeterminate == 5
    assert found.history is not None
    (order,) = found.history.version_orders
    assert order.source is VersionSource.LOG
    last = {(op.key): op.value for t in found.history for op in t.operations if op.kind == "write"}
    assert {key: values[-1] for key, values in order.versions.items()} == last
