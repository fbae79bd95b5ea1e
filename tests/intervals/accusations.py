"""What a history is accused of: the anomalies of mechanisms, and the promised levels that are violated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.checkers import check
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from isoscope.history import History
    from isoscope.profiles import Profile

__all__ = ["accused"]


def accused(history: History, profile: Profile) -> set[str]:
    """The names of both."""
    report = check(history, profile=profile)
    assert report.mechanisms is not None
    levels = {str(one.level) for one in report.verdicts if one.outcome is Outcome.VIOLATED}
    return levels | {name for one in report.mechanisms.verdicts for name in one.anomaly_counts}
