"""Watch a file that grows: the violations as they become final, and the report in the end."""

from __future__ import annotations

import os
from threading import Event as Signal
from time import monotonic_ns
from typing import TYPE_CHECKING

from isoscope import profiles
from isoscope.errors import UsageError
from isoscope.history import UNKNOWN
from isoscope.live.check_settings import CheckSettings, clock_levels
from isoscope.live.engines import open_engines
from isoscope.live.file_follower import follow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.history import History, Scalar, Unknown
    from isoscope.levels import Level
    from isoscope.live.event_json import Event
    from isoscope.profiles import Profile
    from isoscope.verdict import Report

__all__ = ["Watch", "watch"]

_SECOND = 1_000_000_000


def watch(  # noqa: PLR0913 - all but the first are seldom needed
    path: str | os.PathLike[str],
    levels: Level | str | Iterable[Level | str] | None = None,
    *,
    profile: Profile | str | None = None,
    clock_error: int = 0,
    timeout: float = 5.0,
    keep: float = 0.0,
    initial: Scalar | Unknown = UNKNOWN,
    max_anomalies: int = 10,
    to_the_end: bool = False,
) -> Watch:
    """Check a file of transactions while it grows.

    path           transactions in the shape of AION as JSON lines, with the database's own timestamps; with a
                   profile, operations in the shape of Leopard, with the clocks of their clients
    levels         levels of the database's clock; by default both
    profile        the promise: the mechanisms of a database at one isolation, as `postgresql/serializable`
    clock_error    nanoseconds by which the clocks of clients may differ, with a profile
    timeout        seconds for which a read may wait for the write that it shows, and others for a session
    keep           seconds for which what is final stays in memory, for late arrivals
    initial        the value of every key before its first write
    max_anomalies  counterexamples of each anomaly in the report; all are counted
    to_the_end     stop at the end of the file instead of waiting for more

    Iterate over the result for the violations, each when it is final; `stop()`, from any thread, ends that.
    Then `report()` has the verdicts:

        watched = isoscope.watch("trace.jsonl", profile="postgresql/serializable")
        for violation in watched:
            print(violation.line())
        print(watched.report())

    Raises ValueError for an unknown level, and `UsageError` if the file cannot be read or judged online.
    """
    settings = CheckSettings(
        levels=() if profile is not None else clock_levels(levels),
        profile=profiles.load(profile) if isinstance(profile, str) else profile,
        clock_error=clock_error,
        timeout=int(timeout * _SECOND),
        keep=int(keep * _SECOND),
        max_anomalies=max_anomalies,
        initial=initial,
    )
    if profile is not None and levels is not None:
        raise UsageError("a profile promises its own levels: leave out `levels` or `profile`")
    return Watch(os.fspath(path), settings, to_the_end=to_the_end)


class Watch:
    """A file that is watched: iterate over it once for the violations, each when it is final."""

    def __init__(self, path: str, settings: CheckSettings, *, to_the_end: bool = False) -> None:
        self.path = path
        self._settings = settings
        self._to_the_end = to_the_end
        self._stop = Signal()
        self._engines = open_engines(settings, path=path)

    def __iter__(self) -> Iterator[Event]:
        shape = "aion" if self._settings.profile is None else "leopard"
        try:
            handle = os.open(self.path, os.O_RDONLY)
        except OSError as error:
            raise UsageError(f"cannot read {self.path}: {error.strerror or error}") from None
        try:
            slices = follow(handle, self.path, shape=shape, to_the_end=self._to_the_end, stop=self._stop)
            for history in slices:
                self._take(history)
                yield from self._engines.news()
            self._engines.flush()
            yield from self._engines.news()
        finally:
            os.close(handle)

    def _take(self, history: History | None) -> None:
        now = monotonic_ns()
        if history is not None:
            try:
                self._engines.admit(history)
                self._engines.take(history, now)
            except ValueError as error:
                raise UsageError(f"{error}\n\nhint: `isoscope.check` can judge a recorded history") from None
        self._engines.advance(now)

    def stop(self) -> None:
        """Ends the iteration, after the answers that are left; any thread, or a signal, may call it."""
        self._stop.set()

    def report(self) -> Report:
        """The verdicts on everything so far; final when the iteration has ended."""
        return self._engines.report()

    def __repr__(self) -> str:
        what = "the clock" if self._settings.profile is None else self._settings.profile.name
        return f"<Watch {self.path}: {what}>"
