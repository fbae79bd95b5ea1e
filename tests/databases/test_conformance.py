"""The protocol of databases, tested on every database with each of its isolations."""

from __future__ import annotations

from threading import Thread
from time import sleep
from typing import TYPE_CHECKING, Literal

import pytest

from isoscope.checkers import check
from isoscope.databases import driver
from isoscope.databases.database import Aborted
from isoscope.levels import Level
from isoscope.run import Limits, run
from isoscope.verdict import Outcome
from tests.databases.conformance import SOON, WITH_LOG, Case, Mix, cases, close_all, opened, write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.databases.database import Session
    from tests.databases.conformance import Opened
CONTENTS = pytest.mark.parametrize("content", ["register", "list"])
CASES = pytest.mark.parametrize("case", cases())


@pytest.fixture(scope="module", params=cases())
def with_registers(request: pytest.FixtureRequest) -> Iterator[Opened]:
    with opened(request.param, "register") as database:
        yield database


@pytest.fixture(scope="module", params=cases())
def with_lists(request: pytest.FixtureRequest) -> Iterator[Opened]:
    with opened(request.param, "list") as database:
        yield database


@pytest.fixture
def registers(with_registers: Opened) -> Iterator[Opened]:
    yield with_registers
    close_all(with_registers)


@pytest.fixture
def lists(with_lists: Opened) -> Iterator[Opened]:
    yield with_lists
    close_all(with_lists)


def test_a_row_is_there_with_its_initial_value(registers: Opened) -> None:
    assert registers.committed(registers.row(7)) == 7


def test_a_row_that_is_not_there_reads_as_none(registers: Opened) -> None:
    assert registers.committed(registers.missing()) is None


def test_a_session_reads_its_own_write(registers: Opened) -> None:
    key, session = registers.row(), registers.session()
    session.begin()
    session.write(key, 1)
    assert session.read(key) == 1
    session.write(key, 2)
    assert session.read(key) == 2


@pytest.mark.parametrize("value", [-1, 2**53 + 1, 2**62])
def test_integers_are_stored_unchanged(registers: Opened, value: int) -> None:
    key = registers.row()
    write(registers.session(), key, value)
    assert registers.committed(key) == value


def test_a_committed_write_is_seen_by_others(registers: Opened) -> None:
    key = registers.row()
    write(registers.session(), key, 1)
    assert registers.committed(key) == 1


def test_a_rolled_back_write_is_not_seen(registers: Opened) -> None:
    written, removed, added = registers.row(3), registers.row(4), registers.missing()
    session = registers.session()
    session.begin()
    session.write(written, 1)
    session.delete(removed)
    session.insert(added, 1)
    session.rollback()
    assert [registers.committed(key) for key in (written, removed, added)] == [3, 4, None]


def test_rows_are_added_and_removed(registers: Opened) -> None:
    added, removed, session = registers.missing(), registers.row(), registers.session()
    session.begin()
    session.insert(added, 5)
    session.delete(removed)
    assert (session.read(added), session.read(removed)) == (5, None)
    session.commit()
    assert (registers.committed(added), registers.committed(removed)) == (5, None)


def test_a_row_that_is_not_there_cannot_be_removed(registers: Opened) -> None:
    """Then the transaction must be aborted: a history must not show the delete as done."""
    key, session = registers.row(), registers.session()
    session.begin()
    session.write(key, 1)
    with pytest.raises(Aborted):
        session.delete(registers.missing())
    session.rollback()
    assert registers.committed(key) == 0


def test_a_row_that_is_removed_can_be_added_again(registers: Opened) -> None:
    key, session = registers.row(), registers.session()
    for value in (1, 2):
        session.begin()
        session.delete(key)
        session.insert(key, value)
        session.commit()
        assert registers.committed(key) == value


def test_a_row_that_is_there_already_ends_the_transaction(registers: Opened) -> None:
    key, session = registers.row(), registers.session()
    session.begin()
    with pytest.raises(Aborted):
        insert_and_commit(session, key)
    write(session, key, 1)
    assert registers.committed(key) == 1


def insert_and_commit(session: Session, key: int) -> None:
    session.insert(key, 9)
    session.commit()


def test_a_range_has_both_ends_and_is_in_order(registers: Opened) -> None:
    low, middle, high = registers.row(1), registers.row(2), registers.row(3)
    registers.row(4)
    session = registers.session()
    session.begin()
    session.write(middle, 20)
    assert session.range_read(low, high) == [(low, 1), (middle, 20), (high, 3)]
    session.delete(low)
    assert session.range_read(low, high) == [(middle, 20), (high, 3)]
    assert session.range_read(-2, -1) == []


def test_a_transaction_may_do_nothing(registers: Opened) -> None:
    session = registers.session()
    for _ in range(2):
        session.begin()
        session.commit()


