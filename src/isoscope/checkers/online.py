"""The method of timestamps while transactions arrive, in any order between sessions.

Li et al. 2025 (AION). A transaction is judged when it comes, and again when a late one gives it another
version to read. A stale read is provisional until a timeout, everything else is final at once.
`rust/kernel/src/clock/online` is the engine. It has no clock: every call passes the time, in nanoseconds that
never go back. After `flush` the verdict is the one that `timestamps` gives for the whole history.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Protocol, Self

from isoscope._native import UNKNOWN, ClockNews, ClockOnline, ClockStability
from isoscope.checkers.clock import Judged
from isoscope.checkers.stream_excerpt import StreamExcerpt, refused
from isoscope.history import History
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope._native import ClockReport
    from isoscope.history import Scalar, Unknown
    from isoscope.levels import Level
    from isoscope.verdict import Anomaly, Verdict

__all__ = ["ClockNews", "ClockStability", "LevelNews", "Online", "OnlineLevel", "OnlineStatus", "unverified"]

#: So many transactions leave memory at once, into one file.
_SEGMENT = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineStatus:
    """The counters of an engine.

    `live` transactions are in memory, `pending` ones of them are not final; `provisional` reads are stale so
    far. `repeated` transactions came twice; `unverifiable` ones came after the versions that they need were
    dropped, and so did the writers of `unverifiable_reads`; late ones changed `overturned` final answers.
    """

    transactions: int
    aborted: int
    operations: int
    keys: int
    sessions: int
    live: int
    pending: int
    provisional: int
    counts: Mapping[str, int]
    repeated: int
    unverifiable: int
    unverifiable_reads: int
    overturned: int
    ties: int
    memory: int
    watermark: tuple[int, int] | None


class LevelNews(Protocol):
    """A finding that is new or retracted, of an engine or of one of many: the fields of `ClockNews`."""

    @property
    def number(self) -> int:
        """1, 2, 3, ..."""
        ...

    @property
    def name(self) -> str:
        """The name of the anomaly."""
        ...

    @property
    def axiom(self) -> str:
        """The axiom that it breaks."""
        ...

    @property
    def transaction(self) -> Any:
        """The id of the transaction."""
        ...

    @property
    def other(self) -> Any:
        """The id of the other transaction, if there is one."""
        ...

    @property
    def key(self) -> Any:
        """The key, if there is one."""
        ...

    @property
    def is_retracted(self) -> bool:
        """Whether it takes an earlier one back."""
        ...


class OnlineLevel(Protocol):
    """What is known so far of one level, in one engine or in many."""

    def status(self) -> OnlineStatus:
        """The counters."""
        ...

    def verdict(self) -> Verdict:
        """The answer so far."""
        ...


class Online:
    """One level of the clock."""

    def __init__(  # noqa: PLR0913 - named
        self,
        level: Level,
        *,
        timeout: int,
        keep: int = 0,
        max_anomalies: int = 10,
        initial: Scalar | Unknown = UNKNOWN,
        spill: str | None = None,
    ) -> None:
        """Transactions are final after `timeout` nanoseconds, and stay in memory for `keep` more.

        Transactions that leave memory go to the folder `spill`, so that late ones can be judged; without a
        folder they are dropped.
        """
        self.level = level
        self._engine = ClockOnline(
            level, max_anomalies=max_anomalies, timeout=timeout, keep=keep, initial=initial
        )
        self._spill_to(spill)

    def _spill_to(self, folder: str | None) -> None:
        if folder is not None:
            self._engine.spill_to(folder, _SEGMENT)

    def admit(self, history: History) -> None:
        """Raises ValueError as `take` would; nothing is taken."""
        try:
            self._engine.admit(history.columns)
        except ValueError as error:
            raise refused(history, error) from None

    def take(self, history: History, now: int) -> int:
        """Takes all transactions of a slice, or none; how many were new.

        Raises ValueError with a reason if one of them cannot be judged.
        """
        try:
            return self._engine.take(history.columns, now)
        except ValueError as error:
            raise refused(history, error) from None

    def advance(self, now: int) -> None:
        """It is `now`: what timed out becomes final, and transactions that are not needed are dropped."""
        self._engine.advance(now)

    def flush(self) -> None:
        """Everything is final."""
        self._engine.flush()

    def save(self) -> bytes:
        """Everything, as bytes: a checkpoint. The folder of spilled segments is not part of it."""
        return self._engine.save()

    @classmethod
    def load(cls, level: Level, data: bytes, *, spill: str | None = None) -> Self:
        """The engine that was saved; raises ValueError if the bytes are damaged."""
        loaded = cls(level, timeout=0)
        loaded._engine = ClockOnline.load(data)
        loaded._spill_to(spill)
        return loaded

    @property
    def trouble(self) -> str | None:
        """The message of the disk, if something could not be spilled, and stays in memory, or read back."""
        return self._engine.trouble

    def news(self) -> list[ClockNews]:
        """The findings that became final, or were retracted, since the last call.

        Only a transaction that comes later than the timeout allows retracts a finding.
        """
        return self._engine.news()

    def anomaly(self, number: int) -> Anomaly | None:
        """The counterexample of a piece of news; None if it is none of the last hundred."""
        report = self._engine.recent(number)
        return None if report is None else _judged(report).anomalies[0]

    def status(self) -> OnlineStatus:
        """The counters."""
        status = self._engine.status()
        return OnlineStatus(**{field.name: getattr(status, field.name) for field in fields(OnlineStatus)})

    def stability(self) -> ClockStability:
        """How often answers changed before they were final."""
        return self._engine.stability()

    def verdict(self) -> Verdict:
        """The answer so far; after `flush` that of the whole history."""
        verdict = _judged(self._engine.report()).verdict()
        if verdict.outcome is not Outcome.HOLDS or not (reason := unverified(self.status())):
            return verdict
        return replace(verdict, outcome=Outcome.UNKNOWN, reason=reason)


def unverified(status: OnlineStatus) -> str:
    """What was not judged because of late arrivals; empty if everything was."""
    late, reads = status.unverifiable, status.unverifiable_reads
    reasons = []
    if late:
        came = "1 transaction came" if late == 1 else f"{late:,} transactions came"
        reasons.append(f"{came} after what they must be held against was dropped")
    if reads:
        of_lists = "1 read of a list" if reads == 1 else f"{reads:,} reads of lists"
        reasons.append(f"{of_lists} of which a late append was missed")
    return "; ".join(reasons)


def _judged(report: ClockReport) -> Judged:
    places = [*zip(report.sessions, report.places, strict=True)]
    return Judged(StreamExcerpt(History(report.columns), places), report.judgement)
