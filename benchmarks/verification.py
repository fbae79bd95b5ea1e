"""How long certificates take to be verified: histories whose generator knows their order."""

from __future__ import annotations

import gzip
import json
import random
from collections import deque
from dataclasses import dataclass, field
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

from benchmarks.measure import measured_command, time_of_lines
from benchmarks.suite import DATA, Measurement, Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["CASES", "SUITE", "measurements", "write_case"]

TRANSACTIONS, SESSIONS, KEYS, OPERATIONS = 1_000_000, 20, 100_000, 4
REPEATS = 1
GOAL = "60 s"
HOW = (
    "Plume text of 20 sessions, four operations a transaction, half of them writes, on 100,000 keys. The "
    "generator runs a serial store, a store with snapshots (a transaction spans 20 commits), or four "
    "replicas that lag behind each other, and writes the order that it knows as the certificate. CPU is the "
    "time of the process of `isoscope verify`, with its start and both parsers; the yardstick is "
    "that of iterating over the lines of the history in Python. CPU is compared with the goal, because "
    "elapsed time depends on what else the machine runs. Memory is the peak of the process."
)


@dataclass(slots=True)
class Generated:
    """Lines of a history, and the order in which transactions began and committed."""

    lines: list[str] = field(default_factory=list)
    witness: dict[str, Any] = field(default_factory=dict)


def serial(size: int, choose: random.Random) -> Generated:
    """One transaction after the other."""
    store: dict[int, int] = {}
    found = Generated()
    for number in range(1, size + 1):
        session = choose.randrange(SESSIONS)
        for is_write, key in _operations(choose):
            if is_write:
                store[key] = len(found.lines) + 1
            found.lines.append(f"{'w' if is_write else 'r'}({key},{store.get(key, 0)},{session},{number})\n")
    found.witness = {"witness": "a", "order": list(range(1, size + 1))}
    return found


def snapshots(size: int, choose: random.Random) -> Generated:
    """Every session has an open transaction; one that meets a conflict chooses other keys to write."""
    versions: dict[int, list[tuple[int, int]]] = {}
    found = Generated()
    open_now: deque[tuple[int, int]] = deque()
    events: list[int] = []
    commit = 0
    for number in range(1, size + SESSIONS + 1):
        if number > SESSIONS:
            finished, snapshot = open_now.popleft()
            commit += 1
            events.append(finished)
            _run_on_snapshot(found, versions, choose, (finished, snapshot, commit))
        if number <= size:
            open_now.append((number, commit))
            events.append(number)
    found.witness = {"witness": "a", "events": events}
    return found


def _run_on_snapshot(
    found: Generated,
    versions: dict[int, list[tuple[int, int]]],
    choose: random.Random,
    transaction: tuple[int, int, int],
) -> None:
    number, snapshot, commit = transaction
    own: dict[int, int] = {}
    for is_write, key in _operations(choose):
        kept = versions.setdefault(key, [(0, 0)])
        conflicts = kept[-1][0] > snapshot
        if is_write and not conflicts:
            own[key] = len(found.lines) + 1
        value = own.get(key) or next(value for at, value in reversed(kept) if at <= snapshot)
        kind = "w" if is_write and not conflicts else "r"
        found.lines.append(f"{kind}({key},{value},{number % SESSIONS},{number})\n")
    for key, value in own.items():
        versions[key].append((commit, value))


def replicas(size: int, choose: random.Random) -> Generated:
    """Four replicas: each sees its own transactions at once, and all others a little later, in one order."""
    versions: dict[int, list[tuple[int, int, int]]] = {}
    found = Generated()
    seen = [0] * 4
    for number in range(1, size + 1):
        session = choose.randrange(SESSIONS)
        replica = session % 4
        seen[replica] = max(seen[replica], number - choose.randrange(1, 400))
        own: dict[int, int] = {}
        for is_write, key in _operations(choose):
            kept = versions.setdefault(key, [(0, 0, 0)])
            if is_write:
                own[key] = len(found.lines) + 1
            visible = (value for at, home, value in reversed(kept) if home == replica or at <= seen[replica])
            value = own.get(key) or next(visible)
            found.lines.append(f"{'w' if is_write else 'r'}({key},{value},{session},{number})\n")
        for key, value in own.items():
            versions[key].append((number, replica, value))
    found.witness = {"witness": "a", "order": list(range(1, size + 1))}
    return found


def _operations(choose: random.Random) -> list[tuple[bool, int]]:
    return [(choose.random() < 0.5, int(choose.random() * KEYS)) for _ in range(OPERATIONS)]


CASES: dict[str, Callable[[int, random.Random], Generated]] = {
    "serializable": serial,
    "strong-session-snapshot-isolation": snapshots,
    "prefix": snapshots,
    "causal": replicas,
    "read-atomic": replicas,
    "read-committed": replicas,
    "parallel-snapshot-isolation": snapshots,
}


def write_case(level: str, size: int, folder: Path) -> tuple[Path, Path]:
    """A history that keeps the level, and its certificate; a history that is there already is used again."""
    generate = CASES[level]
    history = folder / f"verify-{generate.__name__}-{size}.txt"
    witness = history.with_suffix(".json")
    if not witness.is_file():
        generated = generate(size, random.Random(1))
        history.write_text("".join(generated.lines))
        witness.write_text(json.dumps(generated.witness, separators=(",", ":")))
    certificate = folder / f"{level}.certificate.gz"
    line = json.dumps({"level": level, "outcome": "holds", "witness": "a"})
    content = f'{{"isoscope_certificate":1}}\n{witness.read_text()}\n{line}\n'
    certificate.write_bytes(gzip.compress(content.encode(), compresslevel=6, mtime=0))
    return history, certificate


def measurements(*, size: int = TRANSACTIONS, repeats: int = REPEATS) -> Iterator[Measurement]:
    """The seconds and the memory of each level."""
    DATA.mkdir(exist_ok=True)
    for level in CASES:
        history, certificate = write_case(level, size, DATA)
        runs = [_run(history, certificate) for _ in range(repeats)]
        ratio = median(run["cpu"] / run["yardstick"] for run in runs)
        figures = {
            "transactions": f"{size:,}",
            "CPU": f"{min(run['cpu'] for run in runs):.1f} s",
            "elapsed": f"{min(run['seconds'] for run in runs):.1f} s",
            "ratio to the yardstick (median)": f"{ratio:.0f}",
            "peak": f"{max(run['peak'] for run in runs) / 1e6:,.0f} MB",
            "history": f"{history.stat().st_size / 1e6:.1f} MB",
            "certificate": f"{certificate.stat().st_size / 1e6:.1f} MB",
            "goal": GOAL,
        }
        yield Measurement(f"Verify {level}", figures)


def _run(history: Path, certificate: Path) -> dict[str, float]:
    yardstick = time_of_lines(history, process_time)
    before = _cpu_of_children()
    figures = measured_command("verify", str(history), str(certificate))
    cpu = _cpu_of_children() - before
    if figures["status"]:
        raise AssertionError(f"{certificate} was rejected")
    return figures | {"yardstick": yardstick, "cpu": cpu}


def _cpu_of_children() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


SUITE = Suite(
    title="How long certificates take to be verified",
    how=HOW,
    full=measurements,
    quick=lambda: measurements(size=10_000),
)
