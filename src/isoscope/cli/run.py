"""`isoscope run`: a workload on a real database, recorded, kept and checked."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from isoscope import __version__, checkers, databases, profiles, run
from isoscope.cli import BAD_INPUT, screen
from isoscope.cli.check import UNDECIDED, exit_status
from isoscope.cli.directed import NAME as HERMITAGE
from isoscope.cli.directed import run_scripts
from isoscope.cli.keeping import Target, refuse_unwritable
from isoscope.cli.options import parse_levels, refuse_given
from isoscope.cli.progress import ProgressLine
from isoscope.cli.promises import Promise, Ran, judge, verdict_line
from isoscope.cli.report_files import FILE_PARAMETERS, ReportFiles, report_file_options
from isoscope.cli.sections import Sections
from isoscope.cli.telling import Telling
from isoscope.cli.verifying import Verifying
from isoscope.databases.database import refuse_unknown
from isoscope.errors import UsageError
from isoscope.levels import Level
from isoscope.reports import document, dumps, paragraph, render_text
from isoscope.reports.registry import REPORT_TYPES, Destination
from isoscope.verdict import Outcome
from isoscope.workloads import CLIENTS, client_workload

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isoscope.databases.database import Database
    from isoscope.history import History
    from isoscope.verdict import Report
    from isoscope.workloads.clients import ClientWorkload

__all__ = ["command"]

#: Seconds of a run that nothing else ends.
_SECONDS = 10.0
#: Parameters of workloads; what is not given is the workload's own matter.
_PARAMETERS = (
    "sessions", "min_txn_length", "max_txn_length", "read_ratio", "keys", "active_keys",
    "max_writes_per_key", "distribution",
)  # fmt: skip
#: What makes no sense without a history, and what makes none without a check.
_OF_THE_CHECK = ("names", "max_anomalies", *FILE_PARAMETERS)
_OF_THE_HISTORY = ("out", "lossy", "live", "profile", "no_check", *_OF_THE_CHECK)
_OF_A_RUN = (
    "seconds", "transactions", "rate", "retries", *_PARAMETERS, "seed", "no_record", "as_json",
    *_OF_THE_HISTORY,
)  # fmt: skip
_HINT = "leave one of them out"
_SECTIONS = {
    "Workload": ("workload", *_PARAMETERS, "seed"),
    "History": ("out", "lossy", "no_record"),
    "Live": ("live", "profile"),
    "Check": ("names", "max_anomalies", "no_check"),
    "Output": ("as_json", *FILE_PARAMETERS, "--help"),
}


@click.command("run", cls=Sections, first="Run", sections=_SECTIONS)
@click.argument("target", metavar="DATABASE")
@click.option("--isolation", metavar="NAME", help="Isolation to ask for; by default the database's first.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="Setting of the database; may be repeated.")  # fmt: skip
@click.option("--seconds", type=click.FloatRange(0, 10**7, min_open=True), help="End after this time.",
              show_default=f"{_SECONDS:.0f}, unless --transactions is given")  # fmt: skip
@click.option("--transactions", type=click.IntRange(1, 2**31),
              help="End after so many transactions, aborted ones included.")  # fmt: skip
@click.option("--rate", type=click.FloatRange(0, 10**9, min_open=True), show_default="no limit",
              help="Try no more transactions a second than this.")  # fmt: skip
@click.option("--retries", default=0, show_default=True, type=click.IntRange(0, 2**31),
              help="Do what was aborted so many times again, as new transactions.")  # fmt: skip
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
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@report_file_options
def command(target: str, *, no_record: bool, no_check: bool, as_json: bool, **given: Any) -> int:
    """Run a workload on a database and check what it promises.

    DATABASE is sqlite, duckdb, postgresql, mariadb or simulated, which is then made or started for this run
    and removed afterwards, or a URL such as postgresql://user:password@host/name. There the run makes its
    own table, and drops it.

    With --workload hermitage, scripts of known anomalies run statement by statement instead, on every
    isolation unless one is named. A table says which anomalies are prevented, beside what is known.

    Every operation is recorded with what it was answered and when. Ctrl-C ends a run early: what was recorded
    is kept and checked.

    \b
    Exits 0 if the database kept its promise, 1 if it broke it, 3 if that is unknown, 2 if something went
    wrong. With --level: as `isoscope check` does.

    \b
    Examples:
        isoscope run sqlite
        isoscope run sqlite --isolation read-uncommitted --report report.html
        isoscope run postgresql --isolation repeatable-read --level serializable
        isoscope run mariadb --isolation repeatable-read --seconds 30 --sessions 16
        isoscope run duckdb --workload list-append --transactions 5000
        isoscope run simulated --set bug=lost-update --isolation snapshot-isolation
        isoscope run postgresql --no-record
        isoscope run postgresql --isolation serializable --live
        isoscope run simulated --live http://127.0.0.1:8642
    """
    if given["workload"] == HERMITAGE:
        refuse_given(_OF_A_RUN, "hermitage runs scripts and knows nothing of {options}", _HINT)
        return run_scripts(target, isolation=given["isolation"], settings=_settings(given["settings"]))
    if no_record:
        refuse_given(_OF_THE_HISTORY, "--no-record leaves nothing for {options}", _HINT)
    if no_check:
        refuse_given(_OF_THE_CHECK, "--no-check leaves nothing for {options}", _HINT)
    asked = parse_levels(given["names"])
    plan = _Plan.of(target, given)
    if no_record:
        ran = plan.run(record=False)
        _print(ran, None, as_json=as_json)
        return _status(ran, None, asked)
    keeping = Target.of(given["out"], f"{plan.database.NAME}-{plan.database.isolation}", lossy=given["lossy"])
    named = [*asked]
    with _beside(keeping.path, given, named) as beside:
        live = plan.live(given["live"], given["profile"], given["max_anomalies"])
        ran = plan.run(record=True, live=live)
        # Only an open database knows all that it promises.
        named += [] if asked else ran.promises
        kept = keeping.keep(_recorded(ran))
        report = None if no_check else _check(kept.history, asked, ran.promises, given["max_anomalies"])
        report = _with_mechanisms(report, None if live is None else live.report())
        _print(ran, report, as_json=as_json, path=kept.path)
        if report is not None:
            beside.add(ran.told(report))
    return _status(ran, report, asked) if kept.as_asked else BAD_INPUT


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What is to run."""

    database: Database
    settings: dict[str, str]
    workload: str
    clients: ClientWorkload
    seed: int
    limits: run.Limits

    @classmethod
    def of(cls, target: str, given: dict[str, Any]) -> _Plan:
        """Raises `UsageError` if something of it makes no sense."""
        refuse_unknown("workload", given["workload"], [*CLIENTS, HERMITAGE])
        settings = _settings(given["settings"])
        database = databases.connect(target, isolation=given["isolation"], settings=settings)
        parameters = {name: given[name] for name in _PARAMETERS if given[name] is not None}
        seconds, transactions = given["seconds"], given["transactions"]
        return cls(
            database=database,
            settings=settings,
            workload=given["workload"],
            clients=client_workload(given["workload"], {**parameters, "seed": given["seed"]}),
            seed=given["seed"],
            limits=run.Limits(
                seconds=_SECONDS if seconds is None and transactions is None else seconds,
                transactions=transactions,
                rate=given["rate"],
                retries=given["retries"],
            ),
        )

    def live(self, url: str | None, profile: str | None, most: int) -> Telling | Verifying | None:
        """Who checks while it runs: nobody, the service at `url`, or this process if that is empty."""
        if url is None:
            refuse_given(("profile",), "{options} is for --live", "add it")
            return None
        database = self.database
        name = profile or profiles.of(database.NAME, database.isolation, self.settings)
        if url:
            known = None if name is None else profiles.load(name).name
            return Telling(url, profile=known, sessions=self.clients.sessions)
        if name is None:
            raise UsageError(
                f"no profile says what {database.NAME} promises at {database.isolation}\n\n"
                "hint: --profile names one; `isoscope profiles` lists them"
            )
        return Verifying(profiles.load(name), sessions=self.clients.sessions, most=most)

    def run(self, *, record: bool, live: Telling | Verifying | None = None) -> Ran:
        """Runs it; what happened on the way is told on standard error."""
        also = None if live is None else live.said
        with _ending_politely(), ProgressLine(self.limits, also) as progress:
            progress.show(f"opening {self.database.NAME} ...")
            sink = None if live is None else live.sink
            ran = run.run(
                self.database, self.clients, self.limits, record=record, sink=sink, progress=progress
            )
        if live is not None:
            ran = live.ended(ran)
        if ran.interrupted:
            click.echo("interrupted: what happened until then is kept", err=True)
        if ran.problem is not None:
            click.echo(f"error: {ran.problem}", err=True)
        return Ran(
            run=ran,
            isolation=self.database.isolation,
            workload=self.workload,
            sessions=self.clients.sessions,
            seed=self.seed,
            settings=self.settings,
            promises=self.database.promises,
        )


