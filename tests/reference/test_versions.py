"""What is known of the order of versions, and how it is completed."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from isoscope.history import Interval, Operation, OperationKind, Status, Transaction, VersionSource
from isoscope.recorder import Recorder, build
from isoscope.reference.real_time import real_time
from isoscope.reference.versions import RULES, Versions
from tests.seeds import seeds

from .told import told
from .version_histories import random_version_history

if TYPE_CHECKING:
    from isoscope.history import History

SEEDS = seeds(100, deep=10_000)


def known(history: History, *rules: str, assume: tuple[str, ...] = ()) -> dict[tuple[int, int], str]:
    """The writers of neighbouring versions, the initial one being -1, and why they are neighbours."""
    order = Versions(history, assume=assume).known(rules)
    return {(before.writer, after.writer): why for (before, after), why in order.neighbours.items()}


def completions(history: History) -> set[tuple[int, ...]]:
    """The sequences in which the versions of the only key can have been written, by their writers."""
    versions = Versions(history)
    [of_key] = versions.of_key.values()
    return {
        tuple(v.writer for v in sorted(of_key, key=lambda v: sum((w, v) in order.closed for w in of_key)))
        for order in versions.completions()
    }


def test_a_completion_is_a_total_order_that_contains_what_is_known() -> None:
    for seed in range(SEEDS):
        versions = Versions(random_version_history(random.Random(seed)))
        if versions.contradictions:
            continue
        orders = list(versions.completions(RULES))
        assert orders
        for order in orders:
            assert versions.known(RULES).closed <= order.closed
            for of_key in versions.of_key.values():
                sequence = sorted(of_key, key=lambda v: sum((w, v) in order.closed for w in of_key))
                assert all(pair in order.closed for pair in pairwise(sequence))


def test_versions_that_no_source_orders_come_after_the_initial_one_in_any_order() -> None:
    history = told("1: w(x,1)", "2: w(x,2)")
    assert known(history) == {(-1, 0): "initial", (-1, 1): "initial"}
    assert completions(history) == {(-1, 0, 1), (-1, 1, 0)}


def test_unread_appends_come_after_the_longest_list() -> None:
    history = told("1: a(x,1)", "2: a(x,2)", "3: a(x,3)", "4: r(x,[2])")
    assert known(history) == {(-1, 1): "initial", (1, 0): "list read", (1, 2): "list read"}
    assert completions(history) == {(-1, 1, 0, 2), (-1, 1, 2, 0)}


def test_what_is_inferred_never_overrules_a_source() -> None:
    """A weaker source fills in what a stronger one leaves open, and rules what all sources leave open."""
    history = told("1: w(x,1)", "1: w(x,2)", "1: w(x,3)", x=[1, 2])
    assert known(history, "session") == {(-1, 0): "initial", (0, 1): "declared", (1, 2): "session"}
    claimed = known(history, assume=("sequential-keys",))
    assert claimed == {(-1, 0): "initial", (0, 1): "declared", (1, 2): "assume sequential-keys"}


def test_of_two_first_transactions_one_stays_first_if_a_source_puts_another_version_before_the_other() -> (
    None
):
    """What a first transaction inserts comes before all other versions, if no source says otherwise."""
    history = build(
        [
            Transaction(number=0, id=number, session=0, session_id=number, operations=(operation,))
            for number, operation in enumerate(
                [
                    Operation(kind=OperationKind.INSERT, key="x", value=1, statement="init"),
                    Operation(kind=OperationKind.INSERT, key="x", value=2, statement="init"),
                    Operation(kind=OperationKind.WRITE, key="x", value=3),
                ]
            )
        ],
        versions=[(VersionSource.DECLARED, "x", 3), (VersionSource.DECLARED, "x", 1)],
    )
    assert known(history) == {(-1, 1): "initial", (1, 2): "first", (2, 0): "declared"}


def test_unread_appends_of_one_transaction_follow_each_other() -> None:
    assert completions(told("1: a(x,1) a(x,2)", "2: a(x,3)")) == {(-1, 0, 0, 1), (-1, 1, 0, 0)}


def test_appends_that_a_source_puts_between_those_of_another_stay_there() -> None:
    assert completions(told("1: a(x,1) a(x,2)", "2: a(x,3)", x=[1, 3, 2])) == {(-1, 0, 1, 0)}


def test_a_weaker_source_fills_in_what_a_stronger_one_leaves_open() -> None:
    recorder = Recorder(initial=0)
    for number in (1, 2, 3):
        with recorder.transaction() as transaction:
            transaction.write("x", number)
            transaction.timestamps(0, 10 * number)
    recorder.version_order("x", [1, 2], source=VersionSource.LOG)
    assert known(recorder.history()) == {(-1, 0): "initial", (0, 1): "log", (1, 2): "timestamps"}


def test_equal_timestamps_order_nothing() -> None:
    recorder = Recorder(initial=0)
    for number in (1, 2):
        with recorder.transaction() as transaction:
            transaction.write("x", number)
            transaction.timestamps(0, 10)
    assert completions(recorder.history()) == {(-1, 0, 1), (-1, 1, 0)}


def test_a_value_that_its_writer_replaced_is_no_version_of_a_log() -> None:
    assert completions(told("1: w(x,1) w(x,2)", "2: w(x,3)", x=[1, 3])) == {(-1, 0, 1), (-1, 1, 0)}
    assert completions(told("1: w(x,1) w(x,2)", "2: w(x,3)", x=[1, 3, 2])) == {(-1, 1, 0)}


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ((), {(-1, 0), (-1, 1), (-1, 2)}),
        (("read-then-write",), {(-1, 0), (0, 1), (-1, 2)}),
        (("read-then-write", "session"), {(-1, 0), (0, 1), (1, 2)}),
    ],
)
def test_a_rule_orders_registers_where_sources_leave_it_open(
    rules: tuple[str, ...], expected: set[tuple[int, int]]
) -> None:
    assert known(told("1: w(x,1)", "2: r(x,1) w(x,2)", "2: w(x,3)"), *rules).keys() == expected


def test_what_a_rule_infers_is_not_used_against_a_source() -> None:
    history = told("1: w(x,1)", "2: r(x,1) w(x,2)", x=[2, 1])
    assert known(history, *RULES) == {(-1, 1): "initial", (1, 0): "declared"}


def test_what_rules_infer_in_a_circle_is_not_used() -> None:
    history = told("1: r(x,2) w(x,1)", "2: r(x,1) w(x,2)")
    assert known(history, *RULES) == {(-1, 0): "initial", (-1, 1): "initial"}


def test_sequential_keys_order_what_a_session_saw() -> None:
    history = told("1: w(x,1)", "2: w(x,2)", "3: r(x,2)", "3: r(y,0)", "3: r(x,1)")
    claim = "assume sequential-keys"
    assert known(history, assume=("sequential-keys",)) == {(-1, 1): "initial", (1, 0): claim}
    assert known(history, assume=("writes-follow-reads",)) == {(-1, 0): "initial", (-1, 1): "initial"}


def test_claims_that_cannot_all_be_true_of_a_key_are_dropped_for_it_only() -> None:
    history = told(
        *("1: w(x,1) w(y,1)", "2: w(x,2) w(y,2)", "3: r(x,1)", "3: r(x,2) r(y,1)", "3: r(x,1) r(y,2)"),
    )
    versions = Versions(history, assume=["sequential-keys"])
    assert versions.cyclic_keys == {("str", "x")}
    claimed = {before.key for (before, _), why in versions.known().reasons.items() if "assume" in why}
    assert claimed == {("str", "y")}


def test_an_initial_value_that_a_claim_puts_last_is_a_circle() -> None:
    history = told("1: w(x,1)", "2: r(x,1)", "2: r(x,0)")
    assert Versions(history, assume=["sequential-keys"]).cyclic_keys == {("str", "x")}


def test_sources_that_turn_a_pair_round_contradict_each_other() -> None:
    history = told("1: a(x,1)", "2: a(x,2)", "3: r(x,[1;2])", x=[2, 1])
    versions = Versions(history)
    assert versions.contradictions == {("str", "x")}
    assert versions.speaking == ("list read", "declared")
    assert not Versions(told("1: a(x,1)", "2: a(x,2)", "3: r(x,[1;2])", x=[1, 2])).contradictions


def timed(
    *lives: tuple[int | None, int | None], places: bool = False, status: Status = Status.COMMITTED
) -> History:
    """Transactions with these intervals, or positions; the first has the status."""
    operations = (Operation(kind=OperationKind.WRITE, key="x", value=1),)
    return build(
        Transaction(
            number=0,
            id=number,
            session=0,
            session_id=number,
            status=Status.COMMITTED if number else status,
            operations=operations,
            interval=Interval(*life),
            positions=Interval(10 - number, 10 - number) if places else None,
        )
        for number, life in enumerate(lives)
    )


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        pytest.param(timed((0, 1), (2, 3)), {(0, 1)}, id="over before the other begins"),
        pytest.param(timed((0, 2), (2, 3)), set(), id="at the same instant"),
        pytest.param(timed((0, None), (2, 3)), set(), id="its end is unknown"),
        pytest.param(timed((0, 1), (2, 3), status=Status.INDETERMINATE), set(), id="its outcome is unknown"),
        pytest.param(timed((0, 1), (2, 3), places=True), {(1, 0)}, id="places of events before clocks"),
    ],
)
def test_real_time_is_what_was_over_before_another_began(
    history: History, expected: set[tuple[int, int]]
) -> None:
    assert real_time(history, frozenset({0, 1})) == expected
