"""Timestamps, levels of the clock, and intervals."""

from __future__ import annotations

from isoscope.history import (
    Extent,
    History,
    Interval,
    Status,
    Timestamp,
)
from isoscope.levels import Level
from isoscope.recorder import Recorder
from isoscope.reference import clock
from isoscope.verdict import Outcome
from tests.reference.clock_histories import clocked
from tests.semantics.rules import edn, outcome, read, rule


@rule("Timestamps", "An integer alone has the logical part 0.")
def a_timestamp_is_a_pair() -> None:
    history = read('{"tid":1,"sid":1,"sts":9,"cts":{"p":5,"l":2},"ops":[]}', "aion")
    only = history.transaction(0)
    assert (only.start, only.commit) == (Timestamp(9, 0), Timestamp(5, 2))


def clock_names(*lines: str, level: Level = Level.CLOCK_SNAPSHOT_ISOLATION) -> list[str]:
    """The anomalies that the specification of the clock levels finds, with their classes."""
    found = clock.judge(clocked(*lines), level).violations
    return [" ".join(filter(None, (violation.name, violation.cls))) for violation in found]


@rule("Clock levels", "or at the same time; no transaction sees itself")
def a_commit_is_seen_by_a_start_at_its_time() -> None:
    assert clock_names("a 1-2: w(x,1)", "b 2-3: r(x,1)") == []
    assert clock_names("a 1-1: r(x,0) w(x,1)") == []


@rule("Clock levels", "Values may repeat")
def repeated_values_are_no_trouble_for_a_clock() -> None:
    again = ("a 1-2: w(x,1)", "b 3-4: w(x,1)", "c 5-6: r(x,1)")
    assert clock_names(*again) == []
    assert outcome(clocked(*again), "read-atomic") == "holds"


@rule("Clock levels", "A rejection proves nothing about levels without a clock")
def another_order_may_explain_what_the_clock_rejects() -> None:
    stale = ("a 1-2: w(x,1)", "b 3-4: r(x,0)")
    assert clock_names(*stale) == ["stale-read older-version"]
    assert outcome(clocked(*stale), "strong-session-snapshot-isolation") == "holds"


@rule("Ties", "Sessions compare by their names, so that the order of the input does not matter")
def equal_times_are_ordered_by_session() -> None:
    writers = ("a 1-2: w(x,1)", "b 1-2: w(x,2)")
    for lines in (writers, writers[::-1]):
        assert clock_names(*lines, "c 3-4: r(x,2)") == ["write-conflict"]
        assert clock.judge(clocked(*lines), Level.CLOCK_SNAPSHOT_ISOLATION).ties == 2


@rule("Ties", "each sees those before it in this order")
def an_instant_may_be_shared() -> None:
    assert clock_names("a 1-1: r(y,0) w(x,1)", "b 1-1: r(x,1) w(y,1)") == []
    assert clock_names("a 1-1: r(y,1) w(x,1)", "b 1-1: r(x,1) w(y,1)") == ["stale-read uncommitted"]


@rule("First reads by the clock", "after own appends it is asked of *P*")
def first_reads_are_held_against_the_clock() -> None:
    assert clock_names("a 1-2: a(x,1)", "b 3-4: a(x,2) r(x,[1;2])") == []
    assert clock_names("a 1-2: a(x,1)", "b 3-4: a(x,2) r(x,[2]) r(x,[2])") == ["stale-read older-version"]


@rule("First reads by the clock", "may have taken effect at its commit, or at any time if that is not known")
def a_read_that_a_doubtful_writer_explains_is_set_aside() -> None:
    for writer in ("a 0-1 indeterminate: w(x,1)", "a - indeterminate: w(x,1)"):
        for again in ("c 4-5: w(x,1)", "c 4-5 aborted: w(x,1)", "c 4-5: w(x,1) w(x,3)"):
            judged = clock.judge(clocked(writer, "b 2-3: r(x,1)", again), Level.CLOCK_SNAPSHOT_ISOLATION)
            assert judged.outcome is Outcome.UNKNOWN


@rule("First reads by the clock", "committed in time to be seen, and not before the version that was due")
def a_doubtful_writer_explains_nothing_too_late_or_too_early() -> None:
    aborted = "d 9-9 aborted: w(x,1)"
    late = ("a 0-5 indeterminate: w(x,1)", "b 2-3: r(x,1)", aborted)
    assert clock_names(*late) == ["stale-read uncommitted"]
    early = ("a 0-1 indeterminate: w(x,1)", "b 2-3: w(x,2)", "c 4-5: r(x,1)", aborted)
    assert clock_names(*early) == ["stale-read uncommitted"]


