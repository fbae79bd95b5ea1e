"""Sentences: the exact words for every anomaly of single reads and every conflict."""

from __future__ import annotations

from typing import Any

import pytest

from isoscope import Initial, Recorder, check
from isoscope.anomalies import CATALOGUE
from isoscope.checkers.values import NAMES
from isoscope.explain import because, hint, message
from isoscope.history import VersionSource
from isoscope.verdict import Anomaly, ReadFacts, Step, Witness
from tests.recorded import record
from tests.small_histories import a, in_sessions, r, w

SENTENCES = {
    "thin-air-read": (
        record([("read", "x", 5)]),
        "T1 read x = 5, but no transaction wrote 5 to x, whose initial value is 0.",
    ),
    "thin-air-read, initially nil": (
        record([("read", "x", 5)], initial=None),
        "T1 read x = 5, but no transaction wrote 5 to x, whose initial value is nil.",
    ),
    "thin-air-read, initial value of the key": (
        record([("read", "x", 5)], initial=Initial(value=0, of_key={"x": 1})),
        "T1 read x = 5, but no transaction wrote 5 to x, whose initial value is 1.",
    ),
    "thin-air-read, initially unknown": (
        record([("read", "x", 5)], [("read", "x", 6)], initial=Initial()),
        "T2 read x = 6, but no transaction wrote 6 to x, and it did not start with it either: T1 read x = 5.",
    ),
    "thin-air-read in a list": (
        record([("append", "x", 1)], [("read", "x", (1, 2))]),
        "T2 read x = [1 2], but no transaction appended 2 to x.",
    ),
    "aborted-read": (
        record([("write", "x", 1), ("abort",)], [("read", "x", 1)]),
        "T2 read x = 1, which T1 wrote and then rolled back.",
    ),
    "aborted-read in a list": (
        record([("append", "x", 1), ("abort",)], [("append", "x", 2)], [("read", "x", (1, 2))]),
        "T3 read x = [1 2], whose element 1 T1 appended and then rolled back.",
    ),
    "future-read": (
        record([("read", "x", 1), ("write", "x", 1)]),
        "T1 read x = 1 before it wrote that value itself.",
    ),
    "future-read in a list": (
        record([("read", "x", (1,)), ("append", "x", 1)]),
        "T1 read x = [1] before it appended 1 itself.",
    ),
    "not-my-own-write": (
        record([("write", "x", 1)], [("write", "x", 2), ("read", "x", 1)]),
        "T2 read x = 1 although it had itself written 2 before.",
    ),
    "not-my-own-write in a list": (
        record([("append", "x", 2), ("read", "x", ())]),
        "T1 read x = [], although the list had to end with what it had appended itself, up to 2.",
    ),
    "not-my-last-write": (
        record([("write", "x", 1), ("write", "x", 2), ("read", "x", 1)]),
        "T1 read x = 1, an earlier write of its own, although its last write before was 2.",
    ),
    "not-my-last-write in a list": (
        record([("append", "x", 1), ("append", "x", 2), ("read", "x", (1,))]),
        "T1 read x = [1], an earlier append of its own, although its last append before was 2.",
    ),
    "intermediate-read": (
        record([("write", "x", 1), ("write", "x", 2)], [("read", "x", 1)]),
        "T2 read x = 1, which T1 wrote but replaced by 2 before it committed.",
    ),
    "intermediate-read in a list": (
        record([("append", "x", 1), ("append", "x", 2)], [("read", "x", (1,))]),
        "T2 read x = [1], which ends with 1 of T1; but T1 went on and appended 2 before it committed.",
    ),
    "non-repeatable-read": (
        record([("write", "x", 1)], [("read", "x", 0), ("read", "x", 1)]),
        "T2 read x = 0 and later x = 1: something changed x under a transaction that was still running.",
    ),
    "non-repeatable-read in a list": (
        record([("append", "x", 1)], [("read", "x", ()), ("read", "x", (1,))]),
        "T2 read x = [] and later x = [1]: something changed x under a transaction that was still running.",
    ),
    "aborted-read of a key that is a number": (
        record([("write", 3, 1), ("abort",)], [("read", 3, 1)]),
        "T2 read key 3 = 1, which T1 wrote and then rolled back.",
    ),
    "aborted-read of texts": (
        record([("write", "a key", "b c"), ("abort",)], [("read", "a key", "b c")]),
        'T2 read "a key" = "b c", which T1 wrote and then rolled back.',
    ),
}

