"""`isoscope run`: a workload on a real database, recorded, kept and checked."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from isoscope import __version__
from isoscope.cli import BAD_INPUT, run_text, terminal
from isoscope.cli.cluster_options import (
    CLUSTER_PARAMETERS,
    Duration,
    cluster_options,
    deployment_features,
    fault_plan,
)
from isoscope.cli.exit_status import UNDECIDED, explained, fail_on_option, status
from isoscope.cli.hermitage import run_scripts
from isoscope.cli.options import SectionedCommand, parse_levels, refuse_given, time_limit_option
from isoscope.cli.progress import ProgressLine
from isoscope.cli.report_files import FILE_PARAMETERS, ReportFiles, report_file_options
from isoscope.errors import UsageError
from isoscope.reports import document, dumps, paragraph, render_text
from isoscope.reports.registry import REPORT_TYPES, Destination
from isoscope.run import (
    HERMITAGE,
    HistoryFile,
    HistoryLog,
    Limits,
    Plan,
    execute,
    refuse_unwritable,
    verify_live,
)
from isoscope.run.plan import DEFAULT_SECONDS
from isoscope.workloads import CLIENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from isoscope.levels import Level
    from isoscope.run import CompletedRun, SavedHistory, Verification
    from isoscope.verdict import Report

__all__ = ["command"]

#: Parameters of workloads; a workload has its own defaults.
_PARAMETERS = (
    "sessions", "min_txn_length", "max_txn_length", "read_ratio", "keys", "active_keys",
    "max_writes_per_key", "distribution",
)  # fmt: skip
_LIMITS = ("seconds", "transactions", "rate", "retries", "until_violated")
#: Options that need a check, and options that need a history.
_NEED_CHECK = ("names", "max_anomalies", "time_limit", "everything", "fail_on", *FILE_PARAMETERS)
_NEED_HISTORY = ("until_violated", "out", "lossy", "live", "profile", "no_check", *_NEED_CHECK)
_NOT_FOR_SCRIPTS = (
    "driver", *CLUSTER_PARAMETERS, "seconds", "transactions", "rate", "retries", *_PARAMETERS, "seed",
    "no_record", "as_json",
    *_NEED_HISTORY,
)  # fmt: skip
_HINT = "leave one of them out"
_SECTIONS = {
    "Nodes and faults": CLUSTER_PARAMETERS,
    "Workload": ("workload", *_PARAMETERS, "seed"),
    "History": ("out", "lossy", "no_record"),
    "Live": ("live", "profile"),
    "Check": ("names", "max_anomalies", "time_limit", "everything", "fail_on", "no_check"),
    "Output": ("as_json", *FILE_PARAMETERS, "--help"),
}


@click.command("run", cls=SectionedCommand, first="Run", sections=_SECTIONS)
@click.argument("targets", metavar="DATABASE...", nargs=-1)
@click.option(
    "--driver", metavar="MODULE:CLASS", help="Driver of your own; DATABASE is then its URL, or nothing."
)
@click.option("--isolation", metavar="NAME", help="Isolation to ask for; by default the database's first.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="Setting of the database; may be repeated.")  # fmt: skip
@cluster_options
@click.option("--seconds", type=Duration(), metavar="DURATION", help="End after this time: 10, 10s, 5m, 2h.",
              show_default=f"{DEFAULT_SECONDS:.0f}, unless --transactions is given")  # fmt: skip
@click.option("--transactions", type=click.IntRange(1, 2**31),
              help="End after so many transactions, aborted ones included.")  # fmt: skip
@click.option("--rate", type=click.FloatRange(0, 10**9, min_open=True), show_default="no limit",
              help="Try no more transactions a second than this.")  # fmt: skip
@click.option("--retries", default=0, show_default=True, type=click.IntRange(0, 2**31),
              help="Do what was aborted so many times again, as new transactions.")  # fmt: skip
@click.option("--until-violated", is_flag=True, help="End when a promised level is violated.")
@click.option("--workload", default="key-value", show_default=True, metavar="NAME",
              help=f"What sessions do: {', '.join([*CLIENTS, HERMITAGE])}.")  # fmt: skip
@click.option("--sessions", type=click.IntRange(1, 2**16), help="Connections, each used by one thread.")
@click.option("--min-txn-length", type=click.IntRange(1, 2**20), help="Fewest operations of a transaction.")
@click.option("--max-txn-length", type=click.IntRange(1, 2**20), help="Most of them.")
@click.option("--read-ratio", type=click.FloatRange(0, 1), help="Share of operations that are reads.")
@click.option("--keys", type=click.IntRange(1, 2**28))
@click.option("--active-keys", type=click.IntRange(1, 2**28), help="Keys that are in use at once.")
@click.option("--max-writes-per-key", type=click.IntRange(0, 2**31),
              help="Retire a key after this many writes (0: never).")  # fmt: skip
@click.option("--distribution", type=click.Choice(["uniform", "zipfian", "hotspot", "exponential"]))
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 2**64 - 1))
@click.option("--out", metavar="FILE", help="Where the history goes.",
              show_default="a new file DATABASE-ISOLATION.parquet in this folder")  # fmt: skip
@click.option("--lossy", is_flag=True, help="Write what FILE can hold, and say what is lost.")
@click.option("--no-record", is_flag=True, help="Record nothing: only the rate of the database.")
@click.option("--live", metavar="[URL]", is_flag=False, flag_value="",
              help="Check while it runs: by `isoscope serve` there, whose token is in $ISOSCOPE_TOKEN, or "
              "else here, by the profile of the database.")  # fmt: skip
@click.option("--profile", metavar="PROFILE", show_default="that of the database and its isolation",
              help="What --live holds the database to; `isoscope profiles` lists them.")  # fmt: skip
@click.option("--no-check", is_flag=True, help="Only record.")
@click.option("--level", "names", multiple=True, metavar="LEVEL",
              help="Level to check instead of what is promised; may be repeated.")  # fmt: skip
@click.option("--max-anomalies", default=1, show_default=True, type=click.IntRange(1, 2**31),
              help="Counterexamples shown of each anomaly; all are counted.")  # fmt: skip
@time_limit_option
@click.option(
    "--all", "everything", is_flag=True, help="Also show the anomalies that break nothing promised."
)
@fail_on_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@report_file_options
def command(targets: tuple[str, ...], *, no_record: bool, as_json: bool, **given: Any) -> int:
    """Run a workload on a database and check what it promises.

    DATABASE is a name that `isoscope databases` lists, such as sqlite, postgresql or etcd: the database is
    then made or started for this run and removed afterwards. Or it is a URL such as
    postgresql://user:password@host/name. There the run makes its own table, and drops it. Several URLs are
    the nodes of one database: sessions are spread over them. --nodes starts several nodes, and --faults
    kills, pauses or separates them meanwhile.

    With --workload hermitage, scripts of known anomalies run statement by statement instead, on every
    isolation unless one is named. A table says which anomalies are prevented, beside what is known.

    Every operation is recorded with what it was answered and when. Ctrl-C ends a run early: what was recorded
    is kept and checked.

    \b
    Exits 0 if the database kept its promise, 1 if it broke it, 3 if that is unknown, 2 if something went
    wrong. With --level or --fail-on: as `isoscope check` does. The last line says what decided.

    \b
    Examples:
        isoscope run sqlite
        isoscope run sqlite --isolation read-uncommitted --report report.html
        isoscope run postgresql --isolation repeatable-read --level serializable
        isoscope run mariadb --isolation repeatable-read --seconds 30 --sessions 16
        isoscope run duckdb --workload list-append --transactions 5000
        isoscope run simulated --set bug=lost-update --isolation snapshot-isolation
        isoscope run --driver my_driver:MyDatabase --seconds 3
        isoscope run postgresql --nodes 2 --read-ratio 0.9 --level strict-serializable
        isoscope run galera --nodes 3 --faults kill,pause,partition --every 5s --seconds 60
        isoscope run postgresql --no-record
        isoscope run postgresql --isolation serializable --live
        isoscope run simulated --live http://127.0.0.1:8642
    """
    settings = _settings(given["settings"])
    target = targets[0] if targets else ""
    if not target and given["driver"] is None:
        raise UsageError("no database is named\n\nhint: `isoscope run sqlite`, or --driver MODULE:CLASS")
    if target == "mysql":
        click.echo("mysql: MariaDB is started for this run; a URL reaches another server", err=True)
    if given["workload"] == HERMITAGE:
        refuse_given(_NOT_FOR_SCRIPTS, "hermitage runs scripts and knows nothing of {options}", _HINT)
        return run_scripts(target, given["isolation"], settings)
    if no_record:
        refuse_given(_NEED_HISTORY, "--no-record leaves nothing for {options}", _HINT)
    if given["no_check"]:
        refuse_given(_NEED_CHECK, "--no-check leaves nothing for {options}", _HINT)
    parse_levels(given["names"])
    plan = _plan(targets, settings, given)
    if no_record:
        completed = _execute(plan, record=False)
        _print(completed, None, given, as_json=as_json)
        _raise_fault(completed)
        return _status(completed, None)
    name = f"{plan.database.NAME}-{plan.database.isolation}"
    also = deployment_features(targets, given)
    file = HistoryFile.of(given["out"], name=name, lossy=given["lossy"], also=also)
    with _opened_files(file.path, given) as files:
        with _logged(file.path) as log:
            completed = _execute(plan, verification=_verification(plan, given), log=log)
            saved = file.save(completed.history)
            log.close()
            if saved.path:
                log.remove()
        _print_saved(saved)
        report = _checked(completed, saved, given)
        _print(completed, report, given, as_json=as_json, path=saved.path)
        if report is not None:
            files.add(_with_description(report, completed))
    _raise_fault(completed)
    return _status(completed, report) if saved.as_asked else BAD_INPUT


def _checked(completed: CompletedRun, saved: SavedHistory, given: dict[str, Any]) -> Report | None:
    """The report; with --no-check what the live verification found, if there was one."""
    found = completed.mechanisms
    if given["no_check"]:
        return found if found is None else replace(found, origin=completed.origin)
    report = completed.check(
        saved.history,
        levels=parse_levels(given["names"]),
        also=given["fail_on"] if len(given["fail_on"] or ()) == 1 else (),
        max_anomalies=given["max_anomalies"],
        time_limit=given["time_limit"],
    )
    # A database that promises nothing breaks nothing.
    usual: frozenset[Level] | None = None if report.asked or report.promises else frozenset()
    return replace(report, fail_on=usual if given["fail_on"] is None else given["fail_on"])


def _raise_fault(completed: CompletedRun) -> None:
    """A fault of Isoscope is no verdict, but only now: the history is written, and its report printed."""
    if completed.run.error is not None:
        raise completed.run.error


def _plan(targets: tuple[str, ...], settings: dict[str, str], given: dict[str, Any]) -> Plan:
    return Plan.of(
        targets[0] if targets else "",
        urls=targets[1:],
        nodes=given["nodes"],
        faults=fault_plan(given, click.get_current_context()),
        driver=given["driver"],
        isolation=given["isolation"],
        settings=settings,
        workload=given["workload"],
        parameters={name: given[name] for name in _PARAMETERS if given[name] is not None},
        seed=given["seed"],
        limits=Limits(**{name: given[name] for name in _LIMITS}),
    )


def _settings(given: tuple[str, ...]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UsageError(f"--set {text}: expected NAME=VALUE")
        if name in settings:
            raise UsageError(f"--set {text}: {name} is {settings[name]} already")
        settings[name] = value
    return settings


def _verification(plan: Plan, given: dict[str, Any]) -> Verification | None:
    """`--live` without a URL is the empty text."""
    if given["live"] is None:
        refuse_given(("profile",), "{options} is for --live", "add it")
        return None
    return verify_live(
        plan, url=given["live"] or None, profile=given["profile"], max_anomalies=given["max_anomalies"]
    )


@contextmanager
def _logged(path: str) -> Iterator[HistoryLog]:
    """The log beside the file of the history; where that is not written, standard error names the log."""
    try:
        log = HistoryLog(path)
    except OSError as error:
        raise UsageError(f"cannot write beside {path}: {error.strerror or error}") from None
    try:
        yield log
    except BaseException:
        log.close()
        if log.transactions:
            click.echo(f"history until then: {log.path}", err=True)
        raise


def _execute(
    plan: Plan,
    *,
    record: bool = True,
    verification: Verification | None = None,
    log: HistoryLog | None = None,
) -> CompletedRun:
    """Runs the plan with a line of progress; prints on standard error how the run ended."""
    with _sigterm_interrupts(), ProgressLine(plan.limits, _verification_text(verification)) as progress:
        progress.show(f"opening {plan.database.NAME} ...")
        completed = execute(plan, record=record, verification=verification, log=log, progress=progress)
    ran = completed.run
    if completed.verification is not None:
        click.echo(run_text.summary_text(completed.verification, ran.progress.seconds), err=True)
    if ran.active_sessions < plan.clients.sessions:
        went_on = f"{ran.active_sessions} of {plan.clients.sessions} sessions went on"
        click.echo(f"most transactions were aborted: {went_on}; --sessions keeps a number", err=True)
    if ran.found_violation:
        click.echo("ended: a promised level is violated", err=True)
    if ran.interrupted:
        click.echo("interrupted: what happened until then is kept", err=True)
    if ran.problem is not None:
        click.echo(f"error: {ran.problem}", err=True)
    return completed


def _verification_text(verification: Verification | None) -> Callable[[], str]:
    def text() -> str:
        so_far = None if verification is None else verification.progress()
        return "" if so_far is None else run_text.verification_text(so_far)

    return text


@contextmanager
def _sigterm_interrupts() -> Iterator[None]:
    """SIGTERM ends a run as Ctrl-C does: the history is kept, and the database closed."""
    try:
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    except ValueError:  # only the main thread may set a handler
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _opened_files(path: str, given: Mapping[str, Any]) -> Iterator[ReportFiles]:
    """The files of reports; one that cannot be written is refused before anything runs."""
    for kind in REPORT_TYPES:
        if kind.destination is Destination.FILE and given[kind.parameter] not in (None, "", "-"):
            refuse_unwritable(kind.option, given[kind.parameter])
    files = ReportFiles(given, [path])
    with files.opened():
        yield files


def _print_saved(saved: SavedHistory) -> None:
    """Says on standard error where the history is."""
    for loss in saved.losses:
        click.echo(f"lost: {loss}", err=True)
    for problem in saved.problems:
        click.echo(f"error: {problem}", err=True)
    if not saved.path:
        click.echo("hint: the history is lost; make room, or name another folder with --out", err=True)
        return
    click.echo(f"history: {saved.path}", err=True)
    if not saved.as_asked:
        click.echo("hint: move it before the system clears that folder", err=True)


def _with_description(report: Report, completed: CompletedRun) -> Report:
    """The report, which also says what ran."""
    head, text = run_text.description(completed)
    return replace(report, assumptions=(f"recorded from {head}: {text}", *report.assumptions))


def _print(
    completed: CompletedRun,
    report: Report | None,
    given: Mapping[str, Any],
    *,
    as_json: bool,
    path: str = "",
) -> None:
    if as_json:
        click.echo(dumps(_document(completed, report, path)))
        return
    width = terminal.width()
    facts = [run_text.description(completed), run_text.rate_line(completed)]
    facts += [] if completed.plan.faults is None else [run_text.faults_line(completed)]
    facts += [] if completed.promises else [("promised", "nothing")]
    if report is None:
        for head, text in facts:
            terminal.echo(paragraph(text, width=width, head=f"{head}: ", margin=2))
        return
    text = render_text(
        report,
        width=width,
        colour=terminal.has_colour(),
        everything=given["everything"],
        shown=given["max_anomalies"],
        facts=facts,
    )
    line = explained(_status(completed, report), [report])
    terminal.echo(f"{text}\n{line}" if line else text)


def _document(completed: CompletedRun, report: Report | None, path: str) -> dict[str, Any]:
    run = {"run": completed.document()}
    if report is not None:
        return {**document(report), **run}
    return {"isoscope": __version__, **({"history": {"path": path}} if path else {}), **run}


def _status(completed: CompletedRun, report: Report | None) -> int:
    """As `isoscope check` has it; nothing is decided where nothing was committed."""
    if completed.run.problem is not None:
        return BAD_INPUT
    if report is None:
        return 0
    return status(report) if completed.run.progress.committed else UNDECIDED
