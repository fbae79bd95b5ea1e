"""`isoscope shrink`: the few transactions that break a level, as a history of their own."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from isoscope import explain, formats
from isoscope.checkers import check, version_order
from isoscope.cli import terminal
from isoscope.cli.options import format_option, initial_option, parse_level
from isoscope.errors import UsageError
from isoscope.reports import render_counterexample
from isoscope.verdict import Claim, Method, Outcome

if TYPE_CHECKING:
    from isoscope.history import History, Initial
    from isoscope.levels import Level
    from isoscope.verdict import Verdict

__all__ = ["command"]

#: Not intervals: they judge mechanisms, and OUT must break a level.
_METHODS = [str(method) for method in Method if method is not Method.INTERVALS]


@click.command("shrink")
@click.argument("path", metavar="HISTORY")
@click.argument("target", metavar="OUT")
@click.option("--level", metavar="LEVEL", callback=parse_level,
              help="Level that OUT still breaks; by default the weakest that HISTORY breaks.")  # fmt: skip
@click.option("--method", type=click.Choice(_METHODS), help="Use this method only.")
@click.option("--assume", multiple=True, type=click.Choice([str(claim) for claim in Claim]),
              help="Claim of yours about the order of versions; may be repeated.")  # fmt: skip
@format_option("HISTORY")
@initial_option()
@click.option("--to", type=click.Choice([f.name for f in formats.FORMATS]), help="Format of OUT.")
@click.option("--lossy", is_flag=True, help="Write what OUT can hold, and say what is lost.")
def command(
    path: str,
    target: str,
    *,
    level: Level | None,
    method: str | None,
    assume: tuple[str, ...],
    format_: str | None,
    initial: Initial | None,
    to: str | None,
    lossy: bool,
) -> None:
    """Shrink a history to the few transactions that break a level.

    What is left breaks the level, and does not without any one of its transactions or operations. It is
    a part of what was recorded: nothing is renamed, moved or changed. With a transaction go the reads
    that it served.

    The format of OUT follows from its name, as in `isoscope convert`. Exits 2 if the level is not
    violated.

    \b
    Examples:
        isoscope shrink run.edn small.edn --level snapshot-isolation
        isoscope shrink run.txt.gz small.txt
    """
    if to is None:
        formats.for_path(target)  # an unknown format is refused before the work
    if target != "-" and os.path.realpath(path) == os.path.realpath(target):
        raise UsageError(f"{target} would replace the history that it is a part of")
    question = _Question(method, assume)
    history = formats.load(path, format=format_, initial=initial)
    broken = question.broken(history, level)
    doubts = question.doubts(history)
    small = explain.shrink(
        history,
        lambda part: (
            question.verdict(part, broken.level).outcome is Outcome.VIOLATED
            and not question.believes_more(part, doubts)
        ),
        near=broken.anomalies,
    )
    _show_progress("")
    for loss in formats.save(small, target, format=to, lossy=lossy):
        click.echo(f"lost: {loss}", err=True)
    # Standard output must hold nothing but the history.
    click.echo(_summary(history, small, question.verdict(small, broken.level)), err=target == "-")


@dataclass(frozen=True, slots=True)
class _Question:
    """How levels are decided."""

    method: str | None
    assume: tuple[str, ...]

    def verdict(self, part: History, level: Level) -> Verdict:
        _show_progress(f"{len(part):,} transactions, {part.columns.operations:,} operations")
        [verdict] = check(part, [level], method=self.method, assume=self.assume, max_anomalies=1).verdicts
        return verdict

    def doubts(self, history: History) -> frozenset[tuple[str, object]]:
        """The keys that contradict a claim, and why."""
        claims = [Claim(name) for name in self.assume]
        return frozenset(version_order.disbelieved(history, claims)) if claims else frozenset()

    def believes_more(self, part: History, doubts: frozenset[tuple[str, object]]) -> bool:
        """Whether a claim that a key of the whole contradicts would be believed in the part.

        Then the part could break a level by an order of versions that is none in the whole.
        """
        left = {(why, key) for why, key in doubts if key in part.keys}
        return bool(left) and not left <= self.doubts(part)

    def broken(self, history: History, level: Level | None) -> Verdict:
        """The verdict on the level, or on the weakest violated one. Raises UsageError if none is violated."""
        levels = None if level is None else [level]
        report = check(history, levels, method=self.method, assume=self.assume)
        if not report.weakest_violated:
            raise UsageError(f"nothing to shrink: {_why_not(report.verdicts[0] if level else None)}")
        weakest = report.weakest_violated[0]
        return next(verdict for verdict in report.verdicts if verdict.level is weakest)


def _why_not(verdict: Verdict | None) -> str:
    if verdict is None:
        return "no level is violated"
    if verdict.outcome is Outcome.UNKNOWN:
        return f"{verdict.level} is unknown: {verdict.reason}"
    return f"{verdict.level} {verdict.outcome}"


def _summary(history: History, small: History, verdict: Verdict) -> str:
    """The sizes before and after, and the counterexamples that are left."""
    sizes = (
        f"{len(history):,} transactions -> {len(small):,}, "
        f"{history.columns.operations:,} operations -> {small.columns.operations:,}"
    )
    shown = [
        f"{anomaly.name}\n\n{render_counterexample(anomaly, width=terminal.width())}"
        for anomaly in verdict.anomalies
    ]
    return "\n\n".join([f"{sizes}: breaks {verdict.level}", *shown])


def _show_progress(text: str) -> None:
    """Replaces the last line of a terminal; elsewhere prints nothing."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{text}", err=True, nl=False)
