"""How long the command line and the import take, beside a bare interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.suite import Measurement, Suite

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SUITE", "measurements"]

REPEATS = 10
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import isoscope": [sys.executable, "-c", "import isoscope"],
    "isoscope --help": [str(Path(sys.executable).with_name("isoscope")), "--help"],
}


def measurements(repeats: int = REPEATS) -> Iterator[Measurement]:
    """The best of several starts of each."""
    for name, command in COMMANDS.items():
        best = min(_seconds(command) for _ in range(repeats))
        yield Measurement(f"start {name}", {"best": f"{best:.3f} s"})


def _seconds(command: list[str]) -> float:
    started = perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return perf_counter() - started


SUITE = Suite(
    title="Starting",
    how="The best of several starts of each command.",
    full=measurements,
    quick=lambda: measurements(repeats=3),
)
