"""Verdicts: three outcomes, evidence required by construction."""

import dataclasses

import pytest

from isoscope.levels import Level
from isoscope.verdict import (
    AlternativesFacts,
    Anomaly,
    ClockFacts,
    Method,
    Outcome,
    ReadFacts,
    Report,
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
