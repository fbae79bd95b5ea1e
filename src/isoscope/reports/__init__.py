"""Verdicts in, text out: for people and for machines."""

from isoscope.reports.activity import activity_document, activity_lines
from isoscope.reports.compare import Comparison
from isoscope.reports.counterexample import render_counterexample
from isoscope.reports.dot import render_dot
from isoscope.reports.hermitage import HermitageRow, render_hermitage
from isoscope.reports.json import document, dumps, render_json
from isoscope.reports.plot import render_plot
from isoscope.reports.results import examples
from isoscope.reports.summary import Summary
from isoscope.reports.svg import STYLE, render_svg
from isoscope.reports.terminal import paragraph
from isoscope.reports.text import render_text

__all__ = [
    "STYLE",
    "Comparison",
    "HermitageRow",
    "Summary",
    "activity_document",
    "activity_lines",
    "document",
    "dumps",
    "examples",
    "paragraph",
    "render_counterexample",
    "render_dot",
    "render_hermitage",
    "render_json",
    "render_plot",
    "render_svg",
    "render_text",
]