CONFLICTS = {
    "non-monotonic-read-co": (
        in_sessions((4, [w("x", 1)]), (4, [w("x", 2), w("y", 2)]), (5, [r("y", 2), r("x", 1)])),
        "T3 read x = 1 from T1 although it had already read y = 2 from T2, which overwrote x with 2. "
        "T2 comes after T1 because both ran in session 4.",
    ),
    "non-monotonic-read-co of the initial value": (
        record([w("x", 1), w("y", 2)], [r("y", 2), r("x", 0)]),
        "T2 read x = 0, the initial value, although it had already read y = 2 from T1, which wrote x = 1.",
    ),
    "non-monotonic-read-co in lists": (
        record([a("x", 1), a("y", 2)], [a("y", 3)], [r("y", (2, 3)), r("x", ())]),
        "T3 read x = [], the initial value, although it had already read y = [2 3] with 2 of T1, "
        "which appended 1 to x.",
    ),
    "non-monotonic-read-cm": (
        record(
            [w("x", 1), w("y", 1)], [w("x", 2), w("z", 2)], [r("z", 2), r("x", 1)], [r("y", 1), r("x", 2)]
        ),
        "T3 read x = 1 from T1 although it had already read z = 2 from T2, which wrote x = 2 too. "
        "So T2 must have committed before T1. But T1 must have committed before T2, because T4 read x = 2 "
        "from T2 although it had also read y = 1 from T1, which wrote x = 1 too.",
    ),
    "non-monotonic-read-cm in lists": (
        record([a("x", 1)], [a("x", 2), a("y", 2)], [r("y", (2,)), r("x", (1,))]),
        "T3 read x = [1], up to 1 of T1, although it had already read y = [2] with 2 of T2, which appended 2 "
        "to x. So T2 must have committed before T1. But T1 must have committed before T2, because T3 read "
        "x = [1], which shows T1's 1 and not yet T2's 2.",
    ),
    "fractured-read-co": (
        in_sessions((4, [w("x", 1)]), (4, [w("x", 2), w("y", 2)]), (5, [r("x", 1), r("y", 2)])),
        "T3 read x = 1 from T1 and then y = 2 from T2, which overwrote x with 2: it saw only part of what "
        "T2 wrote. T2 comes after T1 because both ran in session 4.",
    ),
    "fractured-read-co in a session": (
        in_sessions((1, [w("x", 1)]), ("s", [r("x", 1), w("x", 2)]), ("s", [r("x", 1)])),
        "T3 read x = 1 from T1 although T2, which overwrote x with 2, ran before it in session s. "
        "T2 comes after T1 because T2 read x = 1, which T1 wrote.",
    ),
    "fractured-read-co of the initial value": (
        in_sessions((1, [w("x", 1)]), (1, [r("x", 0)])),
        "T2 read x = 0, the initial value, although T1, which wrote x = 1, ran before it in session 1.",
    ),
    "fractured-read-co with an own append": (
        in_sessions((1, [a("x", 1)]), (1, [a("x", 2), r("x", (2,))])),
        "T2 read x = [2], with nothing but its own appends, although T1, which appended 1 to x, ran before "
        "it in session 1.",
    ),
    "fractured-read-cm in lists": (
        in_sessions(
            (1, [a("x", 1)]), (2, [a("x", 2)]), (2, [a("x", 3), r("x", (1, 3))]), (4, [r("x", (1, 2))])
        ),
        "T3 read x = [1 3], where only its own appends follow 1 of T1, although T2, which appended 2 "
        "to x, ran before it in session 2. So T2 must have committed before T1. But T1 must have "
        "committed before T2, because T3 read x = [1 3], which shows T1's 1 and not yet T2's 2.",
    ),
    "causal-conflict": (
        record([w("x", 1)], [r("x", 1), w("y", 1)], [r("y", 1), r("x", 0)]),
        "T3 read x = 0, the initial value, although T1, which wrote x = 1, happened before it: "
        "T1 before T2, because T2 read x = 1, which T1 wrote; T2 before T3, because T3 read y = 1, "
        "which T2 wrote.",
    ),
    "causal-conflict with a longer order": (
        in_sessions(
            (1, [w("x", 1)]),
            (2, [r("x", 1)]),
            (2, [w("x", 2)]),
            (2, [w("y", 2)]),
            (3, [r("y", 2), r("x", 1)]),
        ),
        "T5 read x = 1 from T1 although T3, which overwrote x with 2, happened before it: T3 before "
        "T4, because both ran in session 2; T4 before T5, because T5 read y = 2, which T4 wrote. T3 "
        "comes after T1: T1 before T2, because T2 read x = 1, which T1 wrote; T2 before T3, because "
        "both ran in session 2.",
    ),
    "commit-order-conflict": (
        in_sessions(
            (1, [w("x", 1)]),
            (2, [w("x", 2)]),
            (3, [r("x", 1)]),
            (3, [r("x", 2)]),
            (4, [r("x", 2)]),
            (4, [r("x", 1)]),
        ),
        "T4 read x = 2 from T2 although T1, which wrote x = 1 too, happened before it: T1 before T3, "
        "because T3 read x = 1, which T1 wrote; T3 before T4, because both ran in session 3. So T1 "
        "must have committed before T2. But T2 must have committed before T1, because T6 read x = 1 "
        "from T1 although T2, which wrote x = 2 too, happened before it (T2 before T5, because T5 read "
        "x = 2, which T2 wrote; T5 before T6, because both ran in session 4).",
    ),
    "cyclic-causal-order": (
        record([r("y", 1), w("x", 1)], [r("x", 1), w("y", 1)]),
        "T1 and T2 each come before the other: T1 before T2, because T2 read x = 1, which T1 wrote; "
        "T2 before T1, because T1 read y = 1, which T2 wrote.",
    ),
    "cyclic-causal-order in a session": (
        in_sessions(("s", [r("x", 5)]), ("s", [w("x", 5)])),
        "T1 read x = 5, which T2 wrote, although T2 ran only after T1 in session s.",
    ),
    "cyclic-causal-order of three": (
        record([r("z", 1), w("x", 1)], [r("x", 1), w("y", 1)], [r("y", 1), w("z", 1)]),
        "T1, T2 and T3 come before each other in a circle: T1 before T2, because T2 read x = 1, which T1 "
        "wrote; T2 before T3, because T3 read y = 1, which T2 wrote; T3 before T1, because T1 read z = 1, "
        "which T3 wrote.",
    ),
    "write-cycle": (
        record([a("x", 1), a("y", 1)], [a("x", 2), a("y", 2)], [r("x", (1, 2)), r("y", (2, 1))]),
        "T1 and T2 each come before the other: T1 before T2, because T3 read x = [1 2], where T1's 1 stands "
        "before T2's 2; T2 before T1, because T3 read y = [2 1], where T2's 2 stands before T1's 1.",
    ),
    "circular-information-flow": (
        record([a("x", 1), r("y", (1,))], [a("x", 2), a("y", 1)], [r("x", (1, 2))]),
        "T1 and T2 each come before the other: T1 before T2, because T3 read x = [1 2], where T1's 1 stands "
        "before T2's 2; T2 before T1, because T1 read y = [1], to which T2 appended 1.",
    ),
    "incompatible-order": (
        record([a("x", 1)], [a("x", 2)], [r("x", (1, 2))], [r("x", (2,))]),
        "T4 read x = [2], but T3 read x = [1 2]: neither list is a beginning of the other, so one of them "
        "shows a state that x never had.",
    ),
    "duplicate-elements": (
        record([a("x", 1)], [r("x", (1, 1))]),
        "T2 read x = [1 1], which shows 1 twice, more often than it was appended (first by T1).",
    ),
}


