"""Reads that are judged one by one."""

from __future__ import annotations

from tests.semantics.rules import edn, names, outcome, read, rule, weakly


@rule("Own and external reads", "A transaction may have several external reads of one key")
def every_external_read_is_judged() -> None:
    assert names(read("w(1,5,0,-1) ; r(1,5,1,1) ; r(1,5,1,1)")) == {"aborted-read": 2}


@rule("Own reads of registers", "An own read of a register must return the transaction's last write")
def own_reads_return_the_last_own_write() -> None:
    assert names(read("w(1,1,0,1) ; w(1,2,0,1) ; r(1,2,0,1)")) == {}
    assert names(read("w(1,1,0,1) ; w(1,2,0,1) ; r(1,1,0,1)")) == {"not-my-last-write": 1}
    assert names(read("w(1,1,0,1) ; r(1,2,0,1) ; w(1,2,0,1)")) == {"future-read": 1}
    assert names(read("w(1,1,0,1) ; r(1,0,0,1)")) == {"not-my-own-write": 1}


@rule("Own reads of lists", "a read of a list must be *P* followed by all own appends so far")
def own_list_reads_end_with_own_appends() -> None:
    others = "ok 1 [:append :x 1]"
    assert names(edn(others, "ok 0 [:append :x 2] [:append :x 3] [:r :x [1 2 3]]")) == {}
    assert names(edn(others, "ok 0 [:append :x 2] [:append :x 3] [:r :x [1 2]]")) == {"not-my-last-write": 1}
    assert names(edn(others, "ok 0 [:append :x 2] [:r :x [1]]")) == {"not-my-own-write": 1}


@rule("External reads of registers", "a transaction that did not abort, for which it was the last write")
def external_reads_need_a_final_committed_write() -> None:
    assert names(read("w(1,5,0,1) ; w(1,6,0,1) ; r(1,6,1,2)")) == {}
    assert names(read("w(1,5,0,1) ; w(1,6,0,1) ; r(1,5,1,2)")) == {"intermediate-read": 1}
    assert names(read("w(1,5,0,-1) ; r(1,5,1,2)")) == {"aborted-read": 1}


@rule("Elements of lists", "An element with more behind it need not be.")
def only_the_end_of_a_list_shows_a_state() -> None:
    writer = "ok 0 [:append :x 1] [:append :x 2]"
    assert names(edn(writer, "ok 1 [:r :x [1]]")) == {"intermediate-read": 1}
    assert names(edn(writer, "ok 1 [:r :x [1 2]]")) == {}


@rule("Elements of lists", "One read may show several anomalies, each name at most once.")
def one_list_may_be_wrong_in_several_ways() -> None:
    history = edn("fail 0 [:append :x 1]", "ok 1 [:r :x [1 8 9]]")
    assert names(history) == {"thin-air-read": 1, "aborted-read": 1}


@rule("Order of elements", "A read whose *P* is not a beginning of it is an `incompatible-order`.")
def reads_of_a_list_are_beginnings_of_one_list() -> None:
    appends = ("ok 0 [:append :x 1]", "ok 1 [:append :x 2]")
    assert weakly(edn(*appends, "ok 2 [:r :x [1 2]]", "ok 3 [:r :x [1]]")) == {}
    assert weakly(edn(*appends, "ok 2 [:r :x [1 2]]", "ok 3 [:r :x [2]]")) == {"incompatible-order": 1}


@rule("Order of elements", "more often than all transactions together appended it, whatever became of them")
def an_element_is_shown_as_often_as_it_was_appended() -> None:
    assert weakly(edn("ok 0 [:append :x 1]", "ok 1 [:r :x [1 1]]")) == {"duplicate-elements": 1}
    assert weakly(edn("ok 0 [:append :x 1]", "fail 1 [:append :x 1]", "ok 2 [:r :x [1 1]]")) == {}


@rule("Unread elements", "An append that is not in the canonical list comes after its last element")
def unread_appends_come_last() -> None:
    appends = ("ok 0 [:append :x 1]", "ok 1 [:append :x 2]")
    assert weakly(edn(*appends, "ok 2 [:r :x [2]]")) == {}
    assert weakly(edn(*appends, "ok 0 [:r :x [2]]")) == {"fractured-read-cm": 1}


@rule("Bad writers", "`future-read` if the reader itself writes it later, else `intermediate-read`")
def bad_writers_have_an_order() -> None:
    aborted, intermediate = "w(1,5,0,-1)", "w(1,5,1,1) ; w(1,6,1,1)"
    assert names(read(f"{aborted} ; {intermediate} ; r(1,5,2,2) ; w(1,5,2,2)")) == {"future-read": 1}
    assert names(read(f"{aborted} ; {intermediate} ; r(1,5,2,2)")) == {"intermediate-read": 1}
    assert names(read(f"{aborted} ; r(1,5,2,2)")) == {"aborted-read": 1}


@rule("Repeated values", "A read of a repeated value that one of its possible writers excuses is set aside")
def repeated_values_are_set_aside() -> None:
    history = read("w(1,5,0,-1) ; w(1,5,1,1) ; r(1,5,2,2)")
    assert names(history) == {}
    assert history.evidence.repeated_values == 1
    # The committed writer explains the read.
    assert outcome(history, "read-committed") == outcome(history, "serializable") == "holds"


@rule("Repeated values", "One transaction that writes a value twice does not repeat it.")
def one_writer_does_not_repeat() -> None:
    assert read("w(1,5,0,1) ; w(1,6,0,1) ; w(1,5,0,1)").evidence.repeated_values == 0


@rule("Non-repeatable reads", "Equal values never differ, whichever transactions wrote them")
def equal_values_never_differ() -> None:
    assert outcome(read("w(1,5,0,1) ; w(1,5,1,2) ; r(1,5,2,3) ; r(1,5,2,3)"), "cut-isolation") == "holds"
    assert names(read("w(1,5,0,1) ; r(1,0,2,3) ; r(1,5,2,3) ; r(1,0,2,3)")) == {"non-repeatable-read": 1}


@rule("Observations", "An intermediate read observes its writer too")
def an_intermediate_read_observes() -> None:
    history = read("w(1,1,0,1) ; w(1,2,0,1) ; w(2,1,0,1) ; r(1,1,1,2) ; r(2,0,1,2)")
    assert weakly(history) == {"intermediate-read": 1, "non-monotonic-read-co": 1}


@rule("Observations", "reads that are set aside observe no transaction")
def reads_that_are_set_aside_observe_no_transaction() -> None:
    history = read("w(1,1,0,1) ; w(2,1,0,1) ; w(1,1,1,2) ; r(1,1,2,3) ; r(2,0,2,3)")
    assert weakly(history) == {}
