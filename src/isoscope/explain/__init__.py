"""Say it in words: one or two sentences for an anomaly, one for a step, one line for a circle."""

from isoscope.explain.circle import one_line
from isoscope.explain.phrases import shown, whole
from isoscope.explain.steps import because
from isoscope.explain.words import hint, message

__all__ = ["because", "hint", "message", "one_line", "shown", "whole"]
