"""Batches and heartbeats of a run: no heartbeat is later than a transaction that is still to come."""

from __future__ import annotations

from threading import Event
from time import perf_counter, perf_counter_ns
from typing import Any

import pytest

from isoscope.collect import BatchQueue
from isoscope.errors import ServiceError
from tests.interrupts import wait_until


class Delivered:
    """Keeps what was delivered; a delivery waits for `go_on`."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self.beats: list[dict[object, int]] = []
        self.go_on = Event()
        self.go_on.set()

    def __call__(self, rows: list[Any], beats: list[tuple[Any, int]]) -> None:
        self.go_on.wait(60)
        self.rows += rows
        self.beats.append(dict(beats))

    def next_beats(self) -> dict[object, int]:
        """The heartbeats of a batch that began after this call."""
        seen = len(self.beats) + 1
        wait_until(lambda: len(self.beats) > seen)
        return self.beats[seen]


def test_the_heartbeat_of_an_idle_session_is_the_present() -> None:
    delivered, before = Delivered(), perf_counter_ns()
    queue = BatchQueue(delivered, sessions=[0, 1])
    assert all(time > before for time in delivered.next_beats().values())
    queue.close()


def test_the_heartbeat_of_a_busy_session_is_the_begin_of_its_transaction() -> None:
    delivered = Delivered()
    queue = BatchQueue(delivered, sessions=[0, 1])
    queue.began(0)
    began = perf_counter_ns()
    beats = delivered.next_beats()
    assert beats[0] <= began < beats[1]
    queue.put("row", 0, perf_counter())
    queue.flush()
    assert delivered.next_beats()[0] > began
    queue.close()


def test_all_sessions_have_a_heartbeat_before_the_first_row() -> None:
    delivered, before = Delivered(), perf_counter_ns()
    delivered.go_on.clear()
    queue = BatchQueue(delivered, sessions=[0, 1])
    queue.began(1)
    began = perf_counter_ns()
    queue.put("row", 0, perf_counter())
    delivered.go_on.set()
    queue.flush()
    queue.close()
    assert delivered.beats[0].keys() == {0, 1}
    assert all(before < time < began for time in delivered.beats[0].values())


def test_a_session_with_waiting_transactions_has_no_heartbeat() -> None:
    delivered = Delivered()
    delivered.go_on.clear()
    queue = BatchQueue(delivered, sessions=[0, 1], batch=1)
    for row in range(3):
        queue.put(row, 0, perf_counter())
    delivered.go_on.set()
    queue.flush()
    queue.close()
    assert delivered.rows == [0, 1, 2]
    said = [beats for beats in delivered.beats if beats]
    assert [0 in beats for beats in said[:3]].count(True) <= 2
    assert all(1 in beats for beats in said)


def test_a_given_heartbeat_is_delivered_once() -> None:
    delivered = Delivered()
    queue = BatchQueue(delivered)
    queue.beat("a", 7)
    queue.put("row", "b", perf_counter())
    queue.close()
    assert [beats for beats in delivered.beats if beats] == [{"a": 7}]


def test_a_failed_delivery_is_an_error_for_every_caller() -> None:
    def refuse(_rows: list[Any], _beats: list[Any]) -> None:
        raise ValueError("no")

    queue = BatchQueue(refuse)
    queue.put("row", 1, perf_counter())
    with pytest.raises(ServiceError, match="ValueError: no"):
        queue.close()


def test_all_sessions_have_a_heartbeat_before_anything_is_delivered() -> None:
    delivered, before = Delivered(), perf_counter_ns()
    delivered.go_on.clear()
    queue = BatchQueue(delivered, sessions=[0, 1])
    queue.began(0)
    began = perf_counter_ns()
    queue.put("row", 0, perf_counter())
    delivered.go_on.set()
    queue.flush()
    assert set(delivered.beats[0]) == {0, 1}
    assert all(before < time < began for time in delivered.beats[0].values())
    queue.close()
