"""`isoscope check`: recorded histories against isolation levels."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from isoscope import __version__, checkers, formats
from isoscope.checkers import version_order
from isoscope.cli import BAD_INPUT, terminal
from isoscope.cli.options import (
    chosen_profile,
    format_option,
    initial_option,
    parse_levels,
    profile_options,
)
from isoscope.cli.progress import Waiting
from isoscope.cli.report_files import ReportFiles, report_file_options, report_option
from isoscope.errors import IsoscopeError, UsageError
from isoscope.explain import harmless
from isoscope.reports import Summary, dumps, render_json, render_text
from isoscope.reports.findings import Unreadable, answers
from isoscope.verdict import Claim, Method, Outcome, Report, Search

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.history import History, Initial
    from isoscope.levels import Level
    from isoscope.profiles import Profile

__all__ = ["command", "exit_status"]

VIOLATED, UNDECIDED = 1, 3


@click.command("check")
@click.argument("histories", nargs=-1, required=True, metavar="HISTORY...")
@click.option("--level", "names", multiple=True, metavar="LEVEL", help="Level to check; may be repeated.")
@click.option("--anomaly", "anomalies", multiple=True, metavar="NAME",
              help="Look only for this anomaly (aborted-read, tap-k, ...); may be repeated.")  # fmt: skip
@click.option("--method", type=click.Choice([str(method) for method in Method]), help="Use this method only.")
@profile_options
@click.option("--streaming", is_flag=True,
              help="Sort on a disk what does not fit into memory (--method timestamps).")  # fmt: skip
@click.option("--assume", multiple=True, type=click.Choice([str(claim) for claim in Claim]),
              help="Claim of yours about the order of versions; may be repeated.")  # fmt: skip
@format_option("the histories")
@initial_option()
@click.option("--max-anomalies", default=10, show_default=True, type=click.IntRange(1, 2**31),
              help="Counterexamples shown of each anomaly; all are counted.")  # fmt: skip
@click.option("--time-limit", default=version_order.TIME_LIMIT, show_default=True, metavar="SECONDS",
              type=click.FloatRange(0, 2**31),
              help="Search for an order of versions at most so long for each level.")  # fmt: skip
@click.option("--summary", "summarise", is_flag=True,
              help="Count over all histories; each file of a directory is then one.")  # fmt: skip
@report_option("json", "as_json")
@click.option("--timings", is_flag=True, help="Add the seconds that each stage took.")
@report_file_options
def command(
    histories: tuple[str, ...],
    *,
    names: tuple[str, ...],
    anomalies: tuple[str, ...],
    method: str | None,
    profile_name: str | None,
    clock_error: int,
    streaming: bool,
    assume: tuple[str, ...],
    format_: str | None,
    initial: Initial | None,
    max_anomalies: int,
    time_limit: float,
    summarise: bool,
    as_json: bool,
    timings: bool,
    **given: Any,
) -> int:
    """Check recorded histories against isolation levels.

    HISTORY is a file, a directory of session files, or `-` for standard input; `.gz` and `.zst` are
    unpacked and the format is recognised. Without --level, every level that the evidence speaks of.

    With --summary, every file of a directory and of its subdirectories is a history of its own. The
    levels and anomalies of all histories are counted, and nothing else is printed.

    \b
    Exits 0 if all named levels hold, 1 if one is violated, 3 if one is unknown, 2 on bad input.
    Without --level: 1 if pl-2, read-committed or cut-isolation is violated, else 0.
    With --anomaly: 1 if one was found, 3 if one may be there, else 0.
    With --profile: 1 if a mechanism or a promised level is violated, 3 if there are no intervals.

    \b
    With --assume, every answer rests on a claim that the histories cannot show; the report names it:
        sequential-keys      a session meets the versions of a key in their order
        linearizable-keys    the same by real time
        writes-follow-reads  a transaction that reads a key and then writes it installs the later version

    \b
    Examples:
        isoscope check history.txt
        isoscope check run.edn.gz --level read-atomic --json
        isoscope check history.txt --anomaly fractured-read-co --anomaly tap-l
        isoscope check recorded/ --summary
        isoscope check history.json --method timestamps --streaming
        isoscope check run.leopard.jsonl --profile postgresql/serializable
        isoscope check history.txt --report report.html
        isoscope check history.txt --junit report.xml --step-summary
        isoscope check history.txt --svg pictures
    """
    asked = parse_levels(names)
    question = _Question(
        levels=asked,
        anomalies=anomalies,
        method=method,
        profile=chosen_profile(profile_name, method, clock_error),
        clock_error=clock_error,
        assume=assume,
        max_anomalies=1 if summarise else max_anomalies,
        time_limit=time_limit,
    )
    question.refuse_contradictions()
    checker = (_StreamingChecker if streaming else _Checker)(question, format_, initial)
    if streaming:
        _refuse_streaming(question)
    paths = list(_each(histories) if summarise else histories)
    files = ReportFiles(given, histories, asked=asked, timings=timings)
    if summarise and timings:
        raise UsageError("--summary counts and has no --timings")
    if summarise:
        files.refuse_with_summary()
    with files.opened():
        if summarise:
            return _summarise(checker, paths, files, as_json=as_json)
        return _worst([_check(checker, path, files, as_json=as_json, timings=timings) for path in paths])


def exit_status(reports: Iterable[Report | Search], asked: tuple[Level, ...]) -> int:
    """1 if a named level is violated or an anomaly was found, else 3 if one is unknown, else 0."""
    return _worst(_status(report, asked) for report in reports)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """The question that is asked of every history."""

    levels: tuple[Level, ...]
    anomalies: tuple[str, ...]
    method: str | None
    profile: Profile | None
    clock_error: int
    assume: tuple[str, ...]
    max_anomalies: int
    time_limit: float

    def refuse_contradictions(self) -> None:
        try:
            checkers.select(
                self.anomalies, levels=self.levels or None, method=self.method, profile=self.profile
            )
        except ValueError as error:
            hint = "`isoscope explain` lists the anomalies, `isoscope explain NAME` says what one breaks"
            raise UsageError(f"{error}\n\nhint: {hint}") from None

    def of(self, history: History) -> Report | Search:
        if self.anomalies:
            return checkers.search(
                history,
                self.anomalies,
                method=self.method,
                max_anomalies=self.max_anomalies,
                assume=self.assume,
                profile=self.profile,
                clock_error=self.clock_error,
            )
        return checkers.check(
            history,
            self.levels or None,
            method=self.method,
            max_anomalies=self.max_anomalies,
            assume=self.assume,
            profile=self.profile,
            clock_error=self.clock_error,
            time_limit=self.time_limit,
        )


@dataclass(frozen=True, slots=True)
class _Checker:
    """Reads a history and asks the question."""

    question: _Question
    format: str | None
    initial: Initial | None

    def report(self, path: str) -> Report | Search:
        """The answer; a check that takes long says so."""
        with Waiting(f"checking {'standard input' if path == '-' else harmless(path)}"):
            return self._report(path)

    def _report(self, path: str) -> Report | Search:
        asked, started = self.question, perf_counter()
        history = formats.load(path, format=self.format, initial=self.initial)
        loaded = perf_counter() - started
        report = asked.of(history)
        return replace(report, seconds={"load": loaded, **(report.seconds or {})})


@dataclass(frozen=True, slots=True)
class _StreamingChecker(_Checker):
    """The same for a history that does not fit into memory."""

    def _report(self, path: str) -> Report:
        asked = self.question
        slices = formats.slices(path, format=self.format, initial=self.initial)
        try:
            return checkers.check_slices(slices, asked.levels or None, max_anomalies=asked.max_anomalies)
        except ValueError as error:
            raise UsageError(f"{error}\n\nhint: check it without --streaming") from None
        except OSError as error:
            # Errors in the history itself are of other types.
            folder = tempfile.gettempdir()
            problem = error.strerror or error
            raise UsageError(
                f"cannot sort in {folder}: {problem}\n\nhint: TMPDIR names another folder"
            ) from None


def _refuse_streaming(question: _Question) -> None:
    """Only the method of timestamps can judge a history in slices."""
    if question.method != Method.TIMESTAMPS:
        raise UsageError("--streaming goes with --method timestamps")
    if question.anomalies:
        raise UsageError("--streaming judges levels: it has no --anomaly")


def _each(histories: tuple[str, ...]) -> Iterator[str]:
    for path in histories:
        yield from formats.histories(path)


def _check(checker: _Checker, path: str, files: ReportFiles, *, as_json: bool, timings: bool) -> int:
    """Checks one history, prints the report and adds it to the files; returns its exit status."""
    try:
        report = checker.report(path)
    except IsoscopeError as error:
        _report_error(path, error, as_json=as_json)
        files.add(Unreadable(path=path, error=str(error)))
        return BAD_INPUT
    _print(report, as_json=as_json, timings=timings)
    files.add(report)
    return _status(report, checker.question.levels)


def _summarise(checker: _Checker, paths: list[str], files: ReportFiles, *, as_json: bool) -> int:
    summary, statuses = Summary(), []
    for path in paths:
        try:
            report = checker.report(path)
        except IsoscopeError as error:
            click.echo(f"error: {str(error).splitlines()[0]}", err=True)
            summary.add_unreadable(path, str(error))
            files.add(Unreadable(path=path, error=str(error)))
            statuses.append(BAD_INPUT)
            continue
        summary.add(report)
        files.add(report)
        statuses.append(_status(report, checker.question.levels))
    click.echo(summary.render_json() if as_json else summary.render_text(), nl=as_json)
    return _worst(statuses)


def _status(report: Report | Search, asked: tuple[Level, ...]) -> int:
    outcomes = {answer.outcome for answer in answers(report, asked) if answer.counts}
    if Outcome.VIOLATED in outcomes:
        return VIOLATED
    return UNDECIDED if Outcome.UNKNOWN in outcomes else 0


def _worst(statuses: Iterable[int]) -> int:
    found = set(statuses)
    return next((status for status in (BAD_INPUT, VIOLATED, UNDECIDED) if status in found), 0)


def _report_error(path: str, error: IsoscopeError, *, as_json: bool) -> None:
    click.echo(f"error: {error}", err=True)
    if as_json:
        document = {"isoscope": __version__, "history": {"path": path}, "error": str(error)}
        click.echo(dumps(document))


def _print(report: Report | Search, *, as_json: bool, timings: bool) -> None:
    if as_json:
        click.echo(render_json(report, timings=timings))
        return
    terminal.echo(render_text(report, width=terminal.width(), colour=terminal.has_colour()))
    if timings and report.seconds is not None:
        click.echo("  ".join(f"{stage}: {seconds:.3f} s" for stage, seconds in report.seconds.items()))
