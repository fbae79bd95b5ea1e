"""Sentences about the database's own clock: the expected value, the value that was read, and the times."""

from __future__ import annotations

import random

import pytest

from isoscope.checkers import timestamps
from isoscope.explain import because, contradiction, message, trimmed
from isoscope.history import Initial
from isoscope.levels import Level
from isoscope.recorder import Recorder
from isoscope.verdict import ABSENT, StaleReadFacts
from tests.reference.clock_histories import clocked, random_clock_history

SI, SER = Level.CLOCK_SNAPSHOT_ISOLATION, Level.CLOCK_SERIALIZABLE

MESSAGES = {
    "older version": (
        SI,
        ("a 1-2: w(x,1)", "b 3-4: w(x,2)", "c 5-6: r(x,1)"),
        "T2 read x = 1, but by the database's clock x was 2, written by T1, when T2 started. "
        "It read an older version, T0's 1.",
    ),
    "older version, in the order of commits": (
        SER,
        ("a 1-2: w(x,1)", "b 3-5: w(x,2)", "c 4-6: r(x,1)"),
        "T2 read x = 1, but by the database's clock x was 2, written by T1, when T2 committed. "
        "It read an older version, T0's 1.",
    ),
    "initial value": (
        SI,
        ("a 1-2: w(x,1)", "b 3-4: r(x,0)"),
        "T1 read x = 0, but by the database's clock x was 1, written by T0, when T1 started. "
        "It read the initial value.",
    ),
    "newer version": (
        SI,
        ("a 1-2: w(x,1)", "b 3-6: r(x,2)", "c 4-5: w(x,2)"),
        "T1 read x = 2, but by the database's clock x was 1, written by T0, when T1 started. "
        "It read a newer version, T2's 2: T1 started at 3, before T2 committed at 5.",
    ),
    "newer version instead of the initial value": (
        SI,
        ("a 3-6: r(x,2)", "b 4-5: w(x,2)"),
        "T0 read x = 2, but by the database's clock x was 0 when T0 started. "
        "It read a newer version, T1's 2: T0 started at 3, before T1 committed at 5.",
    ),
    "newer version, in the order of commits": (
        SER,
        ("a 1-2: r(x,1)", "b 1-3: w(x,1)"),
        "T0 read x = 1, but by the database's clock x was 0 when T0 committed. "
        "It read a newer version, T1's 1: T0 committed at 2, before T1 committed at 3.",
    ),
    "newer version, in the order of equal commits": (
        SER,
        ("a 1-3: r(x,1)", "b 1-3: w(x,1)"),
        "T0 read x = 1, but by the database's clock x was 0 when T0 committed. "
        "It read a newer version, T1's 1: "
        "T0 and T1 both committed at 3, T0 first by the rule for equal times.",
    ),
    "not yet committed": (
        SI,
        ("a 1-4: w(x,1)", "b 3-5: r(x,1)"),
        "T1 read x = 1, but by the database's clock x was 0 when T1 started. "
        "It read T0's 1, which was not yet committed: T1 started at 3, before T0 committed at 4.",
    ),
    "not yet committed, all at one time": (
        SI,
        ("a 3-3: r(x,1)", "b 3-3: w(x,1)"),
        "T0 read x = 1, but by the database's clock x was 0 when T0 started. "
        "It read T1's 1, which was not yet committed: "
        "T0 and T1 both committed at 3, T0 first by the rule for equal times.",
    ),
    "rolled back": (
        SI,
        ("a 1-2: w(x,1)", "b 3-4 aborted: w(x,2)", "c 5-6: r(x,2)"),
        "T2 read x = 2, but by the database's clock x was 1, written by T0, when T2 started. "
        "It read T1's 2, which was rolled back.",
    ),
    "replaced": (
        SI,
        ("a 1-2: w(x,1) w(x,2)", "b 3-4: r(x,1)"),
        "T1 read x = 1, but by the database's clock x was 2, written by T0, when T1 started. "
        "It read T0's 1, which T0 itself replaced before it committed.",
    ),
    "own later write": (
        SI,
        ("a 1-2: r(x,1) w(x,1)",),
        "T0 read x = 1, but by the database's clock x was 0 when T0 started. "
        "It read its own write of 1, which came only later.",
    ),
    "left out": (  # 1 of T0 or of T1: whichever took effect, T2 replaced it
        SI,
        ("a 1-2 indeterminate: w(x,1)", "b 1-2 indeterminate: w(x,1)", "c 3-4: w(x,2)", "d 5-6: r(x,1)"),
        "T3 read x = 1, but by the database's clock x was 2, written by T2, when T3 started. "
        "It read T0's 1, which is not known to have been committed.",
    ),
    "never written": (
        SI,
        ("a 1-2: w(x,1)", "b 3-4: r(x,5)"),
        "T1 read x = 5, but by the database's clock x was 1, written by T0, when T1 started. "
        "No transaction wrote 5 to x.",
    ),
    "older list": (
        SI,
        ("a 1-2: a(x,1)", "b 3-4: a(x,2)", "c 5-6: r(x,[1])"),
        "T2 read x = [1], but by the database's clock x was [1 2] when T2 started. "
        "It read an older version, up to T0's 1.",
    ),
    "empty list": (
        SI,
        ("a 1-2: a(x,1)", "b 3-4: r(x,[])"),
        "T1 read x = [], but by the database's clock x was [1] when T1 started. "
        "It read an older version, with nothing that others appended.",
    ),
    "only own appends": (
        SI,
        ("a 1-2: a(x,1)", "b 3-4: a(x,2) r(x,[2])"),
        "T1 read x = [2], but by the database's clock x was [1] when T1 started. "
        "It read an older version, with nothing that others appended.",
    ),
    "torn list": (
        SI,
        ("a 1-2: a(x,1) a(x,2)", "b 3-4: r(x,[1])"),
        "T1 read x = [1], but by the database's clock x was [1 2] when T1 started. "
        "It read a part of what T0 appended, without 2.",
    ),
    "list in another order": (
        SI,
        ("a 1-2: a(x,1)", "b 3-4: a(x,2)", "c 5-6: r(x,[2;1])"),
        "T2 read x = [2 1], but by the database's clock x was [1 2] when T2 started. "
        "The list never was like that: element 1 is 2 instead of 1.",
    ),
    "list with an element too many": (
        SI,
        ("a 1-2: a(x,1)", "b 3-4: r(x,[1;7])"),
        "T1 read x = [1 7], but by the database's clock x was [1] when T1 started. "
        "The list never was like that: element 2 is 7 where the list should end.",
    ),
    "session order": (
        SI,
        ("a 1-3: w(x,1)", "a 2-4: w(y,1)"),
        "T1 follows T0 in session a, but by the database's clock T1 started at 2, before T0 committed at 3.",
    ),
    "write conflict": (
        SI,
        ("a 1-3: w(x,1)", "b 2-4: w(x,2)"),
        "T0 wrote x = 1 and T1 wrote x = 2, and both committed, although by the database's clock neither had "
        "committed when the other started: T0 ran from 1 to 3 and T1 from 2 to 4.",
    ),
    "write conflict of lists": (
        SI,
        ("a 1-3: a(x,1)", "b 2-4: a(x,2)"),
        "T0 appended 1 to x and T1 appended 2 to x, and both committed, although by the database's clock "
        "neither had committed when the other started: T0 ran from 1 to 3 and T1 from 2 to 4.",
    ),
    "write conflict of equal commits": (
        SI,
        ("a 1-3: w(x,1)", "b 3-3: w(x,2)"),
        "T0 wrote x = 1 and T1 wrote x = 2, and both committed, by the database's clock at the same time: "
        "T0 ran from 1 to 3 and T1 from 3 to 3.",
    ),
    "timestamp inversion": (
        SI,
        ("a 2-1: w(x,1)",),
        "By the database's clock T0 committed at 1, before it started at 2.",
    ),
    "int: not my own write": (
        SI,
        ("a 1-2: w(x,1) r(x,0)",),
        "T0 read x = 0 although it had itself written 1 before.",
    ),
    "int: non-repeatable read": (
        SER,
        ("a 1-2: r(x,0) r(x,1)", "b 3-4: w(x,1)"),
        "T0 read x = 0 and later x = 1: something changed x under a transaction that was still running.",
    ),
}

