"""One measurement in a fresh interpreter: seconds, peak memory, and the yardstick of the same run.

The yardstick is the time that Python takes to iterate over the lines of a file: machines differ and
vary, the ratio of the two much less.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter

__all__ = ["load", "measured", "size_of"]


def measured(
    history: Path, yardstick: Path | None = None, *, check: bool = False, levels: tuple[str, ...] = ()
) -> dict[str, float]:
    """What `load` found in an interpreter of its own."""
    asked = {"history": str(history), "yardstick": yardstick and str(yardstick), "check": check}
    command = [sys.executable, "-m", "benchmarks.measure", json.dumps(asked | {"levels": levels})]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result: dict[str, float] = json.loads(output)
    return result


def load(
    history: str, yardstick: str | None, *, check: bool, levels: tuple[str, ...] = ()
) -> dict[str, float]:
    """Loads (and checks) one history at `levels`, or at all.

    Memory is the peak above that after the imports: `memory` of the load, `check_memory` of all.
    """
    import pyarrow.parquet  # noqa: F401, PLC0415 - its import is no part of the measurement

    from isoscope import checkers, formats  # noqa: PLC0415

    before = _peak()
    started = perf_counter()
    loaded = formats.load(history)
    seconds = perf_counter() - started
    result = {
        "seconds": seconds,
        "operations": float(loaded.columns.operations),
        "transactions": float(len(loaded)),
        "bytes": float(size_of(Path(history))),
        "memory": _peak() - before,
    }
    if check:
        started = perf_counter()
        report = checkers.check(loaded, levels or None)
        result["check"] = perf_counter() - started
        result["check_memory"] = _peak() - before
        result["violated"] = float(len(report.weakest_violated))
    if yardstick is not None:
        result["yardstick"] = _iterate(yardstick)
    return result


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files of a folder."""
    files = path.iterdir() if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files)


def _peak() -> float:
    # Not `getrusage`: its figure starts with that of the process that started this one.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024.0


def _iterate(path: str) -> float:
    started = perf_counter()
    with Path(path).open("rb") as lines:
        for _ in lines:
            pass
    return perf_counter() - started


if __name__ == "__main__":
    print(json.dumps(load(**json.loads(sys.argv[1]))))
