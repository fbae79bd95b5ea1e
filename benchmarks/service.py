"""The online service: transactions a second over HTTP with its journal, and `kill -9` at random moments.

Two collectors share the sessions of a recorded history and send batches of 500, each the next one as soon as
the one before is answered. After a kill the same folder goes on, and what was not answered is sent again.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPException
from itertools import chain, islice
from pathlib import Path
from threading import Timer
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

from benchmarks.arrivals import BATCH, WORKLOAD, simulated
from benchmarks.online import SERIALIZABLE, SNAPSHOT, wrong
from benchmarks.suite import DATA, Measurement, Suite
from isoscope import formats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.workloads import Workload

__all__ = ["ASKED", "SUITE", "kills", "measurements"]

HOW = (
    "Two collectors send batches of 500, the next one when the one before is answered; they and the service "
    "share the cores."
)
GOAL = "60,000"
COLLECTORS = 2
KILLS = 20
#: The level that the database keeps, and those that are asked; the last one is broken by two reads of each.
ASKED = (
    (SNAPSHOT, (SNAPSHOT,)),
    (SERIALIZABLE, (SERIALIZABLE,)),
    (SERIALIZABLE, (SNAPSHOT, SERIALIZABLE)),
    (SNAPSHOT, (SERIALIZABLE,)),
)
KILLED = replace(WORKLOAD, transactions=100_000)
_FEW = replace(WORKLOAD, transactions=10_000)
_LINES = "application/x-ndjson"


def measurements(
    workload: Workload = WORKLOAD,
    fsyncs: tuple[str, ...] = ("always", "interval"),
    *,
    killed: Workload = KILLED,
    count: int = KILLS,
) -> Iterator[Measurement]:
    """Throughput for each level, and for both at once; then what `count` kills do."""
    recorded = {database: _Recorded(database, workload) for database, _ in ASKED}
    for fsync in fsyncs:
        for database, levels in ASKED:
            yield _throughput(recorded[database], levels, fsync)
    yield kills(killed, count)


def kills(workload: Workload, count: int) -> Measurement:
    """Kills the service so often while it takes a history, and holds it against the whole."""
    name = f"kill -9 at {count} random moments"
    recorded, levels = _Recorded(SNAPSHOT, workload), (SNAPSHOT, SERIALIZABLE)
    with tempfile.TemporaryDirectory(dir=DATA) as folder:
        _fed_and_killed(recorded, Path(folder), count)
        with _running(levels, Path(folder), "always") as service:
            found = _final(service)
            told = [*service.violations()]
    expected = {level: recorded.wrong(level) for level in levels}
    ids = [violation["id"] for violation in told]
    if found != expected or ids != [*range(1, sum(expected.values()) + 1)]:
        raise AssertionError(f"{name}: {found} and {len(ids)} violations, {expected} offline")
    return Measurement(name, {"lost": "nothing", "told": f"{len(ids):,} violations, each once"})


class _Recorded:
    """A history, as the bodies that each collector sends."""

    def __init__(self, database: str, workload: Workload) -> None:
        DATA.mkdir(exist_ok=True)
        self.history = simulated(database, workload)
        file = DATA / "service.json"
        formats.save(self.history, file, lossy=True)
        with file.open("rb") as lines:
            transactions = [line.rstrip(b",\n") for line in lines if line.startswith(b"{")]
        file.unlink()
        shares: list[list[bytes]] = [[] for _ in range(COLLECTORS)]
        for line in transactions:
            shares[int(line.split(b",", 2)[1].removeprefix(b'"sid":')) % COLLECTORS].append(line)
        self.bodies = [[*_bodies(share)] for share in shares]

    def interleaved(self) -> Iterator[bytes]:
        """The bodies of all collectors, as one collector can send them."""
        return chain.from_iterable(zip(*self.bodies, strict=False))

    def wrong(self, level: str) -> int:
        """How much a level finds offline."""
        return wrong(self.history, level)


def _bodies(lines: list[bytes]) -> Iterator[bytes]:
    left = iter(lines)
    while batch := [*islice(left, BATCH)]:
        yield b"\n".join(batch) + b"\n"


@dataclass(frozen=True, slots=True)
class _Service:
    """A service that runs."""

    process: subprocess.Popen[str]
    port: int

    def ask(self, method: str, path: str) -> Any:
        """What it answers, as JSON."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request(method, path)
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    def violations(self) -> Iterator[dict[str, Any]]:
        """All that were told, from the first on."""
        last = 0
        while page := self.ask("GET", f"/v1/violations?after={last}&limit=10000"):
            yield from page
            last = page[-1]["id"]


