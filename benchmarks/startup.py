"""How long the command line and the import take, beside a bare interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.loading import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["rows"]

REPEATS = 10
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import isoscope": [sys.executable, "-c", "import isoscope"],
    "isoscope --help": [str(Path(sys.executable).with_name("isoscope")), "--help"],
}


def rows() -> Iterator[Row]:
    """The best of several starts of each."""
    for name, command in COMMANDS.items():
        best = min(_seconds(command) for _ in range(REPEATS))
        yield Row(f"start {name}", {"best": f"{best:.3f} s"})


def _seconds(command: list[str]) -> float:
    started = perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return perf_counter() - started
