"""Say it in words: one or two sentences for an anomaly, a proof step by step, one line for a circle."""

from isoscope.explain.circle import one_line
from isoscope.explain.phrases import abbreviated, deed, harmless, same, shown, whole
from isoscope.explain.proof import Part, Reason, proof, trimmed
from isoscope.explain.steps import because
from isoscope.explain.words import contradiction, hint, message

__all__ = [
    "Part",
    "Reason",
    "abbreviated",
    "because",
    "contradiction",
    "deed",
    "harmless",
    "hint",
    "message",
    "one_line",
    "proof",
    "same",
    "shown",
    "trimmed",
    "whole",
]
