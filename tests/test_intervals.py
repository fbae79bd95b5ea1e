"""The method of intervals: verdicts on mechanisms, the levels that follow, and what it cannot judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from isoscope import load, profiles
from isoscope.anomalies import CATALOGUE
from isoscope.anomalies.entry import leopard
from isoscope.checkers import check, intervals, search
from isoscope.checkers.online_intervals import OnlineIntervals
from isoscope.explain import message
from isoscope.history import Interval, Operation, OperationKind, Transaction
from isoscope.levels import Level, implied
from isoscope.recorder import Recorder, build
from isoscope.verdict import Mechanism, MechanismFacts, Outcome, Presence

if TYPE_CHECKING:
    from isoscope.anomalies import Example
    from isoscope.history import History
    from isoscope.verdict import Mechanisms, MechanismVerdict

NAMES = tuple(intervals.NAMES)
RC, RR, SER = "postgresql/read-committed", "postgresql/repeatable-read", "postgresql/serializable"
#: Nothing overlaps, and everything is as it should be.
CLEAN = ("1 0-10 update x=1", "1 20-30 commit", "2 40-50 select x=1", "2 60-70 commit")
STALE = (
    "1 0-10 update x=1",
    "1 20-30 commit",
    "2 40-50 update x=2",
    "2 60-70 commit",
    "3 80-90 select x=1",
    "3 95-99 commit",
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def saved(example: Example) -> History:
    Path("h.leopard.jsonl").write_text(example.text, encoding="utf-8")
    return load("h.leopard.jsonl")


def trace(*lines: str) -> History:
    return saved(leopard(*lines, note="", profile=""))


def judged(
    history: History, profile: str = SER, *, clock_error: int = 0, max_anomalies: int = 10
) -> Mechanisms:
    known = profiles.load(profile)
    report = check(history, profile=known, clock_error=clock_error, max_anomalies=max_anomalies)
    found = report.mechanisms
    assert found is not None
    return found


def verdict(found: Mechanisms, mechanism: Mechanism) -> MechanismVerdict:
    [one] = [one for one in found.verdicts if one.mechanism is mechanism]
    return one


@pytest.mark.parametrize("name", NAMES)
def test_an_example_of_the_catalogue_convicts_its_mechanism_and_no_other(name: str) -> None:
    example = CATALOGUE[name].example
    assert example is not None
    found = judged(saved(example), example.profile)
    counts = {key: count for one in found.verdicts for key, count in one.anomaly_counts.items()}
    assert counts == {name: 1}


@pytest.mark.parametrize("name", NAMES)
def test_the_allowed_neighbour_convicts_nothing(name: str) -> None:
    example = CATALOGUE[name].allowed
    assert example is not None
    found = judged(saved(example), example.profile)
    assert Outcome.VIOLATED not in {one.outcome for one in found.verdicts}


def test_what_is_decided_everywhere_holds() -> None:
    report = check(trace(*CLEAN), profile=profiles.load(SER))
    assert report.mechanisms is not None
    assert {one.outcome for one in report.mechanisms.verdicts} == {Outcome.HOLDS}
    assert {one.outcome for one in report.verdicts} == {Outcome.HOLDS}
    assert {str(one.method) for one in report.verdicts} == {"intervals"}


def test_what_overlaps_is_unknown_with_the_reason_in_numbers() -> None:
    found = judged(trace("1 0-10 update x=1", "1 20-45 commit", "2 40-50 select x=0", "2 60-70 commit"), RC)
    reads = verdict(found, Mechanism.CONSISTENT_READ)
    assert (reads.outcome, reads.checked, reads.undecided) == (Outcome.UNKNOWN, 1, 1)
    assert reads.reason == "1 of 1 may be right or wrong, because intervals overlap"


@pytest.mark.parametrize(
    ("profile", "missing"),
    [
        (RC, {Mechanism.FIRST_UPDATER_WINS, Mechanism.SERIALIZATION_CERTIFIER}),
        ("postgresql/repeatable-read", {Mechanism.SERIALIZATION_CERTIFIER}),
        (SER, set()),
    ],
)
def test_a_mechanism_that_the_profile_does_not_have_is_not_listed(
    profile: str, missing: set[Mechanism]
) -> None:
    for history in (trace(*CLEAN), build([])):
        assert {one.mechanism for one in judged(history, profile).verdicts} == {*Mechanism} - missing


def test_without_intervals_nothing_is_known_and_the_reason_says_so() -> None:
    report = check(
        build([Transaction(number=0, id=1, session=0, session_id=None)]), profile=profiles.load(SER)
    )
    assert report.mechanisms is not None
    assert {one.reason for one in report.mechanisms.verdicts} == {intervals.NO_INTERVALS}
    assert {one.reason for one in report.verdicts} == {intervals.NO_INTERVALS}
    assert report.mechanisms.dependencies == ()


def test_a_transaction_without_its_interval_is_named() -> None:
    timed = Operation(kind=OperationKind.WRITE, key="x", value=1, interval=Interval(0, 1))
    bare = Operation(kind=OperationKind.WRITE, key="x", value=2)
    history = build(
        Transaction(number=0, id=number, session=0, session_id=None, operations=(one,))
        for number, one in enumerate([timed, bare], start=1)
    )
    reasons = {one.reason for one in judged(history).verdicts}
    [reason] = reasons
    assert reason.startswith("not every operation has an interval: T2: ")


def test_the_promised_levels_and_all_that_follow_are_judged() -> None:
    report = check(trace(*CLEAN), profile=profiles.load(SER))
    levels = {one.level for one in report.verdicts}
    assert {*profiles.load(SER).promises} <= levels
    assert levels <= implied(Level.STRONG_SNAPSHOT_ISOLATION) | implied(Level.SERIALIZABLE)


def test_a_level_that_is_asked_for_is_judged_beside_the_promised_ones() -> None:
    report = check(trace(*CLEAN), ["strict-serializable"], profile=profiles.load(RC))
    assert {Level.STRICT_SERIALIZABLE, Level.READ_COMMITTED} <= {one.level for one in report.verdicts}


def test_a_circle_of_certain_dependencies_is_the_level_that_it_breaks() -> None:
    report = check(trace(*STALE), profile=profiles.load(SER))
    assert report.weakest_violated == (Level.STRONG_SNAPSHOT_ISOLATION,)
    [broken] = [one for one in report.verdicts if one.level is Level.STRONG_SNAPSHOT_ISOLATION]
    assert {step.source for anomaly in broken.anomalies for step in anomaly.steps} >= {"intervals"}
    assert [row.source for row in report.version_order] == ["intervals"]
    assert any("the mechanisms of postgresql/serializable" in said for said in report.assumptions)


def test_clocks_that_are_not_exact_decide_no_level_of_real_time() -> None:
    report = check(trace(*STALE), profile=profiles.load(SER), clock_error=1)
    outcomes = {one.level: one for one in report.verdicts}
    assert outcomes[Level.STRONG_SNAPSHOT_ISOLATION].reason == intervals.INEXACT
    assert outcomes[Level.SERIALIZABLE].outcome is Outcome.HOLDS


def test_a_clock_error_spares_what_may_have_been_the_other_way_round() -> None:
    assert verdict(judged(trace(*STALE), clock_error=4), Mechanism.CONSISTENT_READ).anomalies
    spared = judged(trace(*STALE), clock_error=5)
    assert spared.clock_error == 5
    assert not verdict(spared, Mechanism.CONSISTENT_READ).anomalies


def test_the_first_of_each_name_are_shown_and_all_are_counted() -> None:
    again = [line.replace("3 ", "4 ", 1) for line in STALE[4:]]
    found = verdict(judged(trace(*STALE, *again), max_anomalies=1), Mechanism.CONSISTENT_READ)
    assert (found.anomaly_counts, len(found.anomalies)) == ({"inconsistent-read": 2}, 1)


def test_the_end_and_the_snapshot_of_a_transaction_matter_beside_the_operations() -> None:
    [anomaly] = verdict(judged(trace(*STALE)), Mechanism.CONSISTENT_READ).anomalies
    assert {one.transaction: set(one.matters) for one in anomaly.participants} == {
        "T1": {0, 1},
        "T2": {0, 1},
        "T3": {0, 1},
    }
    assert [one.interval for one in anomaly.participants[0].operations] == [(80, 90), (95, 99)]


def test_an_anomaly_of_mechanisms_is_looked_for_with_a_profile() -> None:
    found = search(trace(*STALE), NAMES, profile=profiles.load(SER))
    presences = {one.name: one.presence for one in found.sightings}
    assert presences.pop("inconsistent-read") is Presence.FOUND
    assert set(presences.values()) == {Presence.ABSENT}


def test_an_anomaly_that_intervals_may_hide_is_unknown() -> None:
    history = trace("1 0-10 update x=1", "1 20-45 commit", "2 40-50 select x=0", "2 60-70 commit")
    [found] = search(history, ["CR"], profile=profiles.load(RC)).sightings
    assert (found.presence, found.reason) == (
        Presence.UNKNOWN,
        "1 of 1 may be right or wrong, because intervals overlap",
    )


@pytest.mark.parametrize(
    ("names", "more", "problem"),
    [
        (["lock-violation"], {}, "a profile says which"),
        (["lock-violation"], {"levels": ["pl-2"], "profile": RC}, "counts against no level"),
        (["stale-read"], {"profile": RC}, "the method intervals does not report `stale-read`"),
    ],
)
def test_a_search_that_makes_no_sense_is_refused(
    names: list[str], more: dict[str, object], problem: str
) -> None:
    if "profile" in more:
        more = {**more, "profile": profiles.load(str(more["profile"]))}
    with pytest.raises(ValueError, match=problem):
        search(trace(*CLEAN), names, **more)  # type: ignore[arg-type]


def test_the_method_and_the_profile_go_together() -> None:
    with pytest.raises(ValueError, match="a profile says which"):
        check(trace(*CLEAN), method="intervals")
    with pytest.raises(ValueError, match="not for the method values"):
        check(trace(*CLEAN), method="values", profile=profiles.load(SER))


#: Every case that a small trace can show: what the sentence says of it.
#: Only the initial state explains it: x held 0.
ZERO = ("3 0-1 select x=0", "3 2-3 commit")
SENTENCES = {
    (SER, STALE): "T3 read x = 1 (h.leopard.jsonl:5), which T1 wrote (h.leopard.jsonl:1); but T2 had written "
    "x = 2 (h.leopard.jsonl:3) after that and committed at 70 ns at the latest, and T3's snapshot is of "
    "80 ns at the earliest.",
    (
        RC,
        (*ZERO, "1 5-10 update x=1", "2 20-30 select x=1", "2 40-50 commit", "1 60-70 commit"),
    ): "T2 read x = 1 (h.leopard.jsonl:4), which T1 wrote (h.leopard.jsonl:3); but T1 did not commit before "
    "55 ns, and T2's snapshot is of 25 ns at the latest.",
    (
        RC,
        (*ZERO, "1 5-10 update x=1", "1 20-30 rollback", "2 40-50 select x=1", "2 60-70 commit"),
    ): "T2 read x = 1 (h.leopard.jsonl:5), which T1 wrote (h.leopard.jsonl:3) and then rolled back.",
    (
        RC,
        ("1 0-5 update x=1", "1 6-9 update x=2", "1 20-30 commit", "2 40-50 select x=1", "2 60-70 commit"),
    ): "T2 read x = 1 (h.leopard.jsonl:4), which T1 wrote (h.leopard.jsonl:1) and replaced itself before it "
    "committed.",
    (RC, ("1 0-5 update x=1", "1 6-9 select x=0", "1 20-30 commit")): "T1 read x = 0 (h.leopard.jsonl:2) "
    "although it had itself written x = 1 before (h.leopard.jsonl:1).",
    (RC, ("1 0-10 update x=1", "1 20-30 commit", "2 40-50 select x=7", "2 60-70 commit")): "T2 read x = 7 "
    "(h.leopard.jsonl:3), but no transaction wrote that to x, and x cannot have held it then.",
    (
        RR,
        ("1 0-10 update x=1", "1 20-30 commit", "2 15-25 select x=0", "2 40-50 select x=1", "2 60-70 commit"),
    ): "T2 read x = 0 (h.leopard.jsonl:3), and it also read x = 1 (h.leopard.jsonl:4), which T1 wrote "
    "(h.leopard.jsonl:1): no one snapshot shows both.",
    (
        "sqlite/rollback-journal",
        ("1 0-10 select y=0", "2 20-30 update x=1", "2 40-50 commit", "1 60-70 commit"),
    ): "T2 wrote x = 1 (h.leopard.jsonl:2) and committed while T1 held a lock that forbids it: T1 read y = 0 "
    "(h.leopard.jsonl:1), T1 had it by 10 ns and kept it to 60 ns or longer, and T2 did not commit before "
    "40 ns and committed at 50 ns at the latest.",
}


def test_a_stream_drops_versions_so_a_value_may_have_a_writer_that_is_not_in_memory() -> None:
    engine = OnlineIntervals(profiles.load(RC), timeout=1, initial=0)
    engine.take(
        trace("1 0-10 update x=1", "1 20-30 commit", "2 40-50 select x=7", "2 60-70 commit"),
        now=0,
    )
    engine.flush()
    [news] = engine.news()
    found = engine.anomaly(news.number)
    assert found is not None
    assert message(found) == (
        "T2 read x = 7, which x cannot have held then; its writer, if it has one, is no longer in memory."
    )


@pytest.mark.parametrize(
    ("statement", "outcome"),
    [
        ("select for update", Outcome.VIOLATED),
        ("select_for_share", Outcome.VIOLATED),
        ("SELECT v FROM t WHERE k = 1 LOCK IN SHARE MODE", Outcome.VIOLATED),
        ("select for key share", Outcome.HOLDS),
        ("select shares, last_update from t", Outcome.HOLDS),
        ("select price_for_update from t where share = 1", Outcome.HOLDS),
    ],
)
def test_a_select_locks_only_if_it_says_so(statement: str, outcome: Outcome) -> None:
    recorder = Recorder(initial=0)
    with recorder.transaction(session=1) as reader:
        reader.read("x", 0, interval=Interval(0, 10), statement=statement)
        reader.write("y", 1, interval=Interval(60, 70))
    with recorder.transaction(session=2) as writer:
        writer.write("x", 1, interval=Interval(20, 30))
        writer.write("z", 1, interval=Interval(40, 50))
    found = judged(recorder.history(), RC)
    assert verdict(found, Mechanism.MUTUAL_EXCLUSION).outcome is outcome


def test_a_contradicted_order_was_checked() -> None:
    example = CATALOGUE["contradictory-dependencies"].example
    assert example is not None
    found = verdict(judged(saved(example), example.profile), Mechanism.AGREEMENT)
    assert (found.checked, found.anomaly_counts) == (1, {"contradictory-dependencies": 1})


@pytest.mark.parametrize(("profile", "lines"), SENTENCES)
def test_a_counterexample_is_told_with_places_and_times(profile: str, lines: tuple[str, ...]) -> None:
    found = judged(trace(*lines), profile)
    said = [message(anomaly) for one in found.verdicts for anomaly in one.anomalies]
    assert said == [SENTENCES[profile, lines]]


def dirty(**labels: str) -> History:
    """A transaction reads a value that is committed only later; its labels say how it reads."""
    recorder = Recorder(initial=0)
    with recorder.transaction(session=1) as writer:
        writer.write("x", 1, interval=Interval(0, 10))
        writer.write("y", 1, interval=Interval(60, 70))
    with recorder.transaction(session=2) as reader:
        reader.read("x", 1, interval=Interval(20, 30), **labels)
        reader.write("z", 1, interval=Interval(40, 50))
    return recorder.history()


@pytest.mark.parametrize(
    ("labels", "outcome"),
    [
        ({}, Outcome.VIOLATED),
        ({"read_mode": "uncommitted"}, Outcome.UNKNOWN),
        ({"read_mode": "UNCOMMITTED_READ"}, Outcome.UNKNOWN),
        ({"read_mode": "READ UNCOMMITTED"}, Outcome.UNKNOWN),
        ({"statement": "select x from t with (nolock)"}, Outcome.UNKNOWN),
        ({"statement": "select nolock", "read_mode": "consistent"}, Outcome.VIOLATED),
        ({"read_mode": "something"}, Outcome.VIOLATED),
    ],
)
def test_a_read_of_uncommitted_data_may_show_a_write_before_its_commit(
    labels: dict[str, str], outcome: Outcome
) -> None:
    found = judged(dirty(**labels), RC)
    assert verdict(found, Mechanism.CONSISTENT_READ).outcome is outcome


def test_an_uncommitted_read_takes_no_snapshot_for_the_reads_after_it() -> None:
    recorder = Recorder(initial=0)
    with recorder.transaction(session=1) as writer:
        writer.write("x", 1, interval=Interval(20, 30))
        writer.write("y", 1, interval=Interval(32, 35))
    with recorder.transaction(session=2) as reader:
        reader.read("z", 0, interval=Interval(0, 10), read_mode="uncommitted")
        reader.read("x", 0, interval=Interval(40, 50))
        reader.write("w", 1, interval=Interval(60, 70))
    [anomaly] = verdict(
        judged(recorder.history(), "mysql/repeatable-read"), Mechanism.CONSISTENT_READ
    ).anomalies
    taken = anomaly.facts_as(MechanismFacts).snapshots[0]
    assert (taken.index, taken.interval) == (1, (40, 50))


@pytest.mark.parametrize(
    ("statement", "outcome"),
    [("select for update", Outcome.VIOLATED), ("select for update skip locked", Outcome.HOLDS)],
)
def test_a_read_that_skips_locked_rows_need_not_show_its_row(statement: str, outcome: Outcome) -> None:
    recorder = Recorder(initial=0)
    with recorder.transaction(session=1) as writer:
        writer.write("x", 1, interval=Interval(0, 10))
    with recorder.transaction(session=2) as reader:
        reader.read("x", None, interval=Interval(20, 30), statement=statement)
    found = judged(recorder.history(), RC)
    assert verdict(found, Mechanism.CONSISTENT_READ).outcome is outcome


def test_the_kernel_has_the_same_anomaly_for_each_mechanism() -> None:
    checks = OnlineIntervals(profiles.load(RC), timeout=1)._engine.checks()
    assert {check.anomaly: Mechanism(check.mechanism) for check in checks} == intervals.NAMES
