"""`python -m benchmarks.peers HISTORY --level LEVEL --peer NAME=COMMAND`: another checker on the same file.

Isoscope and each peer take turns, each in a process of its own: wall and CPU seconds, peak memory, exit
status. `{file}` in a peer's command is replaced by the path; without it, the path is the last argument. A
peer that starts programs of its own counts with them in seconds, and with the largest one in memory.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Run", "compare", "main", "parse_peer", "table"]

REPEATS = 3
OURS = "isoscope"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one process took, and what Python took before it to iterate over the lines of the file."""

    wall: float
    cpu: float
    peak: float
    status: int
    yardstick: float


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options().parse_args(arguments)
    commands = {OURS: _ours(options.history, options.level)}
    for name, command in options.peer:
        commands[name] = _with_file(command, options.history)
    print(table(compare(commands, options.history, options.repeats)))


def parse_peer(text: str) -> tuple[str, list[str]]:
    """`NAME=COMMAND`, the command split as a shell splits it."""
    name, equals, command = text.partition("=")
    words = shlex.split(command)
    if not (name and equals and words) or name == OURS:
        raise argparse.ArgumentTypeError(
            f"expected NAME=COMMAND, as in `other='other check {{file}}'`, found {text!r}"
        )
    return name, words


def compare(commands: dict[str, list[str]], history: Path, repeats: int) -> dict[str, list[Run]]:
    """The commands in turn, so that a slow minute hits all alike."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(repeats):
        for name, command in commands.items():
            runs[name].append(_timed(command, _iterate(history)))
    return runs


def table(runs: dict[str, list[Run]]) -> str:
    """Medians of each command, and how many times as long as ours and as the yardstick it took."""
    ours = runs[OURS]
    lines = [
        "| checker | wall | CPU | memory | exit status | wall by ours | memory by ours | by yardstick |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, found in runs.items():
        cells = [
            name,
            f"{median(run.wall for run in found):.3f} s",
            f"{median(run.cpu for run in found):.3f} s",
            f"{max(run.peak for run in found) / 1e6:.0f} MB",
            " or ".join(str(status) for status in sorted({run.status for run in found})),
            f"{median(run.wall / own.wall for run, own in zip(found, ours, strict=True)):.2f}",
            f"{max(run.peak for run in found) / max(run.peak for run in ours):.2f}",
            f"{median(run.wall / run.yardstick for run in found):.2f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("history", type=Path, help="a file that all of them read")
    parser.add_argument("--level", default="read-committed", help="the level that isoscope decides")
    parser.add_argument("--peer", type=parse_peer, action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    return parser


def _ours(history: Path, level: str) -> list[str]:
    return [sys.executable, "-m", "isoscope", "check", str(history), "--level", level]


def _with_file(command: list[str], history: Path) -> list[str]:
    if not any("{file}" in word for word in command):
        return [*command, str(history)]
    return [word.replace("{file}", str(history)) for word in command]


def _timed(command: list[str], yardstick: float) -> Run:
    started = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Run(
        wall=perf_counter() - started,
        cpu=usage.ru_utime + usage.ru_stime,
        peak=usage.ru_maxrss * 1024.0,
        status=process.returncode,
        yardstick=yardstick,
    )


def _iterate(path: Path) -> float:
    started = perf_counter()
    with path.open("rb") as lines:
        for _ in lines:
            pass
    return perf_counter() - started


if __name__ == "__main__":
    main()
