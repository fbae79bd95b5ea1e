"""Reasons of single steps: how an order is known, and the shortest way from one transaction to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import isoscope
from isoscope.explain import because, contradiction
from isoscope.verdict import Step, Witness
from tests.recorded import record
from tests.small_histories import a, r, timed, w
from tests.step_rows import found

if TYPE_CHECKING:
    from isoscope.verdict import Anomaly

MISSED = record([a("x", 1)], [r("x", ())])


def register(source: str, *, served: bool = True, relation: str = "rw", session: Any = None) -> Step:
    """T1 wrote 1; T3 read it; T2 wrote 2."""
    first, second = (Witness(transaction=f"T{n}", kind="write", key="x", value=n) for n in (1, 2))
    seen = Witness(transaction="T3", kind="read", key="x", value=1)
    witnesses = (seen, second, *([first] if served else [])) if relation == "rw" else (first, second)
    before = "T3" if relation == "rw" else "T1"
    return Step(
        before=before,
        after="T2",
        relation=relation,
        key="x",
        witnesses=witnesses,
        source=source,
        session=session,
    )


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("log", "T3 read x = 1 from T1, which T2 overwrote with 2: the log has 1 before 2"),
        ("declared", "T3 read x = 1 from T1, which T2 overwrote with 2: the declared order has 1 before 2"),
        (
            "timestamps",
            "T3 read x = 1 from T1, which T2 overwrote with 2: by commit timestamps 1 comes before 2",
        ),
        ("session", "T3 read x = 1 from T1, which T2 overwrote with 2: T1 ran before T2 in session s"),
        ("real-time", "T3 read x = 1 from T1, which T2 overwrote with 2: T1 had completed before T2 began"),
        ("read-then-write", "T3 read x = 1 from T1, which T2 read too and overwrote with 2"),
        ("assume writes-follow-reads", "T3 read x = 1 from T1, which T2 read too and overwrote with 2"),
        (
            "assume sequential-keys",
            "T3 read x = 1 from T1, which T2 overwrote with 2: by the claim sequential-keys 1 comes before 2",
        ),
        ("supposed", "T3 read x = 1 from T1, which T2 would then have overwritten with 2"),
        ("", "T3 read x = 1 from T1, which T2 overwrote with 2"),
    ],
)
def test_a_missed_write_says_how_the_order_is_known(source: str, reason: str) -> None:
    assert because(register(source, session="s" if source == "session" else None)) == reason


def test_a_missed_write_is_told_without_the_writer_of_what_was_read() -> None:
    said = "T3 read x = 1, which T2 overwrote with 2: the writer of 1 had completed before T2 began"
    assert because(register("real-time", served=False)) == said


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("log", "T1 wrote x = 1, which T2 overwrote with 2: the log has 1 before 2"),
        ("session", "T1 wrote x = 1, which T2 overwrote with 2: T1 ran before T2 in session s"),
        ("real-time", "T1 wrote x = 1, which T2 overwrote with 2: T1 had completed before T2 began"),
        ("read-then-write", "T2 read x = 1, which T1 wrote, and then wrote 2"),
        (
            "assume linearizable-keys",
            "T1 wrote x = 1, which T2 overwrote with 2: by the claim linearizable-keys 1 comes before 2",
        ),
        ("", "T1 wrote x = 1, which T2 overwrote with 2"),
    ],
)
def test_an_overwrite_says_how_the_order_is_known(source: str, reason: str) -> None:
    step = register(source, relation="ww", session="s" if source == "session" else None)
    assert because(step) == reason


def test_appends_that_no_read_shows_are_ordered_by_another_source() -> None:
    history = record([a("x", 1)], [a("x", 2)])
    [step] = found(history, "write-cycle", ("T1 ww T2", "x", "T1.0 T2.0", "timestamps")).steps
    assert because(step) == "T1 appended 1 to x and T2 2: by commit timestamps 1 comes before 2"


@pytest.mark.parametrize(
    ("distance", "text"),
    [
        (1, "1 ns"),
        (999, "999 ns"),
        (1_500, "1.5 us"),
        (999_999, "1,000 us"),
        (12_345_678, "12.3 ms"),
        (2 * 10**9, "2 s"),
        (86_400 * 10**9, "86,400 s"),
    ],
)
def test_a_distance_in_time_has_a_unit_that_fits(distance: int, text: str) -> None:
    step = Step(before="T1", after="T2", relation="real-time", times=(5, 5 + distance), source="clock")
    assert because(step) == f"T1 had completed {text} before T2 began"


def test_real_time_without_times_is_told_without_them() -> None:
    step = Step(before="T1", after="T2", relation="real-time")
    assert because(step) == "T1 had completed before T2 began"


LONG = tuple(range(100, 200))


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (("T1 wr T3", "x", "T3.0 T1.0", ""), "T3 read x = [... 148 149 150 151 152 ...], to which T1"),
        (("T3 rw T2", "x", "T3.0 T2.0", "list read"), "T3 read x = [... 197 198 199] and did not see"),
        (("T1 ww T4", "x", "T3.0 T1.0 T4.0", "list read"), "[100 101 102 103 ... 148 149 150 151 152 ...]"),
    ],
)
def test_a_long_list_is_shown_around_what_matters(told: Any, reason: str) -> None:
    history = record([a("x", 150)], [a("x", 500)], [r("x", LONG)], [a("x", 101)])
    [step] = found(history, "write-cycle", told).steps
    assert reason in because(step)


def ends(anomaly: Anomaly) -> list[str]:
    return [f"{step.before} {step.relation} {step.after}" for step in anomaly.steps]


CHAIN = record(
    [a("x", 1)],
    [a("x", 2)],
    [a("x", 3), r("z", 0)],
    [r("x", (1, 2, 3))],
    [r("x", ()), r("y", 1)],
    [w("y", 1), w("z", 1)],
)
SKIPPED = (
    ("T5 rw T1", "x", "T5.0 T1.0", "initial"),
    ("T1 ww T2", "x", "T4.0 T1.0 T2.0", "list read"),
    ("T2 ww T3", "x", "T4.0 T2.0 T3.0", "list read"),
)


def test_a_read_that_missed_a_version_missed_the_later_ones_in_one_step() -> None:
    back = (("T3 session T6", None, "", ""), ("T6 wr T5", "y", "T5.1 T6.0", ""))
    anomaly = found(CHAIN, "read-skew", *SKIPPED, *back)
    assert ends(anomaly) == ["T3 session T6", "T6 wr T5", "T5 rw T3"]
    assert because(anomaly.steps[-1]) == "T5 read x = [] and did not see T3's append of 3"


def test_a_long_fork_keeps_the_writer_that_the_next_reader_began_after() -> None:
    """Without T1 two reads would stand in a row, and snapshot isolation allows that."""
    back = (("T3 rw T6", "z", "T3.1 T6.1", "initial"), ("T6 wr T5", "y", "T5.1 T6.0", ""))
    fork = found(CHAIN, "long-fork", *SKIPPED, *back)
    assert ends(fork) == ["T1 ww T3", "T3 rw T6", "T6 wr T5", "T5 rw T1"]
    assert ends(found(CHAIN, "write-skew", *SKIPPED, *back)) == ["T6 wr T5", "T5 rw T3", "T3 rw T6"]


def test_orders_of_different_sources_are_different_steps() -> None:
    history = record([w("x", 1)], [w("x", 2)], [w("x", 3)])
    told = (("T1 ww T2", "x", "T1.0 T2.0", "log"), ("T2 ww T3", "x", "T2.0 T3.0", "declared"))
    back = ("T3 session T1", None, "", "")
    assert len(found(history, "write-cycle", *told, back).steps) == 3
    alike = (told[0], (*told[1][:3], "log"))
    assert ends(found(history, "write-cycle", *alike, back)) == ["T1 ww T3", "T3 session T1"]


def test_a_step_in_time_takes_events_where_there_are_some_and_else_the_clock() -> None:
    told = ("T1 real-time T2", None, "", "")
    [step] = found(timed(MISSED, (0, 3), (4, 5)), "write-cycle", told).steps
    assert (step.times, step.source) == ((3, 4), "clock")
    [step] = found(timed(MISSED, (0, 3), (4, 5), events=True), "write-cycle", told).steps
    assert (step.times, step.source) == ((3, 4), "events")
    [step] = found(MISSED, "write-cycle", told).steps
    assert (step.times, step.source) == (None, "")


def test_a_cycle_without_a_step_of_real_time_says_what_real_time_orders() -> None:
    ticks = iter(range(100))
    recorder = isoscope.Recorder(initial=0, clock=lambda: next(ticks))
    with recorder.transaction(session=0, id="T0") as t:
        t.write("x", 1)
        t.write("y", 1)
    with recorder.transaction(session=1, id="T1") as one, recorder.transaction(session=2, id="T2") as two:
        one.read("x", 1)
        one.write("y", 2)
        two.read("y", 1)
        two.write("x", 2)
    verdict = isoscope.check(recorder.history(), "strict-serializable")["strict-serializable"]
    anomaly = next(found for found in verdict.anomalies if found.name == "write-skew-real-time")
    assert {step.relation for step in anomaly.steps} == {"rw"}
    assert contradiction(anomaly).endswith("Only real time orders the versions of y and x.")
