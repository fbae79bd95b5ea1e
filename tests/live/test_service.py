"""The service: a batch is taken whole, once, and for good, or refused with a reason; time makes it final."""

from __future__ import annotations

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
from isoscope.live.service import Service, Settings, Taken
from isoscope.reports import render_svg, render_text

from .sent_batches import LINES, SECOND, STALE, Clock, answers, batch, body, chain, in_batches, offline

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


def test_a_violation_is_reported_after_the_timeout_and_not_before(tmp_path: Path) -> None:
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
        assert service.expected("c") == 2
        assert service.status()["intake"]["repeated_batches"] == 1


def test_a_batch_that_no_level_can_judge_is_not_in_the_journal(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        before = service.status()
        with pytest.raises(Refused, match="it is not known whether it committed"):
            service.take(batch(1, [*chain(100), {**STALE[0], "tid": 101, "status": "indeterminate"}]))
        after = service.status()
    assert (after["journal"], after["memory"]["used"]) == (before["journal"], before["memory"]["used"])


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


def test_a_batch_that_one_level_refuses_is_taken_by_no_level(tmp_path: Path) -> None:
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


def test_a_stale_read_of_a_version_that_left_memory_is_explained_and_drawn(tmp_path: Path) -> None:
    clock = Clock()
    with running(tmp_path, clock=clock) as service:
        for sequence, one in enumerate(STALE, start=1):
            service.take(batch(sequence, [one]))
            clock.sleep(6)
            service.tick()
        assert "No transaction that is still in memory wrote 1." in " ".join(
            render_text(service.report()).split()
        )
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


def test_two_services_never_share_a_folder(tmp_path: Path) -> None:
    with running(tmp_path), pytest.raises(UsageError, match="is used by another service"):
        Service(tmp_path, SETTINGS)
    with running(tmp_path):
        pass


def test_a_folder_that_cannot_be_made_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot use .*file.*: "):
        Service(tmp_path / "file" / "below", SETTINGS)


def test_the_clock_stands_still_while_the_service_is_down(tmp_path: Path) -> None:
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
