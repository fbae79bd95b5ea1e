"""The online service: transactions a second through HTTP with its journal, and `kill -9` at random moments.

A recorded history is fed as fast as it is taken, in batches of 500, by collectors that share its sessions.
The server's own processor time is told beside the rate: the feeders run on the same cores.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Event, Thread
from time import perf_counter, sleep
from typing import TYPE_CHECKING

from benchmarks.clock import SERIALIZABLE, SNAPSHOT, save
from benchmarks.loading import DATA, Row
from isoscope.workloads import TABLE_1

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["HOW", "rows"]

HOW = (
    "`isoscope serve` with its journal forced to the disk before each answer, fed by two collectors with "
    "batches of 500. Peak is the memory of the server."
)
TRANSACTIONS, KILLS = 500_000, 20
_BATCH, _COLLECTORS = 500, 2
_LEVELS = {
    "snapshot isolation": (SNAPSHOT,),
    "serializability, violated": (SERIALIZABLE,),
    "both": (SNAPSHOT, SERIALIZABLE),
}
_SESSION = re.compile(rb'"sid":(\d+)')


def rows(transactions: int = TRANSACTIONS, kills: int = KILLS) -> Iterator[Row]:
    """The rate by level, then the kills."""
    DATA.mkdir(exist_ok=True)
    file = DATA / f"service-{transactions}.jsonl"
    save(replace(TABLE_1, transactions=transactions, seed=17), SNAPSHOT, file)
    shares = _shares(file.read_bytes().splitlines())
    for name, levels in _LEVELS.items():
        yield Row(f"{name}, {transactions:,} transactions", _fed(shares, levels))
    yield Row("the same under 700 MB", _fed(shares, (SNAPSHOT,), "--memory-limit", "700M"))
    yield Row(f"kill -9, {kills} times", _killed(shares, kills))
    file.unlink()


def _shares(lines: list[bytes]) -> list[list[bytes]]:
    """The batches of each collector; a session is one collector's."""
    shares: list[list[bytes]] = [[] for _ in range(_COLLECTORS)]
    for line in lines:
        found = _SESSION.search(line)
        shares[int(found[1]) % _COLLECTORS if found else 0].append(line)
    return [[b"\n".join(share[at : at + _BATCH]) for at in range(0, len(share), _BATCH)] for share in shares]


def _fed(shares: list[list[bytes]], levels: tuple[str, ...], *options: str) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder, _served(folder, levels, *options) as server:
        began, used = perf_counter(), server.processor()
        _feed(shares, server)
        seconds, used = perf_counter() - began, server.processor() - used
        peak = server.peak()
        verdict = server.end()
    count = sum(batch.count(b"\n") + 1 for share in shares for batch in share)
    return {
        "a second": f"{count / seconds:,.0f}",
        "a second of the server's processor": f"{count / used:,.0f}",
        "peak": f"{peak:,.0f} MB",
        "verdict": verdict,
    }


def _killed(shares: list[list[bytes]], kills: int) -> dict[str, str]:
    """The verdict of a service that was killed so often is that of one that was not."""
    levels, moments = (SNAPSHOT, SERIALIZABLE), random.Random(23)
    # Long enough that one collector may be far ahead of the other.
    patient = ("--timeout", "600")
    with tempfile.TemporaryDirectory() as folder:
        with _served(f"{folder}/whole", levels, *patient) as server:
            _feed(shares, server)
            expected = server.end()
        with _served(f"{folder}/killed", levels, *patient) as server:
            feeding = Thread(target=_feed, args=(shares, server))
            feeding.start()
            for _ in range(kills):
                sleep(moments.uniform(0.0, 1.0))
                server.restart()
            feeding.join()
            found = server.end()
            lines = Path(f"{folder}/killed/violations.jsonl").read_bytes().splitlines()
    numbers = [json.loads(line)["id"] for line in lines]
    if found != expected or numbers != [*range(1, len(numbers) + 1)]:
        raise AssertionError(f"{found} after kills, {expected} without")
    return {"kills": str(kills), "events": f"{len(numbers):,}, each once", "verdict": "the same"}


def _feed(shares: list[list[bytes]], server: _Server) -> None:
    threads = [Thread(target=_send, args=(place, share, server)) for place, share in enumerate(shares)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _send(place: int, batches: list[bytes], server: _Server) -> None:
    for sequence, batch in enumerate(batches, start=1):
        while not server.take(place, sequence, batch):
            sleep(0.05)


@dataclass
class _Server:
    """A process, and where it listens since its last start."""

    command: list[str]
    process: subprocess.Popen[str]
    host: str
    connections: dict[int, HTTPConnection]
    is_up: Event

    @classmethod
    def start(cls, *arguments: str) -> _Server:
        """Starts one on a port of its own."""
        command = [sys.executable, "-m", "isoscope", "serve", "--port", "0", *arguments]
        process, host = _started(command)
        server = cls(command, process, host, {}, Event())
        server.is_up.set()
        return server

    def take(self, place: int, sequence: int, batch: bytes) -> bool:
        """Sends a batch; False if it must be sent again."""
        self.is_up.wait()
        connection = self.connections.get(place)
        if connection is None or f"{connection.host}:{connection.port}" != self.host:
            connection = self.connections[place] = HTTPConnection(self.host, timeout=60)
        headers = {
            "X-Isoscope-Collector": str(place),
            "X-Isoscope-Sequence": str(sequence),
            "Content-Type": "application/x-ndjson",
        }
        try:
            connection.request("POST", "/v1/batches", batch, headers)
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, HTTPException):
            connection.close()
            return False
        if answer.status not in (200, 429):
            raise AssertionError(f"{answer.status}: {text[:200]!r}")
        return answer.status == 200

    def restart(self) -> None:
        """Kills it, and starts it again with the same folder."""
        self.is_up.clear()
        self.process.kill()
        self.process.communicate()
        self.process, self.host = _started(self.command)
        self.is_up.set()

    def end(self) -> str:
        """Its last line, when it has ended in order."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.communicate()[0].strip()

    def processor(self) -> float:
        """Seconds of the processor that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak(self) -> float:
        """Megabytes that it had in memory at most."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        most = re.search(r"VmHWM:\s+(\d+)", status)
        return int(most[1]) / 1000 if most else 0.0


@contextmanager
def _served(folder: str, levels: tuple[str, ...], *options: str) -> Iterator[_Server]:
    asked = [word for level in levels for word in ("--level", level)]
    server = _Server.start("--data", folder, *asked, *options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.communicate()
        for connection in server.connections.values():
            connection.close()


def _started(command: list[str]) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline() if process.stdout else ""
    if not line.startswith("listening on "):
        raise AssertionError(f"the service did not start: {line!r}")
    return process, line.split("//")[1].strip()
