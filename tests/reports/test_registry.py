"""The registry of report types: each entry is complete, and the command line has its options from it."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest

from isoscope import check
from isoscope.cli.check import command
from isoscope.reports import examples
from isoscope.reports.registry import REPORT_TYPES, Destination, RenderSettings, ReportType, Subject
from tests.recorded import record

REPORT = check(record([("write", "x", 1), ("write", "y", 1)], [("read", "x", 0), ("read", "y", 1)]))
SUBJECTS: dict[Subject, Any] = {
    Subject.ALL_REPORTS: [REPORT],
    Subject.EACH_REPORT: REPORT,
    Subject.SINGLE_REPORT: REPORT,
    Subject.ANOMALY: next(examples(REPORT)),
}


def test_names_are_there_once() -> None:
    names = [kind.name for kind in REPORT_TYPES]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("kind", REPORT_TYPES, ids=lambda kind: kind.name)
def test_a_type_renders_its_subject_with_the_defaults(kind: ReportType) -> None:
    text = kind.render(SUBJECTS[kind.subject])
    assert "fractured-read-co" in text


@pytest.mark.parametrize("kind", REPORT_TYPES, ids=lambda kind: kind.name)
def test_a_render_function_takes_the_settings_of_its_entry_by_keyword(kind: ReportType) -> None:
    module, _, name = kind.function.rpartition(".")
    function = getattr(import_module(f"isoscope.reports.{module}"), name)
    parameters = inspect.signature(function).parameters
    defaults = inspect.signature(RenderSettings).parameters
    for setting in kind.settings:
        assert parameters[setting].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[setting].default == defaults[setting].default


def test_check_has_an_option_for_each_type_but_text() -> None:
    options = {option for parameter in command.params for option in parameter.opts}
    assert {kind.option for kind in REPORT_TYPES} - options == {"--text"}


def test_a_type_for_single_anomalies_needs_a_folder() -> None:
    for kind in REPORT_TYPES:
        assert (kind.subject is Subject.ANOMALY) == (kind.destination is Destination.FOLDER)


def test_the_registry_imports_no_report_type_and_no_template_engine() -> None:
    script = (
        "import sys, isoscope, isoscope.cli.check\n"
        "print(*(name for name in sys.modules if name.startswith(('isoscope.reports', 'jinja2'))))"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert not {"jinja2", "isoscope.reports.html", "isoscope.reports.svg", "isoscope.reports.junit"} & set(
        done.stdout.split()
    )
