"""Batches and heartbeats of a run: no heartbeat is later than a transaction that is still to come."""

from __future__ import annotations

from threading import Event
from time import monotonic, perf_counter, perf_counter_ns, sleep
from typing import Any

import pytest

from isoscope.collect import BatchQueue
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
    queue = BatchQueue(heard, sessions=[0, 1])
    assert all(time > before for time in heard.next_beats().values())
    queue.close()


def test_a_session_in_a_transaction_is_where_that_began() -> None:
    heard = Heard()
    queue = BatchQueue(heard, sessions=[0, 1])
    queue.began(0)
    began = perf_counter_ns()
    beats = heard.next_beats()
    assert beats[0] <= began < beats[1]
    queue.put("row", 0, perf_counter())
    queue.flush()
    assert heard.next_beats()[0] > began
    queue.close()


def test_all_sessions_are_heard_of_before_the_first_row() -> None:
    heard, before = Heard(), perf_counter_ns()
    heard.go_on.clear()
    queue = BatchQueue(heard, sessions=[0, 1])
    queue.began(1)
    began = perf_counter_ns()
    queue.put("row", 0, perf_counter())
    heard.go_on.set()
    queue.flush()
    queue.close()
    assert heard.beats[0].keys() == {0, 1}
    assert all(before < time < began for time in heard.beats[0].values())


def test_a_session_of_which_something_waits_is_not_heard_of() -> None:
    heard = Heard()
    heard.go_on.clear()
    queue = BatchQueue(heard, sessions=[0, 1], batch=1)
    for row in range(3):
        queue.put(row, 0, perf_counter())
    heard.go_on.set()
    queue.flush()
    queue.close()
    assert heard.rows == [0, 1, 2]
    said = [beats for beats in heard.beats if beats]
    assert [0 in beats for beats in said[:3]].count(True) <= 2
    assert all(1 in beats for beats in said)


def test_what_a_caller_says_of_a_session_is_handed_on_once() -> None:
    heard = Heard()
    queue = BatchQueue(heard)
    queue.beat("a", 7)
    queue.put("row", "b", perf_counter())
    queue.close()
    assert [beats for beats in heard.beats if beats] == [{"a": 7}]


def test_a_failed_delivery_is_an_error_for_every_caller() -> None:
    def refuse(_rows: list[Any], _beats: list[Any]) -> None:
        raise ValueError("no")

    queue = BatchQueue(refuse)
    queue.put("row", 1, perf_counter())
    with pytest.raises(ServiceError, match="ValueError: no"):
        queue.close()


def test_all_sessions_are_heard_of_before_anything_is_handed_on() -> None:
    heard, before = Heard(), perf_counter_ns()
    heard.go_on.clear()
    queue = BatchQueue(heard, sessions=[0, 1])
    queue.began(0)
    began = perf_counter_ns()
    queue.put("row", 0, perf_counter())
    heard.go_on.set()
    queue.flush()
    assert set(heard.beats[0]) == {0, 1}
    assert all(before < time < began for time in heard.beats[0].values())
    queue.close()
