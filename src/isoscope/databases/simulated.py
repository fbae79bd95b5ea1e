"""The simulated database: sessions on a multi-version store, with one named fault if asked for.

A seeded scheduler interleaves the sessions operation by operation; the store is `rust/kernel/src/simulate`.
The tables here say what each isolation promises and what each fault shows. The log of a run holds every
violation by the database's own clock that the fault caused, so a checker must find exactly these counts.
`docs/explanation/simulated-database.md` describes the protocols.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from isoscope import _native
from isoscope.databases.database import refuse_unknown
from isoscope.errors import UsageError
from isoscope.history import History, Source
from isoscope.levels import Level

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope._native import _Workload
    from isoscope.history import Value

__all__ = [
    "BUGS",
    "ISOLATIONS",
    "Bug",
    "Injected",
    "Isolation",
    "Simulated",
    "Simulation",
    "impossible_bug",
    "run",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """What the database does, and the strongest levels that its histories satisfy.

    With hybrid clocks the order of timestamps is not that of real time: then the levels are `hybrid`.
    """

    meaning: str
    promises: tuple[Level, ...]
    hybrid: tuple[Level, ...]


ISOLATIONS: Mapping[str, Isolation] = MappingProxyType(
    {
        "serializable": Isolation(
            meaning="snapshots; everything that was read must still be the newest at the commit",
            promises=(Level.CLOCK_SERIALIZABLE, Level.CLOCK_SNAPSHOT_ISOLATION, Level.STRICT_SERIALIZABLE),
            hybrid=(
                Level.CLOCK_SERIALIZABLE,
                Level.CLOCK_SNAPSHOT_ISOLATION,
                Level.STRONG_SESSION_SERIALIZABLE,
            ),
        ),
        "snapshot-isolation": Isolation(
            meaning="snapshots; the first to commit a key wins",
            promises=(Level.CLOCK_SNAPSHOT_ISOLATION, Level.STRONG_SNAPSHOT_ISOLATION),
            hybrid=(Level.CLOCK_SNAPSHOT_ISOLATION,),
        ),
        "read-committed": Isolation(
            meaning="every read shows what is committed by then; the last to commit a key wins",
            promises=(Level.READ_COMMITTED,),
            hybrid=(Level.READ_COMMITTED,),
        ),
        "read-uncommitted": Isolation(
            meaning="every read shows the last write, committed or not; a written key is held to the end",
            promises=(Level.PL_1,),
            hybrid=(Level.PL_1,),
        ),
    }
)

_SNAPSHOTS = ("serializable", "snapshot-isolation")
_COMMITTED = (*_SNAPSHOTS, "read-committed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """A fault: which isolations can show it, as which anomalies, and the strongest levels that it leaves.

    It may strike in a share `rate` of transactions; few of those have an occasion for it.
    """

    meaning: str
    isolations: tuple[str, ...]
    shows: tuple[str, ...]
    keeps: tuple[Level, ...]
    rate: float = 0.02


BUGS: Mapping[str, Bug] = MappingProxyType(
    {
        "stale-snapshot": Bug(
            meaning="reads the snapshot of the oldest open transaction, not that of its start timestamp",
            isolations=_SNAPSHOTS,
            shows=("stale-read",),
            keeps=(Level.READ_COMMITTED, Level.CUT_ISOLATION),
            rate=0.1,
        ),
        "moving-snapshot": Bug(
            meaning="reads what is committed by then, not its snapshot",
            isolations=("snapshot-isolation",),
            shows=("stale-read",),
            keeps=(Level.PL_2, Level.CUT_ISOLATION),
            rate=0.05,
        ),
        "lost-update": Bug(
            meaning="commits although another has written its keys since: no first committer wins",
            isolations=_SNAPSHOTS,
            shows=("write-conflict", "lost-update"),
            keeps=(Level.PREFIX,),
        ),
        "write-skew": Bug(
            meaning="commits although another has written what it read",
            isolations=("serializable",),
            shows=("stale-read", "write-skew"),
            keeps=(Level.CLOCK_SNAPSHOT_ISOLATION, Level.STRONG_SNAPSHOT_ISOLATION),
        ),
        "fractured-commit": Bug(
            meaning="half of its writes become visible later than the other half",
            isolations=_COMMITTED,
            shows=("stale-read",),
            keeps=(Level.PL_2, Level.CUT_ISOLATION),
        ),
        "dirty-read": Bug(
            meaning="reads what another has not committed",
            isolations=_COMMITTED,
            shows=("stale-read", "aborted-read"),
            keeps=(Level.PL_1, Level.CUT_ISOLATION),
            rate=0.05,
        ),
        "aborted-read": Bug(
            meaning="reads what another has rolled back",
            isolations=_COMMITTED,
            shows=("stale-read", "aborted-read"),
            keeps=(Level.PL_1, Level.CUT_ISOLATION),
            rate=0.005,
        ),
        "non-repeatable-read": Bug(
            meaning="a second read of a key shows what is committed by then",
            isolations=("snapshot-isolation",),
            shows=("non-repeatable-read",),
            keeps=(Level.PL_2,),
            rate=0.5,
        ),
        "forgotten-write": Bug(
            meaning="a read does not show what the transaction itself wrote",
            isolations=tuple(ISOLATIONS),
            shows=("not-my-own-write",),
            keeps=(Level.PL_1, Level.CUT_ISOLATION),
            rate=0.05,
        ),
        "reordered-session": Bug(
            meaning="starts, by its timestamp, before the last one of its session committed",
            isolations=_SNAPSHOTS,
            shows=("session-order",),
            keeps=(Level.SNAPSHOT_ISOLATION,),
            rate=0.2,
        ),
        "dropped-write": Bug(
            meaning="one of its writes gets lost",
            isolations=_COMMITTED,
            shows=("stale-read",),
            keeps=(Level.PL_2, Level.CUT_ISOLATION),
            rate=0.005,
        ),
        "timestamp-swap": Bug(
            meaning="its start and commit timestamps change places",
            isolations=_SNAPSHOTS,
            shows=("timestamp-inversion", "stale-read"),
            keeps=(Level.PL_2, Level.CUT_ISOLATION),
        ),
        "clock-skew": Bug(
            meaning="its commit timestamp comes from a clock that is behind (hybrid clocks)",
            isolations=_SNAPSHOTS,
            shows=("stale-read",),
            keeps=(Level.PL_2, Level.CUT_ISOLATION),
            rate=0.1,
        ),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """Parameters of the database; times are nanoseconds, and an event takes a thousand.

    `concurrency` transactions are open at once, as far as there are sessions. A conflict aborts a
    transaction; with `retry` its session then does the same again, and with `read` it reads the key that it
    must not write. `repeated_values` is how many different values are written to each key (0: every value
    once).
    """

    isolation: str = "snapshot-isolation"
    clock: Literal["central", "hybrid"] = "central"
    nodes: int = 3
    skew: int = 100_000
    concurrency: int = 8
    conflicts: Literal["abort", "retry", "read"] = "abort"
    repeated_values: int = 0
    bug: str | None = None
    bug_rate: float | None = None

    @property
    def promises(self) -> tuple[Level, ...]:
        """The strongest levels that its histories satisfy if no fault is injected."""
        promised = ISOLATIONS[self.isolation]
        return promised.promises if self.clock == "central" else promised.hybrid


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    """One violation that a fault caused, by the id of the transaction that shows it.

    `anomaly` is a name of the catalogue, or `missed-write` where read committed did not show the newest
    version, which does not always break the level. `levels` are the broken levels of the database's clock.
    """

    bug: str
    anomaly: str
    axiom: str
    levels: tuple[Level, ...]
    transaction: int
    key: Value = None
    other: int | None = None
    expected: Value = None
    found: Value = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """The result of a run: the history, and the violations that the fault caused."""

    history: History
    bug: str | None
    injected: tuple[Injected, ...]

    def expected(self, level: Level) -> Mapping[str, int]:
        """How often a checker of the database's clock must find each anomaly."""
        return dict(Counter(entry.anomaly for entry in self.injected if level in entry.levels))


