"""The order of a file, the numbers of its transactions and their timestamps are hints: they change no answer.

The native core tries them as an order in which the transactions ran one after the other.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from isoscope._native import judge_values
from isoscope.checkers import check
from isoscope.history import Timestamp
from isoscope.levels import Level
from isoscope.recorder import build
from isoscope.reference import weak
from isoscope.verdict import Outcome
from tests.reference.histories import random_parts
from tests.reference.test_weak_kernel import assert_agreement
from tests.seeds import seeds

if TYPE_CHECKING:
    from isoscope.history import History, Transaction

SEEDS = seeds(300, deep=10_000)
MARKS = ("numbers", "numbers with gaps", "other numbers", "texts", "timestamps", "other timestamps")


def random_parts_by_session(chooser: random.Random) -> tuple[str, dict[str, Any]]:
    """A small history session by session, marked with what may tell in which order it ran."""
    parts = random_parts(chooser, unique=chooser.choice((True, True, False)), judged=True)
    marks = chooser.choice(MARKS)
    places = list(range(len(parts["transactions"])))
    if marks.startswith("other"):
        chooser.shuffle(places)
    marked = [
        _marked(marks, transaction, place)
        for transaction, place in zip(parts["transactions"], places, strict=True)
    ]
    # A transaction without a session has one of its own.
    parts["transactions"] = sorted(marked, key=lambda transaction: str(transaction.session_id))
    return marks, parts


def _marked(marks: str, transaction: Transaction, place: int) -> Transaction:
    match marks:
        case "texts":
            return replace(transaction, id=f"t{place}")
        case "numbers with gaps":
            return replace(transaction, id=place**9 - 3)
        case "timestamps" | "other timestamps":
            start, commit = Timestamp(10 * place + 1), Timestamp(10 * place + 1, 5)
            return replace(transaction, id=100 - place, start=start, commit=commit)
        case _:
            return replace(transaction, id=place)


def test_the_levels_of_sessions_one_after_the_other_are_those_of_the_specification() -> None:
    seen: Counter[str] = Counter()
    for seed in range(SEEDS):
        marks, parts = random_parts_by_session(random.Random(seed))
        judgement = assert_agreement(build(**parts))
        seen[f"{marks}: causal {judgement.outcomes[Level.CAUSAL]}"] += 1
    for marks in MARKS:
        assert {f"{marks}: causal {outcome}" for outcome in (Outcome.HOLDS, Outcome.VIOLATED)} <= set(seen)


@pytest.mark.parametrize("marks", ["numbers", "timestamps"])
def test_an_order_that_the_input_tells_is_the_commit_order(marks: str) -> None:
    """Where every read saw the latest version, and the orders of input and sessions differ from it."""
    found = 0
    for seed in range(SEEDS):
        chooser = random.Random(seed)
        parts = random_parts(chooser, unique=True, judged=True)
        ran = [_marked(marks, transaction, place) for place, transaction in enumerate(parts["transactions"])]
        history = build(**parts | {"transactions": sorted(ran, key=lambda each: str(each.session_id))})
        if weak.judge(history).outcomes[Level.CAUSAL] is Outcome.HOLDS:
            found += commit_order(history) == [each.id for each in ran if each.status.value == "committed"]
    assert found > SEEDS // 10


def commit_order(history: History) -> list[Any]:
    """The ids of the transactions in a commit order that shows the causal level."""
    judged = judge_values(history.columns, strongest="causal", max_anomalies=0, keeps_orders=True).weak
    assert judged is not None
    ids = [transaction.id for transaction in history]
    return [ids[number] for number in judged.orders["causal"]]


def test_numbers_that_go_backward_change_no_answer_at_any_level() -> None:
    for seed in range(SEEDS):
        _, parts = random_parts_by_session(random.Random(seed))
        turned = [
            replace(transaction, id=1000 - place) for place, transaction in enumerate(parts["transactions"])
        ]
        assert outcomes(build(**parts)) == outcomes(build(**parts | {"transactions": turned}))


def outcomes(history: History) -> dict[Level, Outcome]:
    return {verdict.level: verdict.outcome for verdict in check(history).verdicts}
