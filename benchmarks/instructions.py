"""Instructions and bytes of the main kernels on fixed small inputs, beside a recorded budget.

Seconds vary from run to run; the number of executed instructions hardly does, so that a test can compare it
with the recorded one. Valgrind counts them. A cost is the slope between a small and a larger history, so
that the start of Python is no part of it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import isoscope
from benchmarks import record
from benchmarks.suite import Measurement, Suite

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "KERNELS",
    "SUITE",
    "Budget",
    "Cost",
    "Kernel",
    "cost",
    "is_countable",
    "measurements",
    "recorded",
]

#: One thread, and the same order of Python's sets: otherwise counts vary.
_STEADY = {"RAYON_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
_REGISTERS = ("--keys", "500", "--sessions", "20")
#: Transactions of the two histories whose instructions are counted, and of the two whose bytes are.
_COUNTED = (500, 5_000)
_WEIGHED = (5_000, 50_000)
_FIGURES = ("instructions/operation", "bytes/operation")
_CHILD = "import sys; from benchmarks.instructions import ask; ask(*sys.argv[1:])"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """What is asked of which generated history."""

    file: str
    generated: tuple[str, ...]
    level: str = ""
    method: str = ""
    profile: str = ""


KERNELS: Mapping[str, Kernel] = {
    "weak levels": Kernel(file="weak.txt", generated=_REGISTERS, level="causal", method="values"),
    "version order of lists": Kernel(
        file="lists.edn",
        generated=(*_REGISTERS, "--lists", "--max-writes-per-key", "16"),
        level="serializable",
        method="version-order",
    ),
    "version order of registers": Kernel(
        file="registers.txt", generated=_REGISTERS, level="serializable", method="version-order"
    ),
    "clock": Kernel(
        file="clock.json",
        generated=(*_REGISTERS, "--isolation", "snapshot-isolation"),
        level="clock-snapshot-isolation",
    ),
    "intervals": Kernel(
        file="traces.parquet",
        generated=("--profile", "postgresql/serializable", "--sessions", "20"),
        profile="postgresql/serializable",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Instructions and bytes that each further operation takes to load and check."""

    instructions: float
    bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What was recorded, and the compiler of the time: another one makes other instructions."""

    compiler: str
    costs: Mapping[str, Cost]


def is_countable() -> bool:
    """Whether there is a program that counts instructions."""
    return shutil.which("valgrind") is not None


def cost(name: str) -> Cost:
    """What a kernel takes now."""
    with tempfile.TemporaryDirectory() as folder:
        weighed = [_run(name, folder, transactions) for transactions in _WEIGHED]
        counted = [_run(name, folder, transactions, count=True) for transactions in _COUNTED]
    return Cost(instructions=_slope(*counted), bytes=_slope(*weighed))


def _slope(small: tuple[int, int], large: tuple[int, int]) -> float:
    return round((large[1] - small[1]) / (large[0] - small[0]), 1)


def _run(name: str, folder: str, transactions: int, *, count: bool = False) -> tuple[int, int]:
    """The operations of a generated history, and the instructions or the bytes to load and check it."""
    kernel = KERNELS[name]
    history = str(Path(folder, f"{transactions}-{kernel.file}"))
    generate = [sys.executable, "-m", "isoscope", "generate", history, *kernel.generated]
    _output([*generate, "--transactions", str(transactions)])
    child = [sys.executable, "-c", _CHILD, name, history]
    operations, peak = map(int, _output(child).stdout.split())
    if not count:
        return operations, peak
    told = _output(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *child]).stderr
    found = re.search(r"Collected : (\d+)", told)
    if found is None:
        sys.exit(f"valgrind did not say how many instructions it counted: {told}")
    return operations, int(found[1])


def _output(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | _STEADY)


def ask(name: str, history: str) -> None:
    """What a child process does; it prints the operations and the peak of its memory in bytes."""
    kernel = KERNELS[name]
    loaded = isoscope.load(history)
    isoscope.check(loaded, kernel.level or None, method=kernel.method or None, profile=kernel.profile or None)
    status = Path("/proc/self/status").read_text(encoding="ascii")
    [peak] = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    print(loaded.columns.operations, int(peak) * 1024)


def recorded() -> Budget:
    """The budget of the last recording."""
    result = record.load("instructions")
    costs = {one.name: _cost(one.figures) for one in result.measurements}
    return Budget(compiler=result.machine.rust if result.machine else "", costs=costs)


def _cost(figures: Mapping[str, str]) -> Cost:
    instructions, size = (float(figures[name]) for name in _FIGURES)
    return Cost(instructions=instructions, bytes=size)


def measurements() -> Iterator[Measurement]:
    """Each kernel and its cost."""
    for name in KERNELS:
        found = cost(name)
        yield Measurement(name, dict(zip(_FIGURES, map(str, (found.instructions, found.bytes)), strict=True)))


SUITE = Suite(
    title="Instructions of the main kernels",
    how="What each further operation takes to load and check, counted by Valgrind on one thread. A test "
    "compares with these figures, so that a kernel that becomes slower is noticed.",
    full=measurements,
)