CONTRADICTIONS = {
    "missed": (
        ("a 1-2: w(x,1)", "b 3-4: r(x,0)"),
        "So T1 did not see what, by the database's clock, was committed before it.",
    ),
    "too early": (
        ("a 1-2: w(x,1)", "b 3-6: r(x,2)", "c 4-5: w(x,2)"),
        "So T1 saw what, by the database's clock, was not yet committed; x was 1 when T1 started.",
    ),
    "rolled back": (
        ("a 3-4 aborted: w(x,2)", "b 5-6: r(x,2)"),
        "But T0 aborted: by the database's clock x was 0 when T1 started.",
    ),
    "replaced": (
        ("a 1-2: w(x,1) w(x,2)", "b 3-4: r(x,1)"),
        "But T0 itself replaced that before it committed: by the database's clock x was 2 when T1 started.",
    ),
    "left out": (
        ("a 1-2 indeterminate: w(x,1)", "b 1-2 indeterminate: w(x,1)", "c 3-4: w(x,2)", "d 5-6: r(x,1)"),
        "But T0 is not known to have committed: by the database's clock x was 2 when T3 started.",
    ),
    "out of session": (
        ("a 1-3: w(x,1)", "a 2-4: w(y,1)"),
        "So T1 cannot have seen T0 by the database's clock, although T0 ran before it in session a.",
    ),
}


