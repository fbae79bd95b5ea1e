"""The text of a report, to the letter."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import isoscope
from isoscope import check
from isoscope.levels import Level
from isoscope.reports import document, render_json, render_text
from isoscope.verdict import Anomaly, Method, Ordered, Outcome, Report, Verdict
from tests.recorded import record
from tests.reports.histories import ABORTED, LEVELS, UNREAD

if TYPE_CHECKING:
    from pathlib import Path

ANOMALY = Anomaly(name="lost-update", transactions=("T1", "T2"), keys=("x",))


def test_the_text_report_leads_with_the_answer_and_the_proof_and_ends_with_the_verdicts() -> None:
    assert render_text(check(ABORTED, LEVELS)) == (
        "No. The history broke read atomicity and PL-2: 1 aborted read.\n"
        "\n"
        "aborted-read: 1 found\n"
        "\n"
        "  T1  wrote x = 1, then aborted\n"
        "  T2  read x = 1\n"
        "\n"
        "  T1 before T2 (wr)  T2 read x = 1, which T1 wrote\n"
        "  But T1 aborted: no transaction may see what it wrote.\n"
        "\n"
        "  hint: a client that reports a time-out as a failure may have made this up; record what timed out\n"
        "        as indeterminate (Jepsen: :info, not :fail)\n"
        "\n"
        "<memory> (recorded): 2 sessions, 2 transactions, 2 operations, 1 key, 1 aborted\n"
        "evidence: values\n"
        "assumed: every key holds 0 before its first write (a list: nothing)\n"
        "\n"
        "  violated  pl-2, and so read-atomic\n"
        "  holds     pl-1, cut-isolation\n"
    )


def test_a_long_list_of_levels_is_counted_and_the_best_known_are_named() -> None:
    text = render_text(check(ABORTED), width=200)
    assert (
        "  violated  pl-2, and so 16 stronger levels "
        "(read-committed, read-atomic, causal, snapshot-isolation, serializable, ...)\n"
    ) in text


FRACTURED = record([("write", "x", 1), ("write", "y", 1)], [("read", "x", 0), ("read", "y", 1)])


@pytest.mark.parametrize(
    ("history", "levels", "short"),
    [
        (FRACTURED, ["causal", "read-atomic"], "  in short  read-atomic is violated\n"),
        (FRACTURED, ["prefix", "pl-2", "rc"], "  in short  read-committed holds, prefix is violated\n"),
        (FRACTURED, ["read-atomic"], ""),
        (FRACTURED, ["read-atomic", "cut-isolation", "pl-2"], ""),
        (FRACTURED, ["prefix", "strong-session-serializable"], "  in short  prefix is violated\n"),
    ],
)
def test_the_verdicts_lead_with_the_strongest_that_holds_and_the_weakest_that_is_violated(
    history: isoscope.History, levels: list[str] | None, short: str
) -> None:
    rows = _rows(render_text(check(history, levels))).splitlines(keepends=True)
    assert "".join(row for row in rows if row.startswith("  in short")) == short
    assert not short or rows[0] == short


def _rows(text: str) -> str:
    """The block of outcomes."""
    blocks = text.split("\n\n")
    return next(block for block in blocks if re.match("  (in short|violated|holds|unknown|possible)", block))


@pytest.mark.parametrize(
    ("history", "answer"),
    [
        (
            FRACTURED,
            "Strongest well-known level that holds: read-committed. "
            "Weakest well-known level that is broken: read-atomic.",
        ),
        (
            ABORTED,
            "Strongest level that holds: strong-session-pl-1, read-your-writes, monotonic-reads and 2 more. "
            "Weakest well-known level that is broken: read-committed.",
        ),
        (record([("write", "x", 1)]), "Strongest well-known level that holds: strong-session-serializable."),
    ],
)
def test_without_a_question_the_first_line_is_the_border_of_what_holds(
    history: isoscope.History, answer: str
) -> None:
    assert render_text(check(history), width=40).splitlines()[0] == answer


def judged(**outcomes: str) -> Report:
    """A report with these outcomes; each has the names of its levels."""
    verdicts = tuple(
        Verdict(
            level=Level(name),
            outcome=Outcome(outcome),
            method=Method.VERSION_ORDER,
            reason="time" if outcome == "unknown" else "",
            anomalies=(ANOMALY,) if outcome == "violated" else (),
        )
        for outcome, names in outcomes.items()
        for name in names.split()
    )
    return Report(history=check(ABORTED).history, verdicts=verdicts)


STRONG = "strong-session-snapshot-isolation strong-session-serializable"
PLAIN = "snapshot-isolation serializable"


@pytest.mark.parametrize(
    ("outcomes", "lines"),
    [
        (
            {"holds": f"causal {PLAIN}", "violated": STRONG},
            [
                "  in short  without sessions: serializable holds",
            ],
        ),
        (
            {
                "holds": "causal snapshot-isolation",
                "violated": "strong-session-snapshot-isolation",
                "unknown": "serializable",
            },
            [
                "  in short  without sessions: snapshot-isolation holds, serializable may hold",
            ],
        ),
        (
            {"holds": "causal", "violated": f"{STRONG} {PLAIN}"},
            [],
        ),
        (
            {"holds": f"causal {PLAIN}", "unknown": STRONG},
            [],
        ),
        (
            {"holds": "read-atomic", "unknown": "causal", "violated": STRONG},
            [],
        ),
        ({"unknown": STRONG}, []),
    ],
)
def test_the_report_leads_with_sessions_and_adds_a_different_answer_without_them(
    outcomes: dict[str, str], lines: list[str]
) -> None:
    rows = _rows(render_text(judged(**outcomes), width=200)).splitlines()
    heads = [row[:12].split() for row in rows]
    short = [row for row, head in zip(rows, heads, strict=True) if head in (["in", "short"], [])]
    assert short == lines == rows[: len(lines)]


@pytest.mark.parametrize(
    ("outcomes", "possible"),
    [
        ({"unknown": PLAIN}, "  possible  serializable, and so snapshot-isolation"),
        (
            {"holds": "causal", "unknown": "prefix serializable pl-2"},
            "  possible  prefix, serializable, and so pl-2",
        ),
        # The line of unknown levels says it all.
        ({"unknown": "serializable", "holds": "snapshot-isolation"}, ""),
        ({"violated": "serializable", "holds": "snapshot-isolation"}, ""),
        (
            {"unknown": "strong-pl-2 strong-pl-1 strong-session-pl-2 strong-session-pl-1 pl-2 pl-1"},
            "  possible  strong-pl-2, and so 5 weaker levels (strong-pl-1, ...)",
        ),
    ],
)
def test_the_strongest_levels_that_may_still_hold_stand_for_the_others(
    outcomes: dict[str, str], possible: str
) -> None:
    rows = render_text(judged(**outcomes)).splitlines()
    assert [row for row in rows if row.startswith("  possible")] == [possible] * bool(possible)


def test_the_report_says_how_much_of_the_keys_is_ordered_and_from_what() -> None:
    report = check(UNREAD, ["serializable"])
    assert render_text(report).split("\n\n<memory>")[1].splitlines()[1:3] == [
        "evidence: values, version-order",
        "version order: list reads order 3 keys, 2 of them to the last version; 1 key is not ordered",
    ]
    assert document(report)["version_order"] == [
        {"source": "list read", "keys": 3, "whole": 2},
        {"source": "", "keys": 1, "whole": 0},
    ]


@pytest.mark.parametrize(
    ("history", "options"),
    [
        (UNREAD, {"levels": ["causal"]}),
        (UNREAD, {"levels": ["serializable"], "method": "values"}),
        (record([("write", "x", 1)], [("write", "x", 2)]), {}),
        (record(), {}),
    ],
)
def test_the_report_is_silent_where_no_order_was_asked_for_or_known(
    history: isoscope.History, options: dict[str, Any]
) -> None:
    report = check(history, **options)
    assert report.version_order == ()
    assert "version order: " not in render_text(report)


def test_a_claim_orders_keys_too() -> None:
    history = record([("write", "x", 1)], [("read", "x", 1), ("write", "x", 2)])
    report = check(history, ["serializable"], assume=["writes-follow-reads"])
    assert report.version_order == (Ordered(source="assume writes-follow-reads", keys=1, whole=1),)
    assert check(history, ["serializable"]).version_order == ()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [("list read", 1408, 1390), ("", 5, 2)],
            ("list reads order 1,408 keys, 1,390 of them to the last version; 3 keys are not ordered"),
        ),
        ([("log", 2, 2), ("", 4, 4)], "the log orders 2 keys to the last version"),
        ([("declared", 1, 0)], "a declaration orders 1 key, not to the last version"),
        ([("timestamps", 2, 0)], "timestamps order 2 keys, none of them to the last version"),
        (
            [("initial", 1, 1), ("assume sequential-keys", 1, 1)],
            "the first state orders 1 key to the last version; "
            "the claim sequential-keys orders 1 key to the last version",
        ),
    ],
)
def test_the_sources_of_version_orders_are_one_line(rows: list[tuple[str, int, int]], said: str) -> None:
    order = tuple(Ordered(source=source, keys=keys, whole=whole) for source, keys, whole in rows)
    text = render_text(replace(check(ABORTED), version_order=order), width=200)
    assert f"\nversion order: {said}\n" in text


def test_anomalies_come_in_the_order_of_their_levels() -> None:
    """Single reads first, then from read committed to causal, for any order of the asked levels."""
    history = record(
        [("write", "x", 1), ("write", "y", 1)],
        [("read", "x", 0), ("read", "y", 1)],
        [("read", "z", 9)],
    )
    text = render_text(check(history, ["serializable", "causal", "pl-2"]))
    assert re.findall(r"^(\S+): 1 found$", text, re.MULTILINE) == [
        "thin-air-read",
        "read-skew",
        "fractured-read-co",
    ]


def test_places_in_the_text_need_only_the_name_of_the_input(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "h.txt"
    path.parent.mkdir()
    path.write_text("r(1,7,1,1)\n")
    text = render_text(check(isoscope.load(path), ["pl-2"]))
    assert text.startswith(f"No. {path} broke PL-2: 1 thin-air read.")
    assert "read key 1 = 7 (h.txt:1)\n" in text
    assert f"({path}:1)" in render_json(check(isoscope.load(path), ["pl-2"]))


@pytest.mark.parametrize("width", range(40, 100, 7))
def test_a_line_never_ends_between_a_key_and_its_value_or_inside_a_list(width: int) -> None:
    history = record(
        [("append", 1, 1), ("append", 2, 1)],
        [("append", 1, 2), ("append", 2, 2)],
        [("read", 1, (1, 2)), ("read", 2, (2, 1))],
    )
    for line in render_text(check(history, ["causal"]), width=width).splitlines():
        assert not re.search(r"( =|\bkey|\[\d)$", line)
        assert not re.match(r" *(= |\d+\])", line)


def test_a_clean_report_has_no_counterexamples() -> None:
    text = render_text(check(record([("write", "x", 1)]), ["cut-isolation"]))
    assert text.endswith("\n\n  holds     cut-isolation\n")


def test_a_hint_is_given_once_for_all_anomalies_of_a_name() -> None:
    history = record([("write", "x", 1), ("abort",)], *[[("read", "x", 1)]] * 5, [("read", "y", 5)])
    text = render_text(check(history, ["pl-2"], max_anomalies=3), shown=3)
    assert text.count("hint: ") == 1
    _, _, after = text.partition("  ... and 2 more\n")
    assert after.startswith("  hint: a client that reports a time-out as a failure")


def test_more_anomalies_than_are_shown_are_counted() -> None:
    history = record(*[[("read", "x", 100 + n)] for n in range(1500)])
    text = render_text(check(history, ["pl-2"], max_anomalies=2), shown=2)
    assert "thin-air-read: 1,500 found\n" in text
    assert re.findall(r"^  \d+ of .*", text, re.MULTILINE) == ["  1 of 1,500:", "  2 of 1,500:"]
    assert "\n\n  ... and 1,498 more\n" in text
    assert "\n\n  ... and 1,499 more\n" in render_text(check(history, ["pl-2"], max_anomalies=2))


def test_a_single_counterexample_has_no_number() -> None:
    assert " of 1" not in render_text(check(ABORTED))


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_lines_are_no_longer_than_the_width(width: int) -> None:
    history = record(*[[("read", "x", 100 + n), ("read", "x", 0)] for n in range(3)])
    text = render_text(check(history), width=width)
    assert width - 20 < max(map(len, text.splitlines()[1:])) <= width


def test_a_report_has_colours_only_if_it_is_asked_for_them() -> None:
    plain, coloured = render_text(check(ABORTED)), render_text(check(ABORTED), colour=True)
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", plain)
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain
    assert coloured.startswith("\x1b[33m\x1b[1mStrongest level that holds")
    assert "  \x1b[36m\x1b[1mholds\x1b[0m     strong" in coloured


@pytest.mark.parametrize("path", ["\x1b[2J.txt", "two\nlines.txt", "\u202etxt.exe"])
def test_a_hostile_name_of_a_file_is_harmless_in_the_heading(path: str) -> None:
    report = replace(check(ABORTED), history={**check(ABORTED).history, "path": path})
    assert all(line.isprintable() for line in render_text(report).splitlines())
    assert render_text(report).count("\n") == render_text(check(ABORTED)).count("\n")
