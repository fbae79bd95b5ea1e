"""Levels that values decide, and what they leave undecided."""

from __future__ import annotations

from isoscope.checkers import check
from isoscope.explain import hint, message
from isoscope.history import (
    VersionSource,
)
from isoscope.recorder import Recorder
from isoscope.reference import weak
from tests.semantics.rules import broken, edn, names, read, rule, weakly


@rule("Commit orders", "with the implicit first transaction at its beginning")
def nothing_comes_before_the_initial_values() -> None:
    assert weakly(read("w(1,1,0,1) ; r(1,0,0,2)")) == {"fractured-read-co": 1}
    assert weakly(read("w(1,1,0,1) ; r(1,0,1,2)")) == {}


@rule("Cut isolation", "`cut-isolation` is violated by a non-repeatable read and by nothing else.")
def cut_isolation_is_repeatable_reads() -> None:
    assert broken(read("w(1,1,0,1) ; r(1,0,1,2) ; r(1,1,1,2)")) == "cut-isolation read-atomic causal"
    assert broken(read("w(1,1,0,1) ; r(1,7,1,2)")) == "read-committed read-atomic causal"


@rule("Read committed", "The key may be the one that was observed first")
def one_key_can_break_read_committed() -> None:
    writes = "w(1,1,0,1) ; w(1,2,0,2)"
    assert broken(read(f"{writes} ; r(1,1,1,3) ; r(1,2,1,3)")) == "cut-isolation read-atomic causal"
    assert broken(read(f"{writes} ; r(1,2,1,3) ; r(1,1,1,3)")).split()[1] == "read-committed"


@rule("Read atomic", "every transaction before it in its session, at any distance")
def session_order_is_transitive() -> None:
    assert broken(read("w(1,1,0,1) ; w(2,1,0,2) ; r(1,0,0,3)")) == "read-atomic causal"


@rule("Read atomic", "Only direct observations count.")
def read_atomic_is_direct() -> None:
    history = read("w(1,1,0,1) ; r(1,1,1,2) ; w(2,1,1,2) ; r(2,1,2,3) ; r(1,0,2,3)")
    assert broken(history) == "causal"


@rule("Causal", "if a chain of session order and observations leads from it to the other")
def causality_is_a_chain() -> None:
    chain = "w(1,1,0,1) ; w(2,1,0,2) ; r(2,1,1,3) ; w(3,1,1,4) ; r(3,1,2,5)"
    assert broken(read(f"{chain} ; r(1,1,2,5)")) == ""
    assert broken(read(f"{chain} ; r(1,0,2,5)")) == "causal"


@rule("Conflicts", "It belongs to the weakest level that demands t2 before t1")
def a_conflict_has_the_name_of_its_weakest_level() -> None:
    """Session order alone would make it a fractured read; that 2 was seen before makes it more."""
    session = "w(1,1,0,1) ; w(1,2,0,2) ; w(2,2,0,2)"
    assert weakly(read(f"{session} ; r(1,1,0,3) ; r(2,2,0,3)")) == {"fractured-read-co": 1}
    assert weakly(read(f"{session} ; r(2,2,0,3) ; r(1,1,0,3)")) == {"non-monotonic-read-co": 1}


@rule("Conflicts", "and `-cm` if it takes the order of versions or demands to see it")
def what_refutes_a_demand_is_in_the_name() -> None:
    writes = "w(1,1,0,1) ; w(1,2,1,2)"
    other = "r(1,1,2,3) ; r(1,2,2,4)"
    assert weakly(read(f"{writes} ; {other}")) == {}
    assert weakly(read(f"{writes} ; {other} ; r(1,2,3,5) ; r(1,1,3,6)")) == {"commit-order-conflict": 2}
    assert weakly(read("w(1,1,0,1) ; w(2,2,0,2) ; r(2,2,1,3) ; r(1,0,1,3)")) == {"causal-conflict": 1}


