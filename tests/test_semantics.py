"""Every paragraph of docs/explanation/semantics.md is quoted by a test that shows it."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import isoscope
from isoscope import formats
from isoscope.checkers import check, search
from isoscope.explain import hint, message
from isoscope.formats.source import File, Input
from isoscope.history import (
    UNKNOWN,
    Extent,
    History,
    Initial,
    Interval,
    Range,
    Status,
    Term,
    Timestamp,
    VersionSource,
)
from isoscope.levels import Level
from isoscope.recorder import Recorder
from isoscope.reference import clock, weak

from .reference.clock_histories import clocked

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "semantics.md"
Test = Callable[[], None]
RULES: list[tuple[str, str, Test]] = []


def rule(heading: str, quote: str) -> Callable[[Test], Test]:
    """Registers a test of the paragraph under `heading`, which says `quote`."""

    def register(test: Test) -> Test:
        RULES.append((heading, quote, test))
        return test

    return register


def read(text: str, name: str = "plume") -> History:
    source = Input("<text>", (File.streamed("<text>", io.BytesIO(text.replace(" ; ", "\n").encode())),))
    return formats.find(name).read(source)


def edn(*transactions: str) -> History:
    """A Jepsen history from lines such as `ok 0 [:append :x 1]`."""
    lines = []
    for line in transactions:
        kind, process, operations = line.split(maxsplit=2)
        lines.append(f"{{:type :{kind}, :process {process}, :value [{operations}]}}")
    return read("\n".join(lines), "jepsen")


def names(history: History) -> dict[str, int]:
    """The anomalies found, with their numbers."""
    found: dict[str, int] = {}
    for verdict in check(history, ["pl-2", "cut-isolation"]).verdicts:
        found |= verdict.anomaly_counts
    return found


def weakly(history: History) -> dict[str, int]:
    """The anomalies that the specification of the weak levels finds, with their numbers."""
    found = weak.judge(history)
    return dict(
        Counter(one.name for part in (found.reads, found.affected_reads, found.components) for one in part)
    )


def broken(history: History) -> str:
    """The weak levels that the specification finds violated, weak ones first."""
    found = weak.judge(history).outcomes
    return " ".join(level for level, outcome in found.items() if outcome == "violated")


def outcome(history: History, level: str) -> str:
    return str(check(history, [level]).verdicts[0].outcome)


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


@rule("Unread elements", "An append that no read shows comes after the last element of the canonical list.")
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
    [verdict] = check(history, ["pl-2"]).verdicts
    assert verdict.reason.startswith("1 read saw values that several transactions wrote (key 1)")


@rule("Repeated values", "One transaction that writes a value twice does not repeat it.")
def one_writer_does_not_repeat() -> None:
    assert read("w(1,5,0,1) ; w(1,6,0,1) ; w(1,5,0,1)").evidence.repeated_values == 0


@rule("Non-repeatable reads", "Equal values never differ, whoever wrote them")
def equal_values_never_differ() -> None:
    assert outcome(read("w(1,5,0,1) ; w(1,5,1,2) ; r(1,5,2,3) ; r(1,5,2,3)"), "cut-isolation") == "holds"
    assert names(read("w(1,5,0,1) ; r(1,0,2,3) ; r(1,5,2,3) ; r(1,0,2,3)")) == {"non-repeatable-read": 1}


@rule("Observations", "An intermediate read observes its writer too")
def an_intermediate_read_observes() -> None:
    history = read("w(1,1,0,1) ; w(1,2,0,1) ; w(2,1,0,1) ; r(1,1,1,2) ; r(2,0,1,2)")
    assert weakly(history) == {"intermediate-read": 1, "non-monotonic-read-co": 1}


@rule("Observations", "reads that are set aside observe nobody")
def reads_that_are_set_aside_observe_nobody() -> None:
    history = read("w(1,1,0,1) ; w(2,1,0,1) ; w(1,1,1,2) ; r(1,1,2,3) ; r(2,0,2,3)")
    assert weakly(history) == {}


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


@rule("Conflicts", "and `-cm` if it takes lists or demands to see it")
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


@rule("Keys that are not judged", "A level that could be broken there is `unknown`, with the reason.")
def deleted_keys_are_not_judged() -> None:
    recorder = Recorder(initial=0)
    with recorder.transaction(session=1) as t:
        t.delete("x")
    with recorder.transaction(session=2) as t:
        t.read("x", 1)
    [verdict] = check(recorder.history(), ["cut-isolation"]).verdicts
    assert (verdict.outcome, verdict.reason) == ("unknown", "operation kind `delete` is not judged (key x)")


@rule("Range reads", "is the same as reads of its rows, one after the other, and is judged so")
def a_range_read_of_fixed_rows_is_reads_of_them() -> None:
    def history(low: int) -> History:
        recorder = Recorder(initial=0)
        with recorder.transaction(session=1) as t:
            t.write(1, 5)
            t.write(2, 6)
        with recorder.transaction(session=2) as t:
            t.range_read(Range(low=low, high=2, rows=((1, 5), (2, 0))))
        return recorder.history()

    assert outcome(history(1), "read-atomic") == "violated"
    assert outcome(history(0), "read-atomic") == "violated"

    def short() -> History:
        recorder = Recorder(initial=0)
        with recorder.transaction(session=1) as t:
            t.write(1, 5)
        with recorder.transaction(session=2) as t:
            t.range_read(Range(low=1, high=2, rows=()))
        return recorder.history()

    assert outcome(short(), "read-atomic") == "unknown"


@rule("Failed operations", "Isoscope takes the claim at its word")
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


@rule("Versions", "its last write")
def a_value_that_its_writer_replaced_is_no_version() -> None:
    """A log that had 1 behind 3 would contradict the read of 2."""
    recorder = Recorder(initial=0)
    with recorder.transaction(session=1) as t:
        t.write("x", 1)
        t.write("x", 2)
    with recorder.transaction(session=2) as t:
        t.read("x", 2)
        t.write("x", 3)
    recorder.version_order("x", [2, 3, 1])
    assert outcome(recorder.history(), "serializable") == "holds"


@rule("Versions", "An append whose element others appended too has none")
def repeated_appends_are_no_versions() -> None:
    assert outcome(edn("ok 0 [:append :x 1]", "ok 1 [:append :x 2]"), "serializable") == "holds"
    assert outcome(edn("ok 0 [:append :x 1]", "ok 1 [:append :x 1]"), "serializable") == "unknown"


def torn(*orders: tuple[list[int], VersionSource], commits: tuple[int, int] | None = None) -> History:
    """Two transactions write x, the second also y; a third reads x from the first and y from the second."""
    recorder = Recorder(initial=0)
    for number in (1, 2):
        with recorder.transaction(session=number) as t:
            t.write("x", number)
            if number == 2:
                t.write("y", number)
            if commits:
                t.timestamps(start=0, commit=commits[number - 1])
    with recorder.transaction(session=3) as t:
        t.read("x", 1)
        t.read("y", 2)
    for values, source in orders:
        recorder.version_order("x", values, source=source)
    return recorder.history()


def reported(history: History, level: str, *assume: str) -> dict[str, int]:
    """The anomalies of the verdict on one level, with their numbers."""
    return dict(check(history, [level], assume=assume).verdicts[0].anomaly_counts)


@rule("Version orders", "from four sources, strongest first")
def every_source_orders_versions() -> None:
    assert outcome(torn(), "consistent-view") == "holds"
    for source in VersionSource:
        assert reported(torn(([1, 2], source)), "consistent-view") == {"read-skew": 1}
        assert outcome(torn(([2, 1], source)), "consistent-view") == "holds"
    assert reported(torn(commits=(5, 6)), "consistent-view") == {"read-skew": 1}
    lists = edn("ok 0 [:append :x 1]", "ok 1 [:append :x 2] [:append :y 2]", "ok 2 [:r :x [1]] [:r :y [2]]")
    assert reported(lists, "consistent-view") == {"read-skew": 1}


@rule("Version orders", "commit timestamps, of which equal ones say nothing")
def equal_timestamps_say_nothing() -> None:
    assert outcome(torn(commits=(5, 5)), "consistent-view") == "holds"


@rule("Version orders", "A log also proves that [indeterminate transactions]")
def a_log_proves_commit() -> None:
    recorder = Recorder()
    with recorder.transaction(session=1) as t:
        t.write("x", 1)
        t.indeterminate()
    assert recorder.history().columns.counted() == [False]
    recorder.version_order("x", [1], source=VersionSource.LOG)
    assert recorder.history().columns.counted() == [True]


@rule("Contradictory evidence", "a level has a verdict only if all of them give the same one")
def sources_that_disagree_must_agree_on_the_verdict() -> None:
    history = torn(([1, 2], VersionSource.LOG), ([2, 1], VersionSource.DECLARED))
    [sighting] = search(history, ["contradictory-evidence"]).sightings
    assert (sighting.presence, sighting.count) == ("found", 1)
    assert outcome(history, "pl-2") == "holds"
    assert outcome(history, "consistent-view") == "unknown"


def registers(*transactions: str) -> History:
    """A Jepsen history of registers in which each transaction is over before the next begins."""
    return edn(*(f"{kind} {rest}" for rest in transactions for kind in ("invoke", "ok")))


@rule("Inferred orders", "a session's writes stay in its order, at levels with session order")
def sessions_order_versions_for_levels_with_sessions() -> None:
    history = edn("ok 0 [:w :x 1]", "ok 0 [:w :x 2] [:w :y 2]", "ok 1 [:r :x 1] [:r :y 2]")
    assert outcome(history, "parallel-snapshot-isolation") == "holds"
    assert outcome(history, "strong-session-parallel-snapshot-isolation") == "violated"


@rule("Inferred orders", "comes first, at levels with real time")
def real_time_orders_versions_for_levels_with_real_time() -> None:
    history = registers("0 [:w :x 1]", "1 [:w :x 2] [:w :y 2]", "2 [:r :x 1] [:r :y 2]")
    assert outcome(history, "strong-session-serializable") == "holds"
    assert outcome(history, "strong-snapshot-isolation") == "violated"


@rule("Inferred orders", "What is inferred never overrules a source.")
def a_source_stands_against_what_is_inferred() -> None:
    """By its own read, 2 came after 1; the log says otherwise, and breaks the level with that."""
    recorder = Recorder(initial=0)
    with recorder.transaction(session=1) as t:
        t.write("x", 1)
    with recorder.transaction(session=2) as t:
        t.read("x", 1)
        t.write("x", 2)
    assert outcome(recorder.history(), "pl-2") == "holds"
    recorder.version_order("x", [2, 1], source=VersionSource.LOG)
    assert reported(recorder.history(), "pl-2") == {"circular-information-flow": 1}


@rule("Claims", "`sequential-keys`: a session that touches a key again meets the same version or a later one")
def a_claim_orders_versions_at_every_level() -> None:
    history = edn("ok 0 [:w :x 1]", "ok 1 [:w :x 2] [:w :y 2]", "ok 2 [:r :x 1] [:r :y 2]")
    seen = "ok 3 [:r :x {}]".format
    again = edn(
        "ok 0 [:w :x 1]",
        "ok 1 [:w :x 2] [:w :y 2]",
        "ok 2 [:r :x 1] [:r :y 2]",
        seen(1),
        seen(2),
    )
    assert outcome(history, "consistent-view") == outcome(again, "consistent-view") == "holds"
    assert reported(again, "consistent-view", "sequential-keys") == {"read-skew": 1}


@rule("Claims", "and no claim is used for that key")
def a_claim_that_cannot_be_true_is_an_anomaly() -> None:
    history = edn("ok 0 [:w :x 1]", "ok 1 [:w :x 2]", *(f"ok 2 [:r :x {value}]" for value in (1, 2, 1)))
    assert outcome(history, "serializable") == "holds"
    assert reported(history, "pl-1", "sequential-keys") == {"cyclic-versions": 1}


#: The appends of the third and fourth transaction are never read.
UNREAD = ("ok 0 [:append :y 1]", "ok 1 [:r :y [1]] [:r :x []]", "ok 2 [:r :x []] [:append :x 1]")


@rule("Open orders", "If there is no such cycle and yet no order will do, the anomaly is `no-commit-order`.")
def some_order_must_explain_everything() -> None:
    history = edn(*UNREAD, "ok 3 [:r :y []] [:append :x 2]")
    assert "no-commit-order" in reported(history, "snapshot-isolation")
    assert outcome(history, "parallel-snapshot-isolation") == "holds"
    assert outcome(edn(*UNREAD, "ok 3 [:r :y [1]] [:append :x 2]"), "snapshot-isolation") == "holds"


@rule("Dependencies", "A read of a list depends on the writer of every element that it shows.")
def a_list_depends_on_all_of_its_writers() -> None:
    """The writer of the first element read what the reader of the list appended."""
    history = edn(
        "ok 0 [:append :x 1] [:r :y [1]]", "ok 1 [:append :x 2]", "ok 2 [:r :x [1 2]] [:append :y 1]"
    )
    assert "circular-information-flow" in reported(history, "pl-2")


@rule("Dependencies", "A read whose list is no beginning of the canonical one has no rw.")
def a_list_beside_the_canonical_one_misses_nobody() -> None:
    appends = ("ok 0 [:append :x 1]", "ok 1 [:append :x 2] [:append :y 1]", "ok 2 [:r :x [1 2]]")
    assert "read-skew" in reported(edn(*appends, "ok 3 [:r :x [1]] [:r :y [1]]"), "serializable")
    history = edn(*appends, "ok 4 [:append :x 3]", "ok 3 [:r :x [3]] [:r :y [1]]")
    assert reported(history, "serializable") == {"incompatible-order": 1}


@rule("Session guarantees", "the second does not read, or write, a version before one that the first read")
def guarantees_look_at_one_key_and_session() -> None:
    history = edn("ok 0 [:append :x 1]", "ok 1 [:append :x 2]", "ok 2 [:r :x [1 2]]", "ok 2 [:r :x [1]]")
    assert outcome(history, "monotonic-reads") == "violated"
    assert outcome(history, "read-your-writes") == "holds"


@rule("Session guarantees", "They forbid no single read")
def guarantees_forbid_no_single_read() -> None:
    history = edn("ok 0 [:r :x [7]]", "ok 1 [:append :x 1]")
    assert (outcome(history, "pl-2"), outcome(history, "monotonic-reads")) == ("violated", "holds")


@rule("Real time", "An indeterminate transaction may take effect at any time later")
def nothing_follows_an_indeterminate_transaction() -> None:
    def history(kind: str) -> History:
        append, read, again = "[:append :x 1]", "[:r :x []]", "[:r :x [1]]"
        first = (f"invoke 0 {append}", f"{kind} 0 {append}", f"invoke 1 {read}", f"ok 1 {read}")
        return edn(*first, f"invoke 2 {again}", f"ok 2 {again}")

    assert reported(history("ok"), "strict-serializable") == {"read-skew-real-time": 1}
    assert outcome(history("info"), "strict-serializable") == "holds"


@rule("Real time", "An end and a beginning at the same instant are in no order.")
def closed_intervals_that_touch_overlap() -> None:
    def history(began: int) -> History:
        recorder = Recorder(clock=iter([0, 5, began, 9]).__next__)
        with recorder.transaction(session=1) as t:
            t.append("x", 1)
        with recorder.transaction(session=2) as t:
            t.read("x", [])
        return recorder.history()

    assert outcome(history(6), "strict-serializable") == "violated"
    assert outcome(history(5), "strict-serializable") == "holds"


@rule("Real time", "levels with real time are violated or `unknown`, never said to hold")
def without_times_nothing_holds_in_real_time() -> None:
    assert outcome(edn("ok 0 [:append :x 1]"), "strict-serializable") == "unknown"
    assert outcome(registers("0 [:append :x 1]"), "strict-serializable") == "holds"


@rule("Timestamps", "An integer alone has the logical part 0.")
def a_timestamp_is_a_pair() -> None:
    history = read('{"tid":1,"sid":1,"sts":9,"cts":{"p":5,"l":2},"ops":[]}', "aion")
    only = history.transaction(0)
    assert (only.start, only.commit) == (Timestamp(9, 0), Timestamp(5, 2))


def clock_names(*lines: str, level: Level = Level.CLOCK_SNAPSHOT_ISOLATION) -> list[str]:
    """The anomalies that the specification of the clock levels finds, with their classes."""
    found = clock.judge(clocked(*lines), level).violations
    return [" ".join(filter(None, (violation.name, violation.cls))) for violation in found]


@rule("Clock levels", "or at the same time; nobody sees himself")
def a_commit_is_seen_by_a_start_at_its_time() -> None:
    assert clock_names("a 1-2: w(x,1)", "b 2-3: r(x,1)") == []
    assert clock_names("a 1-1: r(x,0) w(x,1)") == []


@rule("Clock levels", "Values may repeat")
def repeated_values_are_no_trouble_for_a_clock() -> None:
    again = ("a 1-2: w(x,1)", "b 3-4: w(x,1)", "c 5-6: r(x,1)")
    assert clock_names(*again) == []
    assert outcome(clocked(*again), "read-atomic") == "holds"


@rule("Clock levels", "A rejection proves nothing about levels without a clock")
def another_order_may_explain_what_the_clock_rejects() -> None:
    stale = ("a 1-2: w(x,1)", "b 3-4: r(x,0)")
    assert clock_names(*stale) == ["stale-read older-version"]
    assert outcome(clocked(*stale), "strong-session-snapshot-isolation") == "holds"


@rule("Ties", "Sessions compare by their names, so that the order of the input does not matter")
def equal_times_are_ordered_by_session() -> None:
    writers = ("a 1-2: w(x,1)", "b 1-2: w(x,2)")
    for lines in (writers, writers[::-1]):
        assert clock_names(*lines, "c 3-4: r(x,2)") == ["write-conflict"]
        assert clock.judge(clocked(*lines), Level.CLOCK_SNAPSHOT_ISOLATION).ties == 2


@rule("Ties", "each sees those before it")
def an_instant_may_be_shared() -> None:
    assert clock_names("a 1-1: r(y,0) w(x,1)", "b 1-1: r(x,1) w(y,1)") == []
    assert clock_names("a 1-1: r(y,1) w(x,1)", "b 1-1: r(x,1) w(y,1)") == ["stale-read uncommitted"]


@rule("First reads by the clock", "after own appends it is asked of *P*")
def first_reads_are_held_against_the_clock() -> None:
    assert clock_names("a 1-2: a(x,1)", "b 3-4: a(x,2) r(x,[1;2])") == []
    assert clock_names("a 1-2: a(x,1)", "b 3-4: a(x,2) r(x,[2]) r(x,[2])") == ["stale-read older-version"]


@rule("Later reads by the clock", "were that right or wrong")
def later_reads_are_held_against_what_was_before_them() -> None:
    assert clock_names("a 1-2: r(x,0) r(x,5) r(x,5)") == ["non-repeatable-read"]
    assert clock_names("a 1-2: w(x,1) w(x,2) r(x,1)") == ["not-my-last-write"]
    assert clock_names("a 1-2: w(x,1) r(x,0)", "b 1-2: a(y,1) r(y,[])") == ["not-my-own-write"] * 2


@rule("Origins of stale reads", "had started when the reader did and not committed")
def stale_reads_have_an_origin() -> None:
    def origin(writer: str) -> list[str]:
        return clock_names(writer, "b 3-6: r(x,1)")

    assert origin("a 2-4: w(x,1)") == ["stale-read uncommitted"]
    assert origin("a 4-5: w(x,1)") == ["stale-read newer-version"]
    assert origin("a 1-2: w(x,1) w(x,2)") == ["stale-read uncommitted"]
    assert origin("a 1-2 aborted: w(x,1)") == ["stale-read uncommitted"]
    assert origin("a 1-2: w(y,1)") == ["stale-read never-written"]


@rule("Origins of stale reads", "if it ends inside a transaction")
def lists_have_origins_too() -> None:
    lines = ("a 1-2: a(x,1)", "b 3-4: a(x,2) a(x,3)", "c 8-9: a(x,4)")
    for shown, cls in {"[1]": "older-version", "[1;2]": "uncommitted", "[1;2;3;4]": "newer-version"}.items():
        assert clock_names(*lines, f"d 5-6: r(x,{shown})") == [f"stale-read {cls}"]


@rule("Sessions and overlaps by the clock", "Two that commit at the same time overlap.")
def writers_do_not_overlap() -> None:
    assert clock_names("a 1-3: w(x,1)", "b 2-4: w(x,2)") == ["write-conflict"]
    assert clock_names("a 1-2: w(x,1)", "b 2-2: w(x,2)") == ["write-conflict"]
    assert clock_names("a 1-2: w(x,1)", "b 2-3: w(x,2)") == []
    assert clock_names("a 1-3: w(x,1)", "b 2-4: w(x,2)", level=Level.CLOCK_SERIALIZABLE) == []


@rule("Sessions and overlaps by the clock", "by neighbours")
def sessions_follow_the_clock() -> None:
    assert clock_names("a 5-6:", "a 1-2:", "a 3-4:") == ["session-order"]
    assert clock_names("a 2-1:") == ["timestamp-inversion"]


@rule("Missing timestamps", "`clock-serializable` needs commit timestamps only.")
def a_clock_that_is_not_there_leaves_levels_unknown() -> None:
    commits = clocked("a -2: w(x,1)", "b -3: r(x,1)")
    assert clock.judge(commits, Level.CLOCK_SERIALIZABLE).outcome == "holds"
    assert clock.judge(commits, Level.CLOCK_SNAPSHOT_ISOLATION).outcome == "unknown"


@rule("Intervals", "either end may be unknown")
def an_interval_may_be_open() -> None:
    text = "{:type :invoke, :process 0, :time 5, :value [[:w :x 1]]}"
    only = read(text, "jepsen").transaction(0)
    assert only.status is Status.INDETERMINATE
    assert only.interval == (5, None)


@rule("Intervals", "runs from the first begin to the last end of its operations")
def operations_give_a_transaction_its_interval() -> None:
    def history(began: int) -> History:
        recorder = Recorder()
        with recorder.transaction(session=1) as t:
            t.append("x", 1, interval=Interval(0, 5))
        with recorder.transaction(session=2) as t:
            t.read("x", [], interval=Interval(began, 9))
        return recorder.history()

    assert outcome(history(6), "strict-serializable") == "violated"
    assert outcome(history(4), "strict-serializable") == "holds"


@rule("Event order", "A file of completions only claims no real-time order")
def completions_claim_no_real_time_order() -> None:
    completions = edn("ok 0 [:w :x 1]", "ok 1 [:w :x 2]")
    assert completions.evidence["intervals"] is Extent.ABSENT
    both = edn("invoke 0 [:w :x 1]", "ok 0 [:w :x 1]")
    assert both.evidence["intervals"] is Extent.COMPLETE


def paragraphs() -> dict[str, str]:
    """The text under each heading, on one line."""
    parts = re.split(r"(?m)^## (.+)$", PAGE.read_text(encoding="utf-8"))[1:]
    return {head: " ".join(text.split()) for head, text in zip(parts[::2], parts[1::2], strict=True)}


@pytest.mark.parametrize(("heading", "quote", "test"), RULES, ids=[test.__name__ for *_, test in RULES])
def test_a_rule_does_what_its_paragraph_says(heading: str, quote: str, test: Test) -> None:
    assert quote in paragraphs()[heading]
    test()


def test_every_paragraph_has_a_test() -> None:
    assert {heading for heading, *_ in RULES} == set(paragraphs())
