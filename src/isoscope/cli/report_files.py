"""Files beside the printed report: one option for each entry of `reports.registry`."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from isoscope.cli.anomaly_files import AnomalyFiles, is_single_file
from isoscope.errors import UsageError
from isoscope.formats.source import output
from isoscope.reports.findings import Unreadable
from isoscope.reports.registry import REPORT_TYPES, STEP_SUMMARY, Destination, RenderSettings, Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import BinaryIO

    from isoscope.reports.findings import Result
    from isoscope.reports.registry import ReportType
    from isoscope.verdict import Report, Search

__all__ = ["FILE_PARAMETERS", "ReportFiles", "report_file_options", "report_option"]

_WRITTEN = tuple(kind for kind in REPORT_TYPES if kind.destination is not Destination.STANDARD_OUTPUT)
#: The parameters of the options that `report_file_options` adds.
FILE_PARAMETERS = tuple(kind.parameter for kind in _WRITTEN)


def report_file_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the option of each report type that is written to a file."""
    for kind in reversed(_WRITTEN):
        if kind.destination is Destination.STEP_SUMMARY:
            option = click.option(kind.option, is_flag=True, help=kind.help)
        else:
            option = click.option(kind.option, metavar=kind.metavar, help=kind.help)
        command = option(command)
    return command


def report_option(name: str, parameter: str) -> Callable[..., Any]:
    """The flag that prints the reports as this type instead of as text."""
    kind = next(kind for kind in REPORT_TYPES if kind.name == name)
    return click.option(kind.option, parameter, is_flag=True, help=kind.help)


class _Writer(Protocol):
    def add(self, result: Result) -> None: ...
    def finish(self) -> None: ...


