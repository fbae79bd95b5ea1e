"""The profiled database keeps its profile in true time, and each fault breaks its mechanism."""

from __future__ import annotations

from collections import defaultdict
from graphlib import TopologicalSorter
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import pytest

from isoscope.databases.profiled import FAULTS, Delays, Load, Profiled, Run, Truth, run, slices
from isoscope.errors import UsageError
from isoscope.history import OperationKind, Status
from isoscope.profiles import PROFILES, Certifier, Granularity, Lock, Read, Snapshot, Statement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import Operation, Transaction
    from isoscope.profiles import Profile

READS = (OperationKind.READ, OperationKind.RANGE_READ)
CHANGES = (OperationKind.WRITE, OperationKind.INSERT, OperationKind.DELETE)
STATEMENTS = {
    "select for update": Statement.SELECT_FOR_UPDATE,
    "select for share": Statement.SELECT_FOR_SHARE,
}
CROWDED: Any = {
    "clients": 8,
    "transactions": 200,
    "operations": (1, 6),
    "keys": 12,
    "tables": 2,
    "reads": 0.55,
    "ranges": 0.2,
    "longest_range": 4,
    "for_update": 0.15,
    "for_share": 0.1,
    "updates_after_reads": 0.4,
    "inserts": 0.1,
    "deletes": 0.1,
    "rollbacks": 0.05,
    "lost_answers": 0.03,
}
#: Profiles that promise serializability; the true dependencies are checked.
SERIALIZABLE = (
    "postgresql/serializable",
    "mysql/serializable",
    "sqlite/rollback-journal",
    "cockroachdb/serializable",
    "foundationdb/serializable",
    "derby/serializable",
    "spanner/read-write",
)
#: For each fault, a profile where it has an occasion and breaks a promise.
OCCASIONS = {
    "stale-snapshot": "postgresql/repeatable-read",
    "moving-snapshot": "postgresql/repeatable-read",
    "dirty-read": "postgresql/read-committed",
    "aborted-read": "mysql/read-committed",
    "intermediate-read": "mysql/read-committed",
    "future-read": "postgresql/read-committed",
    "lost-own-write": "mysql/repeatable-read",
    "missing-lock": "postgresql/read-committed",
    "missing-share-lock": "mysql/serializable",
    "early-release": "mysql/serializable",
    "missed-first-updater": "postgresql/repeatable-read",
    "missed-certifier": "postgresql/serializable",
    "lost-version": "tidb/read-committed",
    "missing-row": "cockroachdb/serializable",
}


def ran(profile: Profile, seed: int = 1, *, faults: dict[str, float] | None = None, **more: Any) -> Run:
    return run(Profiled(profile=profile, seed=seed, faults=faults or {}), Load(**{**CROWDED, **more}))


@pytest.fixture(params=PROFILES, scope="module")
def profile(request: pytest.FixtureRequest) -> Profile:
    return PROFILES[request.param]


@pytest.fixture(scope="module")
def correct(profile: Profile) -> Run:
    return ran(profile)


def operations(simulated: Run) -> list[tuple[Transaction, Operation]]:
    """By number."""
    return [(one, operation) for one in simulated.history for operation in one.operations]


def conduct_of(profile: Profile, operation: Operation) -> Any:
    return profile.statements[STATEMENTS.get(operation.statement or "", Statement.SELECT)]


def versions_of(truth: Truth) -> dict[int, list[tuple[int, int]]]:
    """By row: when each version appeared, and its transaction."""
    found = defaultdict(list)
    for version in truth.versions:
        found[version.key].append((version.appeared, version.transaction))
    return found


def encloses(operation: Operation, instant: int) -> bool:
    interval = operation.interval
    assert interval is not None
    assert interval.invoke is not None
    return interval.invoke <= instant and (interval.complete is None or instant <= interval.complete)


