"""Properties of verdicts that need no second checker."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from hypothesis import given

from isoscope import Initial
from isoscope._native import judge_values
from isoscope.history import History, OperationKind, Status
from isoscope.levels import Level, implied
from isoscope.recorder import build
from isoscope.reference import reads
from isoscope.verdict import Outcome
from tests.reference.histories import histories, random_parts
from tests.reference.test_reads import thorough
from tests.seeds import seeds
from tests.test_checkers import outcomes

HOLDS, VIOLATED, UNKNOWN = Outcome


@thorough
@given(history=histories())
def test_a_verdict_never_contradicts_the_specification(history: History) -> None:
    found = outcomes(history)
    judgement = reads.judge(history)
    names = {finding.name for finding in judgement.findings}
    wrong = names - {"non-repeatable-read"}
    assert (found[Level.PL_2] is VIOLATED) == bool(wrong)
    assert (found[Level.CUT_ISOLATION] is VIOLATED) == ("non-repeatable-read" in names)
    assert (found[Level.READ_ATOMIC] is VIOLATED) == bool(names)
    if found[Level.CUT_ISOLATION] is HOLDS:
        assert reads.cut_isolation_holds(history)


@thorough
@given(history=histories())
def test_verdicts_are_monotone_in_the_lattice(history: History) -> None:
    found = outcomes(history)
    # Nothing looks at a recorded version order yet, which Adya's levels ask for.
    waiting = {Level.PL_1, Level.PL_2, Level.MONOTONIC_ATOMIC_VIEW} if history.version_orders else set()
    for level in Level:
        if found[level] is HOLDS:
            assert {found[weaker] for weaker in implied(level) - waiting} <= {HOLDS}
        if found[level] is UNKNOWN:
            assert VIOLATED not in {found[weaker] for weaker in implied(level)}


def counts(history: History) -> dict[str, int]:
    return judge_values(history.columns, strongest=None, max_anomalies=10**9).read_counts


def named(history: History) -> set[str]:
    return {*counts(history)}


SEEDS = range(seeds(60, deep=5_000))


def test_renaming_keys_changes_nothing() -> None:
    names: dict[Any, Any] = {"x": "y", 1: 5, 2: "two", "1": -1, 2.5: None}
    for seed in SEEDS:
        parts = random_parts(random.Random(seed), unique=True)
        renamed = [
            replace(t, operations=tuple(replace(o, key=names[o.key]) for o in t.operations))
            for t in parts["transactions"]
        ]
        before, after = build(**parts), build(**parts | {"transactions": renamed})
        assert outcomes(before) == outcomes(after)
        assert counts(before) == counts(after)


def test_reordering_sessions_changes_nothing_where_the_initial_value_is_known() -> None:
    """Where it is unknown the first reader decides which value is initial, but not whether there are two."""
    for seed in SEEDS:
        parts = random_parts(random.Random(seed), judged=True) | {"initial": Initial(value=0)}
        shuffled = sorted(parts["transactions"], key=lambda t: str(t.session_id), reverse=True)
        before, after = build(**parts), build(**parts | {"transactions": shuffled})
        assert outcomes(before) == outcomes(after)
        # Of two lists that disagree and are equally long, the first one counts as the right one.
        assert named(before) - {"incompatible-order"} == named(after) - {"incompatible-order"}


def test_removing_a_read_never_turns_holds_into_violated() -> None:
    for seed in SEEDS:
        parts = random_parts(random.Random(seed), judged=True)
        before = outcomes(build(**parts))
        for t in parts["transactions"]:
            for place, operation in enumerate(t.operations):
                if operation.kind is OperationKind.READ:
                    fewer = replace(t, operations=t.operations[:place] + t.operations[place + 1 :])
                    others = [fewer if other is t else other for other in parts["transactions"]]
                    after = outcomes(build(**parts | {"transactions": others}))
                    assert not [v for v in Level if before[v] is HOLDS and after[v] is VIOLATED]


def test_removing_a_transaction_that_aborted_and_was_not_read_changes_nothing() -> None:
    for seed in SEEDS:
        parts = random_parts(random.Random(seed), unique=True)
        history = build(**parts)
        if "aborted-read" in counts(history):
            continue
        kept = [t for t in parts["transactions"] if t.status is not Status.ABORTED]
        assert outcomes(build(**parts | {"transactions": kept})) == outcomes(history)
