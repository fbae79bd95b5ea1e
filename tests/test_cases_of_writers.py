"""A level that no choice of writers satisfies is told in cases, each with its circle."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

import isoscope
from isoscope.checkers.version_order import LEVELS
from isoscope.explain import message
from isoscope.explain.versions import parted
from isoscope.verdict import START, Outcome
from tests.reference.choice_histories import random_choice_history
from tests.seeds import seeds
from tests.small_histories import in_sessions, r, w

if TYPE_CHECKING:
    from isoscope.levels import Level
    from isoscope.verdict import Anomaly, Step

#: T3 saw one of two writers of x, and of each writer something that is older.
TWO_WRITERS = (
    (1, [w("x", 1), w("a", 1)]),
    (2, [w("x", 1), w("b", 1)]),
    (3, [r("x", 1), r("a", 0), r("b", 0)]),
)


def told(history: isoscope.History, level: Level | str) -> Anomaly:
    (anomaly,) = isoscope.check(history, level)[level].anomalies
    return anomaly


def assert_circle(supposed: tuple[Step, ...], circle: tuple[Step, ...]) -> None:
    """The steps follow each other and come round; one that is supposed alone closes the circle."""
    steps = circle
    if len(supposed) == 1 and (not circle or circle[-1].after != circle[0].before):
        steps = (*supposed, *circle)
    assert all(one.after == other.before for one, other in zip(steps, (*steps[1:], steps[0]), strict=True))


@pytest.mark.parametrize("level", ["serializable", "snapshot-isolation", "parallel-snapshot-isolation"])
def test_each_writer_of_a_read_is_a_case(level: str) -> None:
    anomaly = told(in_sessions(*TWO_WRITERS), level)
    assert anomaly.name == "no-commit-order"
    suppositions = [parted(steps)[0] for steps in anomaly.alternatives]
    assert [[(step.before, step.relation) for step in each] for each in suppositions] == [
        [("T1", "wr")],
        [("T2", "wr")],
    ]
    for steps in anomaly.alternatives:
        assert_circle(*map(tuple, parted(steps)))
    assert "If T3's read of x = 1 showed T1's write" in message(anomaly)


def test_the_initial_value_is_a_case() -> None:
    history = in_sessions(
        (1, [w("x", 5), w("a", 1)]), (1, [w("x", 0), w("b", 1)]), (2, [r("a", 1), r("x", 0), r("b", 0)])
    )
    text = message(told(history, "serializable"))
    assert "showed the initial value" in text
    assert "showed T2's write" in text


def test_every_case_is_a_circle() -> None:
    cases = 0
    for seed in range(seeds(250, deep=5_000)):
        history = random_choice_history(random.Random(seed), most=5, evidence=False)
        for verdict in isoscope.check(history, LEVELS).verdicts:
            if verdict.outcome is not Outcome.VIOLATED:
                continue
            for anomaly in verdict.anomalies:
                for steps in anomaly.alternatives:
                    supposed, circle = parted(steps)
                    assert_circle(tuple(supposed), tuple(circle))
                    cases += any(step.relation == "wr" for step in supposed)
                    assert all(START not in (step.before, step.after) for step in circle)
                    assert message(anomaly)
    assert cases > 20
