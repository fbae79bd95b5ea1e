"""The method of timestamps: its verdicts, their meaning for plain levels, and what it cannot judge."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from isoscope import check, save
from isoscope.checkers import search, timestamps
from isoscope.history import Initial, Range
from isoscope.levels import Level, implied
from isoscope.recorder import Recorder, build
from isoscope.reports import render_json
from isoscope.verdict import Outcome, Presence
from tests.cli.running import run
from tests.reference.clock_histories import clocked, random_clock_history

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import History, Timestamp, Transaction
    from isoscope.verdict import Anomaly, Step

SI, SER = Level.CLOCK_SNAPSHOT_ISOLATION, Level.CLOCK_SERIALIZABLE
#: Figure 11: a snapshot without the last commit.
FIGURE_11 = ("a 1-2: w(x,1) w(y,1)", "b 3-4: r(x,1) w(x,2)", "c 5-6: r(x,1) r(y,1)")
WRITE_SKEW = ("a 1-4: r(x,0) w(y,1)", "b 2-5: r(y,0) w(x,1)")
#: A value that was written twice: only timestamps tell which write was read.
REPEATED = ("a 1-2: w(x,1)", "b 3-4: w(x,1)", "c 5-6: r(x,1)")


def outcomes(history: History, *levels: Level, method: str | None = None) -> dict[Level, Outcome]:
    return {v.level: v.outcome for v in check(history, levels, method=method).verdicts}


@pytest.mark.parametrize(
    ("asked", "lines", "outcome", "counts"),
    [
        (Level.SNAPSHOT_ISOLATION, FIGURE_11, Outcome.VIOLATED, {"stale-read": 1}),
        (Level.SERIALIZABLE, FIGURE_11, Outcome.VIOLATED, {"stale-read": 1}),
        (Level.SNAPSHOT_ISOLATION, WRITE_SKEW, Outcome.HOLDS, {}),
        (Level.SERIALIZABLE, WRITE_SKEW, Outcome.VIOLATED, {"stale-read": 1}),
    ],
)
def test_a_plain_level_by_timestamps_is_the_one_of_the_clock_under_the_asked_name(
    asked: Level, lines: tuple[str, ...], outcome: Outcome, counts: dict[str, int]
) -> None:
    [verdict] = check(clocked(*lines), [asked], method="timestamps").verdicts
    assert (verdict.level, verdict.outcome, verdict.method) == (asked, outcome, "timestamps")
    assert verdict.anomaly_counts == counts


def test_a_rejection_by_the_clock_leaves_plain_levels_to_the_others() -> None:
    history = clocked(*FIGURE_11)
    report = check(history, [SI, SER, Level.STRONG_SESSION_SNAPSHOT_ISOLATION, Level.SERIALIZABLE])
    assert [str(v.outcome) for v in report.verdicts] == ["violated", "violated", "holds", "holds"]
    assert [str(v.method) for v in report.verdicts] == [
        "timestamps", "timestamps", "version-order", "version-order",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("clock", "plain"), [(SI, Level.STRONG_SESSION_SNAPSHOT_ISOLATION), (SER, Level.SERIALIZABLE)]
)
def test_a_level_that_the_clock_accepts_holds_though_values_are_repeated(clock: Level, plain: Level) -> None:
    history = clocked(*REPEATED)
    [verdict] = check(history, [plain], method="values").verdicts
    assert verdict.outcome is Outcome.UNKNOWN
    proved = check(history, [clock, plain]).verdicts
    assert {(v.outcome, str(v.method)) for v in proved} == {(Outcome.HOLDS, "timestamps")}


def test_neither_level_of_the_clock_implies_the_other() -> None:
    assert outcomes(clocked(*WRITE_SKEW), SI, SER) == {SI: Outcome.HOLDS, SER: Outcome.VIOLATED}
    early = clocked("a 1-3: w(x,1)", "b 2-4: r(x,1)")
    assert outcomes(early, SI, SER) == {SI: Outcome.VIOLATED, SER: Outcome.HOLDS}
    assert SI not in implied(SER)
    assert SER not in implied(SI)


def test_a_broken_plain_level_breaks_the_one_of_the_clock_with_both_names() -> None:
    history = clocked("a 1-2 aborted: w(x,1)", "b 3-4: r(x,1)")
    [verdict, _] = check(history, [SI, "pl-2"]).verdicts
    assert verdict.anomaly_counts == {"aborted-read": 1, "stale-read": 1}


def test_levels_of_the_clock_alone_need_nothing_but_the_clock() -> None:
    history = clocked("a 1-2 aborted: w(x,1)", "b 3-4: r(x,1)")
    [verdict] = check(history, [SI]).verdicts
    assert verdict.anomaly_counts == {"stale-read": 1}


def test_a_level_that_the_clock_leaves_open_may_be_violated_by_another_method() -> None:
    history = clocked("a 1-2: w(x,1)", "b: w(y,1) w(y,2)", "c 3-4: r(y,1)")
    [verdict] = check(history, [SI]).verdicts
    assert verdict.anomaly_counts == {"intermediate-read": 1}


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("a: w(x,1)",), "the history has no timestamps of the database"),
        (("a 1-2: w(x,1)", "b: r(x,1)"), "1 transaction has no timestamps"),
        (("a 1-2: w(x,1)", "b: w(y,1)"), "1 transaction has no timestamps and wrote 1 key"),
        (
            ("a 1-2: w(x,1)", "b: w(y,1)", "c: w(y,2) w(z,1)"),
            "2 transactions have no timestamps and wrote 2 keys",
        ),
        (("a 1-2: a(x,1)", "b 3-4: d(x)"), "operation kind `delete` is not judged (key x)"),
        (("a 1-2: w(x,1)", "b 3-4: a(x,2)"), "keys are both written and appended to (key x)"),
    ],
)
def test_operations_that_cannot_be_judged_make_the_verdict_unknown_and_are_named(
    lines: tuple[str, ...], reason: str
) -> None:
    for level in (SI, SER):
        [verdict] = check(clocked(*lines), [level], method="timestamps").verdicts
        assert (verdict.outcome, verdict.reason) == (Outcome.UNKNOWN, reason)
    assert {s.presence for s in search(clocked(*lines), list(timestamps.NAMES)).sightings} == {
        Presence.UNKNOWN
    }


def test_range_reads_of_unknown_form_are_not_judged() -> None:
    recorder = Recorder(initial=0)
    with recorder.transaction() as t:
        t.timestamps(start=1, commit=2)
        t.range_read(Range(low=0.5, rows=((1, 2),)))
    [verdict] = check(recorder.history(), [SI], method="timestamps").verdicts
    assert (verdict.outcome, verdict.reason) == (
        Outcome.UNKNOWN,
        "operation kind `range-read` is not judged (1 of them)",
    )


def test_a_range_read_shows_what_was_committed_and_leaves_out_what_was_not() -> None:
    recorder = Recorder(initial=None)
    with recorder.transaction() as t:
        t.timestamps(start=1, commit=2)
        t.insert(1, 10)
    with recorder.transaction() as t:
        t.timestamps(start=3, commit=4)
        t.delete(1)
    with recorder.transaction() as t:
        t.timestamps(start=5, commit=6)
        t.range_read(Range(low=0, high=9))
    assert [v.outcome for v in check(recorder.history(), [SI, SER], method="timestamps").verdicts] == [
        Outcome.HOLDS,
        Outcome.HOLDS,
    ]
    with recorder.transaction() as t:
        t.timestamps(start=7, commit=8)
        t.range_read(Range(low=0, high=9, rows=((1, 10),)))
    [verdict] = check(recorder.history(), [SI], method="timestamps").verdicts
    assert verdict.anomaly_counts == {"stale-read": 1}


def test_a_violation_counts_even_if_something_was_set_aside() -> None:
    history = clocked(*FIGURE_11, "d: w(z,1)")
    assert outcomes(history, SI, SER) == {SI: Outcome.VIOLATED, SER: Outcome.VIOLATED}
    [stale, conflict] = search(history, ["stale-read", "write-conflict"]).sightings
    assert (stale.presence, conflict.presence) == (Presence.FOUND, Presence.UNKNOWN)


def test_serializability_needs_no_start_timestamps() -> None:
    started = clocked("a 1-5: w(x,1)", "b 6-7: r(x,1)")
    history = build([replace(t, start=None) for t in started], initial=started.initial)
    assert outcomes(history, SI, SER, method="timestamps") == {SI: Outcome.UNKNOWN, SER: Outcome.HOLDS}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("a 1-2: w(x,1)", "b 2-3: r(x,1)"), "1 timestamp belongs to several transactions"),
        (("a 1-2: w(x,1)", "b 2-3: r(x,1)", "c 3-4: r(x,1)"), "2 timestamps belong to several transactions"),
    ],
)
def test_ties_are_counted_among_the_assumptions(lines: tuple[str, ...], said: str) -> None:
    rule = "commits come before starts, then sessions by name"
    assert f"{said}: {rule}" in check(clocked(*lines), [SI]).assumptions


def test_without_ties_nothing_is_said_of_them() -> None:
    assert not any("several transactions" in said for said in check(clocked(*FIGURE_11), [SI]).assumptions)


def test_timestamps_alone_look_at_the_levels_of_the_clock_by_default() -> None:
    assert [v.level for v in check(clocked(*FIGURE_11), method="timestamps").verdicts] == [SI, SER]


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        (FIGURE_11, "stale-read"),
        (("a 1-3: w(x,1)", "a 2-4: w(y,1)"), "session-order"),
        (("a 1-3: w(x,1)", "b 2-4: w(x,2)"), "write-conflict"),
        (("a 2-1: w(x,1)",), "timestamp-inversion"),
    ],
)
def test_an_anomaly_of_the_clock_is_found_by_name_and_no_other_is(lines: tuple[str, ...], name: str) -> None:
    sightings = search(clocked(*lines), list(timestamps.NAMES)).sightings
    found = {s.name: (s.presence, s.count, len(s.anomalies)) for s in sightings}
    assert found.pop(name) == (Presence.FOUND, 1, 1)
    assert set(found.values()) == {(Presence.ABSENT, 0, 0)}


@pytest.mark.parametrize("alias", ["EXT", "SESSION", "NOCONFLICT"])
def test_the_words_of_the_paper_are_names_as_well(alias: str) -> None:
    [sighting] = search(clocked("a 1-2: w(x,1)"), [alias]).sightings
    assert (sighting.presence, sighting.name in timestamps.NAMES) == (Presence.ABSENT, True)


def test_counterexamples_are_bounded_for_each_name_and_all_are_counted() -> None:
    readers = [f"r{n} 3-{n}: r(x,0)" for n in range(10, 15)]
    [verdict] = check(clocked("a 1-2: w(x,1)", *readers), [SI], method="timestamps", max_anomalies=2).verdicts
    assert verdict.anomaly_counts == {"stale-read": 5}
    assert len(verdict.anomalies) == 2


@pytest.mark.parametrize(
    ("lines", "axiom", "origin", "expected"),
    [
        (FIGURE_11, "ext", "older-version", "2"),
        (("a 1-2: r(x,1) w(x,1)",), "ext", "uncommitted", "0"),
        (("a 1-2: a(x,1)", "b 3-4: r(x,[])"), "ext", "older-version", "[1]"),
        (("a 1-3: w(x,1)", "a 2-4: w(y,1)"), "session", "", None),
        (("a 1-3: w(x,1)", "b 2-4: w(x,2)"), "noconflict", "", None),
        (("a 2-1: w(x,1)",), "start-commit", "", None),
        (("a 1-2: w(x,1) r(x,0)",), "int", "", None),
    ],
)
def test_json_has_the_axiom_the_class_and_what_was_due(
    lines: tuple[str, ...], axiom: str, origin: str, expected: str | None
) -> None:
    report = check(clocked(*lines), [SI], method="timestamps")
    [anomaly] = json.loads(render_json(report))["verdicts"][0]["anomalies"]
    assert (anomaly["axiom"], anomaly["class"], anomaly["expected"]) == (axiom, origin, expected)


def test_an_anomaly_that_needs_no_clock_has_no_axiom() -> None:
    report = check(clocked("a 1-2: w(x,1) r(x,0)"), [Level.PL_2])
    [anomaly] = json.loads(render_json(report))["verdicts"][0]["anomalies"]
    assert (anomaly["axiom"], anomaly["class"], anomaly["expected"]) == ("", "", None)


@pytest.mark.parametrize(
    ("lines", "arguments", "status"),
    [
        (WRITE_SKEW, ["--level", "snapshot-isolation", "--method", "timestamps"], 0),
        (WRITE_SKEW, ["--level", "serializable", "--method", "timestamps"], 1),
        (FIGURE_11, ["--level", "clock-si"], 1),
        (FIGURE_11, ["--level", "si"], 0),
        (FIGURE_11, ["--anomaly", "stale-read"], 1),
        (FIGURE_11, ["--anomaly", "write-conflict"], 0),
        (("a 1-2: w(x,1)", "b: r(x,1)"), ["--level", "clock-si"], 3),
        (("a 1-2: w(x,1)", "b: r(x,1)"), ["--anomaly", "stale-read"], 3),
    ],
)
def test_the_exit_status_says_what_the_clock_said(
    lines: tuple[str, ...], arguments: list[str], status: int, tmp_path: Path
) -> None:
    path = tmp_path / "history.json"
    save(clocked(*lines, initial=Initial()), path)
    done = run("check", path, "--initial", 0, *arguments)
    assert (done.status, done.err) == (status, "")


# The claims of an anomaly are true.


def test_every_step_of_the_clock_can_be_replayed() -> None:
    seen = set()
    for seed in range(1000):
        history = random_clock_history(random.Random(seed), unique=True)
        for verdict in timestamps.check(history, levels=timestamps.LEVELS):
            for anomaly in verdict.anomalies:
                assert_true(history, anomaly)
                seen |= {(anomaly.name, step.relation) for step in anomaly.steps}
    assert seen == {
        *((name, "clock") for name in ("stale-read", "session-order")),
        *(("stale-read", relation) for relation in ("wr", "rw")),
        ("session-order", "session"),
    }


def assert_true(history: History, anomaly: Anomaly) -> None:
    by_name = {t.label: t for t in history}
    assert {p.transaction for p in anomaly.participants} == set(anomaly.transactions)
    if len(anomaly.steps) == 2:
        first, second = anomaly.steps
        assert (first.after, second.after) == (second.before, first.before)
    for step in anomaly.steps:
        before, after = by_name[step.before], by_name[step.after]
        if step.relation == "session":
            numbers = history.sessions[before.session].transactions
            assert numbers.index(before.number) < numbers.index(after.number)
        elif step.relation == "clock":
            assert_on_the_clock(step, before, after)
        else:
            assert_seen_or_not(step)


def assert_on_the_clock(step: Step, before: Transaction, after: Transaction) -> None:
    first, second = step.source.split()
    times: tuple[Timestamp, Timestamp] = getattr(before, first), getattr(after, second)
    assert step.timestamps == times
    assert times[0] <= times[1]
    assert (first, second) != ("start", "commit") or times[0] < times[1] or before.start == before.commit


def assert_seen_or_not(step: Step) -> None:
    """The shown writes exist, and the missed ones are not shown: values are unique here."""
    read, write = step.witnesses[:2]
    shown = read.value if isinstance(read.value, tuple) else (read.value,)
    assert (write.value in shown) == (step.relation == "wr")


def test_a_report_says_what_trusting_a_clock_means() -> None:
    history = clocked("a 1-2: w(x,1)", "b 3-4: r(x,0)")
    trust = "the database's timestamps are right: what contradicts them may hold by another order"
    commits = "clock-serializable asks for the order of commits, whenever transactions started"
    assert {trust, commits} <= {*check(history).assumptions}
    assert trust in check(history, [SI]).assumptions
    assert commits not in check(history, [SI]).assumptions
    assert trust not in check(history, ["pl-2"], method="values").assumptions
