"""The service at its limits: a full disk, a disk that fails, a checker that stops, too little memory."""

from __future__ import annotations

import errno
from dataclasses import replace
from typing import TYPE_CHECKING
from unittest import mock

from isoscope.live import memory_limit
from isoscope.live.batches import Refused
from isoscope.live.check_settings import CheckSettings
from isoscope.live.clock_engines import ClockEngines
from isoscope.live.journal import Fsync
from isoscope.live.service import State

from .sent_batches import SECOND, STALE, Clock, answers, batch, chain, in_batches, offline
from .test_journal import full_after
from .test_service import SETTINGS, events, measured, refused, running

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_full_disk_refuses_the_batch_and_the_service_goes_on(tmp_path: Path) -> None:
    clock = Clock()
    with running(tmp_path, clock=clock) as service:
        service.take(batch(1, STALE[:1]))
        with full_after(50):
            problem = refused(service, batch(2, STALE[1:]))
            clock.sleep(10)
            service.tick()
            assert service.problem == "cannot write to the disk: No space left on device"
        assert (problem.status, service.expected("c")) == (507, 2)
        assert "No space left on device" in problem.reason
        service.tick()
        assert service.problem == ""
        assert service.take(batch(2, STALE[1:])).taken == 2
        service.flush()
        assert answers(service.report()) == offline(STALE)


def test_an_event_that_a_full_disk_refuses_is_written_later(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        service.take(batch(1, STALE))
        with mock.patch("isoscope.live.event_log.append", side_effect=OSError(errno.ENOSPC, "No space")):
            service.flush()
            assert events(service) == []
        service.tick()
        assert [row["id"] for row in events(service)] == [1, 2]


def test_a_disk_that_fails_ends_the_intake_until_a_restart(tmp_path: Path) -> None:
    settings = replace(SETTINGS, fsync=Fsync.ALWAYS)
    with running(tmp_path, settings) as service:
        service.take(batch(1, STALE[:1]))
        with mock.patch("isoscope.live.journal.os.fsync", side_effect=OSError(errno.EIO, "I/O error")):
            assert refused(service, batch(2, STALE[1:2])).status == 507
        assert service.state is State.FAILED
        assert refused(service, batch(3, STALE[2:])).status == 500
        assert service.status()["problem"] == "the journal is not safe: I/O error"
    with running(tmp_path, settings) as service:
        service.take(batch(service.expected("c"), STALE[2:]))
        service.flush()
        assert answers(service.report()) == offline(STALE)


def test_a_checker_that_stops_fails_every_request(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        with mock.patch.object(ClockEngines, "take", side_effect=RuntimeError("out of order")):
            problem = refused(service, batch(1, STALE))
        assert (problem.status, problem.reason) == (500, "a checker stopped: RuntimeError: out of order")
        assert service.state is State.FAILED
        assert refused(service, batch(1, STALE)).status == 500
        service.tick()
        assert service.status()["state"] == "failed"
    # The journal had it first.
    with running(tmp_path) as service:
        assert service.take(batch(1, STALE)).again


def test_a_checker_that_stops_during_a_step_of_the_clock_fails_every_request(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        with mock.patch.object(ClockEngines, "advance", side_effect=RuntimeError("out of order")):
            service.tick()
        assert service.status()["state"] == "failed"
        service.drain(1)
        assert service.problem == "a checker stopped: RuntimeError: out of order"


def test_at_the_memory_limit_batches_wait_until_others_have_left(tmp_path: Path) -> None:
    with running(tmp_path, replace(SETTINGS, memory=1000)) as service:
        with measured(memory=900):
            service.take(batch(1, STALE[:1]))
        with measured(memory=1100):
            service.take(batch(2, STALE[1:2]))
            problem = refused(service, batch(3, STALE[2:]))
            assert (problem.status, problem.wait > 0) == (429, True)
            assert "the memory limit of 1,000 bytes is reached" in problem.reason
        with measured(memory=900):
            service.tick()
            assert service.take(batch(3, STALE[2:])).taken == 1


def test_a_memory_limit_that_is_too_low_gives_an_error_instead_of_a_wait(tmp_path: Path) -> None:
    clock = Clock()
    with running(tmp_path, replace(SETTINGS, memory=1000), clock) as service, measured(memory=1100):
        service.tick()
        assert refused(service, batch(1, STALE)).status == 429
        # All is final, and nothing more will leave.
        clock.sleep(10)
        service.tick()
        problem = refused(service, batch(1, STALE))
        assert (problem.status, "too low" in problem.reason) == (507, True)


def test_a_limit_on_memory_is_kept_while_everything_gets_through(tmp_path: Path) -> None:
    clock, limit = Clock(), 16_000_000
    settings = replace(SETTINGS, check=CheckSettings(timeout=SECOND), memory=limit)
    transactions = chain(40_000, stale_every=1000)
    with running(tmp_path, settings, clock) as service:
        most, refusals = 0, 0
        for sequence, part in enumerate(in_batches(transactions, 500), start=1):
            for _ in range(30):
                try:
                    service.take(batch(sequence, part))
                    break
                except Refused:
                    refusals += 1
                    clock.sleep(0.1)
                    service.tick()
            most = max(most, service.status()["memory"]["used"])
        service.flush()
        assert answers(service.report()) == offline(transactions)
        assert refusals > 0
        assert most < limit * 1.25


def test_draining_works_on_a_full_disk_too(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        service.take(batch(1, STALE))
        with full_after(0):
            service.drain(1)
        assert answers(service.report()) == offline(STALE)
        assert "No space left" in service.problem
    with running(tmp_path) as service:
        service.flush()
        assert answers(service.report()) == offline(STALE)
        assert len(events(service)) == 2


def test_a_process_that_has_grown_too_much_makes_batches_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory counts that the engines do not: of the allocator, of batches under way."""
    held = [0]
    given_back: list[None] = []
    monkeypatch.setattr(memory_limit, "resident", lambda: held[0])
    monkeypatch.setattr(memory_limit, "give_back", lambda: given_back.append(None))
    limit = 10**9
    with running(tmp_path, replace(SETTINGS, memory=limit), clock := Clock()) as service:
        service.take(batch(1, STALE[:1]))
        held[0] = memory_limit.FACTOR * limit
        service.take(batch(2, STALE[1:2]))
        assert service.status()["memory"]["grown"] == held[0]
        held[0] = 3 * limit
        problem = refused(service, batch(3, STALE[2:]))
        assert (problem.status, problem.wait > 0) == (429, True)
        assert "more than 2 times the memory limit" in problem.reason
        clock.sleep(3)
        service.tick()
        service.tick()
        assert len(given_back) == 1
        held[0] = limit
        assert service.take(batch(3, STALE[2:])).taken == 1


def test_without_a_limit_the_process_may_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limit, "resident", lambda: 10**15)
    with running(tmp_path) as service:
        assert service.take(batch(1, STALE)).taken == 3


def test_the_memory_of_this_process_is_known() -> None:
    memory_limit.give_back()
    assert memory_limit.resident() > 1_000_000
