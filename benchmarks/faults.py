"""The service under attack, after a crash, and over many transactions: what honest clients notice.

The attacker is a process of its own; it and the service share the cores with the honest collector.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from pathlib import Path
from threading import Event, Thread
from time import perf_counter, sleep
from typing import TYPE_CHECKING

from benchmarks.arrivals import WORKLOAD, parts, simulated
from benchmarks.measure import resident
from benchmarks.online import SERIALIZABLE, SNAPSHOT
from benchmarks.service import _LINES, _post, _Recorded, _running, _Service
from benchmarks.suite import DATA, Measurement, Suite
from isoscope.formats.parquet import to_stream
from isoscope.live.batches import FORMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.workloads import Workload

__all__ = ["FAULTS", "MEMORY", "attacks", "memory", "replay"]

HOW = (
    "An honest collector sends batches of 500 one after the other; the delay is from the first byte of a "
    "batch to its answer. The attacker repeats its attack without a pause. A replay is timed from the start "
    "of the process until /readyz says yes."
)
HOW_MEMORY = (
    "One history again and again over HTTP, with ids, timestamps and values of its own each time; memory is "
    "that of the process of the service."
)
_MEGABYTE = 1 << 20
_ARROW = FORMS[2]
#: Seconds of each attack.
SECONDS = 5.0
#: Bytes of a journal just before a checkpoint replaces it.
JOURNAL = 256 * _MEGABYTE
#: Parts of a load, the limit of its memory in megabytes, and how much more the process may have.
PARTS = 10
MANY = replace(WORKLOAD, sessions=1000, keys=100_000)
LIMIT = 700
FACTOR = 2.0
GOAL_REPLAY = 10.0
GOAL_DELAY = 1.0
_HEAD = b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n"
_BODY = (
    b"POST /v1/batches HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\nX-Isoscope-Collector: slow\r\n"
    b"X-Isoscope-Sequence: 1\r\nContent-Type: application/x-ndjson\r\n\r\n{"
)
#: What an attacker sends: how it begins, what is repeated, how many bytes, on how many connections at once.
ATTACKS: dict[str, tuple[bytes, bytes, int, int]] = {
    "nothing": (b"", b"", 0, 0),
    "a header of 48 MB": (_HEAD + b"X: ", b"a" * 65536, 48 * _MEGABYTE, 1),
    "a header of 300 MB": (_HEAD + b"X: ", b"a" * 65536, 300 * _MEGABYTE, 1),
    "300 MB of short headers": (_HEAD, b"X: y\r\n" * 10_000, 300 * _MEGABYTE, 1),
    "1,000 unfinished headers": (_HEAD, b"", 0, 1000),
    "1,000 unfinished bodies": (_BODY, b"", 0, 1000),
    "1,000 unfinished bodies of 100 kB": (
        _BODY.replace(b"Length: 1000", b"Length: 200000") + b" " * 100_000,
        b"",
        0,
        1000,
    ),
}


def measurements() -> Iterator[Measurement]:
    """Attacks and the replay."""
    yield from attacks()
    yield replay()


def attacks(
    seconds: float = SECONDS, workload: Workload = WORKLOAD, names: Iterable[str] = tuple(ATTACKS)
) -> Iterator[Measurement]:
    """The delay of honest batches while an attacker is at work."""
    recorded = _Recorded(SERIALIZABLE, workload)
    for name in names:
        with (
            tempfile.TemporaryDirectory(dir=DATA) as folder,
            _running((SNAPSHOT, SERIALIZABLE), Path(folder), "interval") as service,
        ):
            delays = _delays(service, recorded, name, seconds)
        ordered = sorted(delays)
        figures = {
            "other load of the machine": f"{os.getloadavg()[0]:.0f} processes",
            "batches": f"{len(delays):,}",
            "delay, median": f"{1000 * ordered[len(ordered) // 2]:.0f} ms",
            "longest": f"{1000 * ordered[-1]:.0f} ms",
            "goal": f"{1000 * GOAL_DELAY:.0f} ms",
        }
        yield Measurement(f"Attack: {name}", figures)


def _delays(service: _Service, recorded: _Recorded, name: str, seconds: float) -> list[float]:
    """Seconds from each honest batch to its answer; a connection that is lost is made again."""
    delays: list[float] = []
    with _attacked(service.port, name):
        end = perf_counter() + seconds
        for number, body in enumerate(recorded.interleaved(), start=1):
            if perf_counter() > end:
                break
            began = perf_counter()
            _sent(service.port, number, body)
            delays.append(perf_counter() - began)
    return delays


_KEPT: dict[int, HTTPConnection] = {}


def _sent(port: int, number: int, body: bytes, form: str = _LINES) -> None:
    for _ in range(1000):
        connection = _KEPT.setdefault(port, HTTPConnection("127.0.0.1", port, timeout=120))
        with suppress(OSError, EOFError):
            status, answer = _post(connection, "honest", number, body, form)
            if status == 200:
                return
            if status != 429:
                raise AssertionError(f"batch {number}: {status} {answer}")
            sleep(float(answer.get("retry_after", 0.1)))
        connection.close()
        _KEPT.pop(port, None)
    raise AssertionError(f"batch {number} was never answered")


@contextmanager
def _attacked(port: int, name: str) -> Iterator[None]:
    line = [sys.executable, "-m", "benchmarks.faults", str(port), name]
    attacker = subprocess.Popen(line, stdout=subprocess.PIPE)
    try:
        if attacker.stdout:
            # One round of the attack is done.
            attacker.stdout.readline()
        yield
    finally:
        attacker.kill()
        attacker.wait()
        if attacker.stdout:
            attacker.stdout.close()


def _attack(port: int, name: str) -> None:
    start, repeated, size, connections = ATTACKS[name]
    is_first = True
    while True:
        with ExitStack() as stack:
            for _ in range(connections):
                _one(stack, port, start, repeated, size)
            if is_first:
                print("attacked", flush=True)
                is_first = False
            # Unfinished requests are held for a while; a flood begins again at once.
            sleep(0.0 if size else 2.0)


def _one(stack: ExitStack, port: int, start: bytes, repeated: bytes, size: int) -> None:
    connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
    with suppress(OSError):
        connection.sendall(start)
        sent = 0
        while sent < size:
            connection.sendall(repeated)
            sent += len(repeated)


def replay(size: int = JOURNAL) -> Measurement:
    """The time from the start of a service with a journal of this size until it is ready."""
    recorded = _Recorded(SERIALIZABLE, replace(WORKLOAD, transactions=1_000_000))
    with tempfile.TemporaryDirectory(dir=DATA) as folder:
        transactions = _journal(recorded, Path(folder), size)
        stopped, health = Event(), _Longest()
        began = perf_counter()
        with _running((SNAPSHOT, SERIALIZABLE), Path(folder), "interval") as service:
            announced = perf_counter() - began
            watcher = Thread(target=health.watch, args=(service, stopped))
            watcher.start()
            _ready(service)
            seconds = perf_counter() - began
            stopped.set()
            watcher.join()
    figures = {
        "other load of the machine": f"{os.getloadavg()[0]:.0f} processes",
        "journal": f"{size / _MEGABYTE:.0f} MiB",
        "transactions": f"{transactions:,}",
        "ready after": f"{seconds:.1f} s",
        "goal": f"{GOAL_REPLAY:.0f} s",
        "address told after": f"{announced:.1f} s",
        "longest answer of /healthz": f"{1000 * health.longest:.0f} ms",
    }
    return Measurement("Replay of a journal", figures)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Megabytes after each part of the load: of the engines as they say, and of the whole process."""

    transactions: int
    seconds: float
    engines: tuple[float, ...]
    process: tuple[float, ...]
    most: float