@pytest.mark.parametrize(
    ("source", "versions", "said"),
    [
        (
            VersionSource.LOG,
            [7, 1],
            "; the history has T1 as failed, but the log shows that it committed: its client has recorded "
            "the wrong outcome.",
        ),
        (VersionSource.LOG, [7], " and then rolled back."),
        (VersionSource.LOG, [7, True], " and then rolled back."),
        (VersionSource.DECLARED, [7, 1], " and then rolled back."),
    ],
)
def test_a_log_that_shows_the_commit_of_what_failed_is_believed_more_than_its_client(
    source: VersionSource, versions: list[int], said: str
) -> None:
    recorder = Recorder(initial=0)
    with recorder.transaction() as t:
        t.write("x", 1)
        t.abort()
    with recorder.transaction() as t:
        t.read("x", 1)
    recorder.version_order("x", versions, source=source)
    [verdict] = check(recorder.history(), ["pl-2"]).verdicts
    assert message(verdict.anomalies[0]) == f"T2 read x = 1, which T1 wrote{said}"


def test_only_aborted_reads_come_with_a_hint() -> None:
    assert {name for name in CATALOGUE if hint(name)} == {"aborted-read"}


@pytest.mark.parametrize("case", CONFLICTS)
def test_the_sentence_for_an_anomaly_between_transactions_is(case: str) -> None:
    history, sentence = CONFLICTS[case]
    [verdict] = check(history, ["causal"]).verdicts
    name = case.split(maxsplit=1)[0].rstrip(",")
    said = [message(anomaly) for anomaly in verdict.anomalies if anomaly.name == name]
    assert sentence in said


