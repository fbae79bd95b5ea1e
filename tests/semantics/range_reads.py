"""Keys that do not exist, range reads and predicates."""

from __future__ import annotations

from typing import Any

from isoscope._native import Term
from isoscope.checkers import check
from isoscope.history import UNKNOWN, History, Range
from isoscope.levels import Level
from isoscope.recorder import Recorder
from isoscope.reference import explanations
from tests.semantics.rules import edn, names, outcome, rule


def recorded(initial: Any, *transactions: list[tuple[Any, ...]]) -> History:
    """Each transaction in a session of its own, by the names of the recorder's methods."""
    recorder = Recorder(initial=initial)
    for session, operations in enumerate(transactions):
        with recorder.transaction(session=session) as t:
            for kind, *arguments in operations:
                getattr(t, kind)(*arguments)
    return recorder.history()


def between(low: Any, high: Any, *rows: tuple[Any, Any]) -> tuple[str, Range]:
    return ("range_read", Range(low=low, high=high, rows=rows))


@rule("Keys that are not judged", "A level that could be broken there is `unknown`, with the reason.")
def deleted_lists_are_not_judged() -> None:
    history = recorded(None, [("append", "x", 1)], [("delete", "x")], [("read", "x", (1,))])
    [verdict] = check(history, ["cut-isolation"]).verdicts
    assert (verdict.outcome, verdict.reason) == ("unknown", "operation kind `delete` is not judged (key x)")
    assert outcome(recorded(0, [between(0.5, 2)]), "serializable") == "unknown"


@rule("Absent keys", "A delete writes nil, and a read of nil shows that the key did not exist")
def a_delete_writes_nil() -> None:
    assert names(recorded(0, [("delete", "x"), ("read", "x", 0)])) == {"not-my-own-write": 1}
    assert names(recorded(0, [("delete", "x")], [("read", "x", None)])) == {}
    assert names(recorded(0, [("read", "x", None)])) == {"thin-air-read": 1}


@rule("Keys that may not exist at first", "nil is a possible initial value, also if one transaction")
def a_key_that_is_deleted_may_never_have_existed() -> None:
    transactions: list[list[tuple[Any, ...]]] = [
        [("delete", "x"), ("write", "y", 1)],
        [("read", "x", None), ("read", "y", UNKNOWN)],
    ]
    assert outcome(recorded(UNKNOWN, *transactions), "serializable") == "holds"
    shown = recorded(
        UNKNOWN,
        [("read", "x", 7)],
        [("delete", "x"), ("read", "y", 1)],
        [("read", "x", None), ("write", "y", 1)],
    )
    assert outcome(shown, "pl-2") == "violated"


@rule("First transactions", "only of a read of its value that no transaction wrote")
def what_the_first_transaction_inserts_is_there_from_the_start() -> None:
    before = edn("init 0 {:x 1 :y 1}", "ok 1 [:r :y 1] [:r :x nil]")
    assert [outcome(before, level) for level in ("pl-2", "repeatable-read")] == ["holds", "violated"]
    deleted = edn("init 0 {:x 1 :y 1}", "ok 1 [:r :y 1] [:r :x nil]", "ok 2 [:delete :x]")
    assert outcome(deleted, "serializable") == "holds"


@rule("First transactions", "is a read skew by itself")
def a_read_of_the_state_before_the_first_transaction_is_a_skew() -> None:
    lone = edn("init 0 {:x 1}", "ok 1 [:r :x nil]")
    skewed = ("monotonic-view", "consistent-view", "snapshot-isolation", "repeatable-read", "serializable")
    assert {outcome(lone, level) for level in skewed} == {"violated"}
    assert {outcome(lone, level) for level in ("pl-2", "cursor-stability", "read-atomic")} == {"holds"}
    [verdict] = check(lone, ["consistent-view"]).verdicts
    assert verdict.anomaly_counts == {"read-skew": 1}
    assert outcome(edn("init 0 {:x 1}", "ok 1 [:r :x 1]"), "serializable") == "holds"
    assert outcome(edn("init 0 {:x 1}", "ok 1 [:r :y nil]"), "serializable") == "holds"


