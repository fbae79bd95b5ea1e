"""The report types. A new type is one module with a render function, and one entry of `REPORT_TYPES`.

The command line builds its options from these entries. The module of a type is imported when its first
report is rendered, because most runs need no more than one type.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.reports.findings import Result
    from isoscope.verdict import Anomaly

__all__ = [
    "REPORT_TYPES",
    "STEP_SUMMARY",
    "STEP_SUMMARY_LIMIT",
    "Destination",
    "RenderSettings",
    "ReportType",
    "Subject",
]

#: The environment variable in which GitHub names the file of a step's summary.
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
#: GitHub shows nothing of a summary with more bytes than this.
STEP_SUMMARY_LIMIT = 2**20


class Subject(Enum):
    """What one call of a render function gets."""

    ALL_REPORTS = auto()  # every result, unreadable histories included: one text for all
    EACH_REPORT = auto()  # one report; the texts of several histories follow one another
    SINGLE_REPORT = auto()  # one report; several histories are refused
    ANOMALY = auto()  # one anomaly: one text for each counterexample


class Destination(Enum):
    """Where the text goes."""

    STANDARD_OUTPUT = auto()
    FILE = auto()
    FOLDER = auto()  # one file for each anomaly, or a single file
    STEP_SUMMARY = auto()  # added to the file that `$GITHUB_STEP_SUMMARY` names


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderSettings:
    """What a render function may ask for besides its subject; an entry names what its function takes.

    `folder` is where the file will be (None: no links to the
    history), `limit` is the room in bytes.
    """

    timings: bool = False
    folder: str | None = None
    limit: int = STEP_SUMMARY_LIMIT
    width: int = 100
    colour: bool = False


_DEFAULTS = RenderSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportType:
    """One way to write reports; `function` is the path of its render function within `isoscope.reports`."""

    name: str
    help: str
    media_type: str
    extension: str
    function: str
    subject: Subject
    destination: Destination = Destination.FILE
    settings: tuple[str, ...] = ()
    metavar: str = "FILE"

    @property
    def option(self) -> str:
        """The option of the command line that asks for it."""
        return f"--{self.name}"

    @property
    def parameter(self) -> str:
        """The name under which the command line passes the option on."""
        return self.name.replace("-", "_")

    def render(
        self, subject: Sequence[Result] | Result | Anomaly, settings: RenderSettings = _DEFAULTS
    ) -> str:
        """The text for `subject`, which is of the kind that `self.subject` says."""
        module, _, name = f"isoscope.reports.{self.function}".rpartition(".")
        function: Any = getattr(import_module(module), name)
        text: str = function(subject, **{name: getattr(settings, name) for name in self.settings})
        return text


REPORT_TYPES = (
    ReportType(
        name="text",
        help="Print the verdicts and counterexamples as text.",
        media_type="text/plain",
        extension=".txt",
        function="text.render_text",
        subject=Subject.EACH_REPORT,
        destination=Destination.STANDARD_OUTPUT,
        settings=("width", "colour"),
    ),
    ReportType(
        name="json",
        help="Print one JSON document a history, or one summary.",
        media_type="application/json",
        extension=".json",
        function="json.render_json",
        subject=Subject.EACH_REPORT,
        destination=Destination.STANDARD_OUTPUT,
        settings=("timings",),
    ),
    ReportType(
        name="report",
        help="Also write a page for a browser, with pictures (HTML).",
        media_type="text/html",
        extension=".html",
        function="html.render_html",
        subject=Subject.SINGLE_REPORT,
        settings=("folder",),
    ),
    ReportType(
        name="junit",
        help="Also write JUnit XML, for Jenkins, GitLab and others.",
        media_type="application/xml",
        extension=".xml",
        function="junit.render_junit",
        subject=Subject.ALL_REPORTS,
        settings=("timings",),
    ),
    ReportType(
        name="sarif",
        help="Also write SARIF, for code scanning.",
        media_type="application/sarif+json",
        extension=".sarif",
        function="sarif.render_sarif",
        subject=Subject.ALL_REPORTS,
    ),
    ReportType(
        name="step-summary",
        help=f"Also add a summary to ${STEP_SUMMARY}.",
        media_type="text/markdown",
        extension=".md",
        function="step_summary.render_step_summary",
        subject=Subject.ALL_REPORTS,
        destination=Destination.STEP_SUMMARY,
        settings=("limit",),
    ),
    ReportType(
        name="dot",
        help="Also write the counterexamples as graphs for Graphviz.",
        media_type="text/vnd.graphviz",
        extension=".dot",
        function="dot.render_dot",
        subject=Subject.EACH_REPORT,
    ),
    ReportType(
        name="svg",
        help="Also draw the counterexamples: into the folder OUT, or the first one as OUT if "
        "that ends in .svg.",
        media_type="image/svg+xml",
        extension=".svg",
        function="svg.render_svg",
        subject=Subject.ANOMALY,
        destination=Destination.FOLDER,
        metavar="OUT",
    ),
)
