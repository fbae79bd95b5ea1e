"""The HTML report on a million transactions with thousands of violations, and on these violations alone.

Seconds to write, and size.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.measure import time_of_lines
from benchmarks.suite import DATA, Measurement, Suite
from isoscope import formats
from isoscope.workloads import Workload, generate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["SUITE", "measurements", "with_violations", "written"]

REPEATS = 3
OF_EACH = 1000
MILLION = Workload(
    sessions=100, transactions=1_000_000, min_operations=4, max_operations=4, keys=10_000, seed=9
)
#: Operations of a few transactions on keys `x` and `y` of their own, as (kind, key, value).
PLANTED = (
    # fractured read
    ((("w", "x", 1), ("w", "y", 1)), (("r", "x", 0), ("r", "y", 1))),
    # thin-air read
    ((("r", "x", 7),),),
    # non-repeatable read
    ((("w", "x", 1),), (("r", "x", 0), ("r", "x", 1))),
    # causal conflict
    ((("w", "x", 1),), (("r", "x", 1), ("w", "y", 1)), (("r", "y", 1), ("r", "x", 0))),
)


def measurements(workload: Workload = MILLION, of_each: int = OF_EACH) -> Iterator[Measurement]:
    """Two histories; every measurement in an interpreter of its own."""
    DATA.mkdir(exist_ok=True)
    million, few = DATA / "violated.txt", DATA / "violations.txt"
    formats.save(generate(workload), million)
    few.unlink(missing_ok=True)
    for path in (million, few):
        with_violations(path, first=10_000_000, of_each=of_each)
    yield _row(f"HTML report, {workload.transactions:,} transactions", million, lines=million)
    yield _row("HTML report, violations alone", few, lines=million)


def _row(name: str, path: Path, *, lines: Path) -> Measurement:
    """The page of the history at `path`; the yardstick is a loop over the lines of the file `lines`."""
    runs = [_measured(path, lines) for _ in range(REPEATS)]
    ratio = median(run["seconds"] / run["yardstick"] for run in runs)
    figures = {
        "write (median)": f"{median(run['seconds'] for run in runs):.3f} s",
        "(best)": f"{min(run['seconds'] for run in runs):.3f} s",
        "page": f"{runs[0]['bytes'] / 1e6:.2f} MB",
        "counterexamples": f"{runs[0]['shown']:,.0f} of {runs[0]['found']:,.0f}",
        "load and check (median)": f"{median(run['before'] for run in runs):.3f} s",
        "yardstick": f"{median(run['yardstick'] for run in runs):.3f} s",
        "ratio": f"{ratio:.2f}",
    }
    return Measurement(name, figures)


def with_violations(path: Path, *, first: int, of_each: int) -> None:
    """Adds so many of every planted violation to Plume text; keys, sessions and ids begin with `first`."""
    number = first
    with path.open("a", encoding="utf-8") as file:
        for _ in range(of_each):
            for kind, planted in enumerate(PLANTED):
                for place, operations in enumerate(planted):
                    # Few sessions: what the check costs grows with them.
                    file.writelines(_lines_of(operations, number, first + 4 * kind + place, number + place))
                number += 4


def _lines_of(
    operations: Sequence[tuple[str, str, int]], number: int, session: int, transaction: int
) -> Iterator[str]:
    keys = {"x": number, "y": number + 1}
    return (f"{kind}({keys[key]},{value},{session},{transaction})\n" for kind, key, value in operations)


def written(path: str, lines: str) -> dict[str, float]:
    """Checks one history and renders its page."""
    from isoscope import checkers  # noqa: PLC0415 - its import is no part of the measurement
    from isoscope.reports.html import render_html  # noqa: PLC0415

    started = perf_counter()
    report = checkers.check(
        formats.load(path),
        ["causal", "cut-isolation", "read-atomic", "read-committed"],
        max_anomalies=OF_EACH,
    )
    before = perf_counter() - started
    started = perf_counter()
    page = render_html(report, folder=".").encode()
    seconds = perf_counter() - started
    widest = max(report.verdicts, key=lambda verdict: len(verdict.anomaly_counts))
    return {
        "seconds": seconds,
        "before": before,
        "bytes": len(page),
        "found": sum(widest.anomaly_counts.values()),
        "shown": int(page.split(b'<span class="badge">')[1].split(b"<")[0].replace(b",", b"")),
        "yardstick": time_of_lines(Path(lines)),
    }


def _measured(path: Path, lines: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.report", str(path), str(lines)]
    result: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return result


SUITE = Suite(
    title="Writing the HTML report",
    how="A million transactions with thousands of violations, and these violations alone. The yardstick is "
    "the time in which Python iterates over the lines of the larger file; the ratio is the median of time by "
    "yardstick of the same run.",
    full=measurements,
    quick=lambda: measurements(replace(MILLION, transactions=10_000), of_each=10),
)

if __name__ == "__main__":
    print(json.dumps(written(sys.argv[1], sys.argv[2])))
