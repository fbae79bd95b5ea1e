"""The protocol of databases, tested on every database with each of its isolations."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Literal

import pytest

from isoscope.checkers import check
from isoscope.conformance import QUESTIONS, Opened
from isoscope.databases import driver
from isoscope.levels import Level
from isoscope.run import Limits, run
from isoscope.verdict import Outcome
from tests.databases.conformance import SOON, WITH_LOG, Case, Mix, cases, close_all, opened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


@pytest.mark.parametrize("question", QUESTIONS["register"], ids=attrgetter("__name__"))
def test_registers(question: Callable[[Opened], None], registers: Opened) -> None:
    question(registers)


@pytest.mark.parametrize("question", QUESTIONS["list"], ids=attrgetter("__name__"))
def test_lists(question: Callable[[Opened], None], lists: Opened) -> None:
    question(lists)


def test_a_row_that_is_removed_can_be_added_again(registers: Opened) -> None:
    key, session = registers.row(), registers.session()
    for value in (1, 2):
        session.begin()
        session.delete(key)
        session.insert(key, value)
        session.commit()
        assert registers.committed(key) == value


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
