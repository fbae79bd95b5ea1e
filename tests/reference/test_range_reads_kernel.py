"""Deletes, range reads and predicates: the native core against the specification, at every level."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from isoscope import check
from isoscope.checkers.version_order import LEVELS
from isoscope.levels import Level
from isoscope.reference import explanations
from isoscope.verdict import Outcome
from tests import range_histories_spec
from tests.seeds import DEEP, seeds

if TYPE_CHECKING:
    from isoscope.history import History

pytestmark = pytest.mark.timeout(3600 if DEEP else 300)
SEEDS = seeds(150, deep=10_000)
WEAK_LEVELS = (Level.CUT_ISOLATION, Level.READ_COMMITTED, Level.READ_ATOMIC, Level.CAUSAL)
ASKED = tuple(dict.fromkeys((*LEVELS, *WEAK_LEVELS)))
#: Histories with more explanations take too long.
MOST_EXPLANATIONS = 60


def is_small(history: History) -> bool:
    return len([*islice(explanations.explanations(history), MOST_EXPLANATIONS + 1)]) <= MOST_EXPLANATIONS


@pytest.mark.parametrize("kind", ["serial", "disturbed"])
def test_every_level_is_what_the_specification_says(kind: str) -> None:
    make = getattr(range_histories_spec, kind)
    found: Counter[Outcome | str] = Counter()
    for seed in range(SEEDS):
        history = make(random.Random(seed))
        if not is_small(history):
            continue
        expected = explanations.outcomes(history)
        for verdict in check(history, ASKED).verdicts:
            # A search that was too long is no wrong answer.
            assert verdict.outcome in (expected[verdict.level], Outcome.UNKNOWN), (seed, verdict.level)
            found["decided" if verdict.outcome is expected[verdict.level] else "open"] += 1
            found[verdict.outcome] += 1
    assert found["open"] < found["decided"] / 500
    assert found[Outcome.HOLDS] > 1_000
    assert found[Outcome.VIOLATED] > 200 or kind == "serial"
