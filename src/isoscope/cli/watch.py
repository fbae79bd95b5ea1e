"""`isoscope watch`: check a file while it grows, in the terminal."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic_ns
from typing import TYPE_CHECKING, Any

import click

from isoscope.cli import terminal
from isoscope.cli.online import check_settings, online_status
from isoscope.cli.options import initial_option, profile_options, refuse_given
from isoscope.cli.spark_watch import SparkWatch
from isoscope.cli.stopping import stopping
from isoscope.errors import FormatError, UsageError
from isoscope.live.engines import open_engines
from isoscope.live.file_follower import follow
from isoscope.live.rates import Rate
from isoscope.reports import render_json, render_text
from isoscope.reports.plain_text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from isoscope.history import History, Initial
    from isoscope.live.check_settings import CheckSettings
    from isoscope.verdict import Report

__all__ = ["command"]

_SECOND = 1_000_000_000
#: Nanoseconds between two updates of the table.
_PICTURE = _SECOND // 4


@click.command("watch")
@click.argument("source", metavar="FILE")
@click.option("--level", "names", multiple=True, metavar="LEVEL",
              help="Level to check; may be repeated. By default both levels of the clock.")  # fmt: skip
@profile_options
@click.option("--timeout", default=5.0, show_default=True, type=click.FloatRange(0, 86400),
              help="Seconds for which a read may wait for the write that it shows, and a silent session "
              "for others.")  # fmt: skip
@click.option("--keep", default=0.0, show_default=True, type=click.FloatRange(0, 86400),
              help="Seconds for which what is final stays in memory, for late arrivals.")  # fmt: skip
@initial_option()
@click.option("--max-anomalies", default=10, show_default=True, type=click.IntRange(1, 2**31),
              help="Counterexamples of each anomaly in the report; all are counted.")  # fmt: skip
@click.option("--to-the-end", is_flag=True, help="Stop at the end of the file.")
@click.option("--engine", metavar="spark[=MASTER_URL]",
              help="Watch a folder of such files, or kafka://HOST:PORT/TOPIC, on Apache Spark.")  # fmt: skip
@click.option("--checkpoint", metavar="FOLDER",
              help="Folder for state and violations of --engine spark; a restart goes on there.")  # fmt: skip
@click.option("--clock-unit", default="ns", show_default=True, type=click.Choice(["ns", "us", "ms", "s"]),
              help="Unit of the database's clock (--engine spark).")  # fmt: skip
@click.option("--parts", default=8, show_default=True, type=click.IntRange(1, 4096),
              help="Parts that keys, and sessions, are spread to (--engine spark).")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the final report as one JSON document.")
def command(
    source: str,
    *,
    names: tuple[str, ...],
    profile_name: str | None,
    clock_error: int,
    timeout: float,
    keep: float,
    initial: Initial | None,
    max_anomalies: int,
    to_the_end: bool,
    engine: str | None,
    checkpoint: str | None,
    clock_unit: str,
    parts: int,
    as_json: bool,
) -> int:
    """Check a growing file of transactions, in the terminal.

    FILE holds transactions in the AION shape as JSON lines, with the database's own timestamps; with
    --profile, operations in Leopard's shape, with their clients' clocks. `-` is standard input. Each
    violation is printed when it is final. Ctrl-C, or the end of standard input, makes everything final and
    prints the report.

    With --engine spark, FILE is a folder of such files, and --timeout and --keep are seconds of the
    database's clock. Ctrl-C stops; the same command goes on from the checkpoint. --to-the-end makes
    everything final.

    \b
    Exits 0 if all levels hold, 1 if one is violated, 3 if one is unknown, 2 on bad input. With --profile:
    1 if a mechanism is violated, else 0.

    \b
    Examples:
        isoscope watch history.jsonl
        tail -f history.jsonl | isoscope watch - --level clock-snapshot-isolation
        isoscope watch history.jsonl --to-the-end --json
        isoscope watch trace.leopard.jsonl --profile postgresql/serializable
        isoscope watch traffic/ --engine spark=local[4] --checkpoint state/ --keep 60
    """
    settings = check_settings(
        names=names,
        profile=profile_name,
        clock_error=clock_error,
        timeout=timeout,
        keep=keep,
        max_anomalies=max_anomalies,
        initial=initial,
    )
    if engine is not None:
        spark = SparkWatch(
            engine=engine,
            source=source,
            checkpoint=checkpoint,
            clock_unit=clock_unit,
            parts=parts,
            settings=settings,
            is_quiet=as_json,
        )
        return _finish(spark.run(to_the_end=to_the_end), as_json=as_json)
    refuse_given(("checkpoint", "clock_unit", "parts"), "{options} is for --engine spark", "add it")
    watch = _Watch(settings, "<stdin>" if source == "-" else source, is_quiet=as_json)
    shape = "aion" if settings.profile is None else "leopard"
    with _opened(source) as handle, stopping() as stop, _advising(shape):
        watch.run(follow(handle, watch.path, shape=shape, to_the_end=to_the_end, stop=stop))
    return _finish(watch.engines.report(), as_json=as_json)


@contextmanager
def _advising(shape: str) -> Iterator[None]:
    """Says which files can be watched if the first line is of another format."""
    try:
        yield
    except FormatError as error:
        if error.line != 1 or error.hint:
            raise
        hint = f"`isoscope watch` reads JSON lines of the format {shape}; `isoscope check` reads all formats"
        raise replace(error, hint=hint) from None


def _finish(report: Report, *, as_json: bool) -> int:
    """Prints the report; the exit status."""
    if as_json:
        click.echo(render_json(report))
    else:
        terminal.echo(render_text(report, width=terminal.width(), colour=terminal.has_colour()))
    return online_status(report)


class _Watch:
    """Feeds the engines with slices of the file, and prints the violations that they find."""

    def __init__(self, settings: CheckSettings, path: str, *, is_quiet: bool) -> None:
        self.engines = open_engines(settings, path=path)
        self.path = path
        self._is_quiet = is_quiet
        self._table = _Table(path)
        self._due = 0

    def run(self, slices: Iterator[History | None]) -> None:
        """Takes slices until there are no more."""
        try:
            for history in slices:
                self._take(history)
        finally:
            self._table.clear()
        self.engines.flush()
        self._print_news()

    def _take(self, history: History | None) -> None:
        now = monotonic_ns()
        if history is not None:
            try:
                self.engines.admit(history)
                self.engines.take(history, now)
            except ValueError as error:
                raise UsageError(f"{error}\n\nhint: `isoscope check` can judge a recorded history") from None
        self.engines.advance(now)
        self._print_news()
        if now >= self._due:
            self._table.show(now, self.engines.status())
            self._due = now + _PICTURE

    def _print_news(self) -> None:
        lines = [news.line() for news in self.engines.news()]
        if lines and not self._is_quiet:
            self._table.clear()
            click.echo("\n".join(lines))
            sys.stdout.flush()


class _Table:
    """A table at the bottom of the terminal that is updated; nothing without a terminal."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._rate = Rate()
        self._lines = 0
        self._is_on = sys.stderr.isatty()

    def show(self, now: int, status: Mapping[str, Any]) -> None:
        """Shows the state of the engines."""
        if not self._is_on:
            return
        parts = status["levels"] or [status["mechanisms"]]
        first = parts[0]
        self._rate.note(now, first["transactions"])
        transactions, rate = counted(first["transactions"], "transaction"), self._rate.per_second()
        lines = [
            f"{self._path}: {transactions}, {rate:,.0f} a second, "
            f"{counted(first['keys'], 'key')}, {sum(part['memory'] for part in parts) >> 20:,} MiB",
            *(_levels(parts) if status["levels"] else _mechanisms(first)),
        ]
        self.clear()
        width = terminal.width()
        click.echo("\n".join(line[:width] for line in lines), err=True)
        self._lines = len(lines)

    def clear(self) -> None:
        """Removes the table, so that something else can be printed."""
        if self._lines:
            click.echo(f"\x1b[{self._lines}F\x1b[J", err=True, nl=False)
            self._lines = 0


