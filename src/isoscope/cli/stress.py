"""`isoscope stress`: the transactions of a program against each other, until a level breaks."""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from isoscope import checkers, formats
from isoscope.cli import terminal
from isoscope.cli.options import parse_level
from isoscope.cli.report_files import ReportFiles, report_file_options
from isoscope.errors import UsageError
from isoscope.levels import DEFINITIONS
from isoscope.reports import render_text
from isoscope.reports.plain_text import counted
from isoscope.reports.terminal import paragraph
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from isoscope.api.stressing import StressFinding, StressResult
    from isoscope.levels import Level
    from isoscope.verdict import Report

__all__ = ["command"]

#: The module of `os.environ`, as tracebacks name it.
_MODULE_OS = ("<frozen os>", os.__file__)
_EXPECTED = "the file has TRANSACTIONS = [order, cancel], and setup() if they need rows"
_STATUS = {Outcome.HOLDS: 0, Outcome.VIOLATED: 1, Outcome.UNKNOWN: 3}
#: What is said of all that was run, if nothing broke the level; if something did, a report has said so.
_ANSWERS = {
    Outcome.HOLDS: "Yes. All {} satisfied {}",
    Outcome.UNKNOWN: "Not decided: whether all {} satisfy {}",
}


@click.command("stress")
@click.argument("program", nargs=-1, required=True, metavar="FILE.py | -- COMMAND...", type=click.UNPROCESSED)
@click.option("--level", default="serializable", show_default=True, metavar="LEVEL", callback=parse_level,
              help="Level that every interleaving must satisfy.")  # fmt: skip
@click.option("--seed", default=0, show_default=True, help="Decides the order of the interleavings.")
@click.option("--max-seconds", default=30.0, show_default=True, type=click.FloatRange(min=0.1),
              help="No interleaving begins after this time.")  # fmt: skip
@click.option("--find-all", is_flag=True, help="Go on after the first interleaving that breaks the level.")
@click.option("--copies", default=2, show_default=True, type=click.IntRange(2, 64),
              help="Copies of COMMAND that run at the same time.")  # fmt: skip
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False), help="Write the history that broke the level."
)
@report_file_options
def command(
    program: tuple[str, ...],
    *,
    level: Level,
    seed: int,
    max_seconds: float,
    find_all: bool,
    copies: int,
    output: str | None,
    **given: Any,
) -> int:
    """Run the transactions of a program against each other.

    FILE.py has a list TRANSACTIONS of functions without arguments, and perhaps a function `setup` that
    makes the rows that they need. Each pair of them is run: one is stopped in each gap between a read and
    what follows it, the other runs, the first goes on. When a level breaks, the report shows statements
    with file and line, and a change that prevents it; the change was tried out on the same interleaving.

    COMMAND, for instance a test suite, is run in several copies at the same time, again and again, with
    random delays behind reads.

    \b
    Exits 0 if every interleaving satisfied the level, 1 if one broke it, 3 if some were not decided, 2 on
    bad input.

    \b
    Examples:
        isoscope stress transactions.py
        isoscope stress --find-all --report report.html transactions.py
        isoscope stress --copies 4 --max-seconds 60 -- pytest tests/test_shop.py
    """
    files = ReportFiles(given, program, timings=False)
    with files.opened():
        if len(program) == 1 and program[0].endswith(".py"):
            result = _transactions(program[0], level, seed=seed, max_seconds=max_seconds, find_all=find_all)
            for finding in result.findings:
                files.add(finding.report)
                _print(finding.report, f"{_found(finding)} {_advice(finding)}")
            _keep(output, result)
            click.echo(_summary(result))
            return _STATUS[result.outcome]
        return _command(
            program,
            level,
            seed=seed,
            max_seconds=max_seconds,
            copies=copies,
            output=output,
            files=files,
        )


def _transactions(path: str, level: Level, *, seed: int, max_seconds: float, find_all: bool) -> StressResult:
    from isoscope.api.stressing import Stress  # noqa: PLC0415 - it needs an extra

    with Stress(level=level) as test:
        module = _imported(Path(path))
        transactions = getattr(module, "TRANSACTIONS", None)
        if not isinstance(transactions, list | tuple) or not all(map(callable, transactions)):
            raise UsageError(f"{path} has no list TRANSACTIONS of functions\n\nhint: {_EXPECTED}")
        test.take(transactions, getattr(module, "setup", None))
        return test.run(seed=seed, max_seconds=max_seconds, find_all=find_all)


