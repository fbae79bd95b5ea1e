"""Verdicts on very long sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import isoscope
from isoscope.checkers import check
from isoscope.verdict import Outcome
from isoscope.workloads import Workload, generate

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("lists", [False, True])
def test_a_session_of_a_million_transactions_is_no_more_than_any_other(lists: bool) -> None:
    workload = Workload(
        sessions=1,
        transactions=1_000_000,
        min_operations=1,
        max_operations=2,
        lists=lists,
        max_writes_per_key=16 if lists else 0,
    )
    history = generate(workload)
    for level in ("read-committed", "read-atomic", "causal"):
        [verdict] = check(history, [level]).verdicts
        assert verdict.outcome is Outcome.HOLDS


def test_a_violation_at_the_ends_of_long_sessions_is_named_quickly(tmp_path: Path) -> None:
    """Two sessions of many transactions in a circle: from the end of each to the start of the other."""
    count = 100_000
    path = tmp_path / "circle.txt"
    with path.open("w") as file:
        for session in (1, 2):
            file.write(f"r({3 - session},{count},{session},{session * count * 2})\n")
            file.writelines(
                f"w({session},{value},{session},{session * count * 2 + value})\n"
                for value in range(1, count + 1)
            )
    report = check(isoscope.load(path), ["causal"])
    [verdict] = report.verdicts
    assert verdict.anomaly_counts["cyclic-causal-order"] == 1
    [circle] = [anomaly for anomaly in verdict.anomalies if anomaly.name == "cyclic-causal-order"]
    assert len(circle.transactions) == 4
    assert report.seconds is not None
    assert report.seconds["check"] < 20