def test_a_read_shows_the_newest_version_of_its_instant(profile: Profile, correct: Run) -> None:
    numbered = operations(correct)
    assert correct.truth.shown
    wrong = (numbered[number][1] for number in wrong_reads(correct))
    assert all(conduct_of(profile, operation).read is Read.UNCOMMITTED for operation in wrong)


def test_a_read_looks_at_an_instant_of_its_interval_or_at_its_snapshot(
    profile: Profile, correct: Run
) -> None:
    numbered = operations(correct)
    for shown in correct.truth.shown:
        transaction, operation = numbered[shown.operation]
        if profile.certifier is Certifier.TIMESTAMP_ORDER:
            continue  # its timestamp may move on after the read
        if (
            conduct_of(profile, operation).read is not Read.CONSISTENT
            or profile.snapshot is Snapshot.STATEMENT
        ):
            assert encloses(operation, shown.at)
        else:
            assert shown.at == correct.truth.lifetimes[transaction.number].snapshot


def test_a_snapshot_is_taken_where_the_profile_says(profile: Profile, correct: Run) -> None:
    for transaction, life in zip(correct.history, correct.truth.lifetimes, strict=True):
        if life.snapshot is None:
            continue
        if profile.snapshot is Snapshot.TRANSACTION:
            assert life.begun <= life.snapshot <= life.ended
        elif profile.snapshot is Snapshot.START:
            first = transaction.operations[1].interval
            assert first is not None
            assert first.complete is not None
            assert life.begun <= life.snapshot <= first.complete
        else:
            assert encloses(taker(profile, transaction), life.snapshot)


def taker(profile: Profile, transaction: Transaction) -> Operation:
    """The operation that takes the snapshot of its transaction."""
    begin, *rest = transaction.operations
    if profile.snapshot is Snapshot.BEGIN:
        return begin
    if profile.snapshot is Snapshot.FIRST_STATEMENT:
        return rest[0]
    consistent = (
        operation
        for operation in rest
        if operation.kind in READS and conduct_of(profile, operation).read is Read.CONSISTENT
    )
    return next(consistent)


def test_commits_happen_while_their_client_waits_for_them(correct: Run) -> None:
    for transaction, life in zip(correct.history, correct.truth.lifetimes, strict=True):
        last = transaction.operations[-1]
        assert encloses(last, life.ended)
        if transaction.status is Status.COMMITTED:
            assert life.committed == life.ended
        if transaction.status is Status.ABORTED:
            assert life.committed is None
            assert last.kind is OperationKind.ABORT


def test_a_read_shows_a_written_value(correct: Run) -> None:
    numbered = operations(correct)
    transactions = list(correct.history)
    checked = 0
    for shown in correct.truth.shown:
        reader, operation = numbered[shown.operation]
        if shown.writer is None or operation.kind is not OperationKind.READ:
            continue
        if reader.status is not Status.COMMITTED or operation.value is None:
            continue
        writer = transactions[shown.writer]
        written = [one.value for one in writer.operations if one.kind in CHANGES and one.key == shown.key]
        assert operation.value in written
        checked += 1
    assert checked


def test_locks_that_exclude_each_other_are_not_held_at_the_same_time(correct: Run) -> None:
    rows = [lock for lock in correct.truth.locks if not lock.is_predicate]
    for one, other in combinations(rows, 2):
        overlap = one.low <= other.high and other.low <= one.high and one.transaction != other.transaction
        if overlap and excludes(one.mode, other.mode):
            assert one.released < other.taken or other.released < one.taken


def excludes(one: str, other: str) -> bool:
    modes = {Lock(one), Lock(other)}
    return Lock.EXCLUSIVE in modes or modes == {Lock.UPDATE}


def test_a_lock_is_taken_during_a_statement_and_kept_to_the_end(profile: Profile, correct: Run) -> None:
    transactions = list(correct.history)
    can_lock = {conduct.lock for conduct in profile.statements.values()} | {profile.commit_lock}
    assert bool(correct.truth.locks) == (can_lock != {Lock.NONE})
    for lock in correct.truth.locks:
        transaction = transactions[lock.transaction]
        assert any(encloses(operation, lock.taken) for operation in transaction.operations)
        ended = correct.truth.lifetimes[lock.transaction].ended
        assert lock.released == ended or transaction.status is Status.ABORTED


