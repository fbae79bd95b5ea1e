"""Sentences: the exact words for every anomaly of single reads, harmless whatever the input holds."""

from __future__ import annotations

from typing import Any

import pytest

from isoscope import UNKNOWN, Initial, Term, check
from isoscope.explain import because, message, shown
from isoscope.verdict import Anomaly, Step, Witness
from tests.recorded import record

SENTENCES = {
    "thin-air-read": (
        record([("read", "x", 5)]),
        "T1 read x = 5, but nobody ever wrote 5 to x, whose initial value is 0.",
    ),
    "thin-air-read, initially nil": (
        record([("read", "x", 5)], initial=None),
        "T1 read x = 5, but nobody ever wrote 5 to x, whose initial value is nil.",
    ),
    "thin-air-read, initial value of the key": (
        record([("read", "x", 5)], initial=Initial(value=0, of_key={"x": 1})),
        "T1 read x = 5, but nobody ever wrote 5 to x, whose initial value is 1.",
    ),
    "thin-air-read, initially unknown": (
        record([("read", "x", 5)], [("read", "x", 6)], initial=Initial()),
        "T2 read x = 6, but nobody ever wrote 6 to x, and it did not start with it either: T1 read x = 5.",
    ),
    "thin-air-read in a list": (
        record([("append", "x", 1)], [("read", "x", (1, 2))]),
        "T2 read x = [1 2], but nobody ever appended 2 to x.",
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


def anomaly_in(history: Any) -> Anomaly:
    [anomaly] = [a for v in check(history, ["pl-2", "cut-isolation"]).verdicts for a in v.anomalies]
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


def test_a_step_without_a_read_names_its_relation_and_key() -> None:
    assert because(Step(before="T1", after="T2", relation="ww", key=3)) == "ww on key 3"


def test_an_anomaly_without_a_sentence_of_its_own_names_its_transactions() -> None:
    anomaly = Anomaly(name="write-skew", transactions=("T1", "T2"), keys=("x",))
    assert message(anomaly) == "write-skew between T1, T2."


def test_places_are_told_where_they_are_known() -> None:
    read = Witness(transaction="T2", kind="read", key="x", value=1, place="h.txt:2")
    write = Witness(transaction="T1", kind="write", key="x", value=1, place="h.txt:1")
    anomaly = Anomaly(
        name="aborted-read",
        transactions=("T2", "T1"),
        keys=("x",),
        witnesses=(read, write),
        facts={"value": 1},
    )
    assert message(anomaly) == "T2 read x = 1 (h.txt:2), which T1 wrote (h.txt:1) and then rolled back."


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x", "x"),
        ("é", "é"),
        ("", '""'),
        ("a b", '"a b"'),
        ("7", '"7"'),
        ('say "it\'s"', '"say \\"it\'s\\""'),
        (7, "7"),
        (1.5, "1.5"),
        (True, "True"),
        (None, "nil"),
        (UNKNOWN, "UNKNOWN"),
        (Term(":k"), ":k"),
        ((), "[]"),
        ((1, "a b", None), '[1 "a b" nil]'),
        ("\x1b[31mred", '"\\u001b[31mred"'),
        ("\u202eabc", '"\\u202eabc"'),
        ("two\nlines", '"two\\nlines"'),
        ("\u2066x\u200f", '"\\u2066x\\u200f"'),
        (Term("a\x1bb"), '"a\\u001bb"'),
        (("\x07",), '["\\u0007"]'),
    ],
)
def test_a_value_is_shown_on_one_harmless_line(value: object, text: str) -> None:
    assert shown(value) == text
    assert shown(value).isprintable()


@pytest.mark.parametrize("value", [tuple(range(1000)), "y" * 1000, 10**1000, ("z" * 500,)])
def test_what_is_long_is_abbreviated_in_the_middle(value: object) -> None:
    text = shown(value)
    assert len(text) == 65
    assert text[30:35] == " ... "


def test_a_long_list_keeps_its_first_and_last_elements() -> None:
    assert shown(tuple(range(100))) == "[0 1 2 3 4 5 6 7 8 9 10 11 12  ... 90 91 92 93 94 95 96 97 98 99]"


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\u202e", 'a"; rm -rf', "\r\n", "\x00", "\u2028"])
def test_hostile_keys_values_and_ids_are_harmless_in_a_sentence(hostile: str) -> None:
    history = record([("write", hostile, hostile), ("abort",)], [("read", hostile, hostile)])
    assert message(anomaly_in(history)).isprintable()