@contextmanager
def _ending_politely() -> Iterator[None]:
    """Who asks a run to end (SIGTERM) is served like an interrupt: nothing is lost, and nothing left."""
    try:
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    except ValueError:  # Not the main thread: whoever has that decides.
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


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


@contextmanager
def _beside(path: str, given: Mapping[str, Any], named: Sequence[Level]) -> Iterator[ReportFiles]:
    """Files beside what is printed; those that cannot be written are refused before anything runs."""
    for kind in REPORT_TYPES:
        if kind.destination is Destination.FILE and given[kind.parameter] not in (None, "", "-"):
            refuse_unwritable(kind.option, given[kind.parameter])
    files = ReportFiles(given, [path], asked=named)
    with files.opened():
        yield files


def _recorded(ran: Ran) -> History:
    if ran.run.history is None:
        raise AssertionError("a run that records leaves a history")
    return ran.run.history


def _check(history: History, asked: tuple[Level, ...], promises: tuple[Level, ...], most: int) -> Report:
    """What was asked, or else what the evidence speaks of and what was promised."""
    chosen = asked or {*checkers.default_levels(history), *promises}
    return checkers.check(history, [level for level in Level if level in chosen], max_anomalies=most)


def _with_mechanisms(report: Report | None, live: Report | None) -> Report | None:
    """The report, with what was found while the database ran; that alone if nothing else was asked."""
    if report is None or live is None:
        return report or live
    return replace(report, mechanisms=live.mechanisms)


