"""What `check` makes of the checkers' answers: the lattice, the reasons, the options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import pytest

import isoscope
from isoscope import Initial, Recorder, Timestamp
from isoscope.checkers import check, default_levels, search, select
from isoscope.history import History, Range, Source
from isoscope.levels import DEFINITIONS, Family, Level, implied
from isoscope.recorder import build
from isoscope.verdict import Claim, Method, Outcome, Presence, Sighting
from tests.recorded import record

if TYPE_CHECKING:
    from pathlib import Path

HOLDS, VIOLATED, UNKNOWN = Outcome


CLEAN = record([("write", "x", 1)], [("read", "x", 1)])
THIN_AIR = record([("read", "x", 5)])
NON_REPEATABLE = record([("write", "x", 1)], [("read", "x", 0), ("read", "x", 1)])
BOTH = record([("read", "x", 0), ("read", "x", 5)])


def outcomes(history: History, **options: Any) -> dict[Level, Outcome]:
    return {v.level: v.outcome for v in check(history, list(Level), **options).verdicts}


def reason(history: History, level: str = "pl-2", method: Method | None = None) -> str:
    [verdict] = check(history, [level], method=method).verdicts
    return verdict.reason


@pytest.mark.parametrize(
    ("history", "broken"),
    [
        (THIN_AIR, {Level.PL_2}),
        (NON_REPEATABLE, {Level.CUT_ISOLATION}),
        (BOTH, {Level.PL_2, Level.CUT_ISOLATION}),
    ],
)
def test_a_broken_level_breaks_exactly_those_that_imply_it(history: History, broken: set[Level]) -> None:
    violated = {level for level, outcome in outcomes(history).items() if outcome is VIOLATED}
    assert violated == {level for level in Level if implied(level) & broken}
    assert set(check(history, list(Level)).weakest_violated) == broken


def test_a_level_that_holds_proves_the_weaker_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    class Checker:
        METHOD = Method.VERSION_ORDER

        @staticmethod
        def check(history: History, **asked: object) -> list[isoscope.Verdict]:
            return [isoscope.Verdict(level=Level.CAUSAL, outcome=HOLDS, method=Checker.METHOD)]

    monkeypatch.setattr("isoscope.checkers.method_judgement.CHECKERS", (Checker,))
    found = check(CLEAN, list(Level)).verdicts
    assert {v.level for v in found if v.outcome is HOLDS} == implied(Level.CAUSAL)
    assert {v.method for v in found if v.outcome is HOLDS} == {Method.VERSION_ORDER}


def test_a_stronger_level_shows_every_anomaly_of_the_weaker_ones() -> None:
    [verdict] = check(BOTH, ["serializable"]).verdicts
    assert verdict.anomaly_counts == {"thin-air-read": 1, "non-repeatable-read": 1}
    assert [anomaly.name for anomaly in verdict.anomalies] == ["thin-air-read", "non-repeatable-read"]


def test_a_lost_update_is_not_shown_again_as_the_proof_of_a_stronger_level() -> None:
    lost = record([("read", "x", 0), ("write", "x", 1)], [("read", "x", 0), ("write", "x", 2)])
    names = {name for verdict in check(lost).verdicts for name in verdict.anomaly_counts}
    assert names == {"lost-update"}
    [verdict] = check(lost, ["update-serializable"]).verdicts
    assert verdict.anomaly_counts == {"lost-update": 1}


def test_what_several_levels_were_searched_for_is_shown_once() -> None:
    """Monotonic view and consistent view are broken by the same cycle, each by its own condition."""
    lag = record(
        [("write", "x", 1), ("write", "y", 1)],
        [("read", "y", 1), ("write", "z", 1)],
        [("read", "z", 1), ("read", "x", 0)],
    )
    for verdict in check(lag).verdicts:
        assert len(verdict.anomalies) == sum(verdict.anomaly_counts.values())
    [sighting] = search(lag, ["read-skew"]).sightings
    assert (sighting.count, len(sighting.anomalies)) == (1, 1)


def test_values_prove_causal_and_what_it_implies_and_nothing_else() -> None:
    found = outcomes(CLEAN, method=Method.VALUES)
    assert {level for level in Level if found[level] is HOLDS} == implied(Level.CAUSAL)
    assert {found[level] for level in set(Level) - implied(Level.CAUSAL)} == {UNKNOWN}


def test_version_orders_prove_all_levels_that_need_no_clock_and_no_real_time() -> None:
    found = outcomes(CLEAN)
    assert {level for level in Level if found[level] is HOLDS} == implied(Level.STRONG_SESSION_SERIALIZABLE)


def test_a_level_that_another_method_breaks_proves_nothing() -> None:
    """No cycle of versions breaks anything here, but the read does."""
    [verdict] = check(THIN_AIR, ["cut-isolation"]).verdicts
    assert (verdict.outcome, verdict.method) == (HOLDS, Method.VALUES)


#: A range read that is not judged: its bounds are neither integers nor texts.
UNKNOWN_FORM = Range(low=0.5)


@pytest.mark.parametrize(
    ("history", "level", "expected"),
    [
        (CLEAN, "pl-2", ""),
        (CLEAN, "serializable", ""),
        (CLEAN, "strict-serializable", "not every transaction has a begin and an end in real time"),
        (THIN_AIR, "pl-1", ""),
        (THIN_AIR, "pl-2", ""),
        (CLEAN, "cut-isolation", ""),
        (
            record(*[[("write", "x", 1)]] * 2, *[[("read", "x", 1)]] * 3, [("delete", "y")]),
            "pl-2",
            "",
        ),
        (
            record(*[[("write", "x", 1)]] * 2, *[[("read", "x", 1)]] * 3, [("range_read", UNKNOWN_FORM)]),
            "pl-2",
            "3 reads saw values that several transactions wrote (key x); "
            "operation kind `range-read` is not judged (1 of them)",
        ),
        (
            record(
                *[[("write", key, 1) for key in "vwxyz"]] * 2,
                [("read", key, 1) for key in "vwxyz"],
                [("range_read", UNKNOWN_FORM)],
            ),
            "pl-2",
            "5 reads saw values that several transactions wrote (keys v, w, x and 2 more); "
            "operation kind `range-read` is not judged (1 of them)",
        ),
        (
            record([("write", "x", 1), ("append", "x", 1)]),
            "pl-2",
            "keys are both written and appended to (key x)",
        ),
        (
            record([("range_read", UNKNOWN_FORM)]),
            "pl-2",
            "operation kind `range-read` is not judged (1 of them)",
        ),
        (
            record([("append", "x", 1), ("delete", "x"), *[("range_read", UNKNOWN_FORM)] * 2]),
            "cut-isolation",
            "operation kind `delete` is not judged (key x); "
            "operation kind `range-read` is not judged (2 of them)",
        ),
    ],
)
def test_an_unknown_verdict_says_why(history: History, level: str, expected: str) -> None:
    assert reason(history, level) == expected


def test_all_levels_listen_to_a_recorded_version_order_and_values_alone_prove_none() -> None:
    """By the log 1 was written first, so the reader of 2 flows in a circle."""
    recorder = Recorder(initial=0)
    for operations in ([("write", "x", 1), ("read", "y", 1)], [("write", "x", 2), ("write", "y", 1)]):
        with recorder.transaction() as t:
            for kind, *arguments in operations:
                getattr(t, kind)(*arguments)
    recorder.version_order("x", [1, 2])
    found = outcomes(recorder.history())
    assert (found[Level.READ_COMMITTED], found[Level.PL_2], found[Level.PL_1]) == (VIOLATED, VIOLATED, HOLDS)
    assert outcomes(recorder.history(), method=Method.VALUES)[Level.READ_COMMITTED] is UNKNOWN


@pytest.mark.parametrize(
    "name",
    ["linearizable", "sequential", "1SR", "view-serializable", "session-serializable", "PRAM", "causal"],
)
@pytest.mark.parametrize("history", [CLEAN, THIN_AIR])
def test_what_no_method_decides_is_unknown_whatever_happened(name: str, history: History) -> None:
    [verdict] = check(history, [f"elle:{name}"]).verdicts
    assert verdict.outcome is UNKNOWN
    assert verdict.reason == "known by name, decided by no method and settled by no other level"


def test_a_level_that_no_method_decides_is_settled_by_those_around_it() -> None:
    assert outcomes(THIN_AIR)[Level.MONOTONIC_ATOMIC_VIEW] is VIOLATED
    assert outcomes(CLEAN)[Level.MONOTONIC_ATOMIC_VIEW] is HOLDS
    assert outcomes(CLEAN)[Level.UPDATE_ATOMIC] is HOLDS
    assert outcomes(CLEAN, method=Method.VALUES)[Level.UPDATE_ATOMIC] is UNKNOWN
    assert outcomes(NON_REPEATABLE)[Level.UPDATE_ATOMIC] is VIOLATED


def test_repeated_values_leave_cut_isolation_decided() -> None:
    history = record(*[[("write", "x", 1)]] * 2, [("read", "x", 1)])
    assert outcomes(history)[Level.CUT_ISOLATION] is HOLDS


def test_a_violation_stands_beside_what_cannot_be_judged() -> None:
    history = record([("delete", "y"), ("range_read", UNKNOWN_FORM), ("read", "x", 5)])
    assert outcomes(history)[Level.PL_2] is VIOLATED


@pytest.mark.parametrize(
    ("key", "shown"),
    [("a\x1b[31m\u202e\nb", "'a\\x1b[31m\\u202e\\nb'"), ("k" * 50, "k" * 40 + "..."), (None, "None")],
)
def test_a_hostile_key_is_harmless_in_a_reason(key: Any, shown: str) -> None:
    expected = f"operation kind `delete` is not judged (key {shown})"
    history = record([("append", key, 1), ("delete", key)])
    assert reason(history, "cut-isolation", Method.VALUES) == expected


@pytest.mark.parametrize("most", [1, 2, 5, 10])
def test_all_anomalies_are_counted_and_the_first_of_each_name_are_shown(most: int) -> None:
    history = record(
        *[[("read", "x", 100 + n)] for n in range(5)],
        *[[("read", "y", 0), ("read", "y", 1)], [("write", "y", 1)]],
    )
    [verdict] = check(history, ["serializable"], method=Method.VALUES, max_anomalies=most).verdicts
    assert verdict.anomaly_counts == {"thin-air-read": 5, "non-repeatable-read": 1}
    shown = [anomaly.witnesses[0].value for anomaly in verdict.anomalies]
    assert shown == [*range(100, 100 + min(most, 5)), 1]


def with_details(**details: Any) -> History:
    recorder = Recorder(clock=details.get("clock"))
    with recorder.transaction() as t:
        t.write("x", 1)
        if "timestamps" in details:
            t.timestamps(Timestamp(1), Timestamp(2))
    return recorder.history()


@pytest.mark.parametrize(
    ("details", "silent"),
    [
        ({}, {Family.CLOCK, Family.REAL_TIME}),
        ({"timestamps": True}, {Family.REAL_TIME}),
        ({"clock": lambda: 5}, {Family.CLOCK}),
        ({"timestamps": True, "clock": lambda: 5}, set()),
    ],
)
def test_by_default_the_levels_are_those_that_the_evidence_speaks_of(
    details: dict[str, Any], silent: set[Family]
) -> None:
    history = with_details(**details)
    chosen = default_levels(history)
    spoken_of = [level for level in Level if DEFINITIONS[level].family not in silent]
    assert chosen == tuple(level for level in spoken_of if DEFINITIONS[level].decided)
    assert tuple(verdict.level for verdict in check(history).verdicts) == chosen


def test_levels_are_answered_in_the_order_in_which_they_are_asked_under_any_name() -> None:
    report = check(CLEAN, ["ci", Level.PL_2, "elle:serializable", "SI"])
    assert [str(v.level) for v in report.verdicts] == [
        "cut-isolation",
        "pl-2",
        "serializable",
        "snapshot-isolation",
    ]


def test_an_unknown_level_is_a_value_error_with_a_suggestion() -> None:
    with pytest.raises(ValueError, match="unknown level `serialisable`; did you mean `serializable`"):
        check(CLEAN, ["serialisable"])


def test_a_method_is_the_only_one_that_is_asked() -> None:
    assert outcomes(THIN_AIR, method="values")[Level.PL_2] is VIOLATED
    [verdict] = check(CLEAN, ["strict-serializable"], method=Method.VALUES).verdicts
    assert verdict.outcome is UNKNOWN
    assert verdict.method is Method.VALUES
    assert verdict.reason == "not decided by the method values in this version"


def test_an_unknown_method_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="guess"):
        check(CLEAN, method="guess")


@pytest.mark.parametrize(
    ("initial", "expected"),
    [
        (0, ["every key holds 0 before its first write (a list: nothing)"]),
        (None, ["every key holds nil before its first write (a list: nothing)"]),
        (Initial(), ["the initial value of a key is the one value that reads show and no transaction wrote"]),
        (
            Initial(value=0, of_key={"x": 1, "y": 2}),
            [
                "every key holds 0 before its first write (a list: nothing)",
                "keys with an initial value of their own: 2",
            ],
        ),
    ],
)
def test_the_report_says_what_was_assumed_of_initial_values(initial: Any, expected: list[str]) -> None:
    assert list(check(record(initial=initial)).assumptions) == expected


@pytest.mark.parametrize(
    ("claims", "named"),
    [
        ([], []),
        (["Sequential_Keys"], ["sequential-keys"]),
        ([Claim.WRITES_FOLLOW_READS, "linearizable-keys"], ["linearizable-keys", "writes-follow-reads"]),
        (["sequential-keys"] * 2, ["sequential-keys"]),
    ],
)
def test_the_report_names_what_the_user_claims(claims: list[str], named: list[str]) -> None:
    for report in (check(CLEAN, assume=claims), search(CLEAN, ["aborted-read"], assume=claims)):
        said = [line.split() for line in report.assumptions if line.startswith("claimed: ")]
        assert [claim.rstrip(",") for _, claim, *_ in said] == named


def test_every_checker_is_told_what_the_user_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []

    class Checker:
        METHOD = Method.VERSION_ORDER
        NAMES: ClassVar = {"lost-update": Level.CURSOR_STABILITY}

        @staticmethod
        def check(history: History, *, assume: tuple[Claim, ...], **_: object) -> list[isoscope.Verdict]:
            told.append(assume)
            return []

        @staticmethod
        def find(
            history: History, names: list[str], *, assume: tuple[Claim, ...], **_: object
        ) -> list[Sighting]:
            told.append(assume)
            return [Sighting(name=name, presence=Presence.ABSENT, method=Checker.METHOD) for name in names]

    monkeypatch.setattr("isoscope.checkers.method_judgement.CHECKERS", (Checker,))
    check(CLEAN, assume=["sequential-keys"])
    search(CLEAN, ["lost-update"], assume=["linearizable-keys"])
    assert told == [(Claim.SEQUENTIAL_KEYS,), (Claim.LINEARIZABLE_KEYS,)]


def test_an_unknown_claim_is_a_value_error_with_a_suggestion() -> None:
    with pytest.raises(ValueError, match="unknown claim `linear-keys`; did you mean `linearizable-keys`"):
        check(CLEAN, assume=["linear-keys"])


def test_the_report_says_which_log_it_believes() -> None:
    assert "run.log is its write-ahead log" in check(build([], source=Source(log="run.log"))).assumptions
    assert "write-ahead log" not in " ".join(check(build([])).assumptions)


def test_the_first_never_written_value_is_the_initial_one_if_no_other_is_known() -> None:
    """Semantics: unknown means that the one never-written value that reads show is the initial value."""
    history = record([("read", "x", 5)], [("read", "x", 5)], [("read", "x", 6)], initial=Initial())
    [verdict] = check(history, ["pl-2"]).verdicts
    assert verdict.anomaly_counts == {"thin-air-read": 1}
    assert [witness.value for witness in verdict.anomalies[0].witnesses] == [6, 5]


def test_the_witness_of_an_intermediate_read_is_about_the_same_key_and_not_one_that_compares_equal() -> None:
    history = record(
        [("write", 1, 10), ("write", 1, 11), ("write", True, 12), ("write", 1.0, 13)],
        [("read", 1, 10)],
    )
    [verdict] = check(history, ["pl-2"]).verdicts
    assert [witness.value for witness in verdict.anomalies[0].witnesses] == [10, 10, 11]


CYCLES = [
    # A circle of reads alone, and one that needs a session.
    ("r(2,1,1,1) w(1,1,1,1) r(1,1,2,2) w(2,1,2,2)", "cyclic-causal-order", "pl-2", True),
    ("r(2,1,1,1) w(1,1,1,2) r(1,1,2,3) w(2,1,2,3)", "cyclic-causal-order", "pl-2", False),
]


@pytest.mark.parametrize(("operations", "name", "level", "breaks"), CYCLES)
def test_a_cycle_breaks_levels_without_sessions_only_if_it_needs_none(
    operations: str, name: str, level: str, breaks: bool, tmp_path: Path
) -> None:
    path = tmp_path / "history.txt"
    path.write_text("\n".join(operations.split()) + "\n")
    report = check(isoscope.load(path), [level, "read-committed", f"strong-session-{level}"])
    outcomes = [verdict.outcome for verdict in report.verdicts]
    assert (outcomes[0] is Outcome.VIOLATED) == breaks
    assert outcomes[1:] == [Outcome.VIOLATED, Outcome.VIOLATED]
    assert all(name in verdict.anomaly_counts for verdict in report.verdicts[1:])


def test_a_label_of_a_paper_may_stand_for_several_names() -> None:
    assert [*select(["G1c"])] == ["circular-information-flow", "cyclic-causal-order", "write-cycle"]
