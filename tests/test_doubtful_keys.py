"""What is open about a key: how it is used, which write a wrong read shows, which version comes next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isoscope import History, Recorder, check
from isoscope.history import Initial, Timestamp
from isoscope.levels import Level
from isoscope.recorder import build
from isoscope.reference import explanations
from isoscope.verdict import Outcome
from tests.small_transactions import read, transaction, write

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.history import Operation, Transaction


def agreed(history: History, levels: Iterable[Level]) -> dict[Level, Outcome]:
    """What the native core answers; the specification answers the same."""
    found = {verdict.level: verdict.outcome for verdict in check(history, [*levels]).verdicts}
    expected = explanations.outcomes(history)
    assert found == {level: expected[level] for level in found}
    return found


def doubtful_key(*, is_shown: bool) -> History:
    """One transaction does not read its own write of y; another reads y as a list, and may have written x."""
    recorder = Recorder(initial=0)
    with recorder.transaction() as t:
        t.write("y", 1)
        t.read("y", 2)
    with recorder.transaction() as t:
        t.write("x", 5)
        t.read("y", [])
        t.indeterminate()
    with recorder.transaction() as t:
        t.write("x", 5 if is_shown else 6)
        t.write("z", 1)
    with recorder.transaction() as t:
        t.read("x", 5 if is_shown else 6)
    return recorder.history()


@pytest.mark.parametrize(("is_shown", "outcome"), [(True, Outcome.UNKNOWN), (False, Outcome.VIOLATED)])
def test_no_level_judges_a_key_that_a_transaction_uses_otherwise_which_may_have_taken_effect(
    is_shown: bool, outcome: Outcome
) -> None:
    found = agreed(doubtful_key(is_shown=is_shown), [Level.PL_2, Level.READ_ATOMIC, Level.SERIALIZABLE])
    assert {*found.values()} == {outcome}


def test_a_transaction_takes_effect_of_which_only_a_key_that_is_not_judged_shows_a_write() -> None:
    """Both appended 1, but the list ends with it: transaction 2, which also reads y as a register."""
    recorder = Recorder(initial=None)
    with recorder.transaction() as t:
        t.read("y", [1])
        t.read("y", [])
    for last in ("read", "append"):
        with recorder.transaction() as t:
            t.append("y", 1)
            if last == "read":
                t.read("y", 3)
            else:
                t.append("y", 2)
            t.indeterminate()
    history = recorder.history()
    assert {*agreed(history, [Level.CUT_ISOLATION, Level.SERIALIZABLE]).values()} == {Outcome.UNKNOWN}


def test_the_version_that_was_read_does_not_come_between_itself_and_the_next() -> None:
    """Another read of the key is open, so versions that are known to come first are looked at as well."""

    def at(commit: int, number: int, *operations: Operation) -> Transaction:
        return transaction(number, *operations, session=number, commit=Timestamp(commit))

    history = build(
        [
            at(1, 1, read("y", 3), write("y", 2), read("z", 0)),
            at(2, 2, write("y", 1)),
            at(2, 3, write("y", 0)),
            at(0, 4, read("y", 0), write("y", 3), write("z", 2)),
        ],
        initial=Initial(value=0),
    )
    found = agreed(history, [Level.CURSOR_STABILITY, Level.MONOTONIC_VIEW])
    assert found[Level.CURSOR_STABILITY] is Outcome.HOLDS
    assert found[Level.MONOTONIC_VIEW] is Outcome.VIOLATED


@pytest.mark.parametrize(("then", "outcome"), [(0, Outcome.VIOLATED), (3, Outcome.HOLDS)])
def test_a_session_that_read_what_two_transactions_replaced_goes_back_to_the_initial_state(
    then: int, outcome: Outcome
) -> None:
    recorder = Recorder(initial=0)
    for value in (2, 3):
        with recorder.transaction() as t:
            t.write("x", 1)
            t.write("x", value)
    for value in (1, then):
        with recorder.transaction(session="reader") as t:
            t.read("x", value)
    assert agreed(recorder.history(), [Level.MONOTONIC_READS]) == {Level.MONOTONIC_READS: outcome}
