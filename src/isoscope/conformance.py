"""What every driver must do, as checks that a driver of any package can be asked.

    import pytest
    from isoscope.conformance import checks
    from my_driver import MyDatabase

    @pytest.mark.parametrize("check", checks(MyDatabase), ids=str)
    def test_the_driver_conforms(check):
        check()

Each check opens the database, asks one question, and closes it. A driver that does not conform raises
`AssertionError` with the question and the answer.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from threading import Thread
from time import sleep
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from isoscope.checkers import check as check_history
from isoscope.databases.database import Aborted
from isoscope.run import Limits, run
from isoscope.verdict import Outcome
from isoscope.workloads import client_workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from isoscope.databases.database import Database, Session

__all__ = ["QUESTIONS", "Check", "Opened", "checks"]

#: Seconds that a call of a driver may take, also on a busy machine.
_SOON = 60.0
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An open database; each check takes rows of its own."""

    database: Database
    sessions: list[Session] = field(default_factory=list)
    _keys: count[int] = field(default_factory=lambda: count(1))

    def row(self, value: int = 0) -> int:
        """The key of a new row."""
        key = self.missing()
        self.database.insert([(key, value)])
        return key

    def missing(self) -> int:
        """A key without a row."""
        return next(self._keys)

    def session(self) -> Session:
        """A new session, which is closed after the check."""
        self.sessions.append(self.database.session())
        return self.sessions[-1]

    def committed(self, key: int) -> Any:
        """The value that a new session sees."""
        session = self.session()
        session.begin()
        found = session.read(key)
        session.commit()
        session.close()
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One question to a driver at one isolation; call it to ask."""

    driver: type[Database]
    isolation: str
    question: Callable[[Opened], None]
    content: Literal["register", "list"]
    url: str | None = None
    settings: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.isolation}-{self.question.__name__}"

    def connect(self) -> Database:
        """The database, not opened yet."""
        return self.driver(self.isolation, url=self.url, settings=self.settings)

    def __call__(self) -> None:
        """Asks, and raises AssertionError if the driver does not conform."""
        with _opened(self) as opened:
            self.question(opened)


@contextmanager
def _opened(check: Check) -> Iterator[Opened]:
    database = check.connect()
    try:
        _expect("`open` names the database", bool(database.open(check.content)), wanted=True)
        opened = Opened(database=database)
        try:
            yield opened
        finally:
            for session in opened.sessions:
                session.close()
    finally:
        database.close()


def checks(
    driver: type[Database], *, url: str | None = None, settings: Mapping[str, str] = _NOTHING
) -> list[Check]:
    """All checks of a driver, at each of its isolations; `url` is where its database is."""
    return [
        Check(
            driver=driver, isolation=isolation, question=question, content=content, url=url, settings=settings
        )
        for isolation in driver.ISOLATIONS
        for content, questions in QUESTIONS.items()
        for question in (*questions, _RUNS[content])
    ]


def _expect(what: str, found: object, *, wanted: object) -> None:
    if found != wanted:
        raise AssertionError(f"{what}: expected {wanted!r}, found {found!r}")


def _aborts(what: str, statement: Callable[[], object]) -> None:
    try:
        statement()
    except Aborted:
        return
    raise AssertionError(f"{what}: expected `Aborted`, and nothing was raised")


def _write(session: Session, key: int, value: int) -> None:
    session.begin()
    session.write(key, value)
    session.commit()


def a_row_has_its_initial_value(opened: Opened) -> None:
    """Rows of `insert` are there."""
    _expect("a row that was inserted with 7", opened.committed(opened.row(7)), wanted=7)
    _expect("a row that is not there", opened.committed(opened.missing()), wanted=None)


def a_session_reads_its_own_writes(opened: Opened) -> None:
    """Before the commit."""
    key, session = opened.row(), opened.session()
    session.begin()
    for value in (1, 2):
        session.write(key, value)
        _expect(f"a read after the own write of {value}", session.read(key), wanted=value)


def integers_are_stored_unchanged(opened: Opened) -> None:
    """Negative ones, and those that no float holds."""
    for value in (-1, 2**53 + 1, 2**62):
        key = opened.row()
        _write(opened.session(), key, value)
        _expect(f"{value} after its commit", opened.committed(key), wanted=value)


def a_rollback_undoes_everything(opened: Opened) -> None:
    """Writes, inserts and deletes."""
    written, removed, added = opened.row(3), opened.row(4), opened.missing()
    session = opened.session()
    session.begin()
    session.write(written, 1)
    session.delete(removed)
    session.insert(added, 1)
    session.rollback()
    _expect("a rolled back write", opened.committed(written), wanted=3)
    _expect("a rolled back delete", opened.committed(removed), wanted=4)
    _expect("a rolled back insert", opened.committed(added), wanted=None)


def rows_come_and_go(opened: Opened) -> None:
    """And a row that is not there cannot be removed, nor one that is there be added."""
    added, removed, session = opened.missing(), opened.row(), opened.session()
    session.begin()
    session.insert(added, 5)
    session.delete(removed)
    _expect("an inserted row", session.read(added), wanted=5)
    _expect("a deleted row", session.read(removed), wanted=None)
    session.commit()
    _expect("an inserted row after the commit", opened.committed(added), wanted=5)
    kept = opened.row()
    session.begin()
    session.write(kept, 1)
    # The transaction must be aborted: a history must not show the delete as done.
    _aborts("a delete of a row that is not there", lambda: session.delete(removed))
    session.rollback()
    _expect("a write before the delete of a row that is not there", opened.committed(kept), wanted=0)
    session.begin()
    _aborts("an insert of a row that is there", lambda: _insert(session, added, 6))
    _write(session, added, 7)
    _expect("a write after an aborted transaction", opened.committed(added), wanted=7)


def _insert(session: Session, key: int, value: int) -> None:
    session.insert(key, value)
    session.commit()


def a_range_has_both_ends_and_is_in_order(opened: Opened) -> None:
    """With the own writes."""
    low, middle, high = opened.row(1), opened.row(2), opened.row(3)
    opened.row(4)
    session = opened.session()
    session.begin()
    session.write(middle, 20)
    _expect("a range", session.range_read(low, high), wanted=[(low, 1), (middle, 20), (high, 3)])
    session.delete(low)
    _expect("a range without a deleted row", session.range_read(low, high), wanted=[(middle, 20), (high, 3)])
    _expect("an empty range", session.range_read(-2, -1), wanted=[])


def the_end_of_a_session_never_fails(opened: Opened) -> None:
    """Whatever is open, and however often."""
    key, session = opened.row(3), opened.session()
    session.rollback()
    session.begin()
    session.commit()
    session.begin()
    session.rollback()
    session.rollback()
    session.begin()
    session.write(key, 1)
    session.close()
    session.close()
    session.rollback()
    _expect("a write whose session was closed", opened.committed(key), wanted=3)
    _write(opened.session(), key, 2)


def rows_of_another_thread_are_seen_later(opened: Opened) -> None:
    """`insert` may be called from any thread."""
    session, keys = opened.session(), [opened.missing() for _ in range(3)]
    thread = Thread(target=lambda: opened.database.insert((key, key) for key in keys))
    thread.start()
    thread.join(_SOON)
    opened.database.insert([])
    session.begin()
    _expect("rows of another thread", [session.read(key) for key in keys], wanted=keys)


def two_writers_of_a_row_each_commit_or_are_aborted(opened: Opened) -> None:
    """And none waits for ever."""
    key, ends = opened.row(), dict[int, str]()
    first, second = opened.session(), opened.session()
    first.begin()
    first.read(key)
    first.write(key, 1)
    thread = Thread(target=_end, args=(ends, 2, lambda: _read_and_write(second, key, 2)), daemon=True)
    thread.start()
    sleep(0.1)
    _end(ends, 1, first.commit)
    thread.join(_SOON)
    _expect("the writers that ended", sorted(ends), wanted=[1, 2])
    _expect("the writer whose value is there", ends[opened.committed(key)], wanted="committed")
    for session in (first, second):
        _write(session, key, 3)
        _expect("a write after the other writer ended", opened.committed(key), wanted=3)


def _read_and_write(session: Session, key: int, value: int) -> None:
    session.begin()
    session.read(key)
    session.write(key, value)
    session.commit()


def _end(ends: dict[int, str], value: int, transaction: Callable[[], object]) -> None:
    try:
        transaction()
    except Aborted:
        ends[value] = "aborted"
    else:
        ends[value] = "committed"


def lists_start_empty_and_grow_at_their_end(opened: Opened) -> None:
    """One statement for each element."""
    key, session = opened.row(), opened.session()
    _expect("a new list", opened.committed(key), wanted=())
    for value in (5, 3):
        session.begin()
        session.append(key, value)
        session.append(key, value + 10)
        session.commit()
    _expect("a list after four appends", opened.committed(key), wanted=(5, 15, 3, 13))
    session.begin()
    session.append(key, 1)
    _expect("a read after the own append", session.read(key), wanted=(5, 15, 3, 13, 1))
    session.rollback()
    _expect("a list after a rollback", opened.committed(key), wanted=(5, 15, 3, 13))
    added = opened.missing()
    session.begin()
    session.insert(added, 4)
    session.append(added, 5)
    session.commit()
    _expect("a list that was inserted", opened.committed(added), wanted=(4, 5))


def a_run_of_registers_keeps_the_promise(opened: Opened) -> None:
    """A workload on the same driver, which opens it again."""
    _run(opened.database, "rw-register")


def a_run_of_lists_keeps_the_promise(opened: Opened) -> None:
    """The same with lists."""
    _run(opened.database, "list-append")


def _run(database: Database, workload: str) -> None:
    database.close()
    clients = client_workload(workload, {"sessions": 4})
    done = run(database, clients, Limits(transactions=200, seconds=_SOON))
    _expect("the problem of the run", done.problem, wanted=None)
    _expect("transactions whose end is unknown", done.progress.indeterminate, wanted=0)
    _expect("that more than 20 of 200 committed", done.progress.committed > 20, wanted=True)
    assert done.history is not None
    for verdict in check_history(done.history, database.promises).verdicts:
        violated = verdict.outcome is Outcome.VIOLATED
        _expect(f"that the promised {verdict.level} is violated", violated, wanted=False)


#: What can be asked of an open database, by the content of its table.
QUESTIONS: Mapping[Literal["register", "list"], tuple[Callable[[Opened], None], ...]] = {
    "register": (
        a_row_has_its_initial_value,
        a_session_reads_its_own_writes,
        integers_are_stored_unchanged,
        a_rollback_undoes_everything,
        rows_come_and_go,
        a_range_has_both_ends_and_is_in_order,
        the_end_of_a_session_never_fails,
        rows_of_another_thread_are_seen_later,
        two_writers_of_a_row_each_commit_or_are_aborted,
    ),
    "list": (lists_start_empty_and_grow_at_their_end,),
}
_RUNS: Mapping[Literal["register", "list"], Callable[[Opened], None]] = {
    "register": a_run_of_registers_keeps_the_promise,
    "list": a_run_of_lists_keeps_the_promise,
}
