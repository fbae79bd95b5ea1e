"""Histories that mix all kinds of evidence get the answers of the specification, whatever is asked."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from isoscope.levels import DEFINITIONS, Level
from isoscope.reference import verdicts
from isoscope.verdict import Outcome
from tests.seeds import DEEP, seeds

from .agreement import together, told, with_each_method
from .mixtures import mixtures, open_mixtures, random_mixture, random_open_mixture

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.history import History

SEEDS = seeds(140, deep=40_000)
pytestmark = pytest.mark.timeout(3600 if DEEP else 300)
HOLDS_AGAINST_UNKNOWN = ("is holds, not unknown", "is unknown, not holds")
thorough = settings(
    max_examples=3_000 if DEEP else 20,
    deadline=None,
    derandomize=not DEEP,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def histories(count: int) -> Iterator[tuple[int, History]]:
    """Mixtures of every kind, every second open; some of the others repeat values."""
    for seed in range(count):
        source = random.Random(seed)
        is_open = seed % 2 == 0
        yield seed, random_open_mixture(source) if is_open else random_mixture(source, unique=seed % 8 > 1)


def assert_none(differences: Iterable[tuple[int, Iterable[str]]]) -> None:
    """No difference of any kind; otherwise each kind, how often it was found, and the first seed."""
    counts: Counter[str] = Counter()
    first: dict[str, int] = {}
    for seed, found in differences:
        for difference in found:
            counts[difference] += 1
            first.setdefault(difference, seed)
    undecided = sum(n for text, n in counts.items() if text.endswith(HOLDS_AGAINST_UNKNOWN))
    lines = [f"{n} x {text} (seed {first[text]})" for text, n in sorted(counts.items())]
    summary = f"{sum(counts.values())} differences, of which {undecided} of holds against unknown"
    print("\n".join([summary, *lines]))  # noqa: T201
    assert not counts, "\n".join([summary, *lines])


def test_levels_asked_together_have_the_answers_of_the_specification() -> None:
    assert_none((seed, together(history)) for seed, history in histories(SEEDS))


def test_a_level_asked_alone_has_the_same_answer() -> None:
    assert_none((seed, together(history, alone=True)) for seed, history in histories(SEEDS // 4))


def test_a_method_proves_nothing_that_it_does_not_look_at() -> None:
    assert_none((seed, with_each_method(history)) for seed, history in histories(SEEDS // 2))


@pytest.mark.parametrize("few", [(Level.READ_COMMITTED, Level.PL_2), (Level.CAUSAL, Level.PL_1)])
def test_asking_for_one_more_level_changes_no_answer(few: tuple[Level, ...]) -> None:
    for _, history in histories(SEEDS // 2):
        alone = {level: told(history, level)[level] for level in few}
        assert told(history, *few) == alone


@thorough
@given(history=mixtures())
def test_any_mixture_has_the_answers_of_the_specification(history: History) -> None:
    assert [*together(history, alone=True), *with_each_method(history)] == []


@thorough
@given(history=mixtures(unique=False))
def test_any_mixture_with_repeated_values_has_the_answers_of_the_specification(history: History) -> None:
    assert [*together(history), *with_each_method(history)] == []


@thorough
@given(history=open_mixtures())
def test_registers_and_lists_without_order_are_completed_together(history: History) -> None:
    assert [*together(history)] == []


@pytest.mark.slow
def test_every_answer_is_seen_for_every_level_that_is_decided() -> None:
    """Otherwise agreement would say little."""
    seen: Counter[str] = Counter()
    for _, history in histories(900):
        seen.update(f"{level} {outcome}" for level, outcome in verdicts.outcomes(history).items())
    # A key that is used both as register and as list would leave cut isolation open; there is none.
    decided = [level for level in Level if DEFINITIONS[level].decided and level is not Level.CUT_ISOLATION]
    assert {f"{level} {outcome}" for level in decided for outcome in Outcome} <= seen.keys()


def test_the_specification_never_contradicts_the_lattice() -> None:
    """What a definition says is never overruled: `holds` and `violated` are final."""
    for _, history in histories(SEEDS):
        own, final = verdicts.own_outcomes(history), verdicts.outcomes(history)
        for level in Level:
            assert own[level] in (final[level], Outcome.UNKNOWN), level


def test_a_level_that_is_broken_by_other_evidence_proves_nothing() -> None:
    found = dict.fromkeys(Level, Outcome.UNKNOWN)
    found |= {Level.CLOCK_SERIALIZABLE: Outcome.HOLDS, Level.SERIALIZABLE: Outcome.VIOLATED}
    assert verdicts.by_the_lattice(found)[Level.MONOTONIC_SNAPSHOT_READ] is Outcome.UNKNOWN
    # The clock of this history allows an order that a declared order of versions forbids.
    assert_none([(104_412, together(random_mixture(random.Random(104_412))))])
