"""Checks on Apache Spark against the same check in memory and from a disk: time, memory, the start apart.

`python -m benchmarks.spark FOLDER [OPERATIONS...]` writes its histories to FOLDER.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter

_ENGINES = {
    "in memory": (),
    "from a disk": ("--streaming",),
    "Spark, local[2]": ("--engine", "spark=local[2]"),
}
_USUAL = ("1500000", "15000000")


def main(folder: str, *sizes: str) -> None:
    print("| operations | engine | seconds | of these the start of Spark | operations per second | MB |")
    print("|---|---|---|---|---|---|")
    for size in map(int, sizes or _USUAL):
        path = _history(Path(folder), size)
        documents = {_row(name, options, path, size) for name, options in _ENGINES.items()}
        assert len(documents) == 1, "engines say different things"


def _history(folder: Path, operations: int) -> str:
    path = folder / f"{operations}.parquet"
    if not path.exists():
        transactions = str(operations // 10)
        _isoscope("generate", str(path), "--transactions", transactions, "--operations", "10",
                  "--keys", "20000", "--seed", "1", "--timestamps")  # fmt: skip
    return str(path)


def _row(name: str, options: tuple[str, ...], path: str, operations: int) -> str:
    """Prints a row; the document without its seconds."""
    started = perf_counter()
    text, peak = _isoscope("check", path, "--method", "timestamps", "--json", "--timings", *options)
    seconds = perf_counter() - started
    document = json.loads(text)
    start = document.pop("seconds").get("start", 0.0)
    rate = operations / (seconds - start)
    print(f"| {operations:,} | {name} | {seconds:.1f} | {start:.1f} | {rate:,.0f} | {peak:,} |", flush=True)
    return json.dumps(document)


def _isoscope(*arguments: str) -> tuple[str, int]:
    """Standard output of a command, and the most memory that it alone had, in MB."""
    command = [sys.executable, "-m", "isoscope", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in (0, 1), f"{command} failed"
    return text, usage.ru_maxrss // 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