def _levels(levels: list[Mapping[str, Any]]) -> Iterator[str]:
    yield f"  {'level':<26}{'not final':>12}{'provisional':>13}  final"
    for level in levels:
        so_far = f"{level['pending']:>12,}{level['provisional']:>13,}"
        yield f"  {level['level']:<26}{so_far}  {_counts(level['counts'])}"


def _mechanisms(so_far: Mapping[str, Any]) -> Iterator[str]:
    behind = "" if so_far["behind"] is None else f", {so_far['behind']:.1f} s behind"
    late = f", {so_far['late']:,} came too late" if so_far["late"] else ""
    yield f"  {so_far['profile']}: {so_far['pending']:,} not judged yet{behind}{late}"
    yield f"  {'mechanism':<26}{'checked':>12}{'undecided':>13}  found"
    for one in so_far["verdicts"]:
        numbers = f"{one['checked']:>12,}{one['undecided']:>13,}"
        yield f"  {one['mechanism']:<26}{numbers}  {_counts(one['counts'])}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "nothing wrong"


@contextmanager
def _opened(source: str) -> Iterator[int]:
    if source == "-":
        yield sys.stdin.fileno()
        return
    try:
        handle = os.open(source, os.O_RDONLY)
    except OSError as error:
        raise UsageError(f"cannot read {source}: {error.strerror or error}") from None
    try:
        yield handle
    finally:
        os.close(handle)