@contextmanager
def _running(
    levels: tuple[str, ...], folder: Path, fsync: str, options: tuple[str, ...] = ()
) -> Iterator[_Service]:
    asked = [option for level in levels for option in ("--level", level)]
    line = [sys.executable, "-m", "isoscope", "serve", "--port", "0", "--initial", "0", *asked]
    line += ["--data", str(folder), "--fsync", fsync, *options]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        said = process.stdout.readline() if process.stdout else ""
        if not said.startswith("listening on "):
            raise AssertionError(f"the service says {said!r}, and exit status {process.wait(10)}")
        yield _Service(process, int(said.rsplit(":", 1)[1].split("/")[0]))
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(60)
        if process.stdout:
            process.stdout.close()


def _throughput(recorded: _Recorded, levels: tuple[str, ...], fsync: str) -> Measurement:
    with tempfile.TemporaryDirectory(dir=DATA) as folder, _running(levels, Path(folder), fsync) as service:
        started = perf_counter()
        unanswered = _sent(service, recorded, [1] * COLLECTORS)
        seconds = perf_counter() - started
        if unanswered != [len(bodies) + 1 for bodies in recorded.bodies]:
            raise AssertionError(f"{levels}: it ended at batches {unanswered}")
        found, status = _final(service), service.ask("GET", "/v1/status")
    expected = {level: recorded.wrong(level) for level in levels}
    if found != expected:
        raise AssertionError(f"{levels}: {found} online, {expected} offline")
    rate = len(recorded.history) / seconds
    figures = {
        "transactions/s": f"{rate:,.0f}",
        "goal": GOAL,
        "found": f"{sum(found.values()):,}, as offline",
    }
    figures["engines"] = f"{status['memory']['used'] / 1e6:.0f} MB"
    return Measurement(f"HTTP with journal, fsync {fsync}, {' and '.join(levels)}", figures)


def _final(service: _Service) -> dict[str, int]:
    """What each level found when everything is final."""
    service.ask("POST", "/v1/flush")
    verdicts = service.ask("GET", "/v1/report")["verdicts"]
    return {verdict["level"]: sum(verdict["anomaly_counts"].values()) for verdict in verdicts}


def _send(port: int, collector: str, bodies: list[bytes], first: int = 1) -> int:
    """Sends batches from this number on, again while there is no room; the number that is not answered."""
    connection = HTTPConnection("127.0.0.1", port, timeout=120)
    number = first
    try:
        while number <= len(bodies):
            status, answer = _post(connection, collector, number, bodies[number - 1])
            if status == 429:
                sleep(float(answer.get("retry_after", 1)))
            elif status == 200:
                number += 1
            else:
                raise AssertionError(f"batch {number} of {collector}: {status} {answer}")
    except (OSError, HTTPException):
        # The service was killed: this batch may have been taken.
        return number
    finally:
        connection.close()
    return number


def _post(
    connection: HTTPConnection, collector: str, number: int, body: bytes, form: str = _LINES
) -> tuple[int, dict[str, Any]]:
    names = {"X-Isoscope-Collector": collector, "X-Isoscope-Sequence": str(number), "Content-Type": form}
    connection.request("POST", "/v1/batches", body, names)
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def _fed_and_killed(recorded: _Recorded, folder: Path, count: int) -> None:
    """Feeds everything; the service is killed so often on the way, in the middle of batches and between."""
    chance = random.Random(29)
    nexts = [1] * COLLECTORS
    for part in range(count):
        with _running((SNAPSHOT, SERIALIZABLE), folder, "always") as service:
            timer = Timer(chance.uniform(0.0, 0.2), service.process.kill)
            timer.start()
            nexts = _sent(service, recorded, nexts, share=(part + 1) / (count + 1))
            timer.join()
    with _running((SNAPSHOT, SERIALIZABLE), folder, "always") as service:
        _sent(service, recorded, nexts)


def _sent(service: _Service, recorded: _Recorded, firsts: list[int], share: float = 1.0) -> list[int]:
    """Lets all collectors send from these numbers on, up to a share; the numbers that are not answered."""

    def send(collector: int) -> int:
        bodies = recorded.bodies[collector]
        some = bodies[: round(share * len(bodies))]
        return _send(service.port, f"collector-{collector}", some, firsts[collector])

    with ThreadPoolExecutor(COLLECTORS) as pool:
        return [*pool.map(send, range(COLLECTORS))]


SUITE = Suite(
    title="The online service",
    how=HOW,
    full=measurements,
    quick=lambda: measurements(_FEW, ("interval",), killed=_FEW, count=2),
)