_SI, _SER = Level.CLOCK_SNAPSHOT_ISOLATION, Level.CLOCK_SERIALIZABLE
#: Anomaly, axiom and broken levels, by the axiom of the native log.
_AXIOMS: Mapping[str, tuple[str, str, tuple[Level, ...]]] = {
    "ext": ("stale-read", "ext", (_SI,)),
    "replay": ("stale-read", "ext", (_SER,)),
    "int": ("non-repeatable-read", "int", (_SI, _SER)),
    "own-int": ("not-my-own-write", "int", (_SI, _SER)),
    "noconflict": ("write-conflict", "noconflict", (_SI,)),
    "session": ("session-order", "session", (_SI,)),
    "inversion": ("timestamp-inversion", "", (_SI,)),
    "aborted-read": ("aborted-read", "", ()),
    "intermediate-read": ("intermediate-read", "", ()),
    "missed": ("missed-write", "", ()),
}


def run(database: Simulated, workload: _Workload) -> Simulation:
    """Runs `workload`; raises `UsageError` if this database cannot run it."""
    _refuse(database, workload)
    bug = BUGS[database.bug] if database.bug else None
    rate = bug.rate if bug and database.bug_rate is None else database.bug_rate or 0.0
    simulated = _native.simulate(workload, replace(database, bug_rate=rate))
    injected = tuple(_injected(database.bug or "", fault) for fault in simulated.faults)
    history = History(simulated.columns, Source(path="<simulated>", format="simulated"))
    return Simulation(history=history, bug=database.bug, injected=injected)


