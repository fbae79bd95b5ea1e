"""The native core decides the levels of versions as the specification does, and counts names as it does."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from isoscope.checkers import check, version_order
from isoscope.reference import adya, cycles, verdicts
from isoscope.reference.versions import RULES, Versions
from isoscope.verdict import Claim, Outcome
from tests.reference.agreement import right_outcomes
from tests.reference.version_histories import claims, random_claims, random_version_history, version_histories
from tests.seeds import seeds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from isoscope.history import History
    from isoscope.levels import Level

#: Seeds that show rare anomalies, such as a long fork by sessions or a write skew in real time.
RARE = (306, 317, 375, 392, 498, 673, 904, 2511)
#: The one takes more transactions, the other predicates.
UNSEEN = {"phantom", "long-fork-real-time", "predicate-read-miss"}
SEEDS = seeds(250, deep=20_000)


def without_times(names: Counter[str]) -> Counter[str]:
    """The names of what is wrong without sessions and real time."""
    return Counter({n: count for n, count in names.items() if not n.endswith(("-session", "-real-time"))})


def keeps_times(history: History, assume: Sequence[str]) -> bool:
    """Whether sessions and real time order versions as other evidence does.

    Of a pair that is dropped because it does not, the kernel drops what follows from it, too: then it may
    know fewer edges at levels with sessions or real time. No verdict rests on them: the pair itself does it.
    """
    versions = Versions(history, assume=assume)
    if versions.contradictions:
        versions = Versions(history, assume=assume, sources=versions.speaking[:1])
    known = versions.known(RULES).closed
    registers = [key for key in versions.of_key if versions.observed.shapes[key] == "register"]
    return all(
        pair in known
        for key in registers
        for before, after in versions.real_time
        for pair in product(versions.by(key, before), versions.by(key, after))
    )


def assert_agreement(
    history: History, assume: Sequence[str] = ()
) -> tuple[Mapping[Level, Outcome], Counter[str]]:
    """Outcomes and counts of all names are those of the specification."""
    right = right_outcomes(history, assume)
    expected = {
        verdict.level: verdict.outcome for verdict in check(history, adya.LEVELS, assume=assume).verdicts
    }
    assert all(outcome in right[level] for level, outcome in expected.items())
    sightings = version_order.find(history, list(version_order.NAMES), assume=[Claim(c) for c in assume])
    names = Counter({sighting.name: sighting.count for sighting in sightings})
    counted = Counter(cycles.names(history, assume))
    # That is counted by levels, and the kernel knows nothing of forbidden reads and levels with two names.
    if (nowhere := counted.pop("no-commit-order", 0)) and verdicts.has_times(history):
        assert 0 < names["no-commit-order"] <= nowhere
    known = Counter({name: count for name, count in names.items() if name != "no-commit-order"})
    if not keeps_times(history, assume):
        known, counted = without_times(known), without_times(counted)
    assert +known == counted
    return expected, names


@pytest.mark.slow
def test_the_native_core_agrees_with_the_specification_on_many_seeds_and_every_name_is_seen() -> None:
    seen: Counter[str] = Counter()
    for seed in {*range(SEEDS), *RARE}:
        source = random.Random(seed)
        history = random_version_history(source, unique=seed % 4 > 0, most=4)
        outcomes, names = assert_agreement(history, random_claims(source) if seed % 5 == 0 else ())
        seen.update(+names)
        seen.update(f"{level} {outcome}" for level, outcome in outcomes.items())
    assert set(version_order.NAMES) - UNSEEN <= set(seen)
    assert {f"{level} {outcome}" for level in adya.LEVELS for outcome in Outcome} <= set(seen)


@given(history=version_histories(), assume=claims())
def test_the_native_core_agrees_with_the_specification(history: History, assume: tuple[str, ...]) -> None:
    assert_agreement(history, assume)
