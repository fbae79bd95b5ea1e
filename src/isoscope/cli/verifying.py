"""The mechanisms of a database, verified in this process while a run goes on."""

from __future__ import annotations

from dataclasses import replace
from threading import Lock
from time import monotonic_ns, perf_counter
from typing import TYPE_CHECKING, Any

import click

from isoscope.collect import Gathering, Recorded, as_history
from isoscope.errors import ServiceError
from isoscope.history import STATUSES
from isoscope.live.check_settings import CheckSettings
from isoscope.live.engines import open_engines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.history import Scalar, Status, Timestamp
    from isoscope.profiles import Profile
    from isoscope.run import Run
    from isoscope.verdict import Report

__all__ = ["Verifying"]

#: Nanoseconds after which a session is left behind; it is heard of five times a second.
_TIMEOUT = 60_000_000_000


class Verifying:
    """The engine of a profile, and the sink of a run that feeds it from a thread of its own."""

    def __init__(self, profile: Profile, *, sessions: int, most: int) -> None:
        self._profile = profile
        judging = CheckSettings(levels=(), profile=profile, timeout=_TIMEOUT, max_anomalies=most)
        self._engine = open_engines(judging, path="<run>")
        self._so_far: dict[str, Any] = {"transactions": 0, "pending": 0, "behind": None}
        self._found = 0
        self._lock = Lock()
        self._untold: dict[int, int] = {}
        self._gathering = Gathering(self._deliver, sessions=range(sessions))

    @property
    def sink(self) -> Verifying:
        """What the run tells."""
        return self

    def initial(self, rows: Iterable[tuple[int, int]]) -> None:
        """What rows hold before anybody writes them: the engine hears of it with the next batch."""
        with self._lock:
            self._untold |= {key: value for key, value in rows if value}

    def began(self, session: int) -> None:
        """A session is about to begin a transaction."""
        self._gathering.began(session)

    def transaction(
        self,
        number: int,
        session: int,
        status: Status,
        operations: list[tuple[Any, ...]],
        timestamps: tuple[Timestamp, Timestamp] | None,
    ) -> None:
        """One that has ended."""
        row = Recorded(number, session, STATUSES.index(status), operations)
        self._gathering.put(row, session, perf_counter())

    def said(self) -> str:
        """How far the verification is, and how far behind the run."""
        so_far, ended = self._so_far, self._so_far["transactions"] + self._gathering.unsent
        verified = so_far["transactions"] - so_far["pending"]
        behind = "" if so_far["behind"] is None else f", {so_far['behind']:.1f} s behind"
        found = f", {self._found:,} violations" if self._found else ""
        return f"verified {verified:,} of {ended:,}{behind}{found}"

    def ended(self, ran: Run) -> Run:
        """Verifies the rest; says on standard error how that went."""
        began, behind = perf_counter(), self.said()
        try:
            self._gathering.close()
            self._engine.flush()
            self._note()
        except ServiceError as error:
            return replace(ran, problem=ran.problem or str(error))
        done = self._gathering.collected
        share = 100 * done.seconds / (ran.progress.seconds or 1)
        click.echo(
            f"live: {behind} when the run ended, all {perf_counter() - began:.2f} s later, against "
            f"{self._profile.name}; sessions were held up for {done.seconds:.2f} s in all ({share:.1f} % of "
            "the run)",
            err=True,
        )
        return ran

    def report(self) -> Report | None:
        """What the mechanisms say."""
        return self._engine.report()

    def _deliver(self, rows: list[Recorded], beats: list[tuple[Scalar, int]]) -> None:
        now = monotonic_ns()
        if rows:
            with self._lock:
                initial, self._untold = self._untold, {}
            history = as_history(rows, initial)
            self._engine.validate(history)
            self._engine.take(history, now)
        self._engine.heartbeat(beats, now)
        self._note()

    def _note(self) -> None:
        self._so_far = self._engine.status()["mechanisms"]
        self._found += sum(1 for _ in self._engine.news())
