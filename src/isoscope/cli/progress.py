"""How far a run is, on standard error: one line that changes on a terminal, else a line now and then."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from types import TracebackType

    from isoscope.run import Limits, Progress

__all__ = ["ProgressLine", "rate", "told"]

#: Seconds between two lines where no line can change.
_PERIOD = 10.0
_CLEAR = "\r\x1b[K"


class ProgressLine:
    """Shows what it is called with; the line is gone when the `with` block ends."""

    def __init__(self, limits: Limits, *, opening: str) -> None:
        self._limits = limits
        self._opening = opening
        self._due = _PERIOD
        self._changes = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def __enter__(self) -> ProgressLine:
        if self._changes:
            self._show(self._opening)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._changes:
            click.echo(_CLEAR, nl=False, err=True)

    def __call__(self, progress: Progress) -> None:
        """Shows how far the run is."""
        if self._changes:
            self._show(told(progress, self._limits))
        elif progress.seconds >= self._due:
            self._due += _PERIOD
            click.echo(told(progress, self._limits), err=True)

    def _show(self, text: str) -> None:
        # A line that is too long for the terminal would be left behind.
        room = os.get_terminal_size(sys.stderr.fileno()).columns - 1
        click.echo(f"{_CLEAR}{text[: max(0, room)]}", nl=False, err=True)


def told(progress: Progress, limits: Limits) -> str:
    """Time, rate, aborts and the time that is left, if that is known."""
    said = [
        f"{progress.seconds:.0f} s",
        f"{progress.committed:,} committed ({rate(progress.committed, progress.seconds)})",
        f"{progress.aborted:,} aborted",
    ]
    if progress.indeterminate:
        said.append(f"{progress.indeterminate:,} indeterminate")
    left = _seconds_left(progress, limits)
    return ", ".join(said if left is None else [*said, f"{_time(left)} left"])


def rate(count: int, seconds: float) -> str:
    """How many a second."""
    return f"{count / seconds if seconds else 0:,.0f}/s"


def _seconds_left(progress: Progress, limits: Limits) -> float | None:
    left = []
    if limits.seconds is not None:
        left.append(limits.seconds - progress.seconds)
    attempts = progress.committed + progress.aborted + progress.indeterminate
    if limits.transactions is not None and attempts:
        left.append((limits.transactions - attempts) * progress.seconds / attempts)
    return max(0.0, min(left)) if left else None


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
