"""Runs that end early: unfinished transactions are in the history all the same."""

from __future__ import annotations

from functools import partial
from itertools import repeat
from threading import Event, Thread
from time import sleep
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar
from unittest.mock import patch

import pytest

from isoscope.databases.database import Database, Isolation
from isoscope.errors import DatabaseError
from isoscope.history import Status
from isoscope.levels import Level
from isoscope.run import Limits, run, sessions
from tests.interrupts import interrupt_main_thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isoscope.databases.database import Content
    from isoscope.run import Run
    from isoscope.workloads.clients import Insert, Operations, Program


class Failing(Database):
    """Every statement succeeds, except one that fails or waits for `answer`."""

    NAME: ClassVar[str] = "failing"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = {"none": Isolation(meaning="", promises=(Level.PL_1,))}
    SETTINGS: ClassVar[Mapping[str, str]] = {
        "fails": "a statement",
        "waits": "a statement",
        "interrupted": "",
    }

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        self.isolation = isolation
        self.settings = settings
        self.reached, self.answer = Event(), Event()

    def open(self, content: Content) -> str:
        return "failing"

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        pass

    def session(self) -> Any:
        return Statements(self)

    def version_order(self) -> None:
        if "interrupted" in self.settings:
            raise KeyboardInterrupt

    def close(self) -> None:
        self.answer.set()


class Busy(Failing):
    """Every statement takes a while, and the time of the run is over with the first."""

    def session(self) -> Any:
        return SlowStatements(self)


class SlowStatements:
    def __init__(self, database: Failing) -> None:
        self._database = database

    def __getattr__(self, _statement: str) -> Any:
        def succeed(*_: int) -> None:
            self._database.reached.set()
            sleep(0.2)

        return succeed


class Statements:
    def __init__(self, database: Failing) -> None:
        self._database = database

    def __getattr__(self, statement: str) -> Any:
        def succeed(*_: int) -> None:
            if self._database.settings.get("waits") == statement:
                self._database.reached.set()
                self._database.answer.wait()
            if self._database.settings.get("fails") == statement:
                raise DatabaseError("the disk is full")

        return succeed


class Short(Failing):
    """A database with two connections only."""

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        super().__init__(isolation, url=url, settings=settings)
        self.closed: list[int] = []
        self.made = 0

    def session(self) -> Any:
        if self.made == 2:
            raise DatabaseError("too many connections")
        self.made += 1
        return SimpleNamespace(close=partial(self.closed.append, self.made))


class OneWriter:
    """Writes a key and deletes it, again and again."""

    @property
    def content(self) -> Content:
        return "register"

    @property
    def sessions(self) -> int:
        return 1

    def rows(self) -> list[tuple[int, int]]:
        return [(1, 0)]

    def clients(self, insert: Insert) -> list[Iterator[Program]]:
        return [repeat(self._program)]

    def _program(self, operations: Operations) -> None:
        operations.write(1, 7)
        operations.delete(1)


class ManyWriters(OneWriter):
    """Ten sessions that do the same."""

    @property
    def sessions(self) -> int:
        return 10

    def clients(self, insert: Insert) -> list[Iterator[Program]]:
        return [repeat(self._program) for _ in range(self.sessions)]


def ended(driver: type[Failing] = Failing, **settings: str) -> Run:
    """A run of one transaction; its time is over when that waits."""
    database = driver("none", settings=settings)
    with patch.object(sessions, "monotonic", lambda: 100.0 if database.reached.is_set() else 0.0):
        return run(database, OneWriter(), Limits(seconds=1, transactions=1))


@pytest.fixture(autouse=True)
def _no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_GRACE", 0.05)


def test_a_transaction_that_the_database_failed_is_kept_as_aborted() -> None:
    found = ended(fails="delete")
    assert found.problem == "the disk is full"
    assert found.history is not None
    (transaction,) = found.history
    assert transaction.status is Status.ABORTED
    assert [operation.value for operation in transaction.operations][1] == 7


def test_a_commit_that_is_never_answered_leaves_the_transaction_indeterminate() -> None:
    found = ended(waits="commit")
    assert found.history is not None
    (transaction,) = found.history
    assert transaction.status is Status.INDETERMINATE
    assert found.progress.indeterminate == 1


def test_the_end_of_a_run_waits_for_a_transaction_that_gets_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_GRACE", 0.5)
    found = ended(Busy)
    assert found.history is not None
    (transaction,) = found.history
    assert transaction.status is Status.COMMITTED
    assert found.progress.indeterminate == 0


def test_a_transaction_that_never_began_has_no_operations() -> None:
    found = ended(waits="begin")
    assert found.history is not None
    assert [transaction.operations for transaction in found.history] == [()]


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_while_the_last_answers_are_awaited_keeps_what_was_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sessions, "_GRACE", 60.0)
    interrupt = Thread(target=interrupt_main_thread, args=["_join"])
    interrupt.start()
    found = ended(waits="commit")
    interrupt.join()
    assert found.interrupted
    assert found.progress.indeterminate == 1


def test_an_interrupt_while_the_log_is_read_keeps_what_was_recorded() -> None:
    found = ended(interrupted="yes")
    assert found.interrupted
    assert found.history is not None
    assert len(list(found.history)) == 1


def test_connections_are_closed_if_there_are_too_few() -> None:
    database = Short("none", settings={})
    with pytest.raises(DatabaseError, match="too many connections"):
        run(database, ManyWriters(), Limits(transactions=1))
    assert database.closed == [1, 2]


def test_a_rate_holds_from_the_first_transactions_on() -> None:
    found = run(Failing("none", settings={}), ManyWriters(), Limits(transactions=4, rate=10))
    assert found.progress.committed == 4
    assert found.progress.seconds >= 0.3


def test_the_default_promise_is_that_of_the_isolation() -> None:
    assert Failing("none", settings={}).promises == (Level.PL_1,)
