"""One measurement in a fresh interpreter: seconds, peak memory, and the yardstick of the same run.

The yardstick is the time that Python takes to iterate over the lines of a file: machines differ and
vary, the ratio of the two much less.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isoscope.history import History

__all__ = [
    "Figures",
    "as_installed",
    "command",
    "load",
    "measured",
    "measured_command",
    "peak",
    "resident",
    "size_of",
    "time_of_lines",
]

Figures: TypeAlias = dict[str, float]
#: What a search takes at most if nothing else is asked for.
TIME_LIMIT = 60.0


def measured(  # noqa: PLR0913 - the question, and its limits
    history: Path,
    yardstick: Path | None = None,
    *,
    check: bool = False,
    levels: tuple[str, ...] = (),
    method: str | None = None,
    time_limit: float = TIME_LIMIT,
    is_cold: bool = False,
) -> Figures:
    """What `load` found in an interpreter of its own."""
    asked = {
        "history": str(history),
        "yardstick": yardstick and str(yardstick),
        "check": check,
        "levels": levels,
        "method": method,
        "time_limit": time_limit,
        "is_cold": is_cold,
    }
    return _elsewhere("load", asked)


def measured_command(*arguments: str) -> Figures:
    """What `command` found in an interpreter of its own."""
    return _elsewhere("command", {"arguments": arguments})


def _elsewhere(what: str, asked: Mapping[str, object]) -> Figures:
    line = [sys.executable, "-m", "benchmarks.measure", what, json.dumps(asked)]
    output = subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True, env=as_installed()).stdout
    result: Figures = json.loads(output)
    return result


def as_installed() -> dict[str, str]:
    """The environment in which Python keeps modules that it compiled, as where a package is installed."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def command(arguments: list[str]) -> Figures:
    """Runs `isoscope` with these arguments; `peak` is the memory of the whole process."""
    from isoscope import cli  # noqa: PLC0415 - its import is no part of the measurement

    sys.argv[1:] = arguments
    started = perf_counter()
    try:
        with redirect_stdout(io.StringIO()):
            cli.main()
    except SystemExit as end:
        status = float(end.code or 0)
    return {"seconds": perf_counter() - started, "status": status, "peak": peak()}


def load(  # noqa: PLR0913 - the question, and its limits
    history: str,
    yardstick: str | None,
    *,
    check: bool,
    levels: tuple[str, ...] = (),
    method: str | None = None,
    time_limit: float = TIME_LIMIT,
    is_cold: bool = False,
) -> Figures:
    """Loads (and checks) one history at `levels`, or at all; searches take so many seconds at most.

    A cold file is read from the disk, another one mostly from memory. `cpu` is that of all threads. Memory is
    the peak above that after the imports: `memory` of the load, `check_memory` of all. With them, it is
    `peak`.
    """
    import pyarrow.parquet  # noqa: F401, PLC0415 - its import is no part of the measurement

    from isoscope import checkers, formats  # noqa: PLC0415
    from isoscope.verdict import Outcome  # noqa: PLC0415

    if is_cold:
        _evict(Path(history))
    before, spent = peak(), process_time()
    started = perf_counter()
    loaded = formats.load(history)
    seconds = perf_counter() - started
    result = {
        "seconds": seconds,
        "operations": float(loaded.columns.operations),
        "transactions": float(len(loaded)),
        "bytes": float(size_of(Path(history))),
        "memory": peak() - before,
    }
    if check:
        started = perf_counter()
        report = checkers.check(loaded, levels or None, method=method, time_limit=time_limit)
        result["check"] = perf_counter() - started
        result["cpu"] = process_time() - spent
        result["sort"] = _sorted(loaded, levels)
        result["check_memory"] = peak() - before
        result["violated"] = float(len(report.weakest_violated))
        result["holds"] = float(len(report.levels(Outcome.HOLDS)))
    result["peak"] = peak()
    if yardstick is not None:
        result["yardstick"] = time_of_lines(Path(yardstick))
    return result


def _sorted(history: History, levels: tuple[str, ...]) -> float:
    """What of the check of a clock's level the sort of the events takes; nothing of any other."""
    from isoscope.checkers import timestamps  # noqa: PLC0415 - part of no start-up

    asked = [level for level in timestamps.LEVELS if level in levels]
    started = perf_counter()
    for level in asked:
        timestamps.ties(history, level)
    return perf_counter() - started


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files of a folder."""
    return sum(file.stat().st_size for file in _files(path))


def _files(path: Path) -> list[Path]:
    return [*path.iterdir()] if path.is_dir() else [path]


def _evict(path: Path) -> None:
    """Drops what the system has of it in memory."""
    for file in _files(path):
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def peak() -> float:
    """The most bytes that this process had in memory."""
    # Not `getrusage`: its figure starts with that of the process that started this one.
    return _status("self", "VmHWM")


def resident(process: int | None = None) -> float:
    """Bytes of a process in memory, by default of this one."""
    return _status(str(process or "self"), "VmRSS")


def _status(process: str, name: str) -> float:
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    [line] = [line for line in status.splitlines() if line.startswith(name)]
    return int(line.split()[1]) * 1024.0


def time_of_lines(path: Path, clock: Callable[[], float] = perf_counter) -> float:
    """The yardstick: seconds in which Python iterates over the lines of a file."""
    started = clock()
    with path.open("rb") as lines:
        for _ in lines:
            pass
    return clock() - started


if __name__ == "__main__":
    asked = json.loads(sys.argv[2])
    print(json.dumps(load(**asked) if sys.argv[1] == "load" else command(**asked)))