def memory(parts_count: int = PARTS, workload: Workload = MANY) -> Memory:
    """Feeds many transactions under a limit on memory."""
    history = simulated(SERIALIZABLE, workload)
    engines, process, most, sent = [], [], 0.0, 0
    began = perf_counter()
    options = ("--memory-limit", f"{LIMIT}M")
    with (
        tempfile.TemporaryDirectory(dir=DATA) as folder,
        _running((SNAPSHOT, SERIALIZABLE), Path(folder), "interval", options) as service,
    ):
        for part in parts(history, parts_count):
            for batch in part:
                sent += 1
                _sent(service.port, sent, to_stream(batch), _ARROW)
                if sent % 20 == 0:
                    most = max(most, _resident(service))
            engines.append(service.ask("GET", "/v1/status")["memory"]["used"] / _MEGABYTE)
            process.append(_resident(service))
            print(
                f"  part {len(process)}: engines {engines[-1]:.0f} MB, process {process[-1]:.0f} MB",
                flush=True,
            )
    return Memory(
        transactions=len(history) * parts_count,
        seconds=perf_counter() - began,
        engines=tuple(engines),
        process=tuple(process),
        most=max([most, *process]),
    )


def _measurement(found: Memory) -> Measurement:
    """A run in words; raises if memory grows or exceeds its limit."""
    half = len(found.process) // 2
    if half and max(found.process[half:]) > 1.25 * max(found.process[:half]):
        raise AssertionError(f"memory grows: {found.process} MB")
    if found.most > FACTOR * LIMIT:
        raise AssertionError(f"the process had {found.most:.0f} MB, more than {FACTOR} x {LIMIT} MB")
    figures = {
        "transactions": f"{found.transactions:,}",
        "transactions/s": f"{found.transactions / found.seconds:,.0f}",
        "limit": f"{LIMIT} MB",
        "engines after the first and last part": f"{found.engines[0]:.0f} and {found.engines[-1]:.0f} MB",
        "process": f"{found.process[0]:.0f} and {found.process[-1]:.0f} MB",
        "most": f"{found.most:.0f} MB, {found.most / LIMIT:.2f} x the limit",
    }
    return Measurement("Memory of 100,000 keys and 1,000 sessions", figures)