def test_timestamps_are_told_in_order_or_not_at_all(registers: Opened) -> None:
    key, session = registers.row(), registers.session()
    session.begin()
    session.write(key, 1)
    told = session.commit()
    assert told is None or told[0] <= told[1]


def test_rolling_back_never_fails(registers: Opened) -> None:
    session = registers.session()
    session.rollback()
    session.begin()
    session.rollback()
    session.rollback()
    session.close()
    session.rollback()


def test_closing_a_session_rolls_its_transaction_back(registers: Opened) -> None:
    key, session = registers.row(3), registers.session()
    session.begin()
    session.write(key, 1)
    session.close()
    session.close()
    assert registers.committed(key) == 3
    write(registers.session(), key, 2)


def test_rows_inserted_by_another_thread_are_seen_by_later_transactions(registers: Opened) -> None:
    session, keys = registers.session(), [registers.missing() for _ in range(3)]
    write(session, registers.row(), 1)
    thread = Thread(target=lambda: registers.database.insert((key, key) for key in keys))
    thread.start()
    thread.join(SOON)
    registers.database.insert([])
    session.begin()
    assert [session.read(key) for key in keys] == keys


def test_two_writers_of_a_row_each_commit_or_are_aborted(registers: Opened) -> None:
    key, ends = registers.row(), dict[int, str]()
    first, second = registers.session(), registers.session()
    first.begin()
    first.read(key)
    first.write(key, 1)
    thread = Thread(target=read_and_write, args=(second, key, 2, ends))
    thread.start()
    sleep(0.1)
    finish(first, 1, ends)
    thread.join(SOON)
    assert set(ends) == {1, 2}, "a session waits for ever"
    assert "committed" in ends.values()
    assert ends[registers.committed(key)] == "committed"
    for session in (first, second):
        write(session, key, 3)
        assert registers.committed(key) == 3


def read_and_write(session: Session, key: int, value: int, ends: dict[int, str]) -> None:
    try:
        session.begin()
        session.read(key)
        session.write(key, value)
    except Aborted:
        ends[value] = "aborted"
    else:
        finish(session, value, ends)


def finish(session: Session, value: int, ends: dict[int, str]) -> None:
    try:
        session.commit()
    except Aborted:
        ends[value] = "aborted"
    else:
        ends[value] = "committed"


def test_lists_start_empty_and_grow_at_their_end(lists: Opened) -> None:
    key, session = lists.row(), lists.session()
    assert lists.committed(key) == ()
    for value in (5, 3):
        session.begin()
        session.append(key, value)
        session.append(key, value + 10)
        session.commit()
    assert lists.committed(key) == (5, 15, 3, 13)


def test_a_session_reads_its_own_append(lists: Opened) -> None:
    key, session = lists.row(), lists.session()
    session.begin()
    session.append(key, 1)
    assert session.read(key) == (1,)
    session.append(key, 2)
    assert session.read(key) == (1, 2)
    session.rollback()
    assert lists.committed(key) == ()


def test_a_list_is_added_with_one_element(lists: Opened) -> None:
    key, session = lists.missing(), lists.session()
    session.begin()
    session.insert(key, 4)
    session.append(key, 5)
    session.commit()
    assert lists.committed(key) == (4, 5)


@CASES
def test_the_log_has_committed_versions_in_their_order(case: Case) -> None:
    with opened(case, "register") as database:
        keys, sessions = [database.row(), database.row()], [database.session(), database.session()]
        expected = []
        for value in range(1, 11):
            session, key = sessions[value % 2], keys[value % 3 % 2]
            session.begin()
            session.write(key, value)
            if value % 4:
                session.commit()
                expected.append((key, value))
            else:
                session.rollback()
        for session in sessions:
            session.close()
        order = database.database.version_order()
        assert (order is not None) == (case.name in WITH_LOG)
        assert order is None or [*order] == expected


@CASES
@CONTENTS
def test_a_run_keeps_the_promise(case: Case, content: Literal["register", "list"]) -> None:
    workload = Mix(content=content, rolled_back=0.05)
    done = run(case.connect(), workload, Limits(transactions=200, seconds=SOON))
    assert done.problem is None
    assert done.progress.indeterminate == 0
    assert done.progress.committed > 50
    assert done.history is not None
    promises = driver(case.name).ISOLATIONS[case.isolation].promises
    outcomes = {verdict.level: verdict.outcome for verdict in check(done.history, promises).verdicts}
    if content == "list" and Level.PL_1 in promises:
        # Lists that show what was rolled back contradict each other: there is no order to judge by.
        assert outcomes[Level.PL_1] is not Outcome.VIOLATED
    else:
        assert outcomes == dict.fromkeys(promises, Outcome.HOLDS)
