"""The progress of a run on standard error: one line that changes on a terminal, else lines now and then."""

from __future__ import annotations

import os
import sys
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from isoscope.run import Limits, Progress

__all__ = ["Line", "ProgressLine", "Waiting", "progress_text", "rate"]

#: Seconds between two lines where standard error is no terminal.
_PERIOD = 10.0
#: Seconds before a check says that it is still at work, and between two updates on a terminal.
_PATIENCE, _GLANCE = 2.0, 0.5
#: The width of a terminal that does not tell it.
_COLUMNS = 80
_CLEAR = "\r\x1b[K"


class Line:
    """A line on a terminal that changes, and is removed when the `with` block ends; elsewhere nothing."""

    def __init__(self) -> None:
        # Standard error may be closed.
        self.changes = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.changes:
            click.echo(_CLEAR, nl=False, err=True)

    def show(self, text: str) -> None:
        """Shows `text` instead of the last text."""
        if self.changes:
            # A line that is too long for the terminal would be left behind.
            room = (os.get_terminal_size(sys.stderr.fileno()).columns or _COLUMNS) - 1
            click.echo(f"{_CLEAR}{text[: max(0, room)]}", nl=False, err=True)


class Waiting(Line):
    """Says how long the block has taken: a line that changes after two seconds, else one every ten."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self._what = what
        self._done = Event()
        self._thread = Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._done.set()
        self._thread.join()
        super().__exit__(kind, error, traceback)

    def _watch(self) -> None:
        # The kernel lets other threads run while it works.
        started, due = monotonic(), _PATIENCE if self.changes else _PERIOD
        while not self._done.wait(max(0.0, started + due - monotonic())):
            text = f"{self._what}: {monotonic() - started:.0f} s"
            self.show(text)
            if not self.changes:
                click.echo(text, err=True)
            due += _GLANCE if self.changes else _PERIOD


class ProgressLine(Line):
    """Shows the progress of a run whenever it is called."""

    def __init__(self, limits: Limits, more: Callable[[], str] = str) -> None:
        """`more` gives further text for the line, which may be empty."""
        super().__init__()
        self._limits = limits
        self._more = more
        self._due = _PERIOD

    def __call__(self, progress: Progress) -> None:
        """Shows it; without a terminal only every ten seconds."""
        text = ", ".join(filter(None, [progress_text(progress, self._limits), self._more()]))
        self.show(text)
        if not self.changes and progress.seconds >= self._due:
            self._due += _PERIOD
            click.echo(text, err=True)


def progress_text(progress: Progress, limits: Limits) -> str:
    """Time, rate, aborts and the time that is left, if that is known."""
    parts = [
        f"{progress.seconds:.0f} s",
        f"{progress.committed:,} committed ({rate(progress.committed, progress.seconds)})",
        f"{progress.aborted:,} aborted",
    ]
    if progress.indeterminate:
        parts.append(f"{progress.indeterminate:,} indeterminate")
    left = _seconds_left(progress, limits)
    return ", ".join(parts if left is None else [*parts, f"{_time(left)} left"])


def rate(count: int, seconds: float) -> str:
    """A count as a rate per second."""
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
