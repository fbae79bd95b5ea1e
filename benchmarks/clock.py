"""The levels of the database's clock: a million transactions, from the file to the verdict.

The histories are those of the simulated database with the parameters of Table I of Li et al. 2025. A
serializable one gives most of these transactions up if they overlap, so there they run one at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.measure import measured, measured_command
from benchmarks.suite import DATA, Measurement, Suite
from isoscope import formats
from isoscope.cli import check
from isoscope.databases.simulated import Simulated, run
from isoscope.workloads import TABLE_1

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchmarks.measure import Figures
    from isoscope.workloads import Workload

__all__ = ["CASES", "DATABASES", "SIZES", "STREAMED", "SUITE", "measurements", "save", "write_by_session"]

REPEATS = 3
HOW = (
    "Load is everything before the check, which sorts the events and replays them. Peak is the "
    "memory of the whole process, a fresh one. The limit is what was asked for, of load and check together. "
    "The yardstick is the time in which Python iterates over the lines of the JSON file; the ratio is the "
    "median of time by yardstick of the same run."
)
SNAPSHOT, SERIALIZABLE = "clock-snapshot-isolation", "clock-serializable"
#: By the level that its histories satisfy. A transaction of the first reads what it must not write.
DATABASES = {
    SNAPSHOT: Simulated(isolation="snapshot-isolation", conflicts="read"),
    SERIALIZABLE: Simulated(isolation="serializable", concurrency=1),
}
SIZES: Mapping[str, Workload] = {
    "1M": replace(TABLE_1, transactions=1_000_000, seed=11),
    "100k": replace(TABLE_1, transactions=100_000, seed=12),
}


@dataclass(frozen=True, slots=True)
class Limit:
    """Seconds of load and check, and gigabytes."""

    seconds: float | None = None
    memory: float | None = None

    def __str__(self) -> str:
        parts = [f"{self.seconds:g} s" if self.seconds else "", f"{self.memory:g} GB" if self.memory else ""]
        return ", ".join(filter(None, parts)) or "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A file of the history of a database, and what is asked of it."""

    database: str
    size: str
    suffix: str
    level: str
    limit: Limit
    method: str | None = "timestamps"

    @property
    def name(self) -> str:
        by = "" if self.method else ", by every method"
        broken = "" if self.database == self.level else ", violated"
        return f"{self.level}{broken}, {self.size} {_FILES[self.suffix]}{by}"

    @property
    def file(self) -> Path:
        return _file(self.database, self.size, self.suffix)

    @property
    def yardstick(self) -> Path:
        return _file(self.database, self.size, "json")


_FILES = {"json": "JSON", "parquet": "Parquet", "jsonl": "JSON session by session"}
JSON, PARQUET, SOON = Limit(4.0, 1.2), Limit(1.5, 1.0), Limit(0.4)
CASES = (
    *(Case(database=level, size="1M", suffix="json", level=level, limit=JSON) for level in DATABASES),
    *(Case(database=level, size="1M", suffix="parquet", level=level, limit=PARQUET) for level in DATABASES),
    # In the files above, commits are in order, which spares the sort most of its work.
    Case(database=SNAPSHOT, size="1M", suffix="jsonl", level=SNAPSHOT, limit=JSON),
    # Every fifth read shows another version than a replay in commit order.
    Case(database=SNAPSHOT, size="1M", suffix="parquet", level=SERIALIZABLE, limit=PARQUET),
    *(Case(database=level, size="100k", suffix="json", level=level, limit=SOON) for level in DATABASES),
    # What `isoscope check --level` does if no method is named.
    Case(database=SNAPSHOT, size="100k", suffix="json", level=SNAPSHOT, limit=Limit(), method=None),
)
#: Memory must not depend on the length of the history.
STREAMED = {size: Limit(memory=0.2) for size in ("100k", "1M")}


