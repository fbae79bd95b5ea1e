"""`isoscope check`: recorded histories against isolation levels."""

from __future__ import annotations

import tempfile
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from isoscope import __version__, checkers, formats
from isoscope.cli import BAD_INPUT, terminal
from isoscope.cli.certificate_option import certificate_file, is_proved_by_report
from isoscope.cli.exit_status import explained, fail_on_option, status, worst
from isoscope.cli.options import (
    chosen_profile,
    format_option,
    initial_option,
    parse_levels,
    profile_options,
    time_limit_option,
)
from isoscope.cli.progress import Waiting
from isoscope.cli.report_files import ReportFiles, report_file_options, report_option
from isoscope.cli.spark_engine import SparkChecker, parse_engine, refuse_with_engine
from isoscope.cli.witness_file import WitnessFile
from isoscope.errors import IsoscopeError, UsageError
from isoscope.explain import harmless
from isoscope.reports import Summary, dumps, render_json, render_text
from isoscope.reports.findings import Unreadable
from isoscope.verdict import Claim, Method, Report, Search

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.cli.certificate_file import CertificateFile
    from isoscope.history import History, Initial
    from isoscope.levels import Level
    from isoscope.profiles import Profile

__all__ = ["command"]

#: Counterexamples of each anomaly that a report holds, and that the text shows.
_HELD, _SHOWN = 10, 1


@click.command("check")
@click.argument("histories", nargs=-1, required=True, metavar="HISTORY...")
@click.option("--level", "names", multiple=True, metavar="LEVEL", help="Level to check; may be repeated.")
@click.option("--anomaly", "anomalies", multiple=True, metavar="NAME",
              help="Look only for this anomaly (aborted-read, tap-k, ...); may be repeated.")  # fmt: skip
@click.option("--method", type=click.Choice([str(method) for method in Method]), help="Use this method only.")
@profile_options
@click.option("--streaming", is_flag=True,
              help="Sort on a disk what does not fit into memory (--method timestamps).")  # fmt: skip
@click.option("--engine", metavar="spark[=MASTER_URL]",
              help="Check Parquet on Apache Spark (--method timestamps or values).")  # fmt: skip
@click.option("--assume", multiple=True, type=click.Choice([str(claim) for claim in Claim]),
              help="Claim of yours about the order of versions; may be repeated.")  # fmt: skip
@format_option("the histories")
@initial_option()
@click.option("--max-anomalies", type=click.IntRange(1, 2**31),
              show_default=f"{_SHOWN} in the text, {_HELD} elsewhere",
              help="Counterexamples shown of each anomaly; all are counted.")  # fmt: skip
@click.option(
    "--all", "everything", is_flag=True, help="Also show the anomalies that break nothing promised."
)
@fail_on_option
@time_limit_option
@click.option("--summary", "summarise", is_flag=True,
              help="Count over all histories; each file of a directory is then one.")  # fmt: skip
@report_option("json", "as_json")
@click.option("--witness", metavar="FILE",
              help="Also write why levels hold: for each an order that shows it (JSON).")  # fmt: skip
