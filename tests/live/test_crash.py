"""`kill -9` at any moment: nothing is lost, nothing comes twice, and the report is the same."""

from __future__ import annotations

import json
import random
import time
from http.client import HTTPConnection
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from isoscope.collect import Collector

from .sent_batches import chain, offline
from .serve_process import apart

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

TRANSACTIONS = chain(6000, stale_every=50, sessions=3)


class Moving:
    """A collector whose service comes back at another address."""

    def __init__(self, url: str) -> None:
        self.collector = Collector(url, batch=50, patience=60)

    def move(self, url: str) -> None:
        host, port = url.removeprefix("http://").split(":")
        connection = self.collector._connection._connection
        connection.host, connection.port = host, int(port)


def get(url: str, path: str) -> Any:
    connection = HTTPConnection(url.removeprefix("http://"), timeout=30)
    try:
        connection.request("GET", path)
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def send(moving: Moving) -> None:
    for place, row in enumerate(TRANSACTIONS):
        # Slow enough that it is under way when the service is killed.
        if place % 20 == 0:
            time.sleep(0.005)
        operations = [(operation["t"], operation["k"], operation["v"]) for operation in row["ops"]]
        moving.collector.add(
            row["tid"], session=row["sid"], start=row["sts"], commit=row["cts"], operations=operations
        )
    moving.collector.close()


@pytest.mark.parametrize("seed", range(3))
def test_a_service_that_is_killed_loses_nothing_and_repeats_nothing(tmp_path: Path, seed: int) -> None:
    options = ("--data", tmp_path / "data", "--fsync", "never", "--out", tmp_path / "out.json")
    moments = random.Random(seed)
    heard: dict[int, bytes] = {}
    with apart(*options) as service:
        moving = Moving(service.url)
        sender = Thread(target=send, args=(moving,))
        sender.start()
        for _ in range(2):
            time.sleep(moments.uniform(0.05, 0.6))
            service.restart()
            moving.move(service.url)
            heard |= listened(service.url, heard)
        sender.join(200)
        status, out, _ = service.end()
    document = json.loads((tmp_path / "out.json").read_text())
    expected = offline(TRANSACTIONS)
    assert {row["level"]: (row["outcome"], row["anomaly_counts"]) for row in document["verdicts"]} == expected
    assert document["history"]["transactions"] == len(TRANSACTIONS)
    assert moving.collector.collected.retries > 0
    assert status == 1
    assert "6,000 transactions" in out
    lines = (tmp_path / "data" / "violations.jsonl").read_bytes().splitlines()
    told = [json.loads(line) for line in lines]
    assert [row["id"] for row in told] == [*range(1, sum(sum(c.values()) for _, c in expected.values()) + 1)]
    assert len({(row["level"], row["transaction"]) for row in told}) == len(told)
    assert all(lines[number - 1] == line for number, line in heard.items())


def listened(url: str, heard: dict[int, bytes]) -> dict[int, bytes]:
    """The violations after those that were heard, as they stand in the log."""
    rows = get(url, f"/v1/violations?after={max(heard, default=0)}&limit=10000")
    return {row["id"]: json.dumps(row, ensure_ascii=False).encode() for row in rows}


def test_a_service_that_is_killed_while_it_drains_ends_as_it_would_have(tmp_path: Path) -> None:
    options = ("--data", tmp_path / "data", "--out", tmp_path / "out.json")
    with apart(*options) as service:
        send(Moving(service.url))
        service.process.terminate()
        time.sleep(0.05)
        service.kill()
    with apart(*options) as service:
        service.end()
    document = json.loads((tmp_path / "out.json").read_text())
    found = {row["level"]: (row["outcome"], row["anomaly_counts"]) for row in document["verdicts"]}
    assert found == offline(TRANSACTIONS)
