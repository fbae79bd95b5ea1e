"""Looks for a broken promise while a run goes on, so that the run can end when there is one.

What was recorded so far is checked now and then, each time twice as late. It is a part of the history at one
instant: transactions under way are in it as indeterminate ones, so a violation of it is one of the whole.
"""

from __future__ import annotations

from threading import Event, Thread
from typing import TYPE_CHECKING

from isoscope import checkers
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from isoscope.levels import Level
    from isoscope.run.recording import Recording

__all__ = ["ViolationSearch"]

#: Seconds until the first check, and for the search for an order of versions in each.
_FIRST, _TIME_LIMIT = 0.5, 5.0


class ViolationSearch:
    """Calls `found`, from a thread of its own, when a promised level is violated."""

    def __init__(self, recording: Recording, promises: Sequence[Level], found: Callable[[], None]) -> None:
        self._recording, self._promises, self._found = recording, promises, found
        self._is_over = Event()
        self._thread = Thread(target=self._work, name="isoscope-violation-search", daemon=True)

    def start(self) -> None:
        """Begins to look; without a promise nothing can break it."""
        if self._promises:
            self._thread.start()

    def close(self) -> None:
        """Stops looking."""
        self._is_over.set()

    def _work(self) -> None:
        pause = _FIRST
        while not self._is_over.wait(pause):
            if self._is_violated():
                self._found()
                return
            pause *= 2

    def _is_violated(self) -> bool:
        history = self._recording.snapshot()
        report = checkers.check(history, self._promises, max_anomalies=1, time_limit=_TIME_LIMIT)
        return bool(report.levels(Outcome.VIOLATED))