@rule(
    "Keys that may not exist at first", "If a read of nil has no other possible writer, the key did not exist"
)
def an_own_later_delete_is_no_writer_of_a_read_of_nil() -> None:
    recorder = Recorder(initial=UNKNOWN)
    with recorder.transaction(session=0) as t:
        t.write("x", 1)
    with recorder.transaction(session=0) as t:
        t.read("x", None)
        t.delete("x")
    history = recorder.history()
    assert explanations.outcomes(history)[Level.READ_YOUR_WRITES] == "violated"
    assert outcome(history, "read-your-writes") == "violated"
    assert outcome(history, "serializable") == "holds"


@rule("Range reads", "A row outside the bounds is read all the same.")
def a_range_read_reads_every_key_between_its_bounds() -> None:
    assert names(recorded(None, [("insert", 1, 5)], [between(0, 9, (1, 5)), between(1, None)])) == {
        "non-repeatable-read": 1
    }
    assert names(recorded(None, [("insert", 1, 5)], [between(0, 9, (1, 5)), between(2, None)])) == {}
    assert names(recorded(None, [("insert", 1, 5)], [between(2, 9, (1, 6))])) == {"thin-air-read": 1}


@rule("Range reads", "or two that both are this key")
def two_bounds_that_are_the_same_key_are_this_key_alone() -> None:
    row, other = Term("users/1"), Term("users/2")
    written = [("insert", row, 5), ("insert", other, 6)]
    assert names(recorded(None, written, [("read", row, 5), between(row, row)])) == {"non-repeatable-read": 1}
    assert (
        outcome(recorded(None, written, [("read", other, 6), between(row, row)]), "serializable")
        == "violated"
    )
    assert outcome(recorded(None, written, [between(row, other)]), "serializable") == "unknown"


@rule("Predicates", "The forms are `:true` (everything")
def a_key_that_is_left_out_did_not_match() -> None:
    first = "init 0 {:x 1}"
    assert outcome(edn(first, "ok 1 [:rp [:mod 2 1] {}]"), "serializable") == "violated"
    assert outcome(edn(first, "ok 1 [:rp [:mod 2 0] {}]"), "serializable") == "holds"
    assert names(edn(first, "ok 1 [:w :x 3] [:rp [:= 3] {}]")) == {"not-my-own-write": 1}


@rule("Predicates", "If there are several, they are a choice")
def a_predicate_may_leave_several_states_open() -> None:
    states = ("init 0 {:x 1 :y 0}", "ok 1 [:w :x 2] [:w :y 1]", "ok 2 [:w :x 4] [:w :y 2]")
    assert outcome(edn(*states, "ok 3 [:rp [:= 1] {:y 1}]"), "serializable") == "holds"
    assert outcome(edn(*states, "ok 3 [:r :y 0] [:rp [:mod 2 1] {}]"), "serializable") == "violated"


@rule("Predicates", "Two that both leave it out never differ.")
def observations_by_predicates_differ_if_one_matches() -> None:
    states = ("init 0 {:x 1}", "ok 1 [:w :x 2]")
    assert names(edn(*states, "ok 2 [:rp [:= 1] {}] [:r :x 1]")) == {"non-repeatable-read": 1}
    assert names(edn(*states, "ok 2 [:rp [:= 1] {}] [:rp [:= 3] {}]")) == {}


@rule("Phantoms", "and not at `repeatable-read`, `consistent-view`, `cursor-stability` and `monotonic-view`")
def levels_of_items_do_not_protect_what_is_left_out() -> None:
    both = edn("ok 0 [:rp :true {}] [:insert :x 1]", "ok 1 [:rp :true {}] [:insert :y 1]")
    assert [outcome(both, level) for level in ("serializable", "repeatable-read")] == ["violated", "holds"]


@rule("Phantoms", "Such a circle has no other name")
def a_circle_of_what_is_left_out_is_a_phantom_and_nothing_else() -> None:
    both = edn("ok 0 [:rp :true {}] [:insert :x 1]", "ok 1 [:rp :true {}] [:insert :y 1]")
    [verdict] = check(both, ["serializable"]).verdicts
    assert verdict.anomaly_counts == {"phantom": 2}
    torn = edn("ok 0 [:insert :x 1] [:w :y 1]", "ok 1 [:r :y 1] [:rp :true {:y 1}]")
    [verdict] = check(torn, ["parallel-snapshot-isolation"]).verdicts
    assert verdict.anomaly_counts == {"phantom": 1}
