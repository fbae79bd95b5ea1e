"""Say it in words: a sentence or two, a proof step by step, one line for a circle; and shrink it first."""

from isoscope.explain.circle import one_line
from isoscope.explain.instants import Instants, instants_of, is_timed
from isoscope.explain.phrases import abbreviated, deed, harmless, same, shown, whole
from isoscope.explain.proof import Part, Reason, proof, trimmed
from isoscope.explain.shrink import shrink
from isoscope.explain.steps import because
from isoscope.explain.words import contradiction, hint, message

__all__ = [
    "Instants",
    "Part",
    "Reason",
    "abbreviated",
    "because",
    "contradiction",
    "deed",
    "harmless",
    "hint",
    "instants_of",
    "is_timed",
    "message",
    "one_line",
    "proof",
    "same",
    "shown",
    "shrink",
    "trimmed",
    "whole",
]