def test_every_anomaly_that_is_reported_has_its_exact_sentence() -> None:
    told = {case.split()[0].rstrip(",") for case in {**SENTENCES, **CONFLICTS}}
    # `test_cases.py` has the sentence of a search that misses a row.
    assert told == set(NAMES) - {"predicate-read-miss"}


def test_a_step_says_why_whatever_its_relation() -> None:
    reasons = {
        because(step)
        for history, _ in CONFLICTS.values()
        for verdict in check(history, ["causal"]).verdicts
        for anomaly in verdict.anomalies
        for step in anomaly.steps
    }
    assert "both ran in session 4" in reasons
    assert "T3 read x = [1 2], where T1's 1 stands before T2's 2" in reasons
    assert "T4 read x = 2 from T2 although it had also read y = 1 from T1, which wrote x = 1 too" in reasons
    assert not [reason for reason in reasons if "the history shows it" in reason]


def test_keys_that_compare_equal_stay_apart_in_an_anomaly() -> None:
    """1, 1.0 and True are three keys, though Python calls them equal."""
    history = record(
        [w(1, 10), w(1.0, 11), w(True, 12)],
        [r(1, 10), r(1.0, 0.0), r(True, 0)],
    )
    [verdict] = check(history, ["read-committed"]).verdicts
    [anomaly] = [found for found in verdict.anomalies if found.name == "non-monotonic-read-co"]
    assert [(type(key), key) for key in anomaly.keys] == [(bool, True), (int, 1)]
    assert "which wrote key True = 12" in message(anomaly)


def test_a_session_without_a_name_is_the_same_session() -> None:
    assert because(Step(before="T1", after="T2", relation="session")) == "both ran in the same session"


def anomaly_in(history: Any) -> Anomaly:
    verdicts = check(history, ["pl-2", "cut-isolation"], method="values").verdicts
    [anomaly] = [a for v in verdicts for a in v.anomalies]
    return anomaly


@pytest.mark.parametrize("case", SENTENCES)
def test_the_sentence_for_an_anomaly_is(case: str) -> None:
    history, sentence = SENTENCES[case]
    anomaly = anomaly_in(history)
    assert case.startswith(anomaly.name)
    assert message(anomaly) == sentence


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ("aborted-read", "T2 read x = 1, which T1 wrote"),
        ("intermediate-read", "T2 read x = 1, which T1 wrote"),
        ("aborted-read in a list", "T3 read x = [1 2], to which T1 appended 1"),
        ("intermediate-read in a list", "T2 read x = [1], to which T1 appended 1"),
    ],
)
def test_a_step_says_why_one_comes_before_the_other(case: str, reason: str) -> None:
    [step] = anomaly_in(SENTENCES[case][0]).steps
    assert because(step) == reason


def test_a_step_without_witnesses_names_its_relation() -> None:
    assert because(Step(before="T1", after="T2", relation="rw", key=3)) == "the history shows it by `rw`"


def test_an_anomaly_without_a_sentence_of_its_own_names_its_transactions() -> None:
    anomaly = Anomaly(name="lock-violation", transactions=("T1", "T2"), keys=("x",))
    assert message(anomaly) == "lock-violation between T1, T2."


def test_places_are_told_where_they_are_known() -> None:
    read = Witness(transaction="T2", kind="read", key="x", value=1, place="h.txt:2")
    write = Witness(transaction="T1", kind="write", key="x", value=1, place="h.txt:1")
    anomaly = Anomaly(
        name="aborted-read",
        transactions=("T2", "T1"),
        keys=("x",),
        witnesses=(read, write),
        facts=ReadFacts(value=1),
    )
    assert message(anomaly) == "T2 read x = 1 (h.txt:2), which T1 wrote (h.txt:1) and then rolled back."
