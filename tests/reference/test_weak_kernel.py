"""The native core decides the weak levels as the specification does, with every anomaly and its proof."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from isoscope._native import judge_values
from isoscope.checkers import check, conflicts, reads
from isoscope.checkers.itemised import with_range_reads_as_reads
from isoscope.levels import Level
from isoscope.reference import reads as reference_reads
from isoscope.reference import weak
from isoscope.verdict import Outcome
from tests.reference.agreement import right_outcomes
from tests.reference.histories import histories, random_history
from tests.reference.mixtures import random_mixture
from tests.reference.weak_histories import random_weak_history, weak_histories
from tests.seeds import seeds

if TYPE_CHECKING:
    from isoscope._native import WeakJudgement
    from isoscope.history import History

LEVELS = (Level.CUT_ISOLATION, *weak.LEVELS)
WEAK = ("read-committed", "read-atomic", "causal")
SEEDS = seeds(500, deep=20_000)


def judge(history: History, strongest: str, **options: Any) -> WeakJudgement:
    single = with_range_reads_as_reads(history)
    found = judge_values(single.columns, strongest=strongest, max_anomalies=0, **options).weak
    assert found is not None
    return found


def assert_agreement(history: History) -> weak.Judgement:
    """By lists alone and by all that is recorded of the order of versions; and the verdicts by the latter."""
    expected = weak.judge(history)
    for verdict in check(history, LEVELS).verdicts:
        outcome = expected.outcomes[verdict.level]
        right = right_outcomes(history)[verdict.level] if outcome is Outcome.UNKNOWN else {outcome}
        assert verdict.outcome in right
    assert_found(history, expected, by_recorded_order=True)
    found = assert_found(history, weak.judge(history, sources=["list read"]), by_recorded_order=False)
    for method in ("vector-clocks", "tree-clocks", "traversal"):
        other = judge(history, "causal", happens_before=method)
        assert (other.violated, other.counts) == (found.violated, found.counts)
    for strongest, levels in (("read-committed", WEAK[:1]), ("read-atomic", WEAK[:2])):
        weaker = judge(history, strongest)
        assert weaker.violated == [level for level in levels if level in found.violated]
        assert weaker.satisfied == [level for level in levels if level in found.satisfied]
    return expected


def assert_found(history: History, expected: weak.Judgement, *, by_recorded_order: bool) -> WeakJudgement:
    """Counts of all names, affected reads and components are those of the specification."""
    judged = judge_values(
        with_range_reads_as_reads(history).columns,
        strongest="causal",
        max_anomalies=10**9,
        by_recorded_order=by_recorded_order,
    )
    found = judged.weak
    assert found is not None
    assert not found.is_partial
    assert not found.undecided
    named = Counter[str]()
    named.update(affected_read.name for affected_read in expected.affected_reads)
    named.update(component.name for component in expected.components)
    assert found.counts == {name: named[name] for name in conflicts.NAMES if named[name]}
    of_reads = Counter(f.name for f in expected.reads)
    assert judged.read_counts == {name: of_reads[name] for name in reads.NAMES if of_reads[name]}
    affected = {
        weak.AffectedRead(finding.anomaly, stale.reader, reference_reads.token(stale.key))
        for finding in found.findings
        if (stale := finding.stale_read) is not None
    }
    assert affected == expected.affected_reads
    for finding in found.findings:
        if finding.stale_read is None:
            members = {number for step in finding.order for number in (step.before, step.after)}
            assert any(finding.anomaly == c.name and members <= c.transactions for c in expected.components)
    return found


@pytest.mark.slow
def test_the_native_core_agrees_with_the_specification_on_many_seeds_and_every_name_is_seen() -> None:
    seen: Counter[str] = Counter()
    for seed in range(SEEDS):
        source = random.Random(seed)
        judgement = assert_agreement(random_weak_history(source, unique=seed % 5 > 0))
        seen.update(judgement.names)
        seen.update(f"{level} {outcome}" for level, outcome in judgement.outcomes.items())
    assert set(conflicts.NAMES) <= set(seen)
    assert {f"{level} {outcome}" for level in weak.LEVELS for outcome in Outcome} <= set(seen)


def test_the_native_core_agrees_with_the_specification_on_histories_of_every_kind() -> None:
    for seed in range(SEEDS // 4):
        assert_agreement(random_history(random.Random(seed)))


def test_the_native_core_finds_what_recorded_orders_break() -> None:
    """Sources that contradict each other are among them: then the strongest says what is found."""
    by_records = 0
    for seed in range(SEEDS):
        history = random_mixture(random.Random(seed), unique=seed % 5 > 0)
        expected, by_lists = weak.judge(history), weak.judge(history, sources=["list read"])
        assert_found(history, expected, by_recorded_order=True)
        assert_found(history, by_lists, by_recorded_order=False)
        by_records += expected.names != by_lists.names
    assert by_records > SEEDS // 50


@given(history=weak_histories())
def test_the_native_core_agrees_with_the_specification(history: History) -> None:
    assert_agreement(history)


@given(history=histories())
def test_the_native_core_agrees_with_the_specification_on_any_history(history: History) -> None:
    assert_agreement(history)


def test_with_little_room_a_violation_is_still_shown_and_nothing_is_invented() -> None:
    """With too many sessions for the clocks, what is said is still true."""
    undecided = 0
    for seed in range(SEEDS // 2):
        history = random_weak_history(random.Random(seed))
        found = judge(history, "causal")
        for steps, clock_bytes in ((0, 0), (0, 10**9), (10**9, 0)):
            limited = judge(history, "causal", max_steps=steps, max_clock_bytes=clock_bytes)
            decided = [level for level in WEAK if level not in limited.undecided]
            assert decided == list(WEAK[: len(decided)])
            assert limited.violated == [level for level in decided if level in found.violated]
            assert limited.counts or not limited.violated
            assert all(count <= found.counts[name] for name, count in limited.counts.items())
            undecided += len(limited.undecided) > 0
    assert undecided > 0
