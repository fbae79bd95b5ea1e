"""Report files: HTML, JUnit XML, SARIF and a summary for GitHub."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isoscope.errors import UsageError
from isoscope.formats.source import output
from isoscope.reports.results import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import BinaryIO

    from isoscope.levels import Level
    from isoscope.reports.results import Result

__all__ = ["Outputs", "output_options"]

_VARIABLE = "GITHUB_STEP_SUMMARY"


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--report`, `--junit`, `--sarif` and `--step-summary`."""
    options = [
        click.option(
            "--report", metavar="FILE", help="Also write a page for a browser, with pictures (HTML)."
        ),
        click.option("--junit", metavar="FILE", help="Also write JUnit XML, for Jenkins, GitLab and others."),
        click.option("--sarif", metavar="FILE", help="Also write SARIF, for code scanning."),
        click.option("--step-summary", is_flag=True, help=f"Also add a summary to ${_VARIABLE}."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """The asked files, and the results that they will hold."""

    report: str | None
    junit: str | None
    sarif: str | None
    step_summary: bool
    asked: Sequence[Level]
    timings: bool = False
    results: list[Result] = field(default_factory=list)

    def add(self, result: Result) -> None:
        """Keeps a result if one of the files will hold it."""
        if self.step_summary or any(file is not None for file in (self.report, self.junit, self.sarif)):
            self.results.append(result)

    @contextmanager
    def opened(self, histories: Sequence[str]) -> Iterator[None]:
        """Opens the files before the work; each appears complete after it.

        Raises UsageError if one cannot be written or would change a history.
        """
        self._refuse_bad_paths(histories)
        summary = _summary_path() if self.step_summary else None
        with ExitStack() as stack:
            junit, sarif = (stack.enter_context(output(f)) if f else None for f in (self.junit, self.sarif))
            yield
            self._write(junit, sarif)
            self._write_page()
            if summary:
                self._add_summary(summary)

    def _refuse_bad_paths(self, histories: Sequence[str]) -> None:
        files = {"--report": self.report, "--junit": self.junit, "--sarif": self.sarif}
        if self.report is not None and len(histories) > 1:
            raise UsageError(
                "--report is about one history\n\nhint: --json, --junit and --sarif can tell about several"
            )
        taken = {os.path.realpath(history): history for history in histories}
        for option, file in files.items():
            if file is None:
                continue
            if file in ("", "-"):
                raise UsageError(f"{option} needs the name of a file: the results are on standard output")
            if Path(file).is_dir():
                raise UsageError(f"{option}: {file} is a directory")
            target = os.path.realpath(file)
            if target in taken:
                raise UsageError(f"{option}: {file} would replace {taken[target]}")
            if folder := next(
                (taken[str(above)] for above in Path(target).parents if str(above) in taken), ""
            ):
                raise UsageError(f"{option}: {file} would become a part of the history {folder}")
            taken[target] = f"what {option} writes"

    def _write(self, junit: BinaryIO | None, sarif: BinaryIO | None) -> None:
        if junit is not None:
            from isoscope.reports.junit import render_junit  # noqa: PLC0415 - few runs need it

            text = render_junit(self.results, asked=self.asked, timings=self.timings)
            junit.write(text.encode())
        if sarif is not None:
            from isoscope.reports.sarif import render_sarif  # noqa: PLC0415 - few runs need it

            sarif.write(render_sarif(self.results, asked=self.asked).encode())

    def _write_page(self) -> None:
        """Writes the page; a history that could not be read has none."""
        for result in self.results:
            if self.report is None or isinstance(result, Unreadable):
                continue
            from isoscope.reports.html import render_html  # noqa: PLC0415 - as above

            # Only a history in a file can be linked to.
            has_file = Path(str(result.history["path"])).exists()
            page = render_html(result, folder=str(Path(self.report).parent) if has_file else None)
            with output(self.report) as sink:
                sink.write(page.encode())

    def _add_summary(self, path: str) -> None:
        """Adds the summary; other commands of the same step write there too and share the size limit."""
        from isoscope.reports.step_summary import LIMIT, render_step_summary  # noqa: PLC0415 - as above

        with _appending(path) as sink:
            text = render_step_summary(self.results, asked=self.asked, limit=LIMIT - sink.tell())
            sink.write(text.encode())


def _summary_path() -> str:
    path = os.environ.get(_VARIABLE)
    if not path:
        raise UsageError(
            f"--step-summary writes to the file that ${_VARIABLE} names, and it names none\n\n"
            f"hint: GitHub sets it; elsewhere try {_VARIABLE}=summary.md isoscope check ..."
        )
    with _appending(path):
        return path


@contextmanager
def _appending(path: str) -> Iterator[BinaryIO]:
    try:
        with Path(path).open("ab") as sink:
            yield sink
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
