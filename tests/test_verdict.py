"""Verdicts: three outcomes, evidence required by construction."""

import dataclasses

import pytest

from isoscope.levels import Level
from isoscope.verdict import (
    AlternativesFacts,
    Anomaly,
    ClockFacts,
    Mechanism,
    Mechanisms,
    MechanismVerdict,
    Method,
    Outcome,
    Participant,
    Presence,
    ReadFacts,
    Report,
    Sighting,
    Step,
    Verdict,
    Witness,
)

ANOMALY = Anomaly(name="aborted-read", transactions=("T1", "T2"), keys=("x",))


def verdict(level: Level, outcome: Outcome) -> Verdict:
    return Verdict(
        level=level,
        outcome=outcome,
        method=Method.VALUES,
        reason="no such evidence" if outcome is Outcome.UNKNOWN else "",
        anomalies=(ANOMALY,) if outcome is Outcome.VIOLATED else (),
    )


def test_there_are_three_outcomes() -> None:
    assert [str(outcome) for outcome in Outcome] == ["holds", "violated", "unknown"]


def test_a_verdict_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match=r"compare `\.outcome`, not truth"):
        bool(verdict(Level.PL_2, Outcome.HOLDS))


@pytest.mark.parametrize(
    ("outcome", "anomalies", "reason", "message"),
    [
        (Outcome.VIOLATED, (), "", "violated with 0 anomalies"),
        (Outcome.HOLDS, (ANOMALY,), "", "holds with 1 anomalies"),
        (Outcome.UNKNOWN, (ANOMALY,), "time", "unknown with 1 anomalies"),
        (Outcome.UNKNOWN, (), "", "unknown with the reason ''"),
        (Outcome.HOLDS, (), "time", "holds with the reason 'time'"),
    ],
)
def test_a_verdict_without_its_evidence_cannot_be_made(
    outcome: Outcome, anomalies: tuple[Anomaly, ...], reason: str, message: str
) -> None:
    with pytest.raises(ValueError, match="with") as caught:
        Verdict(level=Level.PL_2, outcome=outcome, method=Method.VALUES, anomalies=anomalies, reason=reason)
    assert str(caught.value) == message


def test_an_anomaly_has_a_name_of_the_catalogue() -> None:
    with pytest.raises(ValueError, match="'ghost' is not in the catalogue of anomalies"):
        Anomaly(name="ghost", transactions=(), keys=())


def test_the_facts_of_an_anomaly_are_of_one_kind() -> None:
    anomaly = dataclasses.replace(ANOMALY, facts=ReadFacts(value=1))
    assert anomaly.facts_as(ReadFacts).value == 1
    with pytest.raises(TypeError, match="aborted-read with ReadFacts, not ClockFacts"):
        anomaly.facts_as(ClockFacts)


def test_only_a_proof_by_every_order_has_alternatives() -> None:
    step = Step(before="T1", after="T2", relation="ww")
    facts = AlternativesFacts(alternatives=((step,),))
    assert Anomaly(name="no-commit-order", transactions=(), keys=(), facts=facts).alternatives == ((step,),)
    assert ANOMALY.alternatives == ()


@pytest.mark.parametrize(
    "record",
    [
        ANOMALY,
        ReadFacts(value=1),
        verdict(Level.PL_2, Outcome.VIOLATED),
        Witness(transaction="T1", kind="read", key="x", value=1),
        Step(before="T1", after="T2", relation="wr"),
        Report(history={}, verdicts=()),
    ],
    ids=lambda record: type(record).__name__,
)
def test_records_of_a_verdict_cannot_be_changed(record: object) -> None:
    field = dataclasses.fields(record)[0].name  # type: ignore[arg-type]
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(record, field, None)


def test_a_report_finds_the_border_between_what_holds_and_what_does_not() -> None:
    report = Report(
        history={},
        verdicts=(
            verdict(Level.CAUSAL, Outcome.VIOLATED),
            verdict(Level.READ_ATOMIC, Outcome.VIOLATED),
            verdict(Level.READ_COMMITTED, Outcome.HOLDS),
            verdict(Level.SERIALIZABLE, Outcome.UNKNOWN),
            verdict(Level.PL_2, Outcome.HOLDS),
            verdict(Level.CUT_ISOLATION, Outcome.HOLDS),
        ),
    )
    assert report.strongest_holding == (Level.READ_COMMITTED, Level.CUT_ISOLATION)
    assert report.strongest_possible == (Level.READ_COMMITTED, Level.SERIALIZABLE)
    assert report.weakest_violated == (Level.READ_ATOMIC,)
    assert report.levels(Outcome.UNKNOWN) == (Level.SERIALIZABLE,)


@pytest.mark.parametrize(
    ("presence", "count", "anomalies", "reason", "message"),
    [
        (Presence.FOUND, 0, (), "", "found with 0, 0 of them shown"),
        (Presence.FOUND, 1, (), "", "found with 1, 0 of them shown"),
        (Presence.FOUND, 0, (ANOMALY,), "", "found with 0, 1 of them shown"),
        (Presence.ABSENT, 1, (ANOMALY,), "", "absent with 1, 1 of them shown"),
        (Presence.ABSENT, 0, (), "time", "absent with the reason 'time'"),
        (Presence.UNKNOWN, 0, (), "", "unknown with the reason ''"),
    ],
)
def test_a_sighting_without_its_evidence_cannot_be_made(
    presence: Presence, count: int, anomalies: tuple[Anomaly, ...], reason: str, message: str
) -> None:
    with pytest.raises(ValueError, match="with") as caught:
        Sighting(
            name="aborted-read",
            presence=presence,
            method=Method.VALUES,
            count=count,
            anomalies=anomalies,
            reason=reason,
        )
    assert str(caught.value) == message