def _print(ran: Ran, report: Report | None, *, as_json: bool, path: str = "") -> None:
    if as_json:
        click.echo(dumps(_document(ran, report, path)))
        return
    width = screen.width()
    said = [*ran.lines(), *([] if report is None else [verdict_line(ran, report)])]
    for head, text in said:
        screen.echo(paragraph(text, width=width, head=f"{head}: ", margin=2))
    if report is not None:
        screen.echo(f"\n{render_text(report, width=width, colour=screen.has_colour())}")


def _document(ran: Ran, report: Report | None, path: str) -> dict[str, Any]:
    if report is None:
        kept = {"history": {"path": path}} if path else {}
        return {"isoscope": __version__, **kept, "run": ran.document()}
    promise = str(judge(ran.promises, report)) if ran.run.progress.committed else str(Promise.OPEN)
    return {**document(report), "run": {**ran.document(), "promise": promise}}


def _status(ran: Ran, report: Report | None, asked: tuple[Level, ...]) -> int:
    """As `isoscope check` has it, with the promised levels as the named ones."""
    if ran.run.problem is not None:
        return BAD_INPUT
    if report is None:
        return 0
    if not ran.run.progress.committed:
        return UNDECIDED
    if report.mechanisms is not None:
        outcomes = {verdict.outcome for verdict in report.mechanisms.verdicts}
        if Outcome.VIOLATED in outcomes or not report.verdicts:
            return int(Outcome.VIOLATED in outcomes)
    named = asked or ran.promises
    return exit_status([report], named) if named else 0
