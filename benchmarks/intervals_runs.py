"""Real databases, verified while they run: as Figures 11 and 12 of Li et al. 2023.

One server each for all runs. The verifier is a thread of the process of the 24 sessions, as
`isoscope run --live` has it; it shares the cores with them and the server, and Python's lock with them.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any

from benchmarks.intervals_overlap import decided_figures
from benchmarks.plot import Panel
from benchmarks.suite import Measurement, Plot, Suite
from isoscope import _native, profiles
from isoscope.databases import connect
from isoscope.errors import IsoscopeError
from isoscope.run import Limits, run
from isoscope.run.local_verification import LocalVerification
from isoscope.workloads import client_workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from benchmarks.suite import Measured
    from isoscope.history import History, Scalar
    from isoscope.profiles import Profile
    from isoscope.run import Run

__all__ = [
    "CASES",
    "REAL",
    "Case",
    "Skipped",
    "Verified",
    "measure_all",
    "measured",
    "measurement",
    "plots",
    "verified",
]

SESSIONS, SECONDS = 24, 4.0
ISOLATIONS = {
    "postgresql": ("serializable", "repeatable-read", "read-committed"),
    "mariadb": ("repeatable-read", "serializable"),
}
WORKLOADS = ("blindw-w", "blindw-rw", "blindw-rw+", "smallbank")
#: Keys by contention.
KEYS = {"high": 500, "low": 50_000}
_DEPENDENCIES = "Dependencies of these runs"
_POSTGRESQL = {"deadlock_timeout": "10ms", "fsync": "off", "shared_buffers": "128MB", "wal_level": "replica"}
_MARIADB = {"innodb_flush_log_at_trx_commit": "0", "log_bin": "OFF"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What runs where."""

    database: str
    isolation: str
    workload: str
    contention: str

    @property
    def profile(self) -> str:
        """What the database is held to."""
        return f"{self.database}/{self.isolation}"

    @property
    def name(self) -> str:
        """What stands in tables."""
        return f"{self.profile}, {self.workload}, {self.contention} contention"


