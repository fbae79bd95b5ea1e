"""Heartbeats of a run: no session is said to be beyond what is still to come of it."""

from __future__ import annotations

from threading import Event
from time import monotonic, perf_counter, perf_counter_ns, sleep
from typing import Any

import pytest

from isoscope.collect import Gathering
from isoscope.errors import ServiceError


class Heard:
    """What was handed on; waits in the middle if it is told to."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self.beats: list[dict[object, int]] = []
        self.go_on = Event()
        self.go_on.set()

    def __call__(self, rows: list[Any], beats: list[tuple[Any, int]]) -> None:
        self.go_on.wait(10)
        self.rows += rows
        self.beats.append(dict(beats))

    def next_beats(self) -> dict[object, int]:
        """Of a batch that was begun after this call."""
        end, seen = monotonic() + 10, len(self.beats) + 1
        while len(self.beats) <= seen and monotonic() < end:
            sleep(0.01)
        return self.beats[seen]


def test_a_session_between_transactions_is_beyond_what_is_past() -> None:
    heard, before = Heard(), perf_counter_ns()
    gathering = Gathering(heard, sessions=[0, 1])
    assert all(time > before for time in heard.next_beats().values())
    gathering.close()


def test_a_session_in_a_transaction_is_where_that_began() -> None:
    heard = Heard()
    gathering = Gathering(heard, sessions=[0, 1])
    gathering.began(0)
    began = perf_counter_ns()
    beats = heard.next_beats()
    assert beats[0] <= began < beats[1]
    gathering.put("row", 0, perf_counter())
    gathering.flush()
    assert heard.next_beats()[0] > began
    gathering.close()


def test_all_sessions_are_heard_of_before_the_first_row() -> None:
    heard, before = Heard(), perf_counter_ns()
    heard.go_on.clear()
    gathering = Gathering(heard, sessions=[0, 1])
    gathering.began(1)
    began = perf_counter_ns()
    gathering.put("row", 0, perf_counter())
    heard.go_on.set()
    gathering.flush()
    gathering.close()
    assert heard.beats[0].keys() == {0, 1}
    assert all(before < time < began for time in heard.beats[0].values())


def test_a_session_of_which_something_waits_is_not_heard_of() -> None:
    heard = Heard()
    heard.go_on.clear()
    gathering = Gathering(heard, sessions=[0, 1], batch=1)
    for row in range(3):
        gathering.put(row, 0, perf_counter())
    heard.go_on.set()
    gathering.flush()
    gathering.close()
    assert heard.rows == [0, 1, 2]
    said = [beats for beats in heard.beats if beats]
    assert [0 in beats for beats in said[:3]].count(True) <= 2
    assert all(1 in beats for beats in said)


def test_what_a_caller_says_of_a_session_is_handed_on_once() -> None:
    heard = Heard()
    gathering = Gathering(heard)
    gathering.beat("a", 7)
    gathering.put("row", "b", perf_counter())
    gathering.close()
    assert [beats for beats in heard.beats if beats] == [{"a": 7}]


def test_who_cannot_hand_on_says_so_to_everybody_who_waits() -> None:
    def refuse(_rows: list[Any], _beats: list[Any]) -> None:
        raise ValueError("no")

    gathering = Gathering(refuse)
    gathering.put("row", 1, perf_counter())
    with pytest.raises(ServiceError, match="ValueError: no"):
        gathering.close()


def test_all_sessions_are_heard_of_before_anything_is_handed_on() -> None:
    heard, before = Heard(), perf_counter_ns()
    heard.go_on.clear()
    gathering = Gathering(heard, sessions=[0, 1])
    gathering.began(0)
    began = perf_counter_ns()
    gathering.put("row", 0, perf_counter())
    heard.go_on.set()
    gathering.flush()
    assert set(heard.beats[0]) == {0, 1}
    assert all(before < time < began for time in heard.beats[0].values())
    gathering.close()
