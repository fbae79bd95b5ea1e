"""Verdicts in, text out: for people and for programs. `registry` lists the report types."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isoscope.reports.activity import activity_document, activity_lines
    from isoscope.reports.comparison import Comparison
    from isoscope.reports.counterexample import render_counterexample
    from isoscope.reports.dot import render_dot
    from isoscope.reports.findings import examples
    from isoscope.reports.hermitage import HermitageRow, render_hermitage
    from isoscope.reports.json import document, dumps, render_json
    from isoscope.reports.plot import render_plot
    from isoscope.reports.summary import Summary
    from isoscope.reports.svg import STYLE, render_svg
    from isoscope.reports.terminal import paragraph
    from isoscope.reports.text import render_text

#: The module of each name. It is imported at the first use, so that text does not wait for pictures.
_HOMES = {
    "STYLE": "svg",
    "Comparison": "comparison",
    "HermitageRow": "hermitage",
    "Summary": "summary",
    "activity_document": "activity",
    "activity_lines": "activity",
    "document": "json",
    "dumps": "json",
    "examples": "findings",
    "paragraph": "terminal",
    "render_counterexample": "counterexample",
    "render_dot": "dot",
    "render_hermitage": "hermitage",
    "render_json": "json",
    "render_plot": "plot",
    "render_svg": "svg",
    "render_text": "text",
}

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


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'isoscope.reports' has no attribute {name!r}")
    return getattr(import_module(f"isoscope.reports.{_HOMES[name]}"), name)
