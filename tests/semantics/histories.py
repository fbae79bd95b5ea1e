"""Shape, sessions, status, values and initial values of a history."""

from __future__ import annotations

import pytest

import isoscope
from isoscope.history import (
    UNKNOWN,
    Initial,
    Term,
)
from isoscope.levels import DEFINITIONS, Level
from isoscope.recorder import Recorder
from isoscope.verdict import Outcome
from tests.reference.agreement import told
from tests.semantics.rules import edn, names, read, rule


@rule("Shape", "Transaction ids are unique in the whole history.")
def ids_are_unique() -> None:
    with pytest.raises(isoscope.FormatError, match="transaction 1 in session 0"):
        read("w(1,1,0,1) ; w(1,2,1,1)")


@rule("Session order", "A transaction without a session id is a session of its own.")
def transactions_without_a_session_stand_alone() -> None:
    history = read("{:type :ok, :value [[:w 1 1]]} ; {:type :ok, :value [[:w 1 2]]}", "jepsen")
    assert [session.transactions for session in history.sessions] == [(0,), (1,)]


@rule("Session order", "A session's transactions are ordered by explicit sequence numbers")
def sequence_numbers_order_a_session() -> None:
    later = '{"tid":1,"sid":1,"sno":9,"ops":[]}'
    earlier = '{"tid":2,"sid":1,"sno":3,"ops":[]}'
    assert read(f"{later} ; {earlier}", "aion").sessions[0].transactions == (1, 0)


@rule("Status", "Reads of transactions that did not commit are never judged.")
def aborted_reads_are_not_judged() -> None:
    assert names(edn("fail 0 [:r :x 7]")) == {}
    assert names(edn("ok 0 [:r :x 7]")) == {"thin-air-read": 1}


@rule("Indeterminate transactions", "in a list, the value may stand anywhere in the read")
def an_indeterminate_append_in_the_middle_committed() -> None:
    history = edn("info 0 [:append :x 1]", "ok 1 [:append :x 2]", "ok 2 [:r :x [1 2]]")
    assert history.columns.counted() == [True, True, True]
    assert names(history) == {}


@rule("Indeterminate transactions", "or by another indeterminate one that counts")
def an_indeterminate_transaction_counts_through_another() -> None:
    chain = ["info 0 [:w :x 1]", "info 1 [:r :x 1] [:w :y 1]"]
    assert edn(*chain, "ok 2 [:r :y 1]").columns.counted() == [True, True, True]
    assert edn(*chain, "ok 2 [:r :z nil]").columns.counted() == [False, False, True]


@rule("Empty transactions", "To add one changes no verdict, at any level.")
def empty_transactions_take_part_in_nothing() -> None:
    recorder = Recorder(initial=0, clock=iter(range(99)).__next__)
    with recorder.transaction(session=1) as t:
        t.write("x", 1)
        t.timestamps(start=1, commit=2)
    before = told(recorder.history(), *Level)
    assert before[Level.STRICT_SERIALIZABLE] is before[Level.CLOCK_SNAPSHOT_ISOLATION] is Outcome.HOLDS
    with recorder.transaction(session=1) as t:
        t.timestamps(start=1, commit=0)
    assert told(recorder.history(), *Level) == before


@rule("Empty transactions", "satisfies every level that is decided")
def nothing_is_broken_where_nothing_committed() -> None:
    history = edn("fail 0 [:w :x 1]")
    found = told(history, *(level for level in Level if DEFINITIONS[level].decided))
    assert {*found.values()} == {Outcome.HOLDS}


@rule("Unknown results", "A read whose result the client never learned says nothing")
def an_unknown_result_says_nothing() -> None:
    history = edn("info 0 [:r :x nil] [:w :y 1]", "ok 1 [:r :y 1]")
    assert history.transaction(0).operations[0].value is UNKNOWN
    assert names(history) == {}


@rule("Scalars", '`1`, `1.0`, `true` and `"1"` are four different values')
def scalars_of_different_types_differ() -> None:
    values = ["1", "1.0", "true", '"1"']
    for written in values:
        for seen in values:
            found = names(edn(f"ok 0 [:w :x {written}]", f"ok 1 [:r :x {seen}]"))
            assert found == ({} if written == seen else {"thin-air-read": 1})
    assert edn("ok 0 [:w :x 1]").keys == (Term(":x"),)


@rule("Registers and lists", "Inserting is writing.")
def an_insert_is_a_write() -> None:
    recorder = Recorder(initial=0)
    with recorder.transaction(session=1) as t:
        t.insert("x", 1)
    with recorder.transaction(session=2) as t:
        t.read("x", 1)
    assert names(recorder.history()) == {}


@rule("Nil and the empty list", "On a list key, a read of nil is a read of the empty list.")
def nil_is_the_empty_list() -> None:
    history = edn("ok 0 [:r :x nil] [:r :x []]", "ok 1 [:append :x 1]")
    assert history.transaction(0).operations[0].value == ()
    assert names(history) == {}


@rule("Initial values", "Plume text: 0. Jepsen: nil. AION: unknown.")
def formats_have_initial_values() -> None:
    assert names(read("r(1,0,0,1)")) == {}
    assert names(edn("ok 0 [:r :x nil]")) == {}
    assert read('{"tid":1,"sid":1,"ops":[]}', "aion").initial == Initial()


@rule("Initial values", "dbcop: 0. AWDIT: nil, which nothing can read there.")
def formats_without_ids_have_initial_values_too() -> None:
    assert names(read("[x==0 y==?]", "dbcop-hist")) == {}
    assert names(read("r 1 0", "awdit")) == {"thin-air-read": 1}


@rule("Explicit writes of the initial value", "dbcop's `?` is always a read of what was before any write.")
def a_question_mark_is_the_initial_version() -> None:
    assert names(read("[x:=0] ; [x==? x==0]", "dbcop-hist")) == {"non-repeatable-read": 1}
    assert names(read("[x==? x==0]", "dbcop-hist")) == {}


@rule("Explicit writes of the initial value", "A read of 0 then needs that write.")
def an_explicit_zero_is_the_only_zero() -> None:
    history = read("w(1,0,0,1) ; w(1,5,0,1) ; r(1,0,1,2)")
    assert names(history) == {"intermediate-read": 1}
    assert history.evidence.repeated_values == 0


@rule("Unknown initial values", "A read of a second such value of that key is a thin-air read.")
def a_second_unwritten_value_is_thin_air() -> None:
    read_of = '{{"tid":{},"sid":1,"ops":[{{"t":"r","k":1,"v":{}}}]}}'.format
    reads = [read_of(1, 7), read_of(2, 7), read_of(3, 8)]
    assert names(read(" ; ".join(reads), "aion")) == {"thin-air-read": 1}
