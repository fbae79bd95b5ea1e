"""Verdicts in, text out: for people and for machines."""

from isoscope.reports.json import document, dumps, render_json
from isoscope.reports.summary import Summary
from isoscope.reports.text import paragraph, render_text

__all__ = ["Summary", "document", "dumps", "paragraph", "render_json", "render_text"]
