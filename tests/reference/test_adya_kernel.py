"""The native core decides the levels of versions as the specification does, and counts every name as it does."""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import given

from isoscope.checkers import check, version_order
from isoscope.history import Status
from isoscope.levels import DEFINITIONS, Family, Level, implied
from isoscope.reference import adya, weak
from isoscope.reference.observations import Observations
from isoscope.verdict import Claim, Outcome
from tests.reference.version_histories import claims, random_claims, random_version_history, version_histories

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from isoscope.history import History

SEEDS = 20_000 if os.environ.get("ISOSCOPE_HYPOTHESIS") == "deep" else 800


def is_timed(history: History) -> bool:
    """Whether every committed transaction has a begin and an end, so that real-time levels can hold."""
    by_place = any(t.positions is not None for t in history)
    counted = Observations(history).counted
    lives = [
        t.positions if by_place else t.interval
        for t in history
        if t.number in counted and t.status is Status.COMMITTED
    ]
    return bool(lives) and all(life and None not in (life.invoke, life.complete) for life in lives)


def expected_outcomes(history: History, assume: Sequence[str]) -> dict[Level, Outcome]:
    """What the specification says, and what follows from values and from the lattice where it says nothing."""
    found = adya.outcomes(history, assume)
    by_values = weak.judge(history).outcomes
    broken = {level for level, outcome in by_values.items() if outcome is Outcome.VIOLATED}
    timed = is_timed(history)
    for level, outcome in found.items():
        if outcome is Outcome.UNKNOWN and broken & implied(level):
            found[level] = Outcome.VIOLATED
        if outcome is Outcome.HOLDS and DEFINITIONS[level].family is Family.REAL_TIME and not timed:
            found[level] = Outcome.UNKNOWN
    return found


def assert_agreement(history: History, assume: Sequence[str] = ()) -> tuple[Mapping[Level, Outcome], Counter[str]]:
    """Outcomes and counts of all names are those of the specification."""
    expected = expected_outcomes(history, assume)
    report = check(history, adya.LEVELS, assume=assume)
    assert {verdict.level: verdict.outcome for verdict in report.verdicts} == expected
    sightings = version_order.find(history, list(version_order.NAMES), assume=[Claim(c) for c in assume])
    names = Counter({sighting.name: sighting.count for sighting in sightings})
    assert +names == Counter(adya.names(history, assume))
    return expected, names


def test_the_native_core_agrees_with_the_specification_on_many_seeds_and_every_name_is_seen() -> None:
    seen: Counter[str] = Counter()
    for seed in range(SEEDS):
        source = random.Random(seed)
        history = random_version_history(source, unique=seed % 4 > 0, most=4)
        outcomes, names = assert_agreement(history, random_claims(source) if seed % 5 == 0 else ())
        seen.update(+names)
        seen.update(f"{level} {outcome}" for level, outcome in outcomes.items())
    assert set(version_order.NAMES) <= set(seen)
    assert {f"{level} {outcome}" for level in adya.LEVELS for outcome in Outcome} <= set(seen)


@given(history=version_histories(), assume=claims())
def test_the_native_core_agrees_with_the_specification(history: History, assume: tuple[str, ...]) -> None:
    assert_agreement(history, assume)