def test_no_transaction_writes_into_a_range_that_another_one_has_locked(correct: Run) -> None:
    for lock in correct.truth.locks:
        if not lock.is_predicate:
            continue
        for version in correct.truth.versions:
            if lock.low <= version.key <= lock.high and version.transaction != lock.transaction:
                assert not lock.taken < version.appeared < lock.released


@pytest.mark.parametrize("name", [name for name in PROFILES if PROFILES[name].first_updater_wins])
def test_the_first_updater_wins_where_the_profile_says_so(name: str) -> None:
    correct = ran(PROFILES[name])
    transactions = list(correct.history)
    for versions in versions_of(correct.truth).values():
        for (before, _), (_, later) in pairwise(versions):
            snapshot = correct.truth.lifetimes[later].snapshot
            inserts = any(one.kind is OperationKind.INSERT for one in transactions[later].operations)
            assert inserts or snapshot is None or before <= snapshot or before < first_write(correct, later)


def first_write(correct: Run, number: int) -> int:
    """When the first lock of a transaction was taken, if it took its snapshot only later."""
    taken = [lock.taken for lock in correct.truth.locks if lock.transaction == number]
    snapshot = correct.truth.lifetimes[number].snapshot
    return min(taken) if taken and snapshot is not None and min(taken) < snapshot else 0


@pytest.mark.parametrize("name", SERIALIZABLE)
@pytest.mark.parametrize("seed", range(4))
def test_a_serializable_profile_has_no_cycle_of_dependencies(name: str, seed: int) -> None:
    assert not has_cycle(ran(PROFILES[name], seed, transactions=400))


def has_cycle(simulated: Run) -> bool:
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for dependency in simulated.truth.dependencies:
        sorter.add(dependency.after, dependency.before)
    try:
        sorter.prepare()
    except ValueError:  # a CycleError
        return True
    return False


def test_a_weaker_profile_has_a_cycle_now_and_then() -> None:
    assert has_cycle(ran(PROFILES["postgresql/repeatable-read"], transactions=1000))
    assert has_cycle(ran(PROFILES["postgresql/read-committed"]))


def test_the_same_seed_gives_the_same_history_and_truth(profile: Profile, correct: Run) -> None:
    same, other = ran(profile), ran(profile, 2)
    assert (list(same.history), same.truth) == (list(correct.history), correct.truth)
    assert list(other.history) != list(correct.history)


def test_a_history_is_the_same_in_slices() -> None:
    database = Profiled(profile=PROFILES["postgresql/serializable"], seed=1)
    whole = [content(transaction) for transaction in run(database, Load(**CROWDED)).history]
    parts = list(slices(database, Load(**CROWDED), 30))
    assert [part.counts["transactions"] for part in parts] == [30] * 6 + [20]
    assert [content(transaction) for part in parts for transaction in part] == whole


def content(transaction: Transaction) -> tuple[Any, ...]:
    details = [(one.kind, one.key, one.value, one.interval) for one in transaction.operations]
    return transaction.id, transaction.session_id, transaction.status, details


def test_a_client_sends_one_request_after_the_other(correct: Run) -> None:
    by_session: dict[Any, list[Transaction]] = defaultdict(list)
    for transaction in correct.history:
        by_session[transaction.session_id].append(transaction)
    for transactions in by_session.values():
        asked = [one.interval for transaction in transactions for one in transaction.operations]
        for before, after in pairwise(asked):
            assert before is not None
            assert after is not None
            assert before.complete is not None
            assert after.invoke is not None
            assert before.complete < after.invoke