@rule("First reads by the clock", "all that it appended is there, and all that was due, in its order")
def a_doubtful_writer_explains_a_list_that_has_all() -> None:
    writers = ("a 0-1 indeterminate: a(x,1)", "b 2-3: a(x,2)", "d 9-9 aborted: a(x,1)")
    assert clock_names(*writers, "c 4-5: r(x,[1;2])") == []
    assert clock_names(*writers, "c 4-5: r(x,[1])") == ["stale-read uncommitted"]


@rule("Later reads by the clock", "were that right or wrong")
def later_reads_are_held_against_what_was_before_them() -> None:
    assert clock_names("a 1-2: r(x,0) r(x,5) r(x,5)") == ["non-repeatable-read"]
    assert clock_names("a 1-2: w(x,1) w(x,2) r(x,1)") == ["not-my-last-write"]
    assert clock_names("a 1-2: w(x,1) r(x,0)", "b 1-2: a(y,1) r(y,[])") == ["not-my-own-write"] * 2


@rule("Origins of stale reads", "had started when the reader did and not committed")
def stale_reads_have_an_origin() -> None:
    def origin(writer: str) -> list[str]:
        return clock_names(writer, "b 3-6: r(x,1)")

    assert origin("a 2-4: w(x,1)") == ["stale-read uncommitted"]
    assert origin("a 4-5: w(x,1)") == ["stale-read newer-version"]
    assert origin("a 1-2: w(x,1) w(x,2)") == ["stale-read uncommitted"]
    assert origin("a 1-2 aborted: w(x,1)") == ["stale-read uncommitted"]
    assert origin("a 1-2: w(y,1)") == ["stale-read never-written"]


@rule("Origins of stale reads", "if it ends inside a transaction")
def lists_have_origins_too() -> None:
    lines = ("a 1-2: a(x,1)", "b 3-4: a(x,2) a(x,3)", "c 8-9: a(x,4)")
    for shown, cls in {"[1]": "older-version", "[1;2]": "uncommitted", "[1;2;3;4]": "newer-version"}.items():
        assert clock_names(*lines, f"d 5-6: r(x,{shown})") == [f"stale-read {cls}"]


@rule("Sessions and overlaps by the clock", "Two that commit at the same time overlap.")
def writers_do_not_overlap() -> None:
    assert clock_names("a 1-3: w(x,1)", "b 2-4: w(x,2)") == ["write-conflict"]
    assert clock_names("a 1-2: w(x,1)", "b 2-2: w(x,2)") == ["write-conflict"]
    assert clock_names("a 1-2: w(x,1)", "b 2-3: w(x,2)") == []
    assert clock_names("a 1-3: w(x,1)", "b 2-4: w(x,2)", level=Level.CLOCK_SERIALIZABLE) == []


@rule("Sessions and overlaps by the clock", "by neighbours")
def sessions_follow_the_clock() -> None:
    assert clock_names("a 5-6: r(x,0)", "a 1-2: r(x,0)", "a 3-4: r(x,0)") == ["session-order"]
    assert clock_names("a 2-1: r(x,0)") == ["timestamp-inversion"]


@rule("Missing timestamps", "`clock-serializable` needs commit timestamps only.")
def a_clock_that_is_not_there_leaves_levels_unknown() -> None:
    commits = clocked("a -2: w(x,1)", "b -3: r(x,1)")
    assert clock.judge(commits, Level.CLOCK_SERIALIZABLE).outcome == "holds"
    assert clock.judge(commits, Level.CLOCK_SNAPSHOT_ISOLATION).outcome == "unknown"


@rule("Intervals", "either end may be unknown")
def an_interval_may_be_open() -> None:
    text = "{:type :invoke, :process 0, :time 5, :value [[:w :x 1]]}"
    only = read(text, "jepsen").transaction(0)
    assert only.status is Status.INDETERMINATE
    assert only.interval == (5, None)


@rule("Intervals", "runs from the first begin to the last end of its operations")
def operations_give_a_transaction_its_interval() -> None:
    def history(began: int) -> History:
        recorder = Recorder()
        with recorder.transaction(session=1) as t:
            t.append("x", 1, interval=Interval(0, 5))
        with recorder.transaction(session=2) as t:
            t.read("x", [], interval=Interval(began, 9))
        return recorder.history()

    assert outcome(history(6), "strict-serializable") == "violated"
    assert outcome(history(4), "strict-serializable") == "holds"


@rule("Event order", "A file of completions only claims no real-time order")
def completions_claim_no_real_time_order() -> None:
    completions = edn("ok 0 [:w :x 1]", "ok 1 [:w :x 2]")
    assert completions.evidence["intervals"] is Extent.ABSENT
    both = edn("invoke 0 [:w :x 1]", "ok 0 [:w :x 1]")
    assert both.evidence["intervals"] is Extent.COMPLETE