def _resident(service: _Service) -> float:
    return resident(service.process.pid) / _MEGABYTE


class _Longest:
    def __init__(self) -> None:
        self.longest = 0.0

    def watch(self, service: _Service, stopped: Event) -> None:
        """Asks for the health again and again."""
        while not stopped.wait(0.05):
            began = perf_counter()
            service.ask("GET", "/healthz")
            self.longest = max(self.longest, perf_counter() - began)


def _ready(service: _Service) -> None:
    while service.ask("GET", "/readyz")["state"] != "running":
        sleep(0.02)


def _journal(recorded: _Recorded, folder: Path, size: int) -> int:
    """Lets a service take batches up to this size, and kills it; how many transactions."""
    transactions = sent = 0
    with _running((SNAPSHOT, SERIALIZABLE), folder, "never") as service:
        for number, body in enumerate(recorded.interleaved(), start=1):
            _sent(service.port, number, body)
            transactions += body.count(b"\n")
            sent += len(body)
            if sent >= size - 2 * _MEGABYTE:
                break
        service.process.kill()
    found = sum(path.stat().st_size for path in folder.glob("journal-*"))
    if found < 0.98 * size:
        raise AssertionError(f"the journal has only {found:,} bytes: a checkpoint replaced it")
    return transactions


FAULTS = Suite(
    title="The online service under attack and after a crash",
    how=HOW,
    full=measurements,
    quick=lambda: attacks(
        0.5,
        replace(WORKLOAD, transactions=5_000),
        ("nothing", "a header of 48 MB", "1,000 unfinished bodies"),
    ),
)
MEMORY = Suite(
    title="The memory of the online service",
    how=HOW_MEMORY,
    full=lambda: [_measurement(memory())],
    quick=lambda: [_measurement(memory(1, replace(MANY, transactions=10_000)))],
)

if __name__ == "__main__":
    _attack(int(sys.argv[1]), sys.argv[2])
