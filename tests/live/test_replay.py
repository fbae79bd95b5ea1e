"""While the journal is replayed, health is answered and collectors wait; a cut journal is reported."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from unittest import mock
from zlib import crc32

import pytest

from isoscope.collect import Collector
from isoscope.errors import ServiceError, UsageError
from isoscope.live import http_app
from isoscope.live.access import Access
from isoscope.live.http_server import HttpServer, listen
from isoscope.live.ledger import Ledger
from isoscope.live.service import Service, State
from tests.cli.running import run_apart
from tests.interrupts import wait_until

from .sent_batches import FINE, STALE, answers, batch, chain, in_batches, offline
from .serve_process import apart
from .served import Client
from .test_service import SETTINGS, refused, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def fill(folder: Path) -> None:
    with running(folder) as service:
        for sequence, part in enumerate(in_batches(chain(40), 10), start=1):
            service.take(batch(sequence, part))


class Held:
    """A replay that stops before its `last` record until it may go on."""

    def __init__(self, last: int) -> None:
        self.reached, self.go_on, self._left = Event(), Event(), last

    @property
    def replay(self) -> Callable[[Ledger, Any, Any], None]:
        original = Ledger._replay

        def held(ledger: Ledger, record: Any, reading: Any) -> None:
            self._left -= 1
            if self._left == 0:
                self.reached.set()
                assert self.go_on.wait(60)
            original(ledger, record, reading)

        return held


@contextmanager
def replaying(folder: Path) -> Iterator[tuple[Client, Held]]:
    """A server whose replay waits in its middle."""
    held = Held(2)
    with mock.patch.object(Ledger, "_replay", held.replay):
        service = Service(folder, SETTINGS, replay=False)
        serving = HttpServer(service, Access(), listen("127.0.0.1", 0), drain=20)
        thread = Thread(target=serving.run)
        thread.start()
        assert held.reached.wait(60)
        client = Client(serving.url, service, serving)
        try:
            yield client, held
        finally:
            held.go_on.set()
            wait_until(lambda: service.state is not State.REPLAYING)
            client.connection.close()
            serving.stop()
            thread.join(60)
            service.close()


def test_health_is_answered_during_the_replay_with_its_progress(tmp_path: Path) -> None:
    fill(tmp_path)
    with replaying(tmp_path) as (client, held):
        health = client.get("/healthz")
        assert (health.status, health.document["state"]) == (200, "replaying")
        done = health.document["replayed"]
        assert 0 < done["bytes"] <= done["total"] == (tmp_path / "journal-00000001").stat().st_size
        assert client.get("/readyz").status == 503
        assert client.get("/").status == 200
        held.go_on.set()
        wait_until(lambda: client.get("/readyz").status == 200)
        assert client.get("/healthz").document == {"state": "running", "problem": ""}


@pytest.mark.parametrize(
    "path", ["/v1/status", "/v1/report", "/v1/violations", "/v1/collectors/c", "/metrics"]
)
def test_requests_during_the_replay_are_told_to_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(http_app, "_REPLAY_SECONDS", 0.05)
    fill(tmp_path)
    with replaying(tmp_path) as (client, held):
        answer = client.get(path)
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert answer.document["state"] == "replaying"
        assert client.post(5, STALE).status == 503
        held.go_on.set()
        wait_until(lambda: client.get(path).status == 200)


def test_a_request_during_a_short_replay_is_answered_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_app, "_REPLAY_SECONDS", 60)
    fill(tmp_path)
    with replaying(tmp_path) as (client, held):
        Thread(target=held.go_on.set).start()
        assert client.get("/v1/collectors/c").document["expected"] == 5


def test_a_collector_waits_for_the_replay_longer_than_for_a_service_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_app, "_REPLAY_SECONDS", 0.05)
    fill(tmp_path)
    with replaying(tmp_path) as (client, held):
        collector = Collector(client.url, patience=0.01)
        collector.add(100, session=9, start=1000, commit=1001, operations=[("w", "y", 1)])
        wait_until(lambda: collector.collected.retries > 3)
        held.go_on.set()
        collector.close()
        assert client.get("/v1/status").document["intake"]["transactions"] == 1
    absent = Collector(client.url, patience=0.01)
    absent.add(1, session=9, start=1, commit=2, operations=[("w", "y", 1)])
    with pytest.raises(ServiceError, match="cannot be reached"):
        absent.close()


def test_a_server_that_ends_during_the_replay_has_no_verdict(tmp_path: Path) -> None:
    fill(tmp_path)
    held = Held(2)
    raised: list[BaseException] = []
    with mock.patch.object(Ledger, "_replay", held.replay):
        service = Service(tmp_path, SETTINGS, replay=False)
        serving = HttpServer(service, Access(), listen("127.0.0.1", 0), drain=0)

        def serve() -> None:
            try:
                serving.run()
            except UsageError as error:
                raised.append(error)

        thread = Thread(target=serve)
        thread.start()
        assert held.reached.wait(60)
        serving.stop()
        wait_until(lambda: service._is_stopped)
        held.go_on.set()
        thread.join(60)
        service.close()
    assert "has no verdict yet" in str(raised[0])
    with running(tmp_path) as again:
        assert again.expected("c") == 5


def test_a_damaged_journal_ends_the_server_with_its_message(tmp_path: Path) -> None:
    fill(tmp_path)
    path = tmp_path / "journal-00000001"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)
    done = run_apart("serve", "--port", 0, "--data", tmp_path)
    assert (done.status, "the journal is damaged" in done.err) == (2, True)


@pytest.mark.parametrize("dropped", [1, 5, 11, 12, 13, 100])
def test_a_cut_journal_is_reported_at_the_start_with_what_was_kept(tmp_path: Path, dropped: int) -> None:
    fill(tmp_path)
    path = tmp_path / "journal-00000001"
    size = path.stat().st_size
    os.truncate(path, size - dropped)
    with running(tmp_path) as service:
        found = service.recovered
        assert found.cut is not None
        assert found.cut.kept + found.cut.dropped == size - dropped
        assert (found.batches, found.transactions) == (3, 30)
        assert service.status()["journal"]["recovered"]["cut"]["file"] == "journal-00000001"
        assert "the last record was cut off" in found.text()
        assert "3 batches with 30 transactions of the journal were kept" in found.text()
    with running(tmp_path) as service:
        assert service.recovered.cut is None


def test_a_start_says_on_standard_error_what_it_found(tmp_path: Path) -> None:
    fill(tmp_path)
    os.truncate(tmp_path / "journal-00000001", (tmp_path / "journal-00000001").stat().st_size - 7)
    with apart("--data", tmp_path) as service:
        _, _, err = service.end()
    assert "note: journal-00000001: the last record was cut off; the first " in err
    assert "3 batches with 30 transactions of the journal were kept" in err


def test_an_empty_folder_is_no_news(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        assert service.recovered.text() == ""


@pytest.mark.parametrize("when", ["now", "after a restart", "after a checkpoint"])
def test_a_number_that_comes_again_with_another_body_is_refused(tmp_path: Path, when: str) -> None:
    with running(tmp_path) as service:
        service.take(batch(1, STALE))
        service.take(batch(1, STALE, collector="d"))
        if when == "after a checkpoint":
            service.drain(1)
        if when == "now":
            repeat(service)
    if when != "now":
        with running(tmp_path) as service:
            repeat(service)


def repeat(service: Service) -> None:
    problem = refused(service, batch(1, FINE))
    assert (problem.status, "was taken before with another body" in problem.reason) == (422, True)
    assert service.take(batch(1, STALE)).again
    assert refused(service, batch(1, FINE, collector="d")).status == 422
    service.flush()
    assert answers(service.report()) == offline(STALE)


def test_two_senders_with_one_name_are_told_so_by_the_service(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        service.take(batch(1, STALE[:1]))
        service.take(batch(2, STALE[1:2]))
        assert refused(service, batch(2, STALE[2:])).status == 422
        # Of older batches only the number is kept.
        assert service.take(batch(1, STALE[2:])).again
        assert service.status()["intake"]["refused_batches"] == 1


def test_a_checkpoint_of_an_older_version_has_no_checksums(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        service.take(batch(1, STALE))
        service.drain(1)
    [path] = tmp_path.glob("checkpoint-*")
    magic, line, rest = path.read_bytes()[:-4].split(b"\n", 2)
    head = json.loads(line)
    head["collectors"] = {name: last[0] for name, last in head["collectors"].items()}
    body = b"\n".join([magic, json.dumps(head).encode(), rest])
    path.write_bytes(body + crc32(body).to_bytes(4, "little"))
    with running(tmp_path) as service:
        assert service.take(batch(1, FINE)).again
