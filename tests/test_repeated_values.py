"""Reads of values that several transactions wrote: the native core against the specification."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice

import pytest

from isoscope import History, Recorder, check
from isoscope.checkers import version_order
from isoscope.checkers.version_order import LEVELS
from isoscope.history import Initial, Status
from isoscope.levels import DEFINITIONS, Family, Level, implied
from isoscope.recorder import build
from isoscope.reference import explanations
from isoscope.verdict import Outcome
from tests.reference.choice_histories import random_choice_history
from tests.seeds import DEEP, seeds
from tests.small_transactions import read, transaction, write

pytestmark = pytest.mark.timeout(3600 if DEEP else 300)
SEEDS = seeds(70, deep=10_000)
#: Logs and timestamps that show which indeterminate transactions took effect, where values leave this open.
EFFECTS_BY_RECORDED_ORDER = (1027, 1227, 1328, 3218, 4008)
#: Sources that contradict each other in every explanation: each is heard alone.
CONTRADICTORY = (2005, 2598, 2605, 2739, 2834, 3131)
#: Histories with more explanations take too long.
MOST_EXPLANATIONS = 40
WEAK_LEVELS = (Level.CUT_ISOLATION, Level.READ_COMMITTED, Level.READ_ATOMIC, Level.CAUSAL)
IN_REAL_TIME = {level for level in LEVELS if DEFINITIONS[level].family is Family.REAL_TIME}


def is_small(history: History) -> bool:
    return len([*islice(explanations.explanations(history), MOST_EXPLANATIONS + 1)]) <= MOST_EXPLANATIONS


def outcomes(history: History, *levels: Level) -> dict[Level, Outcome]:
    return {verdict.level: verdict.outcome for verdict in check(history, levels).verdicts}


@pytest.mark.parametrize("evidence", [False, True])
def test_every_level_is_what_the_explanations_say(evidence: bool) -> None:
    found: Counter[tuple[Level, Outcome]] = Counter()
    # Specifications take longer where there is more evidence.
    for seed in range(SEEDS if evidence else 2 * SEEDS):
        history = random_choice_history(random.Random(seed), most=4, evidence=evidence)
        if not is_small(history):
            continue
        expected = explanations.outcomes(history)
        for level, outcome in outcomes(history, *LEVELS).items():
            assert outcome is expected[level], (seed, level)
            found[level, outcome] += version_order.judge(history).found.explained != []
        # Of the weak levels, what lists and contradicting sources leave open may stay unknown.
        for level, outcome in outcomes(history, *WEAK_LEVELS).items():
            assert outcome in (expected[level], Outcome.UNKNOWN), (seed, level)
            assert evidence or outcome is expected[level], (seed, level)
            found[level, outcome] += 1
    strong = {level for level in LEVELS if Level.PL_2 in implied(level)}
    for level in (*WEAK_LEVELS, *(strong if evidence else strong - IN_REAL_TIME)):
        assert min(found[level, outcome] for outcome in (Outcome.HOLDS, Outcome.VIOLATED)) > 0, level


@pytest.mark.parametrize("seed", EFFECTS_BY_RECORDED_ORDER)
def test_a_recorded_order_shows_which_transactions_took_effect(seed: int) -> None:
    history = random_choice_history(random.Random(seed), most=4, evidence=True)
    expected = explanations.outcomes(history)
    assert outcomes(history, *WEAK_LEVELS) == {level: expected[level] for level in WEAK_LEVELS}
    assert Outcome.VIOLATED in {expected[level] for level in WEAK_LEVELS}


@pytest.mark.parametrize("seed", CONTRADICTORY)
def test_sources_that_contradict_each_other_in_every_explanation_are_heard_alone(seed: int) -> None:
    history = random_choice_history(random.Random(seed), most=4, evidence=True)
    expected = explanations.outcomes(history)
    assert outcomes(history, *WEAK_LEVELS) == {level: expected[level] for level in WEAK_LEVELS}


def bank(*transactions: list[tuple[str, str, int]]) -> History:
    recorder = Recorder(initial=0)
    for session, operations in enumerate(transactions):
        with recorder.transaction(session=session) as t:
            for kind, key, value in operations:
                getattr(t, kind)(key, value)
    return recorder.history()


def test_a_read_of_a_repeated_value_shows_the_writer_that_fits() -> None:
    history = bank(
        [("write", "x", 1), ("write", "y", 1)],
        [("write", "x", 1)],
        [("read", "x", 1), ("read", "y", 0)],
    )
    timeless = set(LEVELS) - IN_REAL_TIME
    assert outcomes(history, *timeless) == dict.fromkeys(timeless, Outcome.HOLDS)


def test_a_level_is_violated_if_no_writer_fits() -> None:
    history = bank(
        [("write", "x", 1), ("write", "y", 1)],
        [("write", "x", 1), ("write", "y", 1)],
        [("read", "x", 1), ("read", "y", 0)],
    )
    assert outcomes(history, Level.SERIALIZABLE) == {Level.SERIALIZABLE: Outcome.VIOLATED}
    assert outcomes(history, Level.SNAPSHOT_ISOLATION) == {Level.SNAPSHOT_ISOLATION: Outcome.VIOLATED}


def test_a_level_that_no_method_decides_is_violated_if_no_explanation_satisfies_one_that_it_implies() -> None:
    """Semantics: a level is violated if a level that it implies is, whatever else is asked."""
    aborted = transaction(1, write("x", 0), session=1, status=Status.ABORTED)
    before, after = (transaction(n, made, session=2) for n, made in ((2, write("x", 1)), (3, read("x", 0))))
    history = build([aborted, before, after], initial=Initial(value=0))
    for levels in ([Level.UPDATE_ATOMIC], [Level.READ_ATOMIC, Level.UPDATE_ATOMIC]):
        assert outcomes(history, *levels) == dict.fromkeys(levels, Outcome.VIOLATED)


def test_any_number_of_blind_writers_may_have_taken_effect() -> None:
    """Whichever of them wrote x, the last reader saw what followed from it, and not x itself."""
    blind = [transaction(n, write("x", 1), session=n, status=Status.INDETERMINATE) for n in range(30)]
    informed = transaction(30, read("x", 1), write("y", 1), session=30)
    fresh, stale = (transaction(31, read("x", seen), read("y", 1), session=31) for seen in (1, 0))
    levels = (Level.SERIALIZABLE, Level.PARALLEL_SNAPSHOT_ISOLATION, Level.UPDATE_SERIALIZABLE)
    for last, outcome in ((fresh, Outcome.HOLDS), (stale, Outcome.VIOLATED)):
        history = build([*blind, informed, last], initial=Initial(value=0))
        assert outcomes(history, *levels) == dict.fromkeys(levels, outcome)


def doubtful_pairs(count: int, *last: tuple[str, int]) -> History:
    """Indeterminate transactions that read x = 1 and write y = 1, and a committed one that reads last."""
    first = transaction("first", write("x", 1), session="first")
    doubtful = [
        transaction(n, read("x", 1), write("y", 1), session=n, status=Status.INDETERMINATE)
        for n in range(count)
    ]
    reader = transaction("reader", *(read(key, value) for key, value in last), session="reader")
    return build([first, *doubtful, reader], initial=Initial(value=0))


def test_one_of_many_indeterminate_transactions_took_effect() -> None:
    history = doubtful_pairs(20, ("y", 1), ("x", 1))
    assert set(outcomes(history, Level.SERIALIZABLE, Level.CAUSAL).values()) == {Outcome.HOLDS}


def test_whichever_of_many_indeterminate_transactions_took_effect_it_read_what_the_reader_did_not() -> None:
    history = doubtful_pairs(20, ("y", 1), ("x", 0))
    levels = (Level.SERIALIZABLE, Level.SNAPSHOT_ISOLATION, Level.CAUSAL)
    assert set(outcomes(history, *levels).values()) == {Outcome.VIOLATED}
    assert outcomes(history, Level.READ_COMMITTED) == {Level.READ_COMMITTED: Outcome.HOLDS}


def test_a_value_that_two_indeterminate_transactions_replaced_proves_one_of_them() -> None:
    """Each of them has a non-repeatable read, so whichever took effect breaks cut isolation."""
    torn = (read("y", 0), read("y", 1), write("x", 1), write("x", 2))
    doubtful = [transaction(n, *torn, session=n, status=Status.INDETERMINATE) for n in range(2)]
    writer = transaction("writer", write("y", 1), session="writer")
    reader = transaction("reader", read("x", 1), session="reader")
    history = build([writer, *doubtful, reader], initial=Initial(value=0))
    assert explanations.outcomes(history)[Level.CUT_ISOLATION] is Outcome.VIOLATED
    assert outcomes(history, Level.CUT_ISOLATION) == {Level.CUT_ISOLATION: Outcome.VIOLATED}
