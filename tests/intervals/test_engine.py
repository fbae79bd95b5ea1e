"""The engine that mirrors a database online: who is waited for, what is late, and what is forgotten."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from isoscope import _native
from isoscope.history import Initial, Operation, Transaction
from isoscope.profiles import PROFILES
from isoscope.recorder import build
from tests.reference.timed import commit, committed, read, write

from .mirrored import counted

if TYPE_CHECKING:
    from isoscope.history import Scalar

PROFILE = PROFILES["postgresql/read-committed"]
TIMEOUT = 1_000


def engine(*, clock_error: int = 0, initial: Any = 0) -> _native.IntervalsOnline:
    return _native.IntervalsOnline(
        PROFILE.native, clock_error=clock_error, most=10, initial=initial, timeout=TIMEOUT
    )


def columns(*transactions: Transaction) -> _native.Columns:
    return build(transactions, initial=Initial(value=0)).columns


def by(session: Scalar, number: int, *operations: Operation) -> Transaction:
    return replace(committed(*operations), id=number, session_id=session)


def stale() -> list[Transaction]:
    """The third shows what the second had overwritten."""
    return [
        by("a", 1, write("x", 1, 1, 2), commit(3, 4)),
        by("a", 2, write("x", 2, 5, 6), commit(7, 8)),
        by("b", 3, read("x", 1, 9, 10), commit(11, 12)),
    ]


def test_nothing_is_judged_before_everybody_has_spoken() -> None:
    online = engine()
    for session in ("a", "b", "c"):
        online.heartbeat(session, 0, 0)
    online.take(columns(*stale()), 0)
    assert counted(online.counts()) == {}
    assert online.watermark == 0
    assert online.holding_back() == ["c"]


def test_heartbeats_move_the_watermark() -> None:
    online = engine()
    for session in ("a", "b", "c"):
        online.heartbeat(session, 0, 0)
    online.take(columns(*stale()), 0)
    for session in ("a", "b", "c"):
        online.heartbeat(session, 100, 1)
    online.advance(1)
    assert online.watermark == 100
    assert counted(online.counts()) == {"inconsistent-read": 1}


def test_who_is_silent_for_too_long_is_not_waited_for() -> None:
    online = engine()
    for session in ("a", "b", "c"):
        online.heartbeat(session, 0, 0)
    online.take(columns(*stale()), 0)
    for session in ("a", "b"):
        online.heartbeat(session, 100, TIMEOUT)
    online.advance(TIMEOUT + 1)
    assert counted(online.counts()) == {"inconsistent-read": 1}


def left_behind() -> _native.IntervalsOnline:
    """Somebody wrote long ago and says so when nobody waits any longer."""
    online = engine()
    for session in ("a", "c"):
        online.heartbeat(session, 0, 0)
    online.take(columns(by("a", 1, write("y", 1, 50, 51), commit(52, 53))), 0)
    online.heartbeat("a", 100, 2 * TIMEOUT)
    online.advance(2 * TIMEOUT)
    online.take(columns(by("c", 2, write("x", 7, 1, 2), commit(3, 4))), 2 * TIMEOUT)
    return online


def test_what_comes_too_late_is_counted() -> None:
    assert left_behind().sizes()["late"] == 1


def test_a_read_of_what_came_too_late_is_set_aside() -> None:
    online = left_behind()
    online.take(columns(by("a", 3, read("x", 7, 101, 102), commit(103, 104))), 2 * TIMEOUT)
    online.flush()
    assert counted(online.counts()) == {}
    assert online.sizes()["aside"] == 1


def test_a_transaction_that_is_told_twice_counts_once() -> None:
    online = engine()
    assert online.take(columns(*stale()), 0) == 3
    assert online.take(columns(*stale()), 1) == 0
    online.flush()
    assert counted(online.counts()) == {"inconsistent-read": 1}


def test_what_was_saved_goes_on_as_if_nothing_had_happened() -> None:
    first, second, third = stale()
    online = engine()
    for one in (first, second):
        online.take(columns(one), 0)
        online = _native.IntervalsOnline.load(online.save())
    online.take(columns(third), 1)
    online.flush()
    assert counted(online.counts()) == {"inconsistent-read": 1}


def test_bytes_of_nobody_are_refused() -> None:
    with pytest.raises(ValueError, match="the checkpoint is damaged"):
        _native.IntervalsOnline.load(b"nothing of ours")


@pytest.mark.parametrize(("clock_error", "found"), [(0, {"inconsistent-read": 1}), (1, {})])
def test_clocks_that_may_be_wrong_excuse_a_read(clock_error: int, found: dict[str, int]) -> None:
    online = engine(clock_error=clock_error)
    online.take(columns(*stale()), 0)
    online.flush()
    assert counted(online.counts()) == found


def test_sessions_without_a_name_are_one() -> None:
    online = engine()
    nameless = [replace(one, session_id=None) for one in stale()]
    online.take(columns(*nameless), 0)
    online.flush()
    assert counted(online.counts()) == {"inconsistent-read": 1}


def test_thousands_of_sessions_are_fine() -> None:
    online = engine()
    many = [
        by(f"s{n}", n, write("x", n, 10 * n + 1, 10 * n + 2), commit(10 * n + 3, 10 * n + 4))
        for n in range(3000)
    ]
    online.take(columns(*many), 0)
    online.flush()
    assert counted(online.counts()) == {}


def test_what_nobody_can_see_any_longer_is_forgotten_with_its_text() -> None:
    sizes = []
    online = engine(initial="")
    for batch in range(6):
        first = batch * 1000
        online.take(
            columns(
                *(
                    by(
                        "a",
                        n,
                        write("x", f"{n:0>500}", 10 * n + 1, 10 * n + 2),
                        commit(10 * n + 3, 10 * n + 4),
                    )
                    for n in range(first, first + 1000)
                )
            ),
            batch,
        )
        online.advance(batch)
        sizes.append(len(online.save()))
    assert sizes[-1] < 1.5 * sizes[1]