@rule("Conflicts", "that is a non-repeatable read and no fractured one")
def a_non_repeatable_read_is_not_fractured() -> None:
    assert weakly(read("w(1,1,0,1) ; r(1,0,1,2) ; r(1,1,1,2)")) == {"non-repeatable-read": 1}


@rule("Counting conflicts", "A name is counted once for a reader and key")
def conflicts_are_counted_by_reader_and_key() -> None:
    assert weakly(read("w(1,1,0,1) ; w(1,2,0,2) ; r(1,0,0,3) ; r(1,0,0,3)")) == {"fractured-read-co": 1}
    assert weakly(read("w(1,1,0,1) ; r(1,0,0,2) ; r(1,0,0,3)")) == {"fractured-read-co": 2}
    assert weakly(read("w(1,1,0,1) ; w(2,1,0,1) ; r(1,0,0,2) ; r(2,0,0,2)")) == {"fractured-read-co": 2}


@rule("Cycles", "are counted by strongly connected components")
def cycles_are_counted_by_components() -> None:
    circle = "r({0},1,{1},{1}) ; w({2},1,{1},{1}) ; r({2},1,{3},{3}) ; w({0},1,{3},{3})".format
    assert weakly(read(circle(1, 1, 2, 2))) == {"cyclic-causal-order": 1}
    assert weakly(read(f"{circle(1, 1, 2, 2)} ; {circle(3, 3, 4, 4)}")) == {"cyclic-causal-order": 2}


@rule("Cycles", "Only by all of them together: `circular-information-flow`.")
def cycles_are_named_by_what_they_need() -> None:
    both = "ok 2 [:r :x [1 2]]"
    first, second = "ok 0 [:append :x 1]", "ok 1 [:append :x 2]"
    assert weakly(edn(f"{first} [:append :y 1]", f"{second} [:append :y 2]", f"{both} [:r :y [2 1]]")) == {
        "write-cycle": 1
    }
    assert weakly(edn(f"{first} [:r :y [1]]", f"{second} [:append :y 1]", both)) == {
        "circular-information-flow": 1
    }


@rule("Lists at the weak levels", "An element in the middle of a list is an observation of its writer")
def the_middle_of_a_list_is_an_observation() -> None:
    writers = ("ok 0 [:append :x 1] [:append :y 1]", "ok 1 [:append :x 2]")
    assert weakly(edn(*writers, "ok 2 [:r :y []] [:r :x [1 2]]")) == {"fractured-read-co": 1}
    assert weakly(edn(*writers, "ok 2 [:r :x [1 2]] [:r :y [1]]")) == {}


@rule("Unknown weak levels", "if a read is set aside for repeated values")
def repeated_values_leave_weak_levels_unknown() -> None:
    found = weak.judge(read("w(1,1,0,1) ; w(1,1,1,2) ; r(1,1,2,3)")).outcomes
    assert [str(outcome) for outcome in found.values()] == ["holds", "unknown", "unknown", "unknown"]


@rule("Failed operations", "Isoscope believes the claim")
def a_failure_that_was_none_is_an_aborted_read() -> None:
    assert names(edn("fail 0 [:w :x 1]", "ok 1 [:r :x 1]")) == {"aborted-read": 1}
    assert "reports a time-out as a failure" in hint("aborted-read")
    assert names(edn("info 0 [:w :x 1]", "ok 1 [:r :x 1]")) == {}


@rule("Failed operations", "If a log shows that the transaction committed, the message says that too.")
def a_log_gives_a_failure_the_lie() -> None:
    recorder = Recorder(initial=0)
    with recorder.transaction(session=1) as t:
        t.write("x", 1)
        t.abort()
    with recorder.transaction(session=2) as t:
        t.read("x", 1)
    recorder.version_order("x", [1], source=VersionSource.LOG)
    [verdict] = check(recorder.history(), ["pl-2"]).verdicts
    assert "the log shows that it committed" in message(verdict.anomalies[0])