def _imported(path: Path) -> Any:
    """The program, imported as Python would run it: its folder is searched first."""
    if not path.is_file():
        problem = "is a folder" if path.is_dir() else "does not exist"
        raise UsageError(f"{path} {problem}\n\nhint: {_EXPECTED}")
    sys.path.insert(0, str(path.parent.resolve()))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        said = f"{_place(error, path)} cannot be imported: {type(error).__name__}: {error}"
        raise UsageError(said + _import_hint(error)) from error
    return module


def _place(error: Exception, path: Path) -> str:
    """The last line of the program that the exception came through, or the program if it has none."""
    folder = path.parent.resolve()
    frames = traceback.extract_tb(error.__traceback__)
    files = [frame for frame in frames if not frame.filename.startswith("<")]
    own = [frame for frame in files if Path(frame.filename).resolve().parent == folder]
    return f"{path.parent / Path(own[-1].filename).name}:{own[-1].lineno}" if own else str(path)


def _import_hint(error: Exception) -> str:
    """A hint for the two frequent reasons why a program cannot be imported."""
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, KeyError) and frames and frames[-1].filename in _MODULE_OS and error.args:
        return f"\n\nhint: the program needs the environment variable {error.args[0]}: set it and try again"
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"\n\nhint: `pip install {error.name}`, into the Python that runs isoscope: {sys.executable}"
    return ""


def _found(finding: StressFinding) -> str:
    return (
        f"{finding.stopped} was stopped in its gap {finding.gap + 1}, {finding.other} ran, "
        f"and {finding.stopped} went on."
    )


def _advice(finding: StressFinding) -> str:
    if finding.suggestion is None:
        return "No change was found that prevents this interleaving."
    return f"Tried out: {finding.suggestion}. With this change the same interleaving satisfies the level."


def _print(report: Report, said: str) -> None:
    terminal.echo(render_text(report, width=terminal.width(), colour=terminal.has_colour()))
    terminal.echo(f"{paragraph(said, width=terminal.width(), margin=0)}\n")


def _keep(output: str | None, result: StressResult) -> None:
    if output is not None and result.findings:
        try:
            Path(output).write_bytes(result.findings[0].recorded)
        except OSError as error:
            raise UsageError(f"cannot write {output}: {error.strerror}") from None


def _summary(result: StressResult) -> str:
    counts = f"{counted(result.rounds, 'interleaving')}, {counted(len(result.findings), 'violation')}"
    if result.undecided:
        counts += f", {result.undecided} undecided: {'; '.join(result.reasons)}"
    if not result.is_complete:
        counts += "; the time was over before all were run"
    return _answered(result.outcome, "interleavings", result.level, counts)


def _answered(outcome: Outcome, what: str, level: Level, counts: str) -> str:
    """The answer in one sentence, unless a report has given it."""
    answer = _ANSWERS.get(outcome)
    return f"{answer.format(what, DEFINITIONS[level].noun)} ({counts})." if answer else counts


def _command(
    program: tuple[str, ...],
    level: Level,
    *,
    seed: int,
    max_seconds: float,
    copies: int,
    output: str | None,
    files: ReportFiles,
) -> int:
    """Copies of a command with delays, again and again, until the level breaks or the time is over."""
    from isoscope.record import recorded_command  # noqa: PLC0415 - it needs an extra

    deadline, runs, undecided = monotonic() + max_seconds, 0, 0
    while runs == 0 or monotonic() < deadline:
        with recorded_command(program, copies=copies, seed=f"{seed}-{runs}") as (_, recorded):
            path = recorded.save(output or recorded.folder / "stress.program")
            report = checkers.check(formats.load(path), [level], max_anomalies=1)
        runs += 1
        outcome = report.verdicts[0].outcome
        undecided += outcome is Outcome.UNKNOWN
        if outcome is Outcome.VIOLATED:
            files.add(replace(report, asked=(level,)))
            _print(report, f"Run {runs} of {copies} copies broke the level.")
            return _STATUS[outcome]
    outcome = Outcome.UNKNOWN if undecided else Outcome.HOLDS
    counts = f"{counted(runs, 'run')}, {undecided} undecided"
    click.echo(_answered(outcome, f"runs of {copies} copies", level, counts))
    return _STATUS[outcome]
