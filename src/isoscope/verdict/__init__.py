"""Verdicts with their proof, and the answer of a report: sentences about proofs are in `explain`."""

from isoscope.verdict.anomaly import Anomaly, names_of
from isoscope.verdict.answer import Answer, Decision, Origin
from isoscope.verdict.answers import (
    Claim,
    Mechanism,
    MechanismVerdict,
    Method,
    Outcome,
    Presence,
    Sighting,
    Verdict,
)
from isoscope.verdict.evidence import START, AskedRange, Participant, Step, Witness
from isoscope.verdict.facts import (
    ABSENT,
    AlternativesFacts,
    ClockFacts,
    ConflictFacts,
    Facts,
    LostUpdateFacts,
    MechanismFacts,
    ReadFacts,
    StaleReadFacts,
    Timestamps,
)
from isoscope.verdict.findings import Finding
from isoscope.verdict.report import Dependencies, Mechanisms, Ordered, Report, Search
from isoscope.verdict.witness_order import (
    OperationPlace,
    ShownWrites,
    VersionsOfKeys,
    WitnessForm,
    WitnessOrder,
    WritersOfReads,
)

__all__ = [
    "ABSENT",
    "START",
    "AlternativesFacts",
    "Anomaly",
    "Answer",
    "AskedRange",
    "Claim",
    "ClockFacts",
    "ConflictFacts",
    "Decision",
    "Dependencies",
    "Facts",
    "Finding",
    "LostUpdateFacts",
    "Mechanism",
    "MechanismFacts",
    "MechanismVerdict",
    "Mechanisms",
    "Method",
    "OperationPlace",
    "Ordered",
    "Origin",
    "Outcome",
    "Participant",
    "Presence",
    "ReadFacts",
    "Report",
    "Search",
    "ShownWrites",
    "Sighting",
    "StaleReadFacts",
    "Step",
    "Timestamps",
    "Verdict",
    "VersionsOfKeys",
    "Witness",
    "WitnessForm",
    "WitnessOrder",
    "WritersOfReads",
    "names_of",
]
