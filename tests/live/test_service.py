"""The service: a batch is taken whole, once, and for good, or refused with a reason; time makes it final."""

from __future__ import annotations

import errno
import json
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from isoscope.checkers.online import Online
from isoscope.errors import UsageError
from isoscope.levels import Level
from isoscope.live.batches import Batch, Refused
from isoscope.live.check_settings import CheckSettings
from isoscope.live.clock_engines import ClockEngines
from isoscope.live.journal import Fsync
from isoscope.live.service import Service, Settings, State, Taken
from isoscope.reports import render_svg, render_text

from .test_journal import full_after
from .told import FINE, LINES, SECOND, STALE, Clock, answers, batch, body, chain, in_batches, offline

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from isoscope.history import History

SETTINGS = Settings(fsync=Fsync.NEVER)


@contextmanager
def running(folder: Path, settings: Settings = SETTINGS, clock: Clock | None = None) -> Iterator[Service]:
    service = Service(folder, settings, clock=clock or Clock())
    try:
        yield service
    finally:
        service.close()


def refused(service: Service, sent: Batch) -> Refused:
    with pytest.raises(Refused) as caught:
        service.take(sent)
    return caught.value


def events(service: Service) -> list[dict[str, Any]]:
    return [json.loads(event.line) for event in service.violations(0, 1000)]


def test_after_a_flush_the_report_is_that_of_the_offline_check(tmp_path: Path) -> None:
    transactions = chain(100, stale_every=7)
    with running(tmp_path) as service:
        for sequence, part in enumerate(in_batches(transactions, 9), start=1):
            service.take(batch(sequence, part))
        service.flush()
        assert answers(service.report()) == offline(transactions)
        assert service.report().history["transactions"] == 100


def test_a_violation_is_told_once_its_time_is_over_and_not_before(tmp_path: Path) -> None:
    clock = Clock()
    with running(tmp_path, clock=clock) as service:
        service.take(batch(1, STALE))
        clock.sleep(4)
        service.tick()
        assert events(service) == []
        clock.sleep(2)
        service.tick()
        told = events(service)
        assert [(row["id"], row["level"], row["name"]) for row in told] == [
            (1, "clock-snapshot-isolation", "stale-read"),
            (2, "clock-serializable", "stale-read"),
        ]
        clock.sleep(100)
        service.tick()
        assert events(service) == told


def test_only_the_levels_that_were_asked_for_are_judged(tmp_path: Path) -> None:
    settings = replace(SETTINGS, check=CheckSettings(levels=(Level.CLOCK_SERIALIZABLE,)))
    with running(tmp_path, settings) as service:
        service.take(batch(1, STALE))
        service.flush()
        assert [row["level"] for row in events(service)] == ["clock-serializable"]
        assert [level["level"] for level in service.status()["levels"]] == ["clock-serializable"]


