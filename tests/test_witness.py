"""A level that holds has a witness, and the witness shows it."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest

import isoscope
from isoscope.checkers import version_order
from isoscope.levels import DEFINITIONS, Family, Level
from isoscope.verdict import Outcome, WitnessForm
from tests.reference.choice_histories import random_choice_history
from tests.seeds import seeds
from tests.small_histories import in_sessions, r, w
from tests.test_cases import CASES
from tests.witness_replay import WEAK, check_axiom, check_witness

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope import History
    from isoscope.verdict import Report

#: Levels that need no order.
WITHOUT = {Level.CUT_ISOLATION, *(level for level in Level if DEFINITIONS[level].family is Family.CLOCK)}


def without_witness(report: Report) -> set[Level]:
    held = {verdict.level for verdict in report.verdicts if verdict.outcome is Outcome.HOLDS}
    return held - {witness.level for witness in report.witnesses} - WITHOUT


def registers(seed: int) -> History:
    """Serial runs on registers whose values do not repeat, some reads stale."""
    chooser = random.Random(seed)
    state = {"x": 0, "y": 0, "z": 0}
    written = {key: [0] for key in state}
    transactions, fresh = [], 0
    for _ in range(chooser.randint(3, 7)):
        operations = []
        for _ in range(chooser.randint(1, 4)):
            key = chooser.choice("xyz")
            if chooser.random() < 0.5:
                fresh += 1
                state[key] = fresh
                written[key].append(fresh)
                operations.append(w(key, fresh))
            else:
                operations.append(r(key, chooser.choice([state[key]] * 3 + written[key])))
        transactions.append((chooser.randint(1, 3), operations))
    return in_sessions(*transactions)


def test_every_level_that_holds_has_a_witness_that_shows_it() -> None:
    seen: Counter[Level] = Counter()
    for seed in range(seeds(120, deep=5_000)):
        history = registers(seed)
        report = isoscope.check(history, witness=True)
        assert not without_witness(report), seed
        for witness in report.witnesses:
            check_witness(history, witness)
            if witness.level in WEAK:
                check_axiom(history, witness)
            seen[witness.level] += 1
    assert all(seen[level] > 10 for level in (*WEAK, Level.PREFIX, Level.SERIALIZABLE))


def test_witnesses_of_repeated_values_show_what_the_reads_showed() -> None:
    seen: Counter[Level] = Counter()
    for seed in range(seeds(120, deep=5_000)):
        history = random_choice_history(random.Random(seed), most=5, evidence=False)
        report = isoscope.check(history, version_order.LEVELS, witness=True)
        assert not without_witness(report), seed
        for witness in report.witnesses:
            check_witness(history, witness)
            seen[witness.level] += 1
    assert all(seen[level] > 10 for level in (Level.PREFIX, Level.SERIALIZABLE, Level.SNAPSHOT_ISOLATION))


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_cases_have_witnesses(path: Path) -> None:
    report = isoscope.check(path, witness=True)
    by_clock = {v.level for v in report.verdicts if str(v.method) == "timestamps"}
    # Levels of items are judged apart where range reads leave rows out, and have no witness there.
    of_items = {Level.REPEATABLE_READ} if path.parent.name == "phantom" else set()
    assert not without_witness(report) - by_clock - of_items


def test_a_swapped_order_shows_nothing() -> None:
    history = in_sessions((1, [w("x", 1)]), (2, [r("x", 1), w("x", 2)]))
    (witness,) = isoscope.check(history, "serializable", witness=True).witnesses
    assert witness.order == tuple(t.id for t in history)
    check_witness(history, witness)
    with pytest.raises(AssertionError):
        check_witness(
            history, witness.__class__(level=witness.level, form=WitnessForm.ORDER, order=witness.order[::-1])
        )
