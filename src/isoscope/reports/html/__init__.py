"""The report as one HTML page; the templates are in `reports/templates`."""

from isoscope.reports.html.page import render_html

__all__ = ["render_html"]
