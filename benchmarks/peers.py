"""Another checker on the same file: `python -m benchmarks --peer NAME=COMMAND [--history FILE] [--level L]`.

Isoscope and each peer take turns, each in a process of its own: wall and CPU seconds, peak memory, exit
status. `{file}` in a peer's command is replaced by the path; without it, the path is the last argument. A
peer that starts programs of its own counts with them in seconds, and with the largest one in memory.
Python modules are compiled before, as they are where a package is installed, whatever the environment says.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias

from benchmarks.loading import REGISTERS
from benchmarks.measure import as_installed, time_of_lines
from benchmarks.suite import DATA, Measurement
from isoscope import formats
from isoscope.workloads import generate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["OURS", "Run", "add_options", "beside", "measurements", "parse_peer"]

REPEATS = 3
OURS = "isoscope"
Peer: TypeAlias = tuple[str, list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one process took, and what Python took before it to iterate over the lines of the file."""

    wall: float
    cpu: float
    peak: float
    status: int
    yardstick: float


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of a race."""
    parser.add_argument("--peer", type=parse_peer, action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--history", type=Path, help="the file that all read (default: generated Plume text)")
    parser.add_argument("--level", default="read-committed", help="the level that isoscope decides")


def measurements(
    peers: Sequence[Peer], history: Path | None, level: str, *, is_full: bool, repeats: int = REPEATS
) -> Iterator[Measurement]:
    """What each took for one file, beside Isoscope."""
    file = history or _generated(is_full=is_full)
    commands = {OURS: _ours(file, level)}
    for name, command in peers:
        commands[name] = _with_file(command, file)
    environment = as_installed()
    _timed(commands[OURS], 0.0, environment)
    yield from beside(compare(commands, file, repeats, environment))


def _generated(*, is_full: bool) -> Path:
    DATA.mkdir(exist_ok=True)
    file = DATA / "peers.txt"
    formats.save(generate(REGISTERS if is_full else replace(REGISTERS, transactions=5_000)), file)
    return file


def parse_peer(text: str) -> Peer:
    """`NAME=COMMAND`, the command split as a shell splits it."""
    name, equals, command = text.partition("=")
    words = shlex.split(command)
    if not (name and equals and words) or name == OURS:
        raise argparse.ArgumentTypeError(
            f"expected NAME=COMMAND, as in `other='other check {{file}}'`, found {text!r}"
        )
    return name, words


def compare(
    commands: dict[str, list[str]], history: Path, repeats: int, environment: Mapping[str, str]
) -> dict[str, list[Run]]:
    """The commands in turn, so that a slow minute hits all alike."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(repeats):
        for name, command in commands.items():
            runs[name].append(_timed(command, time_of_lines(history), environment))
    return runs


def beside(runs: Mapping[str, Sequence[Run]]) -> Iterator[Measurement]:
    """Medians of each command, and how many times as long as ours and as the yardstick it took."""
    ours = runs[OURS]
    for name, found in runs.items():
        by_ours = median(run.wall / own.wall for run, own in zip(found, ours, strict=True))
        figures = {
            "wall": f"{median(run.wall for run in found):.3f} s",
            "CPU": f"{median(run.cpu for run in found):.3f} s",
            "memory": f"{max(run.peak for run in found) / 1e6:.0f} MB",
            "exit status": " or ".join(str(status) for status in sorted({run.status for run in found})),
            "wall by ours": f"{by_ours:.2f}",
            "memory by ours": f"{max(run.peak for run in found) / max(run.peak for run in ours):.2f}",
            "yardstick": f"{median(run.yardstick for run in found):.3f} s",
            "ratio": f"{median(run.wall / run.yardstick for run in found):.2f}",
        }
        yield Measurement(name, figures)


def _ours(history: Path, level: str) -> list[str]:
    return [sys.executable, "-m", "isoscope", "check", str(history), "--level", level]


def _with_file(command: list[str], history: Path) -> list[str]:
    if not any("{file}" in word for word in command):
        return [*command, str(history)]
    return [word.replace("{file}", str(history)) for word in command]


def _timed(command: list[str], yardstick: float, environment: Mapping[str, str]) -> Run:
    started = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Run(
        wall=perf_counter() - started,
        cpu=usage.ru_utime + usage.ru_stime,
        peak=usage.ru_maxrss * 1024.0,
        status=process.returncode,
        yardstick=yardstick,
    )