@click.option("--certificate", "certificate_path", metavar="FILE",
              help="Also write proofs of the verdicts for `isoscope verify`; .gz is packed.")  # fmt: skip
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
    engine: str | None,
    assume: tuple[str, ...],
    format_: str | None,
    initial: Initial | None,
    max_anomalies: int | None,
    everything: bool,
    fail_on: frozenset[Level] | None,
    time_limit: float,
    summarise: bool,
    as_json: bool,
    witness: str | None,
    certificate_path: str | None,
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
    Without --level: 1 if pl-2, read-committed or cut-isolation is violated, else 0; the last line says so.
    With --fail-on: 1 if that level is violated, 3 if it is unknown; `any` means every level, `none` none.
    With --anomaly: 1 if one was found, 3 if one may be there, else 0.
    With --profile: 1 if a mechanism or a promised level is violated, 3 if that is not decided.

    \b
    With --assume, every answer rests on a claim that the histories cannot show; the report names it:
        sequential-keys      a session meets the versions of a key in their order
        linearizable-keys    the same by real time
        writes-follow-reads  a transaction that reads a key and then writes it installs the later version

    \b
    Examples:
        isoscope check history.txt
        isoscope check run.edn.gz --level read-atomic --json
        isoscope check history.txt --level "postgresql:repeatable read"
        isoscope check history.txt --fail-on any --all
        isoscope check history.txt --anomaly fractured-read-co --anomaly tap-l
        isoscope check recorded/ --summary
        isoscope check history.json --method timestamps --streaming
        isoscope check recorded/ --engine spark=local[4] --method timestamps
        isoscope check run.leopard.jsonl --profile postgresql/serializable
        isoscope check history.txt --report report.html
        isoscope check history.txt --level serializable --witness order.json
        isoscope check history.txt --certificate proofs.jsonl.gz
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
        max_anomalies=1 if summarise else max_anomalies or _HELD,
        time_limit=time_limit,
        fail_on=fail_on,
        witness=witness is not None,
        certificate=certificate_path is not None,
    )
    question.refuse_contradictions()
    proofs = certificate_file(certificate_path, histories)
    checker: _Checker | SparkChecker
    checker = (_StreamingChecker if streaming else _Checker)(question, format_, initial, proofs)
    if engine is not None:
        refuse_with_engine(click.get_current_context().params)
        limits = (question.max_anomalies, fail_on)
        checker = SparkChecker(parse_engine(engine), asked, method, initial, *limits)
    if streaming:
        _refuse_streaming(question)
    paths = list(_each(histories) if summarise else histories)
    files = ReportFiles(given, histories, timings=timings)
    if summarise and timings:
        raise UsageError("--summary counts and has no --timings")
    if summarise:
        files.refuse_with_summary()
    if (question.witness or question.certificate) and (summarise or streaming or profile_name):
        option = "--summary" if summarise else "--streaming" if streaming else "--profile"
        wanted = "--certificate" if witness is None else "--witness"
        raise UsageError(f"{option} keeps no orders and has no {wanted}")
    if question.certificate:
        question.refuse_uncertified()
    orders = WitnessFile(witness, histories)
    with files.opened(), orders.opened(), proofs.opened() if proofs else nullcontext(), checker.opened():
        if summarise:
            return _summarise(checker, paths, files, as_json=as_json)
        printer = _Printer(as_json, timings, everything=everything, shown=max_anomalies or _SHOWN)
        return printer.finish([_check(checker, path, [files, orders], printer) for path in paths])


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
    fail_on: frozenset[Level] | None
    witness: bool = False
    certificate: bool = False

    def refuse_contradictions(self) -> None:
        try:
            checkers.select(
                self.anomalies, levels=self.levels or None, method=self.method, profile=self.profile
            )
            if self.fail_on is not None and self.anomalies:
                raise ValueError("--fail-on is about levels, --anomaly about anomalies")
            if (self.witness or self.certificate) and self.anomalies:
                option = "--witness" if self.witness else "--certificate"
                raise ValueError(f"{option} is about levels, --anomaly about anomalies")
        except ValueError as error:
            hint = "`isoscope explain` lists the anomalies, `isoscope explain NAME` says what one breaks"
            raise UsageError(f"{error}\n\nhint: {hint}") from None

    def refuse_uncertified(self) -> None:
        """Answers that rest on claims or on clients' clocks cannot be checked from the history alone."""
        if self.assume:
            raise UsageError("--certificate proves what the history shows, and has no --assume")
        if self.method == Method.INTERVALS:
            raise UsageError("--certificate has no --method intervals: it rests on clients' clocks")

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
        report = checkers.check(
            history,
            self._checked(history),
            method=self.method,
            max_anomalies=self.max_anomalies,
            assume=self.assume,
            profile=self.profile,
            clock_error=self.clock_error,
            time_limit=self.time_limit,
            witness=self.witness or self.certificate,
            covering=self.certificate and not self.witness and is_proved_by_report(history),
        )
        return replace(report, asked=self.levels, fail_on=self.fail_on)

    def _checked(self, history: History) -> list[Level] | None:
        """The named levels, and the one that decides the exit status."""
        named = [level for level in self.fail_on or () if len(self.fail_on or ()) == 1]
        if not self.levels and not named:
            return None
        usual = () if self.levels or self.profile or self.method else checkers.default_levels(history)
        return [*dict.fromkeys((*self.levels, *usual, *named))]


