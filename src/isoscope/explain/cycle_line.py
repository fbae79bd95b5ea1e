"""A cycle of transactions on one line."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from isoscope.verdict import AlternativesFacts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.verdict import Anomaly, Step

__all__ = ["one_line"]


def one_line(anomaly: Anomaly) -> str:
    """`T1 (rw) T2 (rw) T1`; empty if the steps are no cycle, or several cycles."""
    steps = anomaly.steps
    if isinstance(anomaly.facts, AlternativesFacts) or not _is_cycle(steps):
        return ""
    links = "".join(f" ({step.relation}) {step.after}" for step in steps)
    return f"{steps[0].before}{links}"


def _is_cycle(steps: Sequence[Step]) -> bool:
    if not steps or steps[-1].after != steps[0].before:
        return False
    return all(step.after == following.before for step, following in pairwise(steps))
