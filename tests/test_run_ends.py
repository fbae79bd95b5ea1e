"""How transactions end that a run cannot see to their end: they are in its history all the same."""

from __future__ import annotations

from itertools import repeat
from threading import Event
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from isoscope import run as running
from isoscope.databases.database import Database, Isolation
from isoscope.errors import DatabaseError
from isoscope.history import Status
from isoscope.levels import Level
from isoscope.run import Limits, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isoscope.databases.database import Content
    from isoscope.run import Run
    from isoscope.workloads.clients import Insert, Operations, Program


class Failing(Database):
    """Each of its statements succeeds, but one that fails, or that waits for `answer`."""

    NAME: ClassVar[str] = "failing"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = {"none": Isolation(meaning="", promises=(Level.PL_1,))}
    SETTINGS: ClassVar[Mapping[str, str]] = {"fails": "a statement", "waits": "a statement"}

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        self.isolation = isolation
        self.settings = settings
        self.answer = Event()

    def open(self, content: Content) -> str:
        return "failing"

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        pass

    def session(self) -> Any:
        return Statements(self)

    def version_order(self) -> None:
        return None

    def close(self) -> None:
        self.answer.set()


class Statements:
    def __init__(self, database: Failing) -> None:
        self._database = database

    def __getattr__(self, statement: str) -> Any:
        def succeed(*_: int) -> None:
            if self._database.settings.get("waits") == statement:
                self._database.answer.wait()
            if self._database.settings.get("fails") == statement:
                raise DatabaseError("the disk is full")

        return succeed


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


def ended(**settings: str) -> Run:
    return run(Failing("none", settings=settings), OneWriter(), Limits(seconds=0.05, transactions=1))


@pytest.fixture(autouse=True)
def _no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_GRACE", 0.05)


def test_a_transaction_on_which_the_database_gives_up_is_kept_as_aborted() -> None:
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


def test_a_transaction_that_never_began_is_no_hindrance() -> None:
    found = ended(waits="begin")
    assert found.history is not None
    assert [transaction.operations for transaction in found.history] == [()]


def test_the_default_promise_is_that_of_the_isolation() -> None:
    assert Failing("none", settings={}).promises == (Level.PL_1,)