def test_a_batch_that_comes_twice_is_taken_once(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        assert service.take(batch(1, STALE)) == Taken(taken=3, repeated=0, sequence=1)
        assert service.take(batch(1, STALE)).document() == {"taken": 0, "repeated": True, "sequence": 1}
        # Even if something else is in it by now.
        assert service.take(batch(1, FINE)).again
        assert service.expected("c") == 2
        assert service.status()["intake"]["repeated_batches"] == 2


def test_a_batch_that_nobody_can_judge_takes_no_room(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        before = service.status()
        with pytest.raises(Refused, match="it is not known whether it committed"):
            service.take(batch(1, [*chain(100), {**STALE[0], "tid": 101, "status": "indeterminate"}]))
        after = service.status()
    assert (after["journal"], after["memory"]) == (before["journal"], before["memory"])


def test_transactions_that_come_twice_are_counted_as_such(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        service.take(batch(1, STALE[:2]))
        assert service.take(batch(2, STALE)) == Taken(taken=1, repeated=2, sequence=2)


def test_each_collector_counts_for_itself(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        service.take(batch(1, STALE[:1], "a"))
        service.take(batch(1, STALE[1:2], "b"))
        service.take(batch(2, STALE[2:], "a"))
        assert [service.expected(name) for name in ("a", "b", "c")] == [3, 2, 1]


def test_a_gap_is_refused_and_says_what_is_expected(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        problem = refused(service, batch(2, STALE))
        assert problem.document() == {"error": "expected batch 1 of c", "expected": 1}
        assert problem.status == 409
        assert service.take(batch(1, STALE)).taken == 3


@pytest.mark.parametrize(
    ("poison", "status", "reason"),
    [
        (b'{"tid":9', 400, "c#1:1:9: expected `,` or `}` after a field"),
        (body(STALE) + b"\n{}", 400, "c#1:4:1: expected a transaction with `ops`"),
        (b"\xff\xfe", 400, "c#1:1:1: expected"),
        (body([*STALE, STALE[0]]), 400, "a `tid` of its own"),
        (body([*STALE, {"tid": 4, "sid": 1, "ops": []}]), 422, "c#1:4: transaction 4: "),
        (
            body([{**STALE[0], "status": "indeterminate"}]),
            422,
            "c#1:1: transaction 1: it is not known whether it committed",
        ),
        (body([*STALE[:2], {"tid": 3, "sid": 3, "cts": 6, "ops": []}]), 422, "c#1:3: transaction 3: "),
    ],
)
def test_a_poisoned_batch_is_refused_whole_and_its_number_stays_free(
    tmp_path: Path, poison: bytes, status: int, reason: str
) -> None:
    with running(tmp_path) as service:
        problem = refused(service, Batch(collector="c", sequence=1, form=LINES, body=poison))
        assert problem.status == status
        assert reason in problem.reason
        assert service.status()["levels"][0]["transactions"] == 0
        # The service goes on.
        assert service.take(batch(1, STALE)).taken == 3
        service.flush()
        assert answers(service.report()) == offline(STALE)
        counted = service.status()["intake"]
        assert (counted["batches"], counted["refused_batches"]) == (1, 1)
    with running(tmp_path) as service:
        assert answers(service.report()) == offline(STALE)


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


def test_a_violation_that_finds_no_room_on_the_disk_is_told_later(tmp_path: Path) -> None:
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


def test_a_checker_that_stops_is_a_failure_that_everybody_sees(tmp_path: Path) -> None:
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


def test_a_checker_that_stops_while_time_goes_on_is_seen_too(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        with mock.patch.object(ClockEngines, "advance", side_effect=RuntimeError("out of order")):
            service.tick()
        assert service.status()["state"] == "failed"
        service.drain(1)
        assert service.problem == "a checker stopped: RuntimeError: out of order"


def test_the_journal_is_forced_to_the_disk_once_a_second_if_that_is_the_policy(tmp_path: Path) -> None:
    clock = Clock()
    with running(tmp_path, replace(SETTINGS, fsync=Fsync.INTERVAL), clock) as service:
        with mock.patch("isoscope.live.journal.os.fsync") as forced:
            service.take(batch(1, STALE))
            for _ in range(20):
                clock.sleep(0.1)
                service.tick()
        assert forced.call_count == 2


def measured(memory: int) -> Any:
    """What the engines say that they hold."""
    return mock.patch.object(ClockEngines, "memory", memory)


def test_what_one_level_refuses_no_level_takes(tmp_path: Path) -> None:
    admitted = Online.admit

    def admit(online: Online, history: History) -> None:
        if online.level is Level.CLOCK_SERIALIZABLE:
            raise ValueError("not today")
        admitted(online, history)

    with running(tmp_path) as service:
        with mock.patch.object(Online, "admit", admit):
            problem = refused(service, batch(1, STALE))
            assert (problem.status, problem.reason) == (422, "not today")
        assert [level["transactions"] for level in service.status()["levels"]] == [0, 0]
        assert service.take(batch(1, STALE)).taken == len(STALE)


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


def test_a_memory_limit_that_is_too_low_is_said_and_nobody_waits_for_ever(tmp_path: Path) -> None:
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


def test_an_idle_service_writes_nothing(tmp_path: Path) -> None:
    clock = Clock()
    with running(tmp_path, clock=clock) as service:
        service.take(batch(1, STALE))
        for _ in range(3):
            clock.sleep(5)
            service.tick()
        before = service.status()["journal"]
        for _ in range(100):
            clock.sleep(5)
            service.tick()
        assert service.status()["journal"] == before


def test_the_status_says_how_fast_it_goes(tmp_path: Path) -> None:
    clock = Clock()
    with running(tmp_path, clock=clock) as service:
        assert service.status()["intake"]["rate"] == 0.0
        service.tick()
        clock.sleep(2)
        service.take(batch(1, chain(100)))
        service.tick()
        assert service.status()["intake"]["rate"] == 50.0
        clock.sleep(20)
        service.tick()
        clock.sleep(1)
        service.tick()
        assert service.status()["intake"]["rate"] == 0.0
        assert service.status()["uptime"] == 23.0


def test_the_picture_of_a_violation_is_there_by_its_number(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        service.take(batch(1, STALE))
        service.flush()
        found = [service.anomaly(number) for number in (0, 1, 2, 3)]
        assert [anomaly and anomaly.name for anomaly in found] == [None, "stale-read", "stale-read", None]


def test_a_stale_read_of_what_has_left_memory_is_told_in_words_and_pictures(tmp_path: Path) -> None:
    clock = Clock()
    with running(tmp_path, clock=clock) as service:
        for sequence, one in enumerate(STALE, start=1):
            service.take(batch(sequence, [one]))
            clock.sleep(6)
            service.tick()
        assert "Nobody who is still in memory wrote 1." in " ".join(render_text(service.report()).split())
        anomaly = service.anomaly(1)
        assert anomaly is not None
        assert render_svg(anomaly).startswith("<svg ")


def test_draining_takes_no_more_and_makes_everything_final(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        service.take(batch(1, STALE))
        service.drain(1)
        assert refused(service, batch(2, STALE)).status == 503
        assert len(events(service)) == 2
        assert answers(service.report()) == offline(STALE)
        assert service.status()["state"] == "draining"


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


def test_two_services_never_share_a_folder(tmp_path: Path) -> None:
    with running(tmp_path), pytest.raises(UsageError, match="is used by another service"):
        Service(tmp_path, SETTINGS)
    with running(tmp_path):
        pass


def test_a_folder_that_cannot_be_made_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot use .*file.*: "):
        Service(tmp_path / "file" / "below", SETTINGS)


def test_time_stands_still_while_the_service_is_down(tmp_path: Path) -> None:
    clock = Clock()
    with running(tmp_path, clock=clock) as service:
        service.take(batch(1, STALE))
        clock.sleep(1)
        service.tick()
        before = service.status()["time"]
    clock.sleep(1000)
    with running(tmp_path, clock=clock) as service:
        service.tick()
        assert service.status()["time"] - before < SECOND
        assert events(service) == []
        clock.sleep(6)
        service.tick()
        assert len(events(service)) == 2
