"""Say it in words: one or two sentences for an anomaly, one for a step."""

from isoscope.explain.phrases import shown, whole
from isoscope.explain.steps import because
from isoscope.explain.words import message

__all__ = ["because", "message", "shown", "whole"]
