"""The service is not ready while the disk is full or a checkpoint fails, and ready again afterwards."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from threading import Thread
from time import monotonic, sleep
from types import SimpleNamespace
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from isoscope.cli import serve
from isoscope.live import checkpoint
from isoscope.live.access import Access
from isoscope.live.clock_engines import ClockEngines
from isoscope.live.http_server import HttpServer, listen
from isoscope.live.journal import Fsync
from isoscope.live.service import Settings, State

from .sent_batches import STALE, Clock, answers, batch, chain, in_batches, offline
from .served import served
from .test_journal import full_after
from .test_service import SETTINGS, refused, running

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.live.service import Service

SMALL = Settings(fsync=Fsync.NEVER, segment=2000, segments=2)


def settled(service: Service, clock: Clock) -> None:
    """Nothing more changes by itself: the clock writes no further records."""
    service.flush()
    clock.sleep(60)
    service.tick()
    assert service._is_settled


def test_a_batch_that_the_disk_did_not_take_ends_readiness_until_there_is_room(tmp_path: Path) -> None:
    with running(tmp_path, SETTINGS, clock := Clock()) as service:
        service.take(batch(1, STALE[:1]))
        settled(service, clock)
        with full_after(0):
            assert refused(service, batch(2, STALE[1:])).status == 507
            assert not service.is_ready
            # The clock finds out by writing, although it has nothing to write.
            for _ in range(3):
                service.tick()
                assert not service.is_ready
                assert "No space left" in service.problem
        service.tick()
        assert service.is_ready
        assert service.take(batch(2, STALE[1:])).taken == 2


def test_a_little_room_is_not_enough_for_the_batch_that_failed(tmp_path: Path) -> None:
    free = SimpleNamespace(f_bavail=100_000, f_frsize=1, f_blocks=1)
    with running(tmp_path, SETTINGS) as service, mock.patch("os.statvfs", return_value=free):
        with full_after(0):
            refused(service, batch(1, chain(5000)))
        service.tick()
        assert not service.is_ready
        free.f_bavail = 10_000_000
        service.tick()
        assert service.is_ready


def test_a_full_disk_ends_readiness_before_any_write_fails(tmp_path: Path) -> None:
    free = SimpleNamespace(f_bavail=0, f_frsize=4096, f_blocks=1)
    with running(tmp_path, SETTINGS, clock := Clock()) as service:
        settled(service, clock)
        with mock.patch("os.statvfs", return_value=free):
            service.tick()
            assert not service.is_ready
            assert service.problem == "the disk is full: 0 bytes are left"
        service.tick()
        assert service.is_ready


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), OSError(errno.EIO, "I/O error")])
def test_the_service_is_not_ready_while_a_checkpoint_fails(tmp_path: Path, error: OSError) -> None:
    with running(tmp_path, SMALL, clock := Clock()) as service:
        with mock.patch.object(checkpoint, "write", side_effect=error) as write:
            for sequence, part in enumerate(in_batches(chain(200), 20), start=1):
                service.take(batch(sequence, part))
                service.tick()
                clock.sleep(0.3)
            assert write.call_count > 1
            assert not service.is_ready
            assert service.problem.startswith("cannot write a checkpoint: ")
            before = len([*tmp_path.glob("journal-*")])
            settled(service, clock)
            for _ in range(10):
                clock.sleep(2)
                service.tick()
                assert not service.is_ready
            # Attempts without new records make no new segments.
            assert len([*tmp_path.glob("journal-*")]) <= before + 1
        clock.sleep(2)
        service.tick()
        assert service.is_ready
        assert len([*tmp_path.glob("journal-*")]) == 1
        assert answers(service.report()) == offline(chain(200))


def test_a_checkpoint_that_fails_is_not_tried_with_every_step_of_the_clock(tmp_path: Path) -> None:
    full = OSError(errno.ENOSPC, "full")
    with (
        running(tmp_path, SMALL, Clock()) as service,
        mock.patch.object(checkpoint, "write", side_effect=full) as write,
    ):
        for sequence, part in enumerate(in_batches(chain(80), 20), start=1):
            service.take(batch(sequence, part))
            service.tick()
        tried = write.call_count
        for _ in range(20):
            service.tick()
        assert write.call_count == tried


def test_readiness_is_told_over_http(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        assert client.get("/readyz").status == 200
        with full_after(0):
            assert client.post(1, STALE).status == 507
            answer = client.get("/readyz")
            assert (answer.status, "No space left" in answer.document["problem"]) == (503, True)
            assert client.get("/healthz").status == 200


@pytest.mark.parametrize("place", ["save", "advance", "news"])
def test_an_exception_in_the_thread_of_the_clock_is_a_failed_service(tmp_path: Path, place: str) -> None:
    with running(tmp_path, replace(SMALL, segment=1, segments=1), Clock()) as service:
        service.take(batch(1, STALE))
        with mock.patch.object(ClockEngines, place, side_effect=ZeroDivisionError("odd")):
            service.tick()
        assert service.state is State.FAILED
        assert "ZeroDivisionError" in service.problem
        assert not service.is_ready


def test_a_disk_whose_size_is_not_told_is_not_full(tmp_path: Path) -> None:
    with (
        running(tmp_path, SETTINGS) as service,
        mock.patch("os.statvfs", side_effect=OSError(errno.ENOSYS, "")),
    ):
        service.tick()
        assert service.is_ready
    assert os.statvfs(tmp_path).f_blocks


def test_the_log_says_once_that_there_is_a_problem_and_that_it_is_over(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    free = [70_000, 60_000, 50_000, 40_000, 70_000]
    found = [SimpleNamespace(f_bavail=left, f_frsize=1, f_blocks=1) for left in free]
    with running(tmp_path, SETTINGS) as service:
        server = HttpServer(service, Access(), listen("127.0.0.1", 0), drain=1)
        thread = Thread(target=server.run, kwargs={"problem": serve._tell_problem})
        told = ""
        with mock.patch("os.statvfs", side_effect=[*found, *found[-1:] * 1000]):
            thread.start()
            end = monotonic() + 20
            while "over" not in told and monotonic() < end:
                sleep(0.05)
                told += capfd.readouterr().err
        server.stop()
        thread.join(30)
    assert told.splitlines() == [
        "problem: the disk is full: 60,000 bytes are left",
        "note: the problem is over",
    ]
