"""Repeated values and indeterminate transactions: a level holds if some explanation meets it."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given

from isoscope.history import UNKNOWN, Status
from isoscope.levels import DEFINITIONS, Family, Level, implied
from isoscope.reference import clock, commit_order, explanations, verdicts, weak
from isoscope.reference.versions import Versions
from isoscope.verdict import Outcome
from tests.seeds import DEEP, seeds

from . import states, test_adya
from .choice_histories import choice_histories, random_choice_history
from .mixtures import random_mixture
from .version_histories import random_version_history

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import History

SEEDS = seeds(120, deep=10_000)
#: Histories with more explanations take too long.
MOST_EXPLANATIONS = 40
pytestmark = pytest.mark.timeout(3600 if DEEP else 300)


def outcome(holds: bool) -> Outcome:
    return Outcome.HOLDS if holds else Outcome.VIOLATED


def is_small(history: History) -> bool:
    return len([*islice(explanations.explanations(history), MOST_EXPLANATIONS + 1)]) <= MOST_EXPLANATIONS


def small(*, evidence: bool = True) -> Iterator[tuple[int, History]]:
    """Histories with few explanations, and their seeds."""
    for seed in range(SEEDS):
        history = random_choice_history(random.Random(seed), most=4, evidence=evidence)
        if is_small(history):
            yield seed, history


@cache
def answers(seed: int, *, evidence: bool = True) -> dict[Level, Outcome]:
    """What the specification says of the history of this seed."""
    return explanations.outcomes(random_choice_history(random.Random(seed), most=4, evidence=evidence))


def is_contradictory(history: History) -> bool:
    """Whether the sources contradict each other in every explanation, of which there is at least one."""
    explained = [*explanations.explanations(history)]
    assert explained
    return all(Versions(each).contradictions for each in explained)


def assert_states_agree(history: History, found: dict[Level, Outcome]) -> None:
    """What the specification says of serializability and snapshot isolation is what a store can do."""
    assert found[Level.SERIALIZABLE] is outcome(states.is_serializable(history))
    assert found[Level.SNAPSHOT_ISOLATION] is outcome(states.is_snapshot_isolated(history))


@given(history=choice_histories(most=6, evidence=False))
def test_values_that_repeat_are_explained_if_a_store_can_have_run_them(history: History) -> None:
    assume(is_small(history) and not is_contradictory(history))
    assert_states_agree(history, explanations.outcomes(history))


@given(history=choice_histories(most=5))
def test_recorded_orders_and_timestamps_are_explained_with_the_values(history: History) -> None:
    assume(is_small(history) and not is_contradictory(history))
    assert_states_agree(history, explanations.outcomes(history))


def test_stores_and_explanations_agree_on_every_kind_of_history() -> None:
    seen: Counter[str] = Counter()
    for seed, history in small():
        if is_contradictory(history):
            continue
        found = answers(seed)
        assert_states_agree(history, found)
        kinds = {str(t.status) for t in history} | ({"recorded"} if history.version_orders else set())
        for level in (Level.SERIALIZABLE, Level.SNAPSHOT_ISOLATION):
            before = verdicts.outcomes(history)[level]
            seen.update(f"{kind} {level} {found[level]}" for kind in kinds)
            seen[f"{before} before, {found[level]} now"] += 1
    assert {"unknown before, holds now", "unknown before, violated now"} <= seen.keys()
    for level in (Level.SERIALIZABLE, Level.SNAPSHOT_ISOLATION):
        for kind in (*Status, "recorded"):
            assert {f"{kind} {level} holds", f"{kind} {level} violated"} <= seen.keys(), kind


def test_without_choices_the_answers_are_those_of_the_definitions() -> None:
    for seed in range(SEEDS):
        source = random.Random(seed)
        history = random_mixture(source) if seed % 2 else random_version_history(source, most=4)
        assert explanations.outcomes(history) == verdicts.outcomes(history), seed


def test_what_values_alone_decided_stays_decided() -> None:
    """With an unknown initial value, it may explain a read that had bad writers only."""
    for seed, history in small(evidence=False):
        if UNKNOWN in (history.initial.value, *history.initial.of_key.values()):
            continue
        before, found = verdicts.outcomes(history), answers(seed, evidence=False)
        for level in Level:
            assert before[level] in (found[level], Outcome.UNKNOWN), (seed, level)


def test_every_level_of_values_is_decided() -> None:
    """Without contradictory evidence, lists that contradict each other and missing times, nothing is open."""
    decided = [
        level
        for level in Level
        if DEFINITIONS[level].decided
        and DEFINITIONS[level].family is not Family.REAL_TIME
        and Level.PL_2 in implied(level)
        and level not in clock.LEVELS
    ]
    for seed, _ in small(evidence=False):
        found = answers(seed, evidence=False)
        assert all(found[level] is not Outcome.UNKNOWN for level in decided), seed


def replayable() -> Iterator[tuple[int, History]]:
    """Histories of values alone whose initial value is known."""
    for seed, history in small(evidence=False):
        initial = history.initial
        if initial.value is not UNKNOWN and not initial.of_key and not initial.replaceable:
            yield seed, history


def test_weak_levels_hold_if_a_commit_order_explains_the_values() -> None:
    seen: Counter[str] = Counter()
    for seed, history in replayable():
        found = answers(seed, evidence=False)
        for level in weak.LEVELS:
            assert found[level] is outcome(commit_order.exists(history, level)), (seed, level)
            seen[f"{level} {found[level]}"] += 1
    assert len(seen) == 2 * len(weak.LEVELS)


def test_levels_of_versions_hold_if_the_transactions_can_be_replayed() -> None:
    seen: Counter[str] = Counter()
    for seed, history in replayable():
        found = answers(seed, evidence=False)
        for level, holds in test_adya.by_brute_force(history).items():
            is_timeless = DEFINITIONS[level].family is Family.REAL_TIME and not verdicts.has_times(history)
            allowed = {outcome(holds), *([Outcome.UNKNOWN] if holds and is_timeless else [])}
            assert found[level] in allowed, (seed, level)
            seen[f"{level} {holds}"] += 1
    assert min(seen.values()) > 0
    assert len({*seen}) == 2 * len(test_adya.by_brute_force(history))


def test_a_run_of_a_serial_store_is_serializable_whatever_the_client_learned() -> None:
    for seed in range(SEEDS):
        history = random_choice_history(random.Random(seed), most=5, is_true=True)
        if is_small(history):
            assert explanations.outcomes(history)[Level.SERIALIZABLE] is Outcome.HOLDS, seed


def test_answers_follow_the_lattice() -> None:
    for seed, _ in small():
        found = answers(seed)
        for level in Level:
            if found[level] is Outcome.HOLDS:
                assert all(found[weaker] is Outcome.HOLDS for weaker in implied(level)), (seed, level)
