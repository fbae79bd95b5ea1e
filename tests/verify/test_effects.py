"""Which indeterminate transactions took effect: a read shows a write, also where it should not."""

from __future__ import annotations

from typing import Any

import pytest

from isoscope.verify.choices import all_choices
from isoscope.verify.explanation import Explanation, Writes
from isoscope.verify.history import History, Initial, RejectedError, Transaction
from tests.verify.small import accepts

#: In one session, the value of transaction 3 that it replaced itself is read, and then the initial state.
REPLACED = (
    ("committed", [("read", "x", 1)]),
    ("committed", [("read", "x", None)]),
    ("indeterminate", [("write", "x", 1), ("write", "x", 0)]),
)
#: Transaction 2 reads a list twice; its append stands in a list that leaves out the own append of its reader.
MISPLACED = (
    ("committed", [("append", "x", 1), ("read", "x", [2])]),
    ("indeterminate", [("read", "y", [1]), ("read", "y", []), ("append", "x", 2)]),
)


def history(*transactions: tuple[str, list[tuple[str, str, Any]]]) -> History:
    """Transactions 1, 2, ... of one session."""
    made = []
    for number, (status, operations) in enumerate(transactions):
        t = Transaction(number, number + 1, 0, status)
        t.operations, t.place = list(operations), number
        made.append(t)
    return History(made, Initial(value=None), "tiny")


def counting(read: History) -> list[bool]:
    return Explanation(Writes(read)).counting


@pytest.mark.parametrize("operations", [REPLACED, MISPLACED], ids=["replaced", "misplaced"])
def test_a_value_that_no_other_transaction_wrote_shows_that_its_writer_took_effect(operations: Any) -> None:
    assert all(counting(history(*operations)))


@pytest.mark.parametrize("other", ["aborted", "indeterminate"])
def test_a_value_that_two_transactions_replaced_shows_neither_of_them(other: str) -> None:
    assert counting(history(*REPLACED, (other, REPLACED[2][1])))[2:] == [False, False]


@pytest.mark.parametrize("appends", [(2, 1), (1, 2)])
def test_an_own_append_in_a_wrong_own_read_shows_no_other_transaction(appends: tuple[int, int]) -> None:
    reader = [("append", "x", appends[0]), ("append", "x", appends[1]), ("read", "x", [1, 1])]
    assert counting(history(("committed", reader), ("indeterminate", [("append", "x", 1)]))) == [True, False]


def test_a_session_that_read_a_replaced_value_goes_back_to_the_initial_one() -> None:
    session = {"first": [1, 0], "second": [2, 0], "versions": [None, [3, 1]]}
    line = {"level": "monotonic-reads", "outcome": "violated", "proof": {"session": session}}
    assert accepts(history(*REPLACED), line)


def test_an_explanation_without_the_only_writer_of_a_value_is_rejected() -> None:
    line = {"level": "monotonic-reads", "outcome": "holds", "witness": "a"}
    assert not accepts(history(*REPLACED), {"witness": "a", "order": [1, 2], "took_effect": []}, line)
    two = history(*REPLACED, ("aborted", REPLACED[2][1]))
    assert accepts(two, {"witness": "a", "order": [1, 2], "took_effect": []}, line)


def test_the_reads_of_a_transaction_are_judged_if_a_misplaced_list_shows_its_append() -> None:
    line = {"level": "cut-isolation", "outcome": "violated", "proof": {"reads": [[2, 0], [2, 1]]}}
    assert accepts(history(*MISPLACED), line)
    assert not accepts(history(("committed", []), MISPLACED[1]), line)


def test_more_explanations_than_can_be_tried_are_refused_and_not_listed() -> None:
    """Of each of forty elements, either of two transactions may have appended the one that is shown first."""
    appends = [("append", "x", element) for element in range(40)]
    shown = [element for element in range(40) for _ in range(2)]
    read = history(("committed", appends), ("committed", appends), ("committed", [("read", "x", shown)]))
    with pytest.raises(RejectedError, match="more than 5000 explanations"):
        all_choices(Writes(read))


def test_a_row_of_a_log_is_a_write_also_if_no_transaction_that_took_effect_uses_its_key() -> None:
    """Two rows of a value are two appends: both took effect, although neither does in every explanation."""
    appends = [("append", "x", 1)]
    read = history(("indeterminate", appends), ("indeterminate", appends))
    read.recorded = {"log": {"x": [1, 1]}}
    assert {choice.effects for choice in all_choices(Writes(read))} == {(0, 1)}
    read.recorded = {"declared": {"x": [1, 1]}}
    assert {choice.effects for choice in all_choices(Writes(read))} == {()}


@pytest.mark.parametrize(("later", "outcome"), [(["append"], "holds"), ([], "violated")])
def test_an_own_append_behind_a_read_can_be_the_element_that_stands_too_early(
    later: Any, outcome: str
) -> None:
    """The list shows 1 twice: too often only if the transaction does not append it a second time."""
    operations = [("append", "x", 1), ("read", "x", [1, 9, 1]), *((kind, "x", 1) for kind in later)]
    read = history(("committed", operations))
    [choice] = all_choices(Writes(read))
    witness: dict[str, Any] = {"order": [1], "took_effect": [], "initial": [], "elements": [], "rows": []}
    witness["elements"] = [
        [[1, place], [None if version is None else [1, version[1]] for version in shown]]
        for (_, place), shown in choice.elements
    ]
    line = {"level": "pl-1", "outcome": "holds", "witness": "a"}
    assert accepts(read, {"witness": "a"} | witness, line) == (outcome == "holds")
    proof = {"level": "pl-1", "outcome": "violated", "proof": {"read": [1, 1]}}
    assert accepts(read, proof) == (outcome == "violated")