def _injected(bug: str, fault: _native.InjectedFault) -> Injected:
    anomaly, axiom, levels = _AXIOMS[fault.axiom]
    return Injected(
        bug=bug,
        anomaly=anomaly,
        axiom=axiom,
        levels=levels,
        transaction=fault.transaction,
        key=fault.key,
        other=fault.other,
        expected=fault.expected,
        found=fault.found,
    )


def _refuse(database: Simulated, workload: _Workload) -> None:
    """Raises `UsageError` for parameters that the store does not know, or would ignore."""
    if workload.level is not None or workload.breaks is not None:
        raise UsageError("a simulated database has an isolation, and keeps or breaks no level by order")
    refuse_unknown("isolation", database.isolation, ISOLATIONS)
    refuse_unknown("clock", database.clock, ("central", "hybrid"))
    refuse_unknown("way with conflicts", database.conflicts, ("abort", "retry", "read"))
    if min(database.nodes, database.concurrency) < 1 or min(database.skew, database.repeated_values) < 0:
        raise UsageError(f"a number makes no sense in {database}")
    if database.bug is not None:
        _refuse_bug(database, database.bug)


def _refuse_bug(database: Simulated, name: str) -> None:
    refuse_unknown("bug", name, BUGS)
    bug = BUGS[name]
    if not 0 <= (database.bug_rate or 0) <= 1:
        raise UsageError(f"a share of transactions lies between 0 and 1, not at {database.bug_rate}")
    if database.isolation not in bug.isolations:
        raise impossible_bug(database.isolation, name)
    if name == "clock-skew" and (database.clock == "central" or database.nodes < 2):
        raise UsageError("clock-skew takes several clocks\n\nhint: --clock hybrid, and at least 2 --nodes")


def impossible_bug(isolation: str, name: str, *, besides: str | None = None) -> UsageError:
    """The error for a bug that an isolation cannot show; the hint leaves out the bug `besides`."""
    possible = [other for other, bug in BUGS.items() if isolation in bug.isolations and other != besides]
    return UsageError(
        f"{isolation} cannot show {name}: it promises nothing that this would break\n\n"
        f"hint: {', '.join(BUGS[name].isolations)} can; or inject {', '.join(possible)}"
    )
