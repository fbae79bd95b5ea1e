"""The answer for one level, with its proof: data here, sentences only in `explain`."""

from isoscope.verdict.anomaly import Anomaly, names_of
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
from isoscope.verdict.evidence import START, Participant, Step, Witness
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
from isoscope.verdict.report import Dependencies, Mechanisms, Ordered, Report, Search

__all__ = [
    "ABSENT",
    "START",
    "AlternativesFacts",
    "Anomaly",
    "Claim",
    "ClockFacts",
    "ConflictFacts",
    "Dependencies",
    "Facts",
    "LostUpdateFacts",
    "Mechanism",
    "MechanismFacts",
    "MechanismVerdict",
    "Mechanisms",
    "Method",
    "Ordered",
    "Outcome",
    "Participant",
    "Presence",
    "ReadFacts",
    "Report",
    "Search",
    "Sighting",
    "StaleReadFacts",
    "Step",
    "Timestamps",
    "Verdict",
    "Witness",
    "names_of",
]