def test_a_sighting_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match=r"compare `\.presence`, not truth"):
        bool(Sighting(name="aborted-read", presence=Presence.ABSENT, method=Method.VALUES))


def test_a_level_holds_by_its_own_verdict_or_that_of_a_stronger_level() -> None:
    levels = {
        Level.READ_ATOMIC: Outcome.HOLDS,
        Level.CAUSAL: Outcome.UNKNOWN,
        Level.SNAPSHOT_ISOLATION: Outcome.VIOLATED,
    }
    report = Report(history={}, verdicts=tuple(verdict(*pair) for pair in levels.items()))
    assert report.holds(Level.READ_COMMITTED)
    assert not report.holds("causal")
    assert not report.holds(Level.SERIALIZABLE)
    with pytest.raises(KeyError, match="prefix was not asked for"):
        report.holds(Level.PREFIX)


@pytest.mark.parametrize(
    ("fail_on", "decides", "unknown"),
    [
        (None, True, {Level.CAUSAL}),
        (frozenset(Level), True, set()),
        (frozenset({Level.PL_2}), False, {Level.PL_2}),
        (frozenset({Level.PL_1, Level.PL_2}), False, set()),
    ],
)
def test_the_levels_to_fail_on_say_what_else_decides(
    fail_on: frozenset[Level] | None, decides: bool, unknown: set[Level]
) -> None:
    report = Report(history={}, verdicts=(), asked=(Level.CAUSAL,), fail_on=fail_on)
    assert report.mechanisms_decide is decides
    assert report.deciding_unknown == unknown


def test_the_anomalies_of_mechanisms_are_found_by_their_names() -> None:
    lock, stale = (
        Anomaly(name=name, transactions=("T1",), keys=("x",)) for name in ("lock-violation", "stale-read")
    )
    convicted = MechanismVerdict(
        mechanism=Mechanism.MUTUAL_EXCLUSION,
        outcome=Outcome.VIOLATED,
        anomaly_counts={"lock-violation": 2, "stale-read": 1},
        anomalies=(lock, stale),
    )
    mechanisms = Mechanisms(profile="p", title="P", verdicts=(convicted,), dependencies=())
    found = Report(history={}, verdicts=(), mechanisms=mechanisms).findings
    assert [(one.name, one.count, one.anomalies, one.counts) for one in found] == [
        ("lock-violation", 2, (lock,), True),
        ("stale-read", 1, (stale,), True),
    ]


@pytest.mark.parametrize(
    ("node", "faults", "at"),
    [
        ("", (), ""),
        ("n2", (), " at n2"),
        ("n2", ("kill of n1", "partition of n2"), " at n2 (kill of n1, partition of n2)"),
    ],
)
def test_a_participant_says_where_its_session_was_and_what_went_on(
    node: str, faults: tuple[str, ...], at: str
) -> None:
    participant = Participant(
        transaction="T1",
        lane=0,
        session=1,
        position=0,
        status="committed",
        operations=(),
        matters=frozenset(),
        node=node,
        faults=faults,
    )
    assert participant.at == at


@pytest.mark.parametrize(
    ("checked", "reason"),
    [(5, "no violation was found; 3 checks depend on intervals that overlap"), (0, "no such evidence")],
)
def test_an_undecided_mechanism_leaves_the_answer_open(checked: int, reason: str) -> None:
    """Beside one that worked; a mechanism of which nothing was checked says why."""
    undecided = MechanismVerdict(
        mechanism=Mechanism.MUTUAL_EXCLUSION,
        outcome=Outcome.UNKNOWN,
        reason="no such evidence",
        checked=checked,
        undecided=3,
    )
    worked = MechanismVerdict(mechanism=Mechanism.CONSISTENT_READ, outcome=Outcome.HOLDS, checked=1)
    mechanisms = Mechanisms(profile="p", title="P", verdicts=(undecided, worked), dependencies=())
    report = Report(history={"path": "a", "transactions": 2}, verdicts=(), mechanisms=mechanisms)
    assert report.answer.reason == reason


@pytest.mark.parametrize(
    ("fail_on", "counts"),
    [({Level.PL_2}, True), ({Level.PL_2, Level.CAUSAL}, True), ({Level.PL_1}, False)],
)
def test_an_anomaly_decides_the_exit_status_if_it_breaks_one_of_the_levels_to_fail_on(
    fail_on: set[Level], counts: bool
) -> None:
    broken = tuple(
        dataclasses.replace(verdict(level, Outcome.VIOLATED), anomaly_counts={"aborted-read": 1})
        for level in (Level.PL_2, Level.CAUSAL, Level.SERIALIZABLE)
    )
    [found] = Report(history={}, verdicts=broken, fail_on=frozenset(fail_on)).findings
    assert (found.levels, found.counts) == ((Level.PL_2, Level.CAUSAL, Level.SERIALIZABLE), counts)