def measurements(sizes: Mapping[str, Workload] = SIZES, repeats: int = REPEATS) -> Iterator[Measurement]:
    """Every case; they take turns, so that a slow minute hits all alike."""
    DATA.mkdir(exist_ok=True)
    for database in DATABASES:
        for size, workload in sizes.items():
            save(workload, database, *(_file(database, size, suffix) for suffix in ("json", "parquet")))
    write_by_session(_file(SNAPSHOT, "1M", "json"), _file(SNAPSHOT, "1M", "jsonl"))
    runs: dict[str, list[Figures]] = {case.name: [] for case in CASES}
    for _ in range(repeats):
        for case in CASES:
            runs[case.name].append(_measured(case))
    for case in CASES:
        yield _row(case, runs[case.name])
    for size, limit in STREAMED.items():
        yield _streamed(size, limit)


def _file(database: str, size: str, suffix: str) -> Path:
    return DATA / f"{database}-{size}.{suffix}"


def save(workload: Workload, database: str, *files: Path) -> None:
    """Runs `workload` on the database of this name."""
    history = run(DATABASES[database], workload).history
    for file in files:
        # The JSON format has no place for an initial value, and timestamps say which read comes first.
        formats.save(history, file, lossy=True)


def write_by_session(source: Path, target: Path) -> None:
    """JSON lines in which all of a session's transactions stand together, from an array of a line each."""
    with source.open("rb") as lines:
        transactions = [line.rstrip(b",\n") for line in lines if line.startswith(b"{")]
    transactions.sort(key=_session)
    target.write_bytes(b"\n".join([*transactions, b""]))


def _session(line: bytes) -> int:
    """The session of `{"tid":1,"sid":2,"sts":...`."""
    return int(line.split(b",", 2)[1].removeprefix(b'"sid":'))


def _measured(case: Case) -> Figures:
    found = measured(case.file, case.yardstick, check=True, levels=(case.level,), method=case.method)
    expected = "holds" if case.database == case.level else "violated"
    if not found[expected]:
        raise AssertionError(f"{case.file.name}: it is not so that {case.level} {expected}")
    return found


def _row(case: Case, runs: list[Figures]) -> Measurement:
    def total(run: Figures) -> float:
        return run["seconds"] + run["check"]

    figures = {
        "load and check (median)": f"{median(map(total, runs)):.3f} s",
        "(best)": f"{min(map(total, runs)):.3f} s",
        "load (median)": f"{median(run['seconds'] for run in runs):.3f} s",
        "check (median)": f"{median(run['check'] for run in runs):.3f} s",
        "of it sort": f"{median(run['sort'] for run in runs):.3f} s",
        "peak": f"{max(run['peak'] for run in runs) / 1e9:.2f} GB",
        "limit": str(case.limit),
        "transactions": f"{runs[0]['transactions']:,.0f}",
        "CPU (median)": f"{median(run['cpu'] for run in runs):.3f} s",
        "yardstick": f"{median(run['yardstick'] for run in runs):.3f} s",
        "ratio": f"{median(total(run) / run['yardstick'] for run in runs):.2f}",
    }
    return Measurement(case.name, figures)


def _streamed(size: str, limit: Limit) -> Measurement:
    name = f"{SNAPSHOT}, {size} JSON, streaming"
    if not any("--streaming" in option.opts for option in check.command.params):
        return Measurement(name, {"command": "not in this version", "limit": str(limit)})
    file = str(_file(SNAPSHOT, size, "json"))
    found = measured_command("check", file, "--level", SNAPSHOT, "--method", "timestamps", "--streaming")
    if found["status"]:
        raise AssertionError(f"{name}: exit status {found['status']:.0f}")
    figures = {"command": f"{found['seconds']:.3f} s", "peak": f"{found['peak'] / 1e9:.2f} GB"}
    return Measurement(name, figures | {"limit": str(limit)})


SUITE = Suite(
    title="The levels of the database's clock",
    how=HOW,
    full=measurements,
    quick=lambda: measurements(
        {
            size: replace(workload, transactions=workload.transactions // 100)
            for size, workload in SIZES.items()
        },
        repeats=1,
    ),
)