class ReportFiles:
    """The files that the options ask for; `given` has the values of `FILE_PARAMETERS`, among others."""

    def __init__(
        self,
        given: Mapping[str, Any],
        histories: Sequence[str],
        *,
        timings: bool = False,
    ) -> None:
        chosen = {kind: given[kind.parameter] for kind in _WRITTEN}
        # An empty name was chosen too, and is refused later.
        self._targets = {kind: target for kind, target in chosen.items() if target not in (None, False)}
        self._histories = histories
        self._settings = RenderSettings(timings=timings)
        self._writers: list[_Writer] = []

    def add(self, result: Result) -> None:
        """Takes the report on the next history, or the error if the history could not be read."""
        for writer in self._writers:
            writer.add(result)

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Opens the files before the work begins; each appears as a whole after it.

        Raises UsageError if a file cannot be written or would change a history.
        """
        self._refuse_several_histories()
        self._refuse_targets()
        with ExitStack() as stack:
            self._writers = [self._writer(kind, target, stack) for kind, target in self._targets.items()]
            yield
            for writer in self._writers:
                writer.finish()

    def refuse_with_summary(self) -> None:
        """Raises UsageError if a file was asked for that a count over histories cannot fill."""
        refused = [kind.option for kind in self._targets if kind.subject is not Subject.ALL_REPORTS]
        if refused:
            raise UsageError(f"--summary counts and has no {' and no '.join(refused)}")

    def _writer(self, kind: ReportType, target: Any, stack: ExitStack) -> _Writer:
        if kind.destination is Destination.STEP_SUMMARY:
            return _StepSummary(kind, self._settings)
        if kind.destination is Destination.FOLDER:
            return AnomalyFiles(kind, target, self._histories)
        if kind.subject is Subject.SINGLE_REPORT:
            return _SingleReport(kind, target, self._settings)
        return _Reports(kind, stack.enter_context(output(target)), self._settings)

    def _refuse_several_histories(self) -> None:
        for kind in self._targets:
            if kind.subject is Subject.SINGLE_REPORT and len(self._histories) > 1:
                others = [other.option for other in _WRITTEN if other.subject is Subject.ALL_REPORTS]
                hint = f"--json, {', '.join(others[:-1])} and {others[-1]} take several"
                raise UsageError(f"{kind.option} is about one history\n\nhint: {hint}")

    def _refuse_targets(self) -> None:
        taken = {os.path.realpath(history): history for history in self._histories}
        for kind, target in self._targets.items():
            if kind.destination is not Destination.STEP_SUMMARY:
                _refuse_target(kind, target, taken)
                taken[os.path.realpath(target)] = f"what {kind.option} writes"


def _refuse_target(kind: ReportType, target: str, taken: Mapping[str, str]) -> None:
    """Refuses a name that cannot be a file, and one that would change a path that is `taken`."""
    is_folder = kind.destination is Destination.FOLDER and not is_single_file(target)
    if target in ("", "-"):
        what = "a name" if kind.destination is Destination.FOLDER else "the name of a file"
        raise UsageError(f"{kind.option} needs {what}: the results are on standard output")
    if is_folder and Path(target).is_file():
        hint = f"a file has a name that ends in {kind.extension}"
        raise UsageError(f"{kind.option}: {target} is no directory\n\nhint: {hint}")
    if not is_folder and Path(target).is_dir():
        raise UsageError(f"{kind.option}: {target} is a directory")
    # A folder for pictures is made, the folder above it is not.
    parent = Path(target).parent
    if not parent.is_dir():
        raise UsageError(f"{kind.option}: cannot write {target}: there is no folder {parent}")
    path = os.path.realpath(target)
    if path in taken:
        raise UsageError(f"{kind.option}: {target} would replace {taken[path]}")
    # Pictures are allowed in the folder of a history, reports are not.
    if kind.subject in (Subject.ALL_REPORTS, Subject.SINGLE_REPORT) and (
        folder := next((taken[str(above)] for above in Path(path).parents if str(above) in taken), "")
    ):
        raise UsageError(f"{kind.option}: {target} would become a part of the history {folder}")


class _Reports:
    """One file for all histories."""

    def __init__(self, kind: ReportType, sink: BinaryIO, settings: RenderSettings) -> None:
        self._kind, self._sink, self._settings = kind, sink, settings
        self._results: list[Result] = []
        self._texts: list[str] = []

    def add(self, result: Result) -> None:
        if self._kind.subject is Subject.ALL_REPORTS:
            self._results.append(result)
        elif not isinstance(result, Unreadable):
            self._texts.append(self._kind.render(result, self._settings))

    def finish(self) -> None:
        if self._kind.subject is Subject.ALL_REPORTS:
            self._texts.append(self._kind.render(self._results, self._settings))
        self._sink.write("".join(self._texts).encode())


class _SingleReport:
    """A file about one history; a history that could not be read has none."""

    def __init__(self, kind: ReportType, target: str, settings: RenderSettings) -> None:
        self._kind, self._target, self._settings = kind, target, settings
        self._report: Report | Search | None = None

    def add(self, result: Result) -> None:
        if not isinstance(result, Unreadable):
            self._report = result

    def finish(self) -> None:
        if self._report is None:
            return
        # Standard input and a history in memory have no file to link to.
        has_file = Path(str(self._report.history["path"])).exists()
        folder = str(Path(self._target).parent) if has_file else None
        text = self._kind.render(self._report, replace(self._settings, folder=folder))
        with output(self._target) as sink:
            sink.write(text.encode())


class _StepSummary:
    """Adds to the file that GitHub names; all commands of a step write there and share its limit."""

    def __init__(self, kind: ReportType, settings: RenderSettings) -> None:
        self._kind, self._settings = kind, settings
        self._results: list[Result] = []
        self._path = os.environ.get(STEP_SUMMARY, "")
        if not self._path:
            raise UsageError(
                f"{kind.option} writes to the file that ${STEP_SUMMARY} names, and it names none\n\n"
                f"hint: GitHub sets it; elsewhere try {STEP_SUMMARY}=summary.md isoscope check ..."
            )
        with _appending(self._path):
            pass

    def add(self, result: Result) -> None:
        self._results.append(result)

    def finish(self) -> None:
        with _appending(self._path) as sink:
            settings = replace(self._settings, limit=self._settings.limit - sink.tell())
            sink.write(self._kind.render(self._results, settings).encode())


@contextmanager
def _appending(path: str) -> Iterator[BinaryIO]:
    try:
        with Path(path).open("ab") as sink:
            yield sink
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
