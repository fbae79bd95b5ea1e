"""Say it in words (sentences for an anomaly and its steps, one line for a circle), and shrink it first."""

from isoscope.explain.circle import one_line
from isoscope.explain.phrases import shown, whole
from isoscope.explain.shrink import shrink
from isoscope.explain.steps import because
from isoscope.explain.words import hint, message

__all__ = ["because", "hint", "message", "one_line", "shown", "shrink", "whole"]
