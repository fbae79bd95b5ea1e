"""The native core decides the weak levels as the specification does, with every anomaly and its proof."""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import given

from isoscope._native import judge_values
from isoscope.checkers import check, conflicts, reads
from isoscope.levels import Level
from isoscope.reference import reads as reference_reads
from isoscope.reference import weak
from isoscope.verdict import Outcome
from tests.reference.histories import histories, random_history
from tests.reference.weak_histories import random_weak_history, weak_histories

if TYPE_CHECKING:
    from isoscope.history import History

LEVELS = (Level.CUT_ISOLATION, *weak.LEVELS)
SEEDS = 20_000 if os.environ.get("ISOSCOPE_HYPOTHESIS") == "deep" else 1_000


def assert_agreement(history: History) -> weak.Judgement:
    """Outcomes, counts of all names, affected reads and components are those of the specification."""
    expected = weak.judge(history)
    report = check(history, LEVELS)
    assert {verdict.level: verdict.outcome for verdict in report.verdicts} == expected.outcomes
    found_reads, found = judge_values(history.columns, 2, 10**9)
    assert found is not None
    violated, counts, is_partial, findings, *_ = found
    assert not is_partial
    for method in (1, 2, 3):  # vector clocks, tree clocks, traversal
        other = judge_values(history.columns, 2, 0, method)[1]
        assert other is not None
        assert other[:2] == (violated, counts)
    for strongest in (0, 1):
        weaker = judge_values(history.columns, strongest, 0)[1]
        assert weaker is not None
        assert weaker[0] == violated[: strongest + 1]
    named = Counter[str]()
    named.update(affected_read.name for affected_read in expected.affected_reads)
    named.update(component.name for component in expected.components)
    assert dict(zip(conflicts.NAMES, counts, strict=True)) == {name: named[name] for name in conflicts.NAMES}
    of_reads = Counter(f.name for f in expected.reads)
    assert dict(zip(reads.NAMES, found_reads[0], strict=True)) == {
        name: of_reads[name] for name in reads.NAMES
    }
    names = list(conflicts.NAMES)
    affected = {
        weak.AffectedRead(names[name], conflict[0], reference_reads.token(key))
        for name, conflict, key, *_ in findings
        if conflict is not None
    }
    assert affected == expected.affected_reads
    for name, conflict, _, _, order, _ in findings:
        if conflict is None:
            members = {number for step in order for number in step[:2]}
            assert any(names[name] == c.name and members <= c.transactions for c in expected.components)
    return expected


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


@given(history=weak_histories())
def test_the_native_core_agrees_with_the_specification(history: History) -> None:
    assert_agreement(history)


@given(history=histories())
def test_the_native_core_agrees_with_the_specification_on_any_history(history: History) -> None:
    assert_agreement(history)
