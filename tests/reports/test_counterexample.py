"""One counterexample: who did what, the proof, the contradiction."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

import isoscope
from isoscope import Recorder, check
from isoscope.explain import proof
from isoscope.reports import render_counterexample
from isoscope.reports.terminal import columns
from isoscope.verdict import Anomaly, Participant, Witness
from tests.recorded import record
from tests.small_histories import timed
from tests.strategies import histories
from tests.test_explain_cycles import CASES

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope import History

SKEWED = record([("write", "x", 1), ("write", "y", 1)], [("read", "x", 0), ("read", "y", 1)])


def found(history: History, name: str, **options: Any) -> Anomaly:
    verdicts = check(history, **options).verdicts
    return next(a for verdict in verdicts for a in verdict.anomalies if a.name == name)


def rows(anomaly: Anomaly, **options: Any) -> list[str]:
    """The lines about transactions."""
    return render_counterexample(anomaly, **options).split("\n\n")[0].splitlines()


def test_a_counterexample_is_transactions_then_steps_then_the_contradiction() -> None:
    assert render_counterexample(found(SKEWED, "read-skew")) == (
        "  T1  wrote x = 1, wrote y = 1\n"
        "  T2  read x = 0, read y = 1\n"
        "\n"
        "  T1 before T2 (wr)  T2 read y = 1, which T1 wrote\n"
        "  T2 before T1 (rw)  T2 read x = 0, the initial value, which T1 overwrote with 1\n"
        "  So T2 saw only part of what T1 wrote: it would have to come both after and before T1."
    )


def test_steps_stand_below_their_heads_where_there_is_little_room() -> None:
    assert render_counterexample(found(SKEWED, "read-skew"), width=48) == (
        "  T1  wrote x = 1, wrote y = 1\n"
        "  T2  read x = 0, read y = 1\n"
        "\n"
        "  T1 before T2 (wr):\n"
        "    T2 read y = 1, which T1 wrote\n"
        "  T2 before T1 (rw):\n"
        "    T2 read x = 0, the initial value, which T1\n"
        "    overwrote with 1\n"
        "  So T2 saw only part of what T1 wrote: it would\n"
        "  have to come both after and before T1."
    )


def in_session(name: str | None) -> History:
    recorder = Recorder(initial=0)
    for kind, session in (("write", name), ("read", None)):
        with recorder.transaction(session=session) as t:
            getattr(t, kind)("x", 1)
            if kind == "write":
                t.abort()
    return recorder.history()


def test_a_session_is_named_only_if_the_input_names_it() -> None:
    anomaly = found(in_session("alpha"), "aborted-read")
    assert rows(anomaly) == [
        "  T1  session alpha  wrote x = 1, then aborted",
        "  T2                 read x = 1",
    ]
    assert rows(found(in_session(None), "aborted-read")) == [
        "  T1  wrote x = 1, then aborted",
        "  T2  read x = 1",
    ]


def test_transactions_stand_above_what_they_did_where_there_is_little_room() -> None:
    anomaly = found(in_session("a-session-with-quite-a-long-name"), "aborted-read")
    assert rows(anomaly, width=60) == [
        '  T1, session "a-session-with-quite-a-long-name":',
        "    wrote x = 1, then aborted",
        "  T2:",
        "    read x = 1",
    ]


def test_an_outcome_that_nobody_knows_is_said() -> None:
    recorder = Recorder(initial=0)
    with recorder.transaction() as t:
        t.write("x", 1)
        t.write("x", 2)
        t.indeterminate()
    with recorder.transaction() as t:
        t.read("x", 1)
    assert rows(found(recorder.history(), "intermediate-read"))[0] == (
        "  T1  wrote x = 1, wrote x = 2, then no answer came (indeterminate)"
    )


def test_operations_that_are_left_out_are_counted_where_they_were() -> None:
    others = [[("write", f"k{n}{m}", n) for n in range(5)] for m in range(3)]
    writer = [*others[0], ("write", "x", 1), *others[1], ("write", "x", 2), *others[2]]
    anomaly = found(record(writer, [("read", "x", 1)]), "intermediate-read")
    assert rows(anomaly)[0] == ("  T1  ... 5 more, wrote x = 1, ... 5 more, wrote x = 2, ... 5 more")


def test_a_transaction_all_of_whose_operations_are_shown_leaves_nothing_out() -> None:
    assert "more" not in render_counterexample(found(SKEWED, "read-skew"))


def test_begin_and_end_are_no_operations_of_their_own() -> None:
    kinds = ("begin", "read", "commit")
    operations = tuple(
        Witness(transaction="T1", kind=kind, key="x" if kind == "read" else None, value=5, index=index)
        for index, kind in enumerate(kinds)
    )
    anomaly = found(record([("read", "x", 5)]), "thin-air-read")
    [participant] = anomaly.participants
    bracketed = replace(participant, operations=operations, matters=frozenset({1}))
    assert rows(replace(anomaly, participants=(bracketed,))) == ["  T1  read x = 5"]


# Where operations are.


def loaded(folder: Path, text: str) -> History:
    path = folder / "h.txt"
    path.write_text(text)
    return isoscope.load(path)


HALF = "w(1,1,1,1)\nw(2,1,1,1)\nr(1,0,2,2)\nr(2,1,2,2)\n"


def test_the_name_of_the_file_and_every_place_stand_once(tmp_path: Path) -> None:
    text = render_counterexample(found(loaded(tmp_path, HALF), "read-skew"), folder=str(tmp_path))
    assert text.splitlines()[:2] == [
        "  T1  session 1  wrote key 1 = 1 (h.txt:1), wrote key 2 = 1 (line 2)",
        "  T2  session 2  read key 1 = 0 (line 3), read key 2 = 1 (line 4)",
    ]
    assert text.count("(") == 4 + 2


def test_without_a_folder_the_place_is_whole(tmp_path: Path) -> None:
    history = loaded(tmp_path, HALF)
    assert f"({tmp_path}/h.txt:1)" in render_counterexample(found(history, "read-skew"))


def placed(*places: str) -> Anomaly:
    """A read that is wrong, of a transaction with an operation at each of these places."""
    anomaly = found(record([("read", "x", 5)]), "thin-air-read")
    [participant] = anomaly.participants
    [read] = participant.operations
    operations = tuple(replace(read, place=place, index=n) for n, place in enumerate(places))
    return replace(anomaly, participants=(replace(participant, operations=operations),))


@pytest.mark.parametrize(
    ("places", "said"),
    [
        (["h:1", "h:1", "h:2"], "read x = 5, read x = 5 (h:1), read x = 5 (line 2)"),
        (["h: byte 9", "h: byte 12"], "read x = 5 (h: byte 9), read x = 5 (byte 12)"),
        (["a/1:7", "a/2:7", "a/2:8"], "read x = 5 (a/1:7), read x = 5 (a/2:7), read x = 5 (line 8)"),
        (["<memory>"], "read x = 5 (<memory>)"),
        (["", "h:1"], "read x = 5, read x = 5 (h:1)"),
    ],
)
def test_a_place_is_as_short_as_it_can_be(places: list[str], said: str) -> None:
    assert rows(placed(*places)) == [f"  T1  {said}"]


def test_an_anomaly_without_participants_has_the_places_in_its_steps(tmp_path: Path) -> None:
    bare = replace(found(loaded(tmp_path, HALF), "read-skew"), participants=())
    text = render_counterexample(bare, width=1000)
    assert text.startswith(f"  T1 before T2 (wr)  T2 read key 2 = 1 ({tmp_path}/h.txt:4), which T1 wrote")


# The order of the transactions.


def names(anomaly: Anomaly) -> list[str]:
    return [row.split()[0] for row in rows(anomaly)]


def test_transactions_are_in_the_order_of_time_if_it_is_known() -> None:
    fork = record(
        [("write", "x", 1)],
        [("write", "y", 1)],
        [("read", "x", 1), ("read", "y", 0)],
        [("read", "x", 0), ("read", "y", 1)],
    )
    times = [(40, 50), (30, 55), (20, 56), (10, 57)]
    assert names(found(timed(fork, *times), "long-fork")) == ["T4", "T3", "T2", "T1"]
    assert names(found(timed(fork, *times[::-1]), "long-fork")) == ["T1", "T2", "T3", "T4"]


def test_else_they_are_in_the_order_of_the_proof_and_who_only_shows_something_comes_last() -> None:
    anomaly, _ = CASES["write-cycle in a session"]
    assert names(anomaly) == ["T1", "T2", "T3"]
    fork, _ = CASES["long-fork"]
    [part] = proof(fork)
    assert names(fork) == [reason.before for reason in part.reasons]


def test_a_session_keeps_its_order_whatever_the_proof_begins_with() -> None:
    anomaly, _ = CASES["write-cycle in a session"]
    turned = replace(anomaly, steps=anomaly.steps[::-1])
    assert [reason.before for reason in proof(turned)[0].reasons] == ["T2", "T1"]
    assert names(turned) == ["T1", "T2", "T3"]


@given(histories())
def test_every_anomaly_of_every_history_can_be_told(history: History) -> None:
    for verdict in check(history).verdicts:
        for anomaly in verdict.anomalies:
            *transactions, steps = render_counterexample(anomaly, width=60).split("\n\n")
            assert len(transactions) == bool(anomaly.transactions)
            assert all(name in "".join(transactions) for name in anomaly.transactions)
            assert steps.endswith(".")


# Long and hostile input.


def test_a_long_list_is_shown_around_what_matters() -> None:
    elements = tuple(range(100, 200))
    history = record(
        *[[("append", "x", n)] for n in elements if n != 150],
        [("append", "x", 150), ("abort",)],
        [("read", "x", elements)],
    )
    text = render_counterexample(found(history, "aborted-read"))
    assert "read x = [... 148 149 150 151 152 ...]\n" in text
    assert "154" not in text


HOSTILE = ["\x1b[2J", "a\nb", "\u202etxt", "\u2066x\u200f", "\u00ad", "\u200b", "\u2028", "\x00\x7f\x9b"]


@pytest.mark.parametrize("hostile", HOSTILE, ids=ascii)
def test_whatever_the_input_holds_every_line_is_harmless(hostile: str) -> None:
    recorder = Recorder(initial=0)
    with recorder.transaction(id=hostile, session=hostile) as t:
        t.write(hostile, hostile)
        t.abort()
    with recorder.transaction(id=f"{hostile}2", session=f"{hostile}2") as t:
        t.read(hostile, hostile)
    anomaly = found(recorder.history(), "aborted-read")
    lines = render_counterexample(anomaly, width=1000).splitlines()
    assert len(lines) == len(["writer", "reader", "", "step", "contradiction"])
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("hostile", [*HOSTILE, "\ud800"], ids=ascii)
def test_a_hostile_name_of_a_file_is_harmless(hostile: str) -> None:
    assert (
        render_counterexample(placed(f"{hostile}:1", f"{hostile}: and more")).replace("\n", "").isprintable()
    )


def test_ten_megabytes_are_a_few_lines() -> None:
    long = "y" * 10_000_000
    recorder = Recorder(initial=0)
    with recorder.transaction(id=long, session=long) as t:
        t.write(long, long)
        t.abort()
    with recorder.transaction(id="reader") as t:
        t.read(long, long)
    text = render_counterexample(found(recorder.history(), "aborted-read"))
    assert len(text) < 3000
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_wide_characters_take_two_columns(width: int) -> None:
    key = "在庫の数量と価格"
    writes = [("write", f"{key}{n}", "値段" * n) for n in range(1, 4)]
    reads = [("read", f"{key}1", 0), ("read", f"{key}2", "値段値段")]
    text = render_counterexample(found(record(writes, reads), "read-skew"), width=width)
    assert width - 24 < max(map(columns, text.splitlines())) <= width


def test_names_are_bold_and_what_does_not_matter_is_faint() -> None:
    history = record([("write", "x", 1), ("write", "z", 1), ("abort",)], [("read", "x", 1)])
    text = render_counterexample(found(history, "aborted-read"), colour=True)
    assert text.splitlines()[0] == "  \x1b[1mT1\x1b[0m  wrote x = 1, \x1b[2mwrote z = 1\x1b[0m, then aborted"


def test_colours_change_nothing_else() -> None:
    anomaly = found(SKEWED, "read-skew")
    coloured = render_counterexample(anomaly, colour=True, width=60)
    assert coloured.replace("\x1b[1m", "").replace("\x1b[0m", "") == render_counterexample(anomaly, width=60)


def test_an_anomaly_that_no_checker_reports_is_told_plainly() -> None:
    participant = Participant(
        transaction="T1",
        lane=0,
        session=None,
        position=0,
        status="committed",
        operations=(),
        matters=frozenset(),
    )
    anomaly = Anomaly(name="lock-violation", transactions=("T1",), keys=(), participants=(participant,))
    assert render_counterexample(anomaly) == "  T1\n\n  lock-violation between T1."
