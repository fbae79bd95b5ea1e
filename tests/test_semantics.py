"""Every paragraph of docs/explanation/semantics.md is quoted by a test that shows it."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import isoscope
from isoscope import formats
from isoscope.checkers import check
from isoscope.formats.source import File, Input
from isoscope.history import UNKNOWN, Extent, History, Initial, Status, Term, Timestamp
from isoscope.recorder import Recorder

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


@rule("Unread elements", "Appends that no read shows are not judged in this version")
def unread_appends_are_not_judged() -> None:
    assert names(edn("ok 0 [:append :x 1]", "ok 1 [:append :x 2]", "ok 2 [:r :x []]")) == {}


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


@rule("Keys that are not judged", "A level that could be broken there is `unknown`, with the reason.")
def deleted_keys_are_not_judged() -> None:
    recorder = Recorder(initial=0)
    with recorder.transaction(session=1) as t:
        t.delete("x")
    with recorder.transaction(session=2) as t:
        t.read("x", 1)
    [verdict] = check(recorder.history(), ["cut-isolation"]).verdicts
    assert (verdict.outcome, verdict.reason) == ("unknown", "operation kind `delete` is not judged (key x)")


@rule("Version orders", "it proves that [indeterminate transactions](#indeterminate-transactions) committed")
def a_log_proves_commit() -> None:
    recorder = Recorder()
    with recorder.transaction(session=1) as t:
        t.write("x", 1)
        t.indeterminate()
    assert recorder.history().columns.counted() == [False]
    recorder.version_order("x", [1], source=isoscope.history.VersionSource.LOG)
    assert recorder.history().columns.counted() == [True]


@rule("Timestamps", "An integer alone has the logical part 0.")
def a_timestamp_is_a_pair() -> None:
    history = read('{"tid":1,"sid":1,"sts":9,"cts":{"p":5,"l":2},"ops":[]}', "aion")
    only = history.transaction(0)
    assert (only.start, only.commit) == (Timestamp(9, 0), Timestamp(5, 2))


@rule("Intervals", "either end may be unknown")
def an_interval_may_be_open() -> None:
    text = "{:type :invoke, :process 0, :time 5, :value [[:w :x 1]]}"
    only = read(text, "jepsen").transaction(0)
    assert only.status is Status.INDETERMINATE
    assert only.interval == (5, None)


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
