"""How many sessions of a run are at work: fewer, if most of their transactions are aborted."""

from __future__ import annotations

import os

__all__ = ["ActiveSessions", "default_sessions"]

#: Attempts after which it is decided whether most are aborted.
_ENOUGH = 100
#: With fewer sessions than this nothing happens at the same time.
_FEWEST = 2
_LEAST, _MOST = 4, 8


def default_sessions(limit: int | None = None) -> int:
    """Sessions of a run whose user names no number: as many as the machine has cores, within limits."""
    cores = max(_LEAST, min(_MOST, os.cpu_count() or 1))
    return cores if limit is None else min(cores, limit)


class ActiveSessions:
    """The sessions with a number below `count` go on; the others have stopped for good."""

    def __init__(self, sessions: int, *, adapts: bool) -> None:
        self.count = sessions
        self._adapts = adapts
        self._committed = self._aborted = 0

    def note(self, committed: int, aborted: int) -> None:
        """Halves the sessions if more than half of the attempts since the last change were aborted."""
        new, lost = committed - self._committed, aborted - self._aborted
        if new + lost < _ENOUGH:
            return
        if self._adapts and lost > new:
            self.count = max(min(_FEWEST, self.count), self.count // 2)
        self._committed, self._aborted = committed, aborted
