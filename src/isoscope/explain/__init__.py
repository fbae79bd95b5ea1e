"""Say it in words: one sentence for an anomaly, one for a step."""

from isoscope.explain.words import because, message, shown

__all__ = ["because", "message", "shown"]