@dataclass(frozen=True, slots=True)
class _Checker:
    """Reads a history and asks the question."""

    question: _Question
    format: str | None
    initial: Initial | None
    proofs: CertificateFile | None

    def opened(self) -> AbstractContextManager[None]:
        """Nothing is to be closed."""
        return nullcontext()

    def report(self, path: str) -> Report | Search:
        """The answer; a check that takes long says so."""
        with Waiting(f"checking {'standard input' if path == '-' else harmless(path)}"):
            return self._report(path)

    def _report(self, path: str) -> Report | Search:
        asked, started = self.question, perf_counter()
        history = formats.load(path, format=self.format, initial=self.initial)
        loaded = perf_counter() - started
        report = asked.of(history)
        if self.proofs:
            self.proofs.add(history, report, is_initial_given=self.initial is not None)
        if isinstance(report, Report) and not asked.witness:
            report = replace(report, witnesses=())
        return replace(report, seconds={"load": loaded, **(report.seconds or {})})


@dataclass(frozen=True, slots=True)
class _StreamingChecker(_Checker):
    """The same for a history that does not fit into memory."""

    def _report(self, path: str) -> Report:
        asked = self.question
        slices = formats.slices(path, format=self.format, initial=self.initial)
        try:
            report = checkers.check_slices(slices, asked.levels or None, max_anomalies=asked.max_anomalies)
            return replace(report, fail_on=asked.fail_on)
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


def _check(
    checker: _Checker | SparkChecker, path: str, files: Sequence[ReportFiles | WitnessFile], printer: _Printer
) -> int:
    """Checks one history, prints the report and adds it to the files; returns its exit status."""
    try:
        report = checker.report(path)
    except IsoscopeError as error:
        _report_error(path, error, as_json=printer.as_json)
        for file in files:
            file.add(Unreadable(path=path, error=str(error)))
        return BAD_INPUT
    printer.print(report)
    for file in files:
        file.add(report)
    return status(report)


def _summarise(
    checker: _Checker | SparkChecker, paths: list[str], files: ReportFiles, *, as_json: bool
) -> int:
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
        statuses.append(status(report))
    click.echo(summary.render_json() if as_json else summary.render_text(), nl=as_json)
    return worst(statuses)


def _report_error(path: str, error: IsoscopeError, *, as_json: bool) -> None:
    click.echo(f"error: {error}", err=True)
    if as_json:
        document = {"isoscope": __version__, "history": {"path": path}, "error": str(error)}
        click.echo(dumps(document))


@dataclass(frozen=True, slots=True)
class _Printer:
    """Prints one report after another, and in the end what decided the exit status."""

    as_json: bool
    timings: bool
    everything: bool = field(kw_only=True)
    shown: int = field(kw_only=True)
    reports: list[Report | Search] = field(default_factory=list, init=False)

    def print(self, report: Report | Search) -> None:
        if self.as_json:
            click.echo(render_json(report, timings=self.timings))
            return
        self.reports.append(report)
        text = render_text(
            report,
            width=terminal.width(),
            colour=terminal.has_colour(),
            everything=self.everything,
            shown=self.shown,
        )
        terminal.echo(text)
        if self.timings and report.seconds is not None:
            click.echo("  ".join(f"{stage}: {seconds:.3f} s" for stage, seconds in report.seconds.items()))

    def finish(self, statuses: list[int]) -> int:
        if line := explained(worst(statuses), self.reports):
            terminal.echo(line)
        return worst(statuses)
