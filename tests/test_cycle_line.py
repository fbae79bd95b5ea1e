"""A cycle on one line."""

from __future__ import annotations

import pytest

from isoscope.explain import one_line
from isoscope.verdict import Anomaly, Step


@pytest.mark.parametrize(
    ("steps", "line"),
    [
        (["T154 rw T155", "T155 rw T154"], "T154 (rw) T155 (rw) T154"),
        (["a ww b", "b real-time c", "c rw a"], "a (ww) b (real-time) c (rw) a"),
        (["a ww a"], "a (ww) a"),
        ([], ""),
        (["a wr b"], ""),
        (["a wr b", "b rw c"], ""),
        # What leads to a reader by two ways ends where it began only by its names.
        (["a ww b", "c wr d", "d wr a"], ""),
    ],
)
def test_steps_that_lead_back_are_a_line_and_others_are_none(steps: list[str], line: str) -> None:
    parts = [step.split() for step in steps]
    anomaly = Anomaly(
        name="write-skew",
        transactions=(),
        keys=(),
        steps=tuple(Step(before=before, after=after, relation=by) for before, by, after in parts),
    )
    assert one_line(anomaly) == line
