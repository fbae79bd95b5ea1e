"""Anomalies in words: a message, a proof step by step, a cycle on one line; and smaller counterexamples."""

from isoscope.explain.client_times import ClientTimes, client_times_of, is_timed
from isoscope.explain.cycle_line import one_line
from isoscope.explain.messages import contradiction, hint, message
from isoscope.explain.operation_text import action
from isoscope.explain.prevention import ABSENT_ROW, Remedy, Suggestion, suggestions
from isoscope.explain.proof import Part, Reason, proof, trimmed
from isoscope.explain.shrink import shrink
from isoscope.explain.steps import because
from isoscope.explain.value_text import abbreviated, harmless, same, shown, transaction_name, whole
from isoscope.explain.versions import parted

__all__ = [
    "ABSENT_ROW",
    "ClientTimes",
    "Part",
    "Reason",
    "Remedy",
    "Suggestion",
    "abbreviated",
    "action",
    "because",
    "client_times_of",
    "contradiction",
    "harmless",
    "hint",
    "is_timed",
    "message",
    "one_line",
    "parted",
    "proof",
    "same",
    "shown",
    "shrink",
    "suggestions",
    "transaction_name",
    "trimmed",
    "whole",
]
