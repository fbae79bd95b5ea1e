"""`python -m benchmarks.comparison TREE`: loading and checking in another checkout and in this one.

Both read the files of `benchmarks/data` (made by `python -m benchmarks loading --full`), each measurement in
an interpreter of its own; the two take turns, so that a slow minute hits both. The other tree has been built
in its `.venv`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.loading import CASES, WRITTEN
from benchmarks.suite import DATA

if TYPE_CHECKING:
    from benchmarks.measure import Figures

__all__ = ["change", "compare"]

HERE = Path(__file__).parents[1]
REPEATS = 3
#: What does not take minutes for registers without an order.
_WEAK = ("read-committed", "read-atomic", "causal", "cut-isolation")


def compare(other: Path) -> None:
    """Prints a line for each file: seconds before and now, best of three."""
    for name, *_, yardstick in (*CASES, *WRITTEN):
        trees: dict[Path, list[Figures]] = {other: [], HERE: []}
        for _ in range(REPEATS):
            for tree, runs in trees.items():
                runs.append(_measured(tree, DATA / name, DATA / yardstick))
        before, now = trees.values()
        lines = min(run["yardstick"] for run in now)
        told = [f"{what} {change(before, now, what)}" for what in ("seconds", "check", "peak")]
        print(f"{name:24} {', '.join(told)}, yardstick {lines:.3f} s")


def change(before: list[Figures], now: list[Figures], what: str) -> str:
    """The least of both, and by how much they differ."""
    old, new = (min(run[what] for run in runs) for runs in (before, now))
    return f"{old:.3g} -> {new:.3g} ({100 * (new / old - 1):+.0f} %)"


def _measured(tree: Path, history: Path, yardstick: Path) -> Figures:
    asked = {"history": str(history), "yardstick": str(yardstick), "check": True, "levels": _WEAK}
    line = [str(tree / ".venv" / "bin" / "python"), "-m", "benchmarks.measure", "load", json.dumps(asked)]
    output = subprocess.run(line, check=True, cwd=tree, stdout=subprocess.PIPE, text=True).stdout
    figures: Figures = json.loads(output)
    return figures


if __name__ == "__main__":
    compare(Path(sys.argv[1]).resolve())
