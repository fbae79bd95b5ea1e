"""Verification in this process: the mechanisms of a profile, by the clients' clocks."""

from __future__ import annotations

from time import monotonic_ns, perf_counter
from typing import TYPE_CHECKING, Any

from isoscope.checkers.online_intervals import OnlineIntervals
from isoscope.collect import BatchQueue
from isoscope.history import UNKNOWN, EvidenceKind, Initial, Source
from isoscope.run.verification import VerificationProgress, VerifiedSummary

if TYPE_CHECKING:
    from isoscope.collect import SliceSource
    from isoscope.history import Scalar, Status, Timestamp
    from isoscope.profiles import Profile
    from isoscope.verdict import Report

__all__ = ["LocalVerification"]

_SECOND = 1_000_000_000
#: Nanoseconds after which the verifier stops waiting for a silent session; heartbeats come every 0.2 s.
_TIMEOUT = 60 * _SECOND


class LocalVerification:
    """Verifies transactions in a thread of its own."""

    def __init__(self, profile: Profile, *, sessions: int, max_anomalies: int = 1) -> None:
        self._engine = OnlineIntervals(profile, timeout=_TIMEOUT, max_anomalies=max_anomalies)
        self._slice_of: SliceSource | None = None
        self._evidence: set[EvidenceKind] = set()
        self._status = self._engine.status()
        self._violations = 0
        self._summary: VerifiedSummary | None = None
        self._queue = BatchQueue(self._deliver, sessions=range(sessions))

    def connect(self, slice_of: SliceSource) -> None:
        """Called by the run, which has the transactions as columns already."""
        self._slice_of = slice_of

    def began(self, session: int) -> None:
        """A session is about to begin a transaction."""
        self._queue.began(session)

    def transaction(
        self,
        number: int,
        session: int,
        status: Status,  # noqa: ARG002 - the slice of the history has the rest
        operations: list[tuple[Any, ...]],  # noqa: ARG002
        timestamps: tuple[Timestamp, Timestamp] | None,  # noqa: ARG002
    ) -> None:
        """A transaction has ended."""
        self._queue.put(number, session, perf_counter())

    def close(self) -> None:
        """Verifies the rest. Raises ServiceError if the verifier failed."""
        at_end, started = self.progress(), perf_counter()
        self._queue.close()
        self._engine.flush()
        self._note()
        self._summary = VerifiedSummary(
            profile=self._engine.profile.name,
            at_end=at_end,
            seconds=perf_counter() - started,
            held_up=self._queue.collected.seconds,
        )

    def progress(self) -> VerificationProgress:
        """How far the verification is."""
        status = self._status
        return VerificationProgress(
            verified=status.transactions - status.pending,
            ended=status.transactions + self._queue.unsent,
            behind=None if status.behind is None else status.behind / _SECOND,
            violations=self._violations,
        )

    def summary(self) -> VerifiedSummary | None:
        """The result, after the run; None if it ended with an error."""
        return self._summary

    def report(self) -> Report:
        """The verdicts on the mechanisms."""
        evidence = [kind for kind in EvidenceKind if kind in self._evidence]
        return self._engine.report(Source(path="<run>", format="live"), Initial(value=UNKNOWN), evidence)

    def _deliver(self, numbers: list[int], beats: list[tuple[Scalar, int]]) -> None:
        now = monotonic_ns()
        if numbers:
            if self._slice_of is None:
                raise AssertionError("a run connects before its first transaction")
            history = self._slice_of(numbers, initial=True)
            self._engine.take(history, now)
            self._evidence.update(history.evidence.present)
        for session, time in beats:
            self._engine.heartbeat(session, time, now)
        self._engine.advance(now)
        self._note()

    def _note(self) -> None:
        self._status = self._engine.status()
        self._violations += len(self._engine.news())
