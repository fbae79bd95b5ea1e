"""The one answer of a report, in words: yes, no, not decided, or the border of what holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from isoscope import check
from isoscope.anomalies import CATALOGUE
from isoscope.levels import Level
from isoscope.reports import document, render_text
from isoscope.verdict import Decision, Origin, Report
from isoscope.verdict.answer_text import anomalies_in_words
from tests.recorded import record

SKEWED = record([("read", "y", 0), ("write", "x", 1)], [("read", "x", 0), ("write", "y", 1)])
LOST = record([("read", "x", 0), ("write", "x", 1)], [("read", "x", 0), ("write", "x", 2)])
ORIGIN = Origin(
    database="PostgreSQL", version="15.18", isolation="REPEATABLE READ", seconds=10.2, committed=2
)


def promised(report: Report, *levels: Level, origin: Origin = ORIGIN) -> Report:
    return replace(report, promises=levels, origin=origin)


def test_a_kept_promise_names_the_database_and_what_the_level_allows() -> None:
    answer = promised(check(SKEWED), Level.SNAPSHOT_ISOLATION).answer
    assert answer.outcome is Decision.YES
    assert answer.sentence == (
        "Yes. PostgreSQL 15.18 at REPEATABLE READ kept snapshot isolation (2 transactions, 10 s). "
        "It allows write skew; 1 was seen."
    )
    assert (answer.broken_by, answer.allowed) == ({}, {"write-skew": 1})


def test_a_broken_promise_names_what_broke_it_and_the_weakest_level_below() -> None:
    answer = promised(check(LOST), Level.SNAPSHOT_ISOLATION).answer
    assert answer.outcome is Decision.NO
    assert answer.sentence == (
        "No. PostgreSQL 15.18 at REPEATABLE READ broke snapshot isolation, and even cursor stability: "
        "1 lost update."
    )
    assert answer.example is not None
    assert answer.example.name == "lost-update"


def test_a_promise_is_not_decided_where_a_level_is_unknown_or_nothing_was_committed() -> None:
    asked = check(SKEWED, ["strict-serializable"], method="values")
    assert asked.answer.outcome is Decision.NOT_DECIDED
    assert asked.answer.sentence.startswith("Not decided: whether the history kept strict serializability (")
    silent = promised(check(LOST), Level.SNAPSHOT_ISOLATION, origin=replace(ORIGIN, committed=0))
    assert silent.answer.outcome is Decision.NOT_DECIDED
    assert silent.answer.sentence.endswith("kept snapshot isolation (nothing was committed).")


def test_levels_that_were_named_replace_the_promise() -> None:
    report = replace(promised(check(SKEWED), Level.SNAPSHOT_ISOLATION), asked=(Level.SERIALIZABLE,))
    assert report.answer.outcome is Decision.NO
    assert (report.answer.levels, report.answer.is_promise) == ((Level.SERIALIZABLE,), False)


def test_a_promise_that_is_broken_is_no_whatever_was_named() -> None:
    report = replace(promised(check(LOST), Level.SNAPSHOT_ISOLATION), asked=(Level.PL_2,))
    assert report.answer.broken == (Level.SNAPSHOT_ISOLATION,)
    assert report.answer.outcome is Decision.NO


def test_without_a_question_the_answer_is_the_border() -> None:
    answer = check(SKEWED).answer
    assert answer.outcome is Decision.NOT_ASKED
    assert str(answer) == (
        "Strongest well-known level that holds: strong-session-snapshot-isolation. "
        "Weakest well-known level that is broken: strong-session-serializable."
    )


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_anomaly_can_be_counted_in_words(name: str) -> None:
    one, several = (anomalies_in_words(name, count) for count in (1, 2000))
    assert one.startswith("1 ") or one.endswith(" (1)")
    assert several.startswith("2,000 ") or several.endswith(" (2,000)")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lost-update", "212 lost updates"),
        ("write-skew-session", "212 write skews (session order)"),
        ("no-commit-order", "no commit order (212)"),
        ("duplicate-elements", "duplicate elements (212)"),
    ],
)
def test_anomalies_are_counted_in_the_plural(name: str, words: str) -> None:
    assert anomalies_in_words(name, 212) == words


def test_text_and_json_say_the_same() -> None:
    for report in (check(SKEWED), promised(check(LOST), Level.SNAPSHOT_ISOLATION)):
        assert render_text(report).splitlines()[0] == report.answer.sentence
        assert document(report)["answer"]["sentence"] == report.answer.sentence


def test_what_the_level_allows_is_counted_and_shown_on_request() -> None:
    report = promised(check(SKEWED), Level.SNAPSHOT_ISOLATION)
    text = render_text(report)
    assert "write-skew: 1 found" not in text
    assert "\n  allowed at this level: write-skew 1 (--all shows them)\n" in text
    assert "write-skew: 1 found" in render_text(report, everything=True)


def test_the_first_counterexample_follows_the_answer() -> None:
    blocks = render_text(check(LOST, ["snapshot-isolation"])).split("\n\n")
    assert blocks[0] == "No. The history broke snapshot isolation: 1 lost update."
    assert blocks[1] == "lost-update: 1 found"


def test_a_name_that_vendors_use_otherwise_has_a_note() -> None:
    note = "repeatable-read is Adya's PL-2.99; databases use the name otherwise"
    assert note in render_text(check(SKEWED, ["repeatable-read"]))
    assert "note " not in render_text(check(SKEWED, ["serializable"]))


def test_without_a_question_each_weakest_broken_level_has_one_counterexample() -> None:
    history = record(
        [("write", "x", 1), ("abort",)],
        [("read", "x", 1)],
        [("write", "y", 1)],
        [("read", "y", 0), ("read", "y", 1)],
    )
    report = check(history)
    assert {Level.PL_2, Level.CUT_ISOLATION} <= {*report.weakest_violated}
    text = render_text(report)
    assert "aborted-read: 1 found" in text
    assert "non-repeatable-read: 1 found" in text
