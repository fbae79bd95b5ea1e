"""The definition of the clock levels on small histories, with the rules that they illustrate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from isoscope.history import Initial, Operation, OperationKind, Range, Timestamp, Transaction
from isoscope.recorder import build
from isoscope.reference import clock, reads
from isoscope.reference.clock import SetAside
from isoscope.reference.execution import Execution
from isoscope.verdict import Outcome

from .clock_histories import clocked

if TYPE_CHECKING:
    from isoscope.history import History
    from isoscope.levels import Level

SI, SER = clock.LEVELS


def brief(history: History, level: Level = SI) -> list[str]:
    """`stale-read 1<-0 x older-version`: the name, the transactions, the key, the class."""
    return [
        " ".join(
            str(word)
            for word in (
                v.name,
                v.transaction if v.other is None else f"{v.transaction}<-{v.other}",
                v.key[1] if isinstance(v.key, tuple) else None,
                v.cls,
            )
            if word is not None
        )
        for v in clock.judge(history, level).violations
    ]


def test_a_commit_is_visible_to_a_start_at_the_same_time() -> None:
    """ "a commit at t is visible to a start at t" """
    assert brief(clocked("a 1-2: w(x,1)", "b 2-3: r(x,1)")) == []
    assert brief(clocked("a 1-2: w(x,1)", "b 2-3: r(x,0)")) == ["stale-read 1<--1 x older-version"]


def test_a_transaction_does_not_see_itself() -> None:
    """ "a transaction does not see itself", though its commit comes before its start at the same time"""
    assert brief(clocked("a 1-1: r(x,0) w(x,1)")) == []
    assert brief(clocked("a 1-1: r(x,1) w(x,1)")) == ["stale-read 0<-0 x uncommitted"]


def test_two_writers_with_equal_commits_overlap() -> None:
    """ "Two writers of a key with equal commit timestamps overlap." """
    assert brief(clocked("a 1-2: w(x,1)", "b 2-2: w(x,2)")) == ["write-conflict 1<-0 x"]
    assert brief(clocked("a 1-2: w(x,1)", "b 2-3: w(x,2)")) == []
    assert brief(clocked("a 1-2: w(x,1)", "b 2-2: w(y,2)")) == []


def test_equal_commits_are_ordered_by_start_then_session_then_place() -> None:
    """ "Events are ordered by (timestamp, commit before start, start timestamp, session, position)" """
    assert last_of("b 1-3: w(x,1)", "a 2-3: w(x,2)") == "2"
    assert last_of("a 2-3: w(x,1)", "b 2-3: w(x,2)") == "2"
    assert last_of("b 2-3: w(x,1)", "a 2-3: w(x,2)") == "1"
    assert last_of("a 2-3: w(x,1)", "a 2-3: w(x,2)") == "2"


def last_of(*lines: str) -> str:
    """The value that a later read should find."""
    [stale] = [v for v in clock.judge(clocked(*lines, "z 9-9: r(x,71)"), SI).violations if v.axiom == "ext"]
    assert isinstance(stale.expected, tuple)
    return str(stale.expected[1])


def test_sessions_are_ordered_numbers_first_then_texts_then_others_then_those_without_a_name() -> None:
    names: list[Any] = [2, 10, "10", "2", "é", 1.5, True, None]
    one = clocked("a 1-1: r(x,0)").transaction(0)
    transactions = [replace(one, id=str(n), session_id=name) for n, name in reversed([*enumerate(names)])]
    arbitration = Execution(build(transactions), SI).arbitration
    assert [t.session_id for t in arbitration] == names


def test_an_overlap_counts_once_for_a_pair_and_key() -> None:
    """ "NOCONFLICT per (unordered pair, key)" """
    history = clocked("a 1-9: w(x,1) w(x,2) w(y,1)", "b 2-3: w(x,3) w(y,3)", "c 4-5: w(x,4)")
    assert brief(history) == ["write-conflict 0<-1 x", "write-conflict 0<-1 y", "write-conflict 0<-2 x"]
    assert brief(history, SER) == []


def test_a_session_is_judged_by_neighbours() -> None:
    """ "SESSION per consecutive pair" """
    assert brief(clocked("a 5-6: r(x,0)", "a 1-2: r(x,0)", "a 3-4: r(x,0)")) == ["session-order 1<-0"]
    assert brief(clocked("a 5-6: r(x,0)", "a 1-2: r(x,0)", "a 3-4: r(x,0)"), SER) == []
    assert brief(clocked("a 5-6: r(x,0)", "a 1-2 aborted: r(x,0)", "a 3-4: r(x,0)")) == ["session-order 2<-0"]
    assert brief(clocked("a 1-2: r(x,0)", "a 2-3: r(x,0)")) == []


def test_a_start_after_its_commit_is_a_violation_of_its_own() -> None:
    """Otherwise it is judged as others: it sees commits before its start, and is seen from its commit on."""
    inverted = clocked("a 1-2: w(x,1)", "b 4-1: r(x,1) w(y,1)", "c 1-3: r(y,1)")
    assert brief(inverted) == ["timestamp-inversion 1"]
    assert brief(inverted, SER) == ["stale-read 1<-0 x newer-version"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # The initial value, or a final write of a transaction that is visible.
        (("a 1-2: w(x,1)", "b 3-4: r(x,0)"), "1<--1 x older-version"),
        (("a 1-2: w(x,1)", "b 3-4: w(x,2)", "c 5-6: r(x,1)"), "2<-0 x older-version"),
        # A write of an aborted transaction, or of one that does not count.
        (("a 1-2 aborted: w(x,1)", "b 3-4: r(x,1)"), "1<-0 x uncommitted"),
        # Of one that is not the last.
        (("a 1-2: w(x,1) w(x,2)", "b 3-4: r(x,1)"), "1<-0 x uncommitted"),
        # Of the reader, later.
        (("a 1-2: r(x,1) w(x,1)",), "0<-0 x uncommitted"),
        # Of one that had started, and not committed.
        (("a 1-4: w(x,1)", "b 3-5: r(x,1)"), "1<-0 x uncommitted"),
        (("a 3-4: w(x,1)", "b 3-5: r(x,1)"), "1<-0 x uncommitted"),
        # Of one that started after the reader.
        (("a 4-5: w(x,1)", "b 3-6: r(x,1)"), "1<-0 x newer-version"),
        (("b 3-6: r(x,71)",), "0 x never-written"),
        # Of several writers: older before uncommitted before newer; of several such the nearest.
        (("a 1-2: w(x,1)", "b 3-4: w(x,2)", "c 1-9: w(y,1) w(x,1)", "d 5-6: r(x,1)"), "3<-0 x older-version"),
        (("a 8-9: w(x,1)", "c 1-7: w(x,1)", "d 5-6: r(x,1)"), "2<-1 x uncommitted"),
        (("a 8-9: w(x,1)", "c 6-7: w(x,1)", "d 5-6: r(x,1)"), "2<-1 x newer-version"),
        (("a 1-2: w(x,1)", "b 2-3: w(x,1)", "c 3-4: w(x,2)", "d 5-6: r(x,1)"), "3<-1 x older-version"),
        (("a 8-9 aborted: w(x,1)", "c 1-2 aborted: w(x,1)", "d 5-6: r(x,1)"), "2<-0 x uncommitted"),
    ],
)
def test_a_stale_read_is_classed_by_its_writer(lines: tuple[str, ...], expected: str) -> None:
    stale = [text for text in brief(clocked(*lines)) if text.startswith("stale-read")]
    assert stale == [f"stale-read {expected}"]


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        ("[1;2;3]", None),
        ("[]", "<--1 x older-version"),
        ("[1]", "<-0 x older-version"),
        # A beginning that is no state between two transactions.
        ("[1;2]", "<-1 x uncommitted"),
        # The writer of the first further element decides: that of 4 was running, that of 6 had not started.
        ("[1;2;3;4]", "<-2 x uncommitted"),
        ("[1;2;3;6]", "<-3 x newer-version"),
        ("[1;2;3;8]", "<-4 x uncommitted"),
        ("[1;2;3;5]", "<-5 x uncommitted"),
        ("[1;8]", "<-4 x uncommitted"),
        ("[2;1;3]", " x never-written"),
        ("[1;2;3;3]", " x never-written"),
        ("[1;71]", " x never-written"),
        # Also if another element is of a transaction that never committed.
        ("[8;71]", " x never-written"),
    ],
)
def test_a_list_is_compared_element_by_element(read: str, expected: str | None) -> None:
    history = clocked(
        "a 1-2: a(x,1)",
        "a 3-4: a(x,2) a(x,3)",
        "b 5-9: a(x,4)",
        "c 9-10: a(x,6)",
        "d 1-2 aborted: a(x,8)",
        f"e 6-7: r(x,{read}) a(y,1) a(x,5)",
    )
    stale = [text for text in brief(history) if text.startswith("stale-read")]
    assert stale == ([f"stale-read 5{expected}"] if expected else [])


@pytest.mark.parametrize(("value", "is_wrong"), [(5, False), (1, True)])
def test_a_value_after_a_predicate_that_left_it_out_is_wrong_only_if_the_predicate_asks_for_it(
    value: int, is_wrong: bool
) -> None:
    """Both reads are external, and the second may show what the first left out: it does not ask for 5."""
    operations = (
        Operation(kind=OperationKind.RANGE_READ, value=Range(rows=()), predicate="[:= 1]"),
        Operation(kind=OperationKind.READ, key="x", value=value),
    )
    reader = Transaction(
        number=0,
        id=0,
        session=0,
        session_id=0,
        start=Timestamp(1),
        commit=Timestamp(2),
        operations=operations,
    )
    found = clock.judge(build([reader], initial=Initial(value=value)), SI).violations
    assert [(v.name, v.index) for v in found if v.axiom == "int"] == [("non-repeatable-read", 1)] * is_wrong


def test_after_own_appends_the_rest_of_a_list_is_external() -> None:
    """ "after an own append, EXT checks P" """
    assert brief(clocked("a 1-2: a(x,1)", "b 3-4: a(x,2) r(x,[1;2])")) == []
    assert brief(clocked("a 1-2: a(x,1)", "b 3-4: a(x,2) r(x,[2])")) == ["stale-read 1<--1 x older-version"]
    assert brief(clocked("a 1-2: a(x,1)", "b 3-4: a(x,2) r(x,[1])")) == ["not-my-own-write 1 x"]
    later = clocked("a 1-2: r(x,[]) a(x,1) r(x,[1]) r(x,[1]) a(x,2) r(x,[1;2]) r(x,[2])")
    assert brief(later) == ["not-my-own-write 0 x"]


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ("r(x,0) r(x,0) w(x,1) r(x,1) w(x,2) r(x,2)", []),
        ("r(x,0) r(x,5)", ["non-repeatable-read 0 x"]),
        # Compared with the read before it, right or wrong.
        ("r(x,0) r(x,5) r(x,5)", ["non-repeatable-read 0 x"]),
        ("r(x,0) r(x,5) r(x,0)", ["non-repeatable-read 0 x"] * 2),
        ("r(x,5) r(x,5)", ["stale-read 0 x never-written"]),
        ("w(x,1) w(x,2) r(x,1)", ["not-my-last-write 0 x"]),
        ("w(x,1) r(x,0)", ["not-my-own-write 0 x"]),
        ("w(x,1) r(x,0) r(x,1)", ["not-my-own-write 0 x", "non-repeatable-read 0 x"]),
        ("w(x,1) r(x,?) r(x,1)", []),
        ("r(x,?) r(x,5) r(x,0)", ["stale-read 0 x never-written", "non-repeatable-read 0 x"]),
    ],
)
def test_later_reads_show_what_the_access_before_them_did(operations: str, expected: list[str]) -> None:
    """ "the first access is checked by EXT, every later one by INT" """
    for level in clock.LEVELS:
        assert brief(clocked(f"a 1-2: {operations}"), level) == expected


def test_an_unknown_initial_value_is_the_first_that_no_transaction_wrote() -> None:
    """ "the one never-written value that reads of a key show is its initial value" """
    unknown = Initial()
    assert brief(clocked("a 1-2: r(x,5)", "b 1-2: r(x,5)", initial=unknown)) == []
    second = clocked("a 1-2: r(x,5)", "b 1-2: r(x,6)", initial=unknown)
    assert brief(second) == ["stale-read 1 x never-written"]
    early = clocked("a 1-2: r(x,1)", "b 3-4: w(x,1)", initial=unknown)
    assert brief(early) == ["stale-read 0<-1 x newer-version"]
    assert clock.judge(early, SI).violations[0].expected is None


def test_a_transaction_that_does_not_count_is_ignored() -> None:
    assert brief(clocked("a 1-2 aborted: w(x,1) r(x,9)", "b 3-4: r(x,0)")) == []
    assert brief(clocked("a 1-2 indeterminate: w(x,1)", "b 3-4: r(x,0)")) == []
    observed = clocked("a 1-2 indeterminate: w(x,1)", "b 3-4: r(x,1)", "c 3-4: r(x,0)")
    assert brief(observed) == ["stale-read 2<--1 x older-version"]


def test_a_transaction_without_timestamps_is_set_aside_and_its_later_reads_are_not() -> None:
    history = clocked("a: w(x,1) r(y,9) r(y,8)", "b 1-2: r(x,0) r(y,0)")
    judgement = clock.judge(history, SI)
    assert brief(history) == ["non-repeatable-read 0 y"]
    x = reads.token("x")
    assert judgement.set_aside == {SetAside("timeless", transaction=0), SetAside("timeless", key=x)}


def test_serializability_by_the_clock_needs_commits_only() -> None:
    history = clocked("a -2: w(x,1)", "b -3: r(x,1)")
    assert clock.judge(history, SER).outcome is Outcome.HOLDS
    assert clock.judge(history, SI).outcome is Outcome.UNKNOWN


def test_a_level_is_unknown_if_something_is_set_aside_and_nothing_violated() -> None:
    deleted = clocked("a 1-2: a(x,1) d(x,)", "b 3-4: r(y,0)")
    assert clock.judge(deleted, SI).outcome is Outcome.UNKNOWN
    assert clock.judge(deleted, SI).set_aside == {SetAside("deleted", key=reads.token("x"))}
    both = clocked("a 1-2: a(x,1) d(x,)", "b 3-4: r(y,9)")
    assert clock.judge(both, SI).outcome is Outcome.VIOLATED


def test_a_tie_is_a_timestamp_of_several_transactions() -> None:
    assert clock.judge(clocked("a 1-1: r(x,0)", "b 2-3: r(x,0)"), SI).ties == 0
    assert clock.judge(clocked("a 1-2: r(x,0)", "b 2-3: r(x,0)", "c 2-3: r(x,0)"), SI).ties == 2
    assert clock.judge(clocked("a 1-2: r(x,0)", "b 2-3: r(x,0)", "c 2-3: r(x,0)"), SER).ties == 1
    assert clock.judge(clocked("a 1-2: r(x,0)", "b 2-3 aborted: r(x,0)"), SI).ties == 0
