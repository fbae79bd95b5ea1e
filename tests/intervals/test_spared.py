"""What correct databases do and looks wrong at first sight: nobody is accused of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isoscope import _native, profiles
from isoscope.checkers import check
from isoscope.history import Initial, Interval, Operation, OperationKind, Transaction
from isoscope.recorder import build

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.history import History, Value

#: Session, from, to, what is done, key, value.
Line = tuple[int, int, int, str, "str | None", "Value"]


def history(lines: Iterable[Line], initial: Initial | None = None) -> History:
    """One transaction of each session."""
    operations: dict[int, list[Operation]] = {}
    for session, begin, end, kind, key, value in lines:
        one = Operation(kind=OperationKind(kind), key=key, value=value, interval=Interval(begin, end))
        operations.setdefault(session, []).append(one)
    return build(
        (
            Transaction(number=0, id=session, session=0, session_id=session, operations=tuple(own))
            for session, own in operations.items()
        ),
        initial=initial,
    )


def found(judged: History, profile: str, *, clock_error: int = 0) -> dict[str, int]:
    report = check(judged, profile=profiles.load(profile), clock_error=clock_error)
    assert report.mechanisms is not None
    return {key: n for one in report.mechanisms.verdicts for key, n in one.anomaly_counts.items()}


@pytest.mark.parametrize("profile", ["mariadb/read-uncommitted", "simulated/read-uncommitted"])
def test_a_list_is_empty_at_first_also_for_who_reads_what_is_not_committed(profile: str) -> None:
    own = history(
        [(1, 0, 9, "append", "x", 1), (1, 20, 29, "read", "x", (1,)), (1, 30, 39, "commit", None, None)],
        Initial(value=0),
    )
    assert not found(own, profile)


def test_what_a_key_held_at_first_may_be_what_somebody_writes_later() -> None:
    lines: list[Line] = [
        (1, 90, 91, "write", "x", 100),
        (1, 150, 160, "commit", None, None),
        (2, 90, 91, "write", "y", 7),
        (2, 120, 130, "commit", None, None),
        (3, 100, 200, "read", "x", 100),
        (3, 100, 200, "read", "y", 0),
        (3, 210, 220, "commit", None, None),
    ]
    assert not found(history(lines), "postgresql/repeatable-read")
    known = history(lines, Initial(value=0))
    assert found(known, "postgresql/repeatable-read") == {"inconsistent-read": 1}


@pytest.mark.parametrize("profile", ["postgresql/read-committed", "postgresql/serializable"])
def test_the_same_element_may_be_appended_twice(profile: str) -> None:
    lines: list[Line] = [
        (1, 0, 1, "append", "x", 5),
        (1, 2, 3, "commit", None, None),
        (2, 10, 11, "append", "x", 6),
        (2, 12, 13, "commit", None, None),
        (3, 20, 21, "append", "x", 5),
        (3, 22, 23, "commit", None, None),
        (4, 30, 31, "read", "x", (5, 6, 5)),
        (4, 32, 33, "commit", None, None),
    ]
    assert not found(history(lines), profile)


def test_clocks_that_may_be_wrong_by_centuries_accuse_nobody() -> None:
    lines: list[Line] = []
    for number in range(1, 100):
        begin = 10 * number
        lines += [(number, begin, begin + 1, "write", "x", number)]
        lines += [(number, begin + 2, begin + 3, "commit", None, None)]
        lines += [(1000 + number, begin, begin + 1, "read", "x", 1)]
        lines += [(1000 + number, begin + 4, begin + 5, "commit", None, None)]
    assert found(history(lines), "postgresql/serializable")
    for clock_error in (2**61, 2**62 - 1, 2**62):
        assert not found(history(lines), "postgresql/serializable", clock_error=clock_error)


def test_a_row_that_is_not_there_may_have_been_deleted_by_who_came_too_late() -> None:
    profile = profiles.load("postgresql/read-committed")
    engine = _native.IntervalsOnline(profile.native, clock_error=0, most=1, initial=0, timeout=5)
    lines: list[Line] = [
        (1, 0, 1, "delete", "x", None),
        (1, 2, 3, "commit", None, None),
        (2, 10, 11, "insert", "x", 1),
        (2, 12, 13, "commit", None, None),
    ]
    engine.heartbeat(9, 0, 0)
    engine.take(history(lines).columns, 0)
    engine.advance(10)
    # Session 9, which was silent for too long, has deleted it; that is still on its way.
    engine.take(history([(3, 40, 41, "read", "x", None), (3, 42, 43, "commit", None, None)]).columns, 10)
    engine.flush()
    [_, _, (counts, *_)] = engine.report()
    assert not any(counts)