@pytest.mark.parametrize(("level", "lines", "sentence"), MESSAGES.values(), ids=MESSAGES)
def test_the_message_is(level: Level, lines: tuple[str, ...], sentence: str) -> None:
    [verdict] = timestamps.check(clocked(*lines), levels=[level])
    assert [message(anomaly) for anomaly in verdict.anomalies] == [sentence]


@pytest.mark.parametrize(("lines", "sentence"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_the_contradiction_is(lines: tuple[str, ...], sentence: str) -> None:
    [verdict] = timestamps.check(clocked(*lines), levels=[SI])
    assert [contradiction(anomaly) for anomaly in verdict.anomalies] == [sentence]


@pytest.mark.parametrize(
    "initial", [Initial(), Initial(value=0, replaceable=True)], ids=["unknown", "replaceable"]
)
def test_an_initial_value_that_is_not_certain_is_not_shown(initial: Initial) -> None:
    history = clocked("a 1-4: r(x,1)", "b 2-3: w(x,1)", initial=initial)
    [verdict] = timestamps.check(history, levels=[SI])
    [anomaly] = verdict.anomalies
    assert anomaly.facts_as(StaleReadFacts).expected is ABSENT
    assert "but by the database's clock x still had its initial value when T0 started." in message(anomaly)


def test_an_initial_value_of_the_key_alone_is_shown() -> None:
    history = clocked("a 1-4: r(x,1)", "b 2-3: w(x,1)", initial=Initial(value=0, of_key={"x": 9}))
    [verdict] = timestamps.check(history, levels=[SI])
    assert "but by the database's clock x was 9 when T0 started." in message(verdict.anomalies[0])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("a 1-2: w(x,1)", "T0 committed at 2, before T1 started at 3"),
        ("a 1-3: w(x,1)", "T0 committed at 3, when T1 started: at one time commits come first"),
    ],
)
def test_a_step_of_the_clock_says_both_times(line: str, told: str) -> None:
    [verdict] = timestamps.check(clocked(line, "b 3-4: r(x,0)"), levels=[SI])
    clock, missed = verdict.anomalies[0].steps
    assert because(clock) == told
    assert because(missed) == "T1 read x = 0, the initial value, which T0 overwrote with 1"


def test_timestamps_order_versions_only_where_they_differ() -> None:
    for second, reason in (("3-4", ": by commit timestamps 1 comes before 2"), ("2-2", "")):
        history = clocked("a 1-2: w(x,1)", f"b {second}: w(x,2)", "c 5-6: r(x,1)")
        [verdict] = timestamps.check(history, levels=[SER])
        _, missed = verdict.anomalies[0].steps
        assert because(missed) == f"T2 read x = 1 from T0, which T1 overwrote with 2{reason}"


def test_of_a_long_list_the_place_where_it_is_wrong_is_shown() -> None:
    appends = " ".join(f"a(x,{n})" for n in range(100, 140))
    shown = [*range(100, 120), 121, 120, *range(122, 140)]
    history = clocked(f"a 1-2: {appends}", f"b 3-4: r(x,[{';'.join(map(str, shown))}])")
    [verdict] = timestamps.check(history, levels=[SI])
    assert message(verdict.anomalies[0]) == (
        "T1 read x = [... 117 118 119 121 120 122 123 ...], but by the database's clock x was "
        "[... 117 118 119 120 121 122 123 ...] when T1 started. "
        "The list never was like that: element 21 is 121 instead of 120."
    )


def test_nil_is_an_element_of_a_list_like_any_other() -> None:
    recorder = Recorder()
    for start, kind, value in ((1, "append", 1), (3, "read", (1, None))):
        with recorder.transaction(session=start) as t:
            t.timestamps(start, start + 1)
            getattr(t, kind)("x", value)
    [verdict] = timestamps.check(recorder.history(), levels=[SI])
    said = "The list never was like that: element 2 is nil where the list should end."
    assert message(verdict.anomalies[0]).endswith(said)


def test_a_write_conflict_of_transactions_with_long_names_can_be_said_in_short() -> None:
    recorder = Recorder()
    for start in (1, 2):
        with recorder.transaction(session=start, id=str(start) * 100) as t:
            t.timestamps(start, start + 2)
            t.write("x", start)
    [verdict] = timestamps.check(recorder.history(), levels=[SI])
    said = contradiction(trimmed(verdict.anomalies[0]))
    one, other = (f"{digit * 30} ... {digit * 30}" for digit in "12")
    assert said.endswith(f": {one} ran from 1 to 3 and {other} from 2 to 4.")


def test_whatever_contradicts_the_clock_can_be_said() -> None:
    """Of any history: with steps, what follows from them; without, the message."""
    for seed in range(500):
        history = random_clock_history(random.Random(seed))
        for verdict in timestamps.check(history, levels=timestamps.LEVELS):
            for anomaly in verdict.anomalies:
                said = contradiction(anomaly)
                assert said.startswith(("So ", "But ")) == bool(anomaly.steps)
                assert (said == message(anomaly)) != bool(anomaly.steps)
                assert all(because(step) for step in anomaly.steps)
