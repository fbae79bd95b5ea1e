"""The simulated database keeps its promises, and each fault shows exactly the anomalies of its entry."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from isoscope.anomalies import CATALOGUE
from isoscope.checkers import check
from isoscope.databases.simulated import BUGS, ISOLATIONS, Injected, Simulated, Simulation, run
from isoscope.errors import UsageError
from isoscope.history import OperationKind, Status
from isoscope.levels import Level, implied
from isoscope.verdict import Outcome
from isoscope.workloads import MIXES, TABLE_1, Mix, Step, Table, Template, Workload
from tests.databases.replay import Found, violations
from tests.repo.test_files import ROOT

CLOCK_LEVELS = (Level.CLOCK_SNAPSHOT_ISOLATION, Level.CLOCK_SERIALIZABLE)
PAGE = ROOT / "docs" / "explanation" / "simulated-database.md"
SEEDS = range(4)
CLOCKS = ("central", "hybrid")
CONFLICTS = ("abort", "retry", "read")
#: By seed. With few open transactions and slow clocks, a version that was dropped too early is missed.
SETTINGS: Any = (
    {"concurrency": 8, "skew": 100_000},
    {"concurrency": 2, "skew": 10_000_000, "nodes": 5},
    {"concurrency": 16, "skew": 1000},
    {"concurrency": 3, "skew": 1_000_000},
)
PAIRS = [(bug, isolation) for bug, entry in BUGS.items() for isolation in entry.isolations]


def workload(seed: int, **more: Any) -> Workload:
    return Workload(
        **{
            "seed": seed,
            "sessions": 8,
            "transactions": 200,
            "min_operations": 1,
            "max_operations": 8,
            "keys": 20,
            "abort_ratio": 0.05,
            "timestamps": True,
            **more,
        }
    )


def broken(bug: str, isolation: str, seed: int, **more: Any) -> Simulation:
    """A run in which the fault strikes often; clocks and ways with conflicts take turns."""
    clock: Any = "hybrid" if bug == "clock-skew" else CLOCKS[seed % 2]
    conflicts: Any = CONFLICTS[seed % 3]
    database = Simulated(
        isolation=isolation, clock=clock, conflicts=conflicts, bug=bug, bug_rate=0.2, **SETTINGS[seed]
    )
    return run(database, workload(seed, **more))


def logged(simulation: Simulation, level: Level) -> list[Found]:
    entries = [entry for entry in simulation.injected if level in entry.levels]
    found = [
        Found(e.anomaly, e.transaction, e.key, e.expected if e.other is None else e.other) for e in entries
    ]
    return sorted(found, key=repr)


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("conflicts", CONFLICTS)
@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_a_database_keeps_its_promises(isolation: str, conflicts: Any, clock: Any) -> None:
    for seed in SEEDS:
        database = Simulated(isolation=isolation, conflicts=conflicts, clock=clock, **SETTINGS[seed])
        promised = frozenset().union(*map(implied, database.promises))
        history = run(database, workload(seed, lists=seed % 2 == 1, intervals=True)).history
        for level in set(CLOCK_LEVELS) & promised:
            assert violations(history, level) == []
        verdicts = check(history, [level for level in promised if level not in CLOCK_LEVELS]).verdicts
        assert {v.level for v in verdicts if v.outcome is Outcome.VIOLATED} == set()


@pytest.mark.parametrize(("isolation", "beyond"), [
    ("snapshot-isolation", Level.SERIALIZABLE),
    ("read-committed", Level.CUT_ISOLATION),
    ("read-uncommitted", Level.PL_2),
])  # fmt: skip
def test_a_database_promises_no_more_than_it_keeps(isolation: str, beyond: Level) -> None:
    history = run(Simulated(isolation=isolation), workload(1, transactions=1000)).history
    assert check(history, [beyond]).verdicts[0].outcome is Outcome.VIOLATED


@pytest.mark.parametrize("lists", [False, True])
@pytest.mark.parametrize(("bug", "isolation"), PAIRS)
def test_the_log_has_exactly_the_violations_of_the_clock(bug: str, isolation: str, lists: bool) -> None:
    promised = set(CLOCK_LEVELS) & set(ISOLATIONS[isolation].promises)
    seen: Counter[str] = Counter()
    for seed in SEEDS:
        simulation = broken(bug, isolation, seed, lists=lists)
        seen.update(entry.anomaly for entry in simulation.injected)
        for level in promised:
            found = violations(simulation.history, level)
            assert found == logged(simulation, level)
            assert Counter(one.anomaly for one in found) == simulation.expected(level)
    assert seen, "the fault was never seen"


@pytest.mark.parametrize(
    "bug", [name for name, bug in BUGS.items() if "snapshot-isolation" in bug.isolations]
)
def test_the_log_is_exact_where_values_are_repeated(bug: str) -> None:
    """A stale read of a value that was written again is no violation."""
    clock: Any = "hybrid" if bug == "clock-skew" else "central"
    database = Simulated(clock=clock, bug=bug, bug_rate=0.2, repeated_values=3)
    for seed in SEEDS:
        simulation = run(database, workload(seed))
        counts = Counter(found.anomaly for found in violations(simulation.history, CLOCK_LEVELS[0]))
        # A forgotten write that equals an earlier one of the same transaction has another name.
        assert sum(counts.values()) == sum(simulation.expected(CLOCK_LEVELS[0]).values())


@pytest.mark.parametrize(("bug", "isolation"), PAIRS)
def test_a_bug_leaves_the_levels_that_its_entry_names(bug: str, isolation: str) -> None:
    kept = frozenset().union(*map(implied, BUGS[bug].keeps)) & frozenset().union(
        *map(implied, ISOLATIONS[isolation].hybrid)
    )
    for seed in SEEDS:
        history = broken(bug, isolation, seed).history
        for level in set(CLOCK_LEVELS) & kept:
            assert violations(history, level) == []
        verdicts = check(history, [level for level in kept if level not in CLOCK_LEVELS]).verdicts
        assert {v.level for v in verdicts if v.outcome is Outcome.VIOLATED} == set()


UPDATES = Mix(
    meaning="updates, and reads and writes of single keys",
    tables=(Table("key", 40),),
    templates=(Template("both", 1, (Step("update", "key", 2), Step("either", "key", 6, reads=0.5))),),
)


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_shows_the_anomalies_that_its_entry_names(bug: str) -> None:
    """A few times in a thousand transactions: in the log, which is exact, or by methods without a clock."""
    entry = BUGS[bug]
    clock: Any = "hybrid" if bug == "clock-skew" else "central"
    isolation = "snapshot-isolation" if "snapshot-isolation" in entry.isolations else "serializable"
    database = Simulated(isolation=isolation, clock=clock, bug=bug, concurrency=4)
    simulation = run(database, workload(1, transactions=2000, mix=UPDATES))
    seen = {injected.anomaly for injected in simulation.injected}
    seen |= {name for verdict in check(simulation.history).verdicts for name in verdict.anomaly_counts}
    assert set(entry.shows) <= seen
    assert set(entry.shows) <= CATALOGUE.keys()
    assert len({injected.transaction for injected in simulation.injected}) >= 4


@pytest.mark.parametrize("isolation", ["serializable", "snapshot-isolation", "read-committed"])
@pytest.mark.parametrize("bug", ["aborted-read", "dirty-read"])
def test_reads_of_rolled_back_writes_are_counted_exactly(bug: str, isolation: str) -> None:
    for seed in SEEDS:
        simulation = broken(bug, isolation, seed)
        [verdict] = check(simulation.history, [Level.PL_2]).verdicts
        counted = Counter(entry.anomaly for entry in simulation.injected if not entry.levels)
        for anomaly in ("aborted-read", "intermediate-read"):
            assert verdict.anomaly_counts.get(anomaly, 0) == counted[anomaly]


def test_values_are_unique_for_each_key_unless_told_otherwise() -> None:
    for repeated, is_unique in ((0, True), (3, False)):
        history = run(Simulated(repeated_values=repeated), workload(1)).history
        writes = [
            (op.key, op.value) for t in history for op in t.operations if op.kind is OperationKind.WRITE
        ]
        assert (len(writes) == len(set(writes))) is is_unique


def test_an_aborted_transaction_has_a_start_timestamp_and_no_commit() -> None:
    history = run(Simulated(), workload(1)).history
    assert history.counts["aborted"] > 0
    for transaction in history:
        assert transaction.start is not None
        assert (transaction.commit is None) is (transaction.status is Status.ABORTED)


@pytest.mark.parametrize("mix", MIXES)
def test_a_mix_runs_on_it(mix: str) -> None:
    database = Simulated(conflicts="retry")
    history = run(database, Workload(mix=MIXES[mix], transactions=100, timestamps=True)).history
    assert history.counts["committed"] == 100
    assert violations(history, Level.CLOCK_SNAPSHOT_ISOLATION) == []


def test_the_parameters_of_table_1_run_on_it() -> None:
    database = Simulated(conflicts="read")
    history = run(database, replace(TABLE_1, transactions=1000)).history
    assert history.counts["committed"] == 1000
    assert history.counts["operations"] == 15_000
    assert history.counts["sessions"] == 50


@pytest.mark.parametrize(
    ("database", "message"),
    [
        (
            Simulated(isolation="serialisable"),
            "unknown isolation `serialisable`; did you mean `serializable`?",
        ),
        (Simulated(bug="stale-read"), "unknown bug `stale-read`"),
        (
            Simulated(isolation="read-committed", bug="lost-update"),
            "read-committed cannot show lost-update: it promises nothing that this would break",
        ),
        (Simulated(bug="clock-skew"), "clock-skew takes several clocks"),
    ],
)
def test_an_impossible_combination_is_one_message_with_a_hint(database: Simulated, message: str) -> None:
    with pytest.raises(UsageError) as error:
        run(database, workload(1))
    assert str(error.value).startswith(message)
    assert "\n\nhint: " in str(error.value)


@pytest.mark.parametrize(
    "parameters",
    [
        {"nodes": 0},
        {"concurrency": 0},
        {"skew": -1},
        {"repeated_values": -1},
        {"bug": "lost-update", "bug_rate": 2},
    ],
)
def test_an_impossible_number_is_rejected(parameters: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        run(Simulated(**parameters), workload(1))


@pytest.mark.parametrize("bug", BUGS)
def test_the_page_has_every_bug_with_what_it_shows_and_leaves(bug: str) -> None:
    [row] = [line for line in PAGE.read_text().splitlines() if line.startswith(f"| `{bug}` |")]
    _, _, _, shown, left, _ = row.split("|")
    by_the_clock = {found.anomaly for found in broken_anywhere(bug) if found.levels}
    assert {f"`{name}`" for name in by_the_clock} >= set(re.findall(r"`[^`]+`", shown)) != set()
    assert re.findall(r"`([^`]+)`", left) == [level.value for level in BUGS[bug].keeps]


def broken_anywhere(bug: str) -> list[Injected]:
    runs = (broken(bug, isolation, seed) for isolation in BUGS[bug].isolations for seed in SEEDS)
    return [entry for simulation in runs for entry in simulation.injected]


def test_a_workload_that_asks_for_a_level_is_refused() -> None:
    with pytest.raises(UsageError, match="keeps or breaks no level by order"):
        run(Simulated(), Workload(level=Level.CAUSAL))
