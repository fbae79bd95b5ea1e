"""The GitHub step summary: tables, folded proofs, no markup from the history, never too long."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import isoscope
from isoscope import check
from isoscope.reports.findings import Result, Unreadable
from isoscope.reports.registry import STEP_SUMMARY_LIMIT as LIMIT
from isoscope.reports.step_summary import render_step_summary
from tests.recorded import record

ABORTED = record([("write", "x", 1), ("abort",)], [("read", "x", 1)])
SKEWED = record([("read", "y", 0), ("write", "x", 1)], [("read", "x", 0), ("write", "y", 1)])


def test_a_summary_to_the_letter() -> None:
    report = check(ABORTED, ["pl-2", "pl-1"])
    assert render_step_summary([report]) == (
        "### No. The history broke PL-2&#58; 1 aborted read.\n"
        "\n"
        "&#60;memory&#62;\n"
        "\n"
        "2 sessions, 2 transactions, 2 operations, 1 key\n"
        "\n"
        "| outcome | levels |\n"
        "|---|---|\n"
        "| violated | **pl-2** |\n"
        "| holds | pl-1 |\n"
        "\n"
        "<details><summary>aborted-read: 1 found</summary>\n"
        "\n"
        "- T2 read x = 1, which T1 wrote and then rolled back.\n"
        "\n"
        "</details>\n"
    )


def test_a_level_that_decides_the_exit_status_is_bold() -> None:
    text = render_step_summary([check(SKEWED)])
    assert "serializable" in text
    assert "**" not in text
    assert "**serializable**" in render_step_summary([check(SKEWED, ["serializable"])])


def test_unknown_has_its_reason() -> None:
    report = check(SKEWED, ["strict-serializable"], method="values")
    text = html.unescape(render_step_summary([report]))
    assert "| unknown | **strict-serializable** |" in text
    assert f"\nunknown: {report.verdicts[0].reason}" in text


def test_anomalies_that_were_looked_for_are_a_table() -> None:
    text = render_step_summary([isoscope.search(ABORTED, ["aborted-read", "thin-air-read"])])
    assert (
        "| outcome | anomalies |\n|---|---|\n| found | **aborted-read** |\n| absent | thin-air-read |" in text
    )


def test_a_circle_stands_before_its_sentences() -> None:
    assert "- T1 (rw) T2 (rw) T1<br>T1 and T2 each read" in render_step_summary([check(SKEWED)])


def test_anomalies_that_are_not_shown_are_counted() -> None:
    history = record([("write", "x", 1), ("abort",)], *[[("read", "x", 1)]] * 3)
    text = render_step_summary([check(history, ["pl-2"], max_anomalies=1)])
    assert "aborted-read: 3 found" in text
    assert "- and 2 more" in text


def test_a_history_that_cannot_be_read_has_its_error() -> None:
    text = render_step_summary([Unreadable(path="a.txt", error="a.txt: no\n\nhint: yes")])
    assert html.unescape(text) == "### a.txt\n\ncould not be read: a.txt: no\n"


HOSTILE = [
    "|",
    "`",
    "<script>",
    "</details>",
    "[a](b)",
    "*a* _b_",
    "@me",
    "#1",
    "a\n\n# b",
    "\x1b[31m",
    "\u202e",
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_is_inert_and_readable(hostile: str) -> None:
    history = record([("write", hostile, 1), ("abort",)], [("read", hostile, 1)])
    results: list[Result] = [Unreadable(path=hostile, error=hostile), check(history)]
    text = render_step_summary(results)
    unread, _, found = text.partition("<details>")
    for line in (unread.splitlines()[0].removeprefix("### "), found.splitlines()[2].removeprefix("- ")):
        assert not re.search(r"[|`<>\[\]*_@\\\x1b\u202e]|(?<!&)#", line)
    assert text.count("</details>") == 1


@given(name=st.text(min_size=1))
def test_a_name_stays_on_its_line(name: str) -> None:
    text = render_step_summary([Unreadable(path=name, error="no")])
    assert len(text.splitlines()) == 3


def test_parts_that_do_not_fit_are_left_out_and_counted() -> None:
    results = [check(ABORTED), check(SKEWED), check(ABORTED)]
    whole = render_step_summary(results)
    assert "Left out" not in whole
    size = len(whole.encode())
    cut = render_step_summary(results, limit=size)
    assert len(cut.encode()) <= size
    assert "Left out, because GitHub shows no more than 1 MiB: " in cut
    assert cut.count("| outcome |") == 3


def test_tables_are_left_out_last() -> None:
    text = render_step_summary([check(ABORTED)] * 50, limit=5_000)
    assert "<details>" not in text
    assert 0 < text.count("| outcome |") < 50
    assert re.search(r"1 MiB: \d+ histories and 50 anomalies\.\n$", text)
    assert len(text.encode()) <= 5_000


def test_no_room_at_all_is_no_reason_to_fail() -> None:
    assert "1 history and 1 anomaly." in render_step_summary([check(ABORTED)], limit=-1)


def test_the_limit_is_that_of_github() -> None:
    assert LIMIT == 1024 * 1024