def test_wrong_clocks_change_only_the_recorded_times() -> None:
    profile = PROFILES["mysql/serializable"]
    exact = ran(profile)
    delays = Delays(clock_error=1_000_000)
    off = run(Profiled(profile=profile, seed=1, delays=delays), Load(**CROWDED))
    offsets = set()
    for transaction, life in zip(off.history, off.truth.lifetimes, strict=True):
        interval = transaction.operations[-1].interval
        assert interval is not None
        assert interval.invoke is not None
        assert interval.invoke - delays.clock_error <= life.ended
        offsets.add(encloses(transaction.operations[-1], life.ended))
    assert offsets == {True, False}
    assert off.history.counts["transactions"] == exact.history.counts["transactions"]


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_strikes_and_can_be_seen(fault: str) -> None:
    simulated = ran(PROFILES[OCCASIONS[fault]], faults={fault: 0.2}, transactions=400)
    struck, visible = simulated.struck()[fault]
    assert struck >= visible > 0
    numbered = operations(simulated)
    for one in simulated.truth.faults:
        assert one.fault == fault
        assert numbered[one.operation][0].number == one.transaction


def test_no_fault_strikes_without_being_asked_for(correct: Run) -> None:
    assert correct.truth.faults == ()
    assert correct.struck() == {}


def wrong_reads(simulated: Run) -> Iterator[int]:
    """Operations that do not show the newest version of their instant."""
    versions = versions_of(simulated.truth)
    numbered = operations(simulated)
    for shown in simulated.truth.shown:
        reader = numbered[shown.operation][0].number
        # By timestamps, a version of its own appears with what it read.
        of_others = ((at, writer) for at, writer in versions[shown.key] if writer != reader)
        there = [(at, writer) for at, writer in of_others if at <= shown.at]
        if (shown.appeared, shown.writer) != (there[-1] if there else (0, None)):
            yield shown.operation


@pytest.mark.parametrize("fault", ["stale-snapshot", "moving-snapshot", "dirty-read", "aborted-read"])
def test_a_fault_of_reads_changes_what_its_reads_show_and_no_others(fault: str) -> None:
    simulated = ran(PROFILES[OCCASIONS[fault]], faults={fault: 0.2})
    struck = {one.operation for one in simulated.truth.faults}
    assert set(wrong_reads(simulated)) == struck


def test_repeated_values_are_few() -> None:
    simulated = ran(PROFILES["mysql/read-committed"], repeated_values=2)
    values = {one.value for _, one in operations(simulated) if one.kind is OperationKind.WRITE}
    assert values == {1, 2}


def test_the_first_rows_are_drawn_most_by_a_zipfian_distribution() -> None:
    def share(theta: float) -> float:
        simulated = ran(PROFILES["mysql/read-committed"], theta=theta, keys=100, ranges=0.0, tables=1)
        drawn = [one.key for _, one in operations(simulated) if one.key is not None]
        return sum(key in range(10) for key in drawn) / len(drawn)

    assert share(0.0) < 0.2
    assert share(1.0) > 0.4


def test_a_coarse_lock_covers_its_table_or_everything() -> None:
    for name, granularity in (("sqlite/rollback-journal", Granularity.DATABASE),):
        assert PROFILES[name].granularity is granularity
        assert {(lock.low, lock.high) for lock in ran(PROFILES[name]).truth.locks} == {(0, 11)}


@pytest.mark.parametrize(
    ("load", "faults", "complaint"),
    [
        ({"reads": 1.5}, {}, "reads: a share lies between 0 and 1, not at 1.5"),
        ({"operations": (3, 2)}, {}, "the least number of operations is more than the most"),
        ({"keys": 0}, {}, "a database needs a client, a row and a table"),
        ({"theta": -1.0}, {}, "theta is a number from 0 to 16"),
        ({"clients": -1}, {}, "clients=-1"),
        ({}, {"stale-snapshots": 0.1}, "stale-snapshot"),
        ({}, {"stale-snapshot": 2.0}, "the rate of stale-snapshot"),
    ],
)
def test_impossible_parameters_are_rejected(load: Any, faults: Any, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint.replace("(", r"\(")):
        ran(PROFILES["mysql/read-committed"], faults=faults, **load)