CASES = tuple(
    Case(database=database, isolation=isolation, workload=workload, contention=contention)
    for database, isolations in ISOLATIONS.items()
    for isolation in isolations
    for contention in KEYS
    for workload in WORKLOADS
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A database that is not there, and why."""

    database: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """One run: operations a second of the database, of the verifier beside it and of the verifier alone.

    `behind` is by how much the verifier was late when the run ended, `left` how long the rest took it, `held`
    the share of their time for which sessions waited for it.
    """

    case: Case
    operations: int
    aborted: float
    database: float
    verifier: float
    alone: float
    behind: float
    left: float
    held: float
    violations: int
    kinds: tuple[tuple[int, int, int], ...]


def measure_all(cases: tuple[Case, ...] = CASES, seconds: float = SECONDS) -> Iterator[Verified | Skipped]:
    """Each case, or why none of a database can be."""
    for database, server in _SERVERS.items():
        mine = [case for case in cases if case.database == database]
        try:
            if mine:
                with server() as url:
                    for case in mine:
                        yield verified(case, url, seconds)
        except IsoscopeError as error:
            yield Skipped(database=database, reason=str(error).partition("\n")[0])


@contextmanager
def _postgresql() -> Iterator[str]:
    ours = _driver("isoscope.databases.postgresql.server")
    process, where = ours.start(_POSTGRESQL)
    try:
        yield "postgresql://{user}:{password}@{host}:{port}/{dbname}".format_map(where)
    finally:
        ours.stop(process)


@contextmanager
def _mariadb() -> Iterator[str]:
    ours = _driver("isoscope.databases.mariadb.server")
    process = _driver("isoscope.databases.process").Server("mariadb", users=("mysql", "nobody"))
    try:
        place = ours.start(process, _MARIADB)
        yield f"mariadb://{place.user}:{place.password}@{place.host}:{place.port}"
    finally:
        process.stop()


def _driver(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise IsoscopeError(f"there is no {error.name}") from None


_SERVERS: Mapping[str, Callable[[], AbstractContextManager[str]]] = {
    "postgresql": _postgresql,
    "mariadb": _mariadb,
}


class _Timed(LocalVerification):
    """Also knows for how long the thread that verifies was at work."""

    def __init__(self, profile: Profile) -> None:
        self.worked = 0.0
        super().__init__(profile, sessions=SESSIONS)

    def _deliver(self, numbers: list[int], beats: list[tuple[Scalar, int]]) -> None:
        # Of the thread: while it waits for Python's lock, it is the sessions that work.
        started = thread_time()
        super()._deliver(numbers, beats)
        self.worked += thread_time() - started


def verified(case: Case, url: str, seconds: float) -> Verified:
    """One run on a server; raises `IsoscopeError` if it ends early."""
    profile = profiles.load(case.profile)
    clients = client_workload(case.workload, {"sessions": SESSIONS, "keys": KEYS[case.contention], "seed": 7})
    live = _Timed(profile)
    ran = run(connect(url, isolation=case.isolation), clients, Limits(seconds=seconds), sink=live)
    history = ran.history
    if ran.problem is not None or history is None:
        raise IsoscopeError(f"{case.profile}, {case.workload}: {ran.problem}")
    return _verified(case, ran, history, live)


def _verified(case: Case, ran: Run, history: History, live: _Timed) -> Verified:
    found, done, progress = live.report().mechanisms, live.summary(), ran.progress
    if found is None or done is None:
        raise AssertionError("a verification that ended has a report and a summary")
    operations = history.columns.operations
    return Verified(
        case=case,
        operations=operations,
        aborted=progress.aborted / max(1, progress.aborted + progress.committed),
        database=operations / progress.seconds,
        verifier=operations / live.worked,
        alone=operations / _alone(history, profiles.load(case.profile)),
        behind=done.at_end.behind or 0.0,
        left=done.seconds,
        held=done.held_up / (SESSIONS * progress.seconds),
        violations=sum(sum(verdict.anomaly_counts.values()) for verdict in found.verdicts),
        kinds=tuple((row.total, row.overlapping, row.uncertain) for row in found.dependencies),
    )


def _alone(history: History, profile: Profile) -> float:
    """Seconds in which the verifier judges all of it when the run is over."""
    started = perf_counter()
    _native.judge_intervals(history.columns, profile.native, clock_error=0, max_anomalies=1)
    return perf_counter() - started


def measurement(point: Verified | Skipped) -> Measurement:
    """A run in words."""
    if isinstance(point, Skipped):
        return Measurement(point.database, {"skipped": point.reason})
    figures = {
        "database, operations/s": f"{point.database:,.0f}",
        "verifier, operations/s": f"{point.verifier:,.0f}",
        "alone, operations/s": f"{point.alone:,.0f}",
        "behind at the end": f"{point.behind:.2f} s",
        "rest": f"{point.left:.2f} s",
        "sessions held up": f"{100 * point.held:.2f} %",
        "aborted": f"{100 * point.aborted:.1f} %",
        "violations": f"{point.violations:,}",
    }
    return Measurement(point.case.name, figures)


def measured(points: Iterable[Verified | Skipped]) -> Iterator[Measured]:
    """Each run, the plots, and Figure 12: what intervals leave open of each run, and the mechanisms."""
    kept: list[Verified] = []
    for point in points:
        yield measurement(point)
        if isinstance(point, Verified):
            kept.append(point)
    yield from plots(kept)
    for one in kept:
        yield Measurement(one.case.name, decided_figures(one.kinds), group=_DEPENDENCIES)


def plots(runs: list[Verified]) -> Iterator[Plot]:
    """Figure 11: a panel for each profile and contention."""
    panels = []
    for profile, contention in dict.fromkeys((point.case.profile, point.case.contention) for point in runs):
        mine = [
            point for point in runs if (point.case.profile, point.case.contention) == (profile, contention)
        ]
        series = {
            "database": [point.database / 1000 for point in mine],
            "verifier": [point.verifier / 1000 for point in mine],
        }
        labels = [point.case.workload for point in mine]
        title = f"{profile}, {contention}"
        panels.append(Panel(title=title, across="", labels=labels, series=series, joined=False))
    title = "1000 operations a second, high and low contention"
    if panels:
        yield Plot(name="intervals-runs", title=title, panels=panels)


REAL = Suite(
    title="Real databases, verified while they run (Figures 11 and 12)",
    how=f"{SESSIONS} sessions for {SECONDS:g} s on {KEYS['high']:,} keys (high contention) or "
    f"{KEYS['low']:,} (low); `fsync` is off, so that the database is fast. Sessions, verifier and server "
    "share the machine. `verifier` is by the processor time of its thread, its conversion of what Python "
    "recorded included; `alone` is the whole history at once afterwards. `behind` is by how much it was "
    "late when the run ended, `rest` how long it then took to verify everything.",
    full=lambda: measured(measure_all()),
    quick=lambda: measured(measure_all(CASES[:1], seconds=1.0)),
    groups={
        _DEPENDENCIES: "By kind: how many, how many of them overlap, and the share of those that the "
        "mechanisms decide."
    },
)
