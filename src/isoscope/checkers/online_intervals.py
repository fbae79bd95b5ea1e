"""The method of intervals while transactions arrive: the mechanisms of a profile, judged behind a watermark.

Li et al. 2023 (Leopard), section IV. Operations older than the clocks of all sessions are judged finally, and
their state is dropped; the others wait. The heartbeat of a session says that its later operations begin at an
instant or after it. A session without news for the timeout is left behind; its later transactions are counted
and not judged. `rust/kernel/src/intervals` is the engine. It reads no clock: each call passes the time in
nanoseconds, which never goes back; instants of operations and heartbeats are those of the clients' clocks.
After `flush` the verdicts are those that `intervals` gives for the whole, unless a transaction came late.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Self

from isoscope import _native
from isoscope._native import UNKNOWN, Builder
from isoscope.checkers import assumptions
from isoscope.checkers.intervals import Findings, mechanisms_of
from isoscope.checkers.stream_excerpt import StreamExcerpt, refused
from isoscope.history import History
from isoscope.verdict import Mechanism, Outcome, Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from isoscope.history import EvidenceKind, Initial, Scalar, Source, Unknown
    from isoscope.profiles import Profile
    from isoscope.verdict import Anomaly, Mechanisms, MechanismVerdict

__all__ = ["IntervalsStatus", "MechanismNews", "OnlineIntervals"]

#: How many sessions that hold the watermark back are named.
_SHOWN = 10
#: What a report says of a history, in its order.
_SUMMARY = ("sessions", "transactions", "operations", "keys", "aborted", "indeterminate")


class MechanismNews(NamedTuple):
    """A finding, by the ids of its transactions."""

    number: int
    mechanism: Mechanism
    name: str
    case: str
    transaction: Scalar
    other: Scalar
    key: Scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalsStatus:
    """The sizes of the engine.

    `live` transactions are in memory; `pending` ones wait for the `watermark`, the instant that the clocks of
    all sessions have passed. The session that is `holding_back` determines it. `late` transactions came after
    it and were not judged, nor were the `aside` reads of values that they may have written; `repeated` ones
    came twice. `latest` is the last instant of an operation or heartbeat.
    """

    transactions: int
    aborted: int
    indeterminate: int
    operations: int
    keys: int
    sessions: int
    live: int
    pending: int
    late: int
    repeated: int
    aside: int
    memory: int
    counts: Mapping[str, int]
    watermark: int | None
    holding_back: tuple[Scalar, ...]
    latest: int | None

    @property
    def behind(self) -> int | None:
        """Nanoseconds from the watermark to the latest instant; None if one of them is not known."""
        if self.watermark is None or self.latest is None:
            return None
        return max(0, self.latest - self.watermark) if self.pending else 0


class OnlineIntervals:
    """The mechanisms of one profile."""

    def __init__(
        self,
        profile: Profile,
        *,
        timeout: int,
        clock_error: int = 0,
        max_anomalies: int = 10,
        initial: Scalar | Unknown = UNKNOWN,
    ) -> None:
        """A session is left behind after `timeout` nanoseconds of silence."""
        self.profile = profile
        self.clock_error = clock_error
        self._latest: int | None = None
        self._engine = _native.IntervalsOnline(
            profile.native,
            clock_error=clock_error,
            max_anomalies=max_anomalies,
            initial=initial,
            timeout=timeout,
        )

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
            taken = self._engine.take(history.columns, now)
        except ValueError as error:
            raise refused(history, error) from None
        self._hear(_end(history))
        return taken

    def heartbeat(self, session: Scalar, time: int, now: int) -> None:
        """All later operations of the session begin at `time` or later."""
        self._engine.heartbeat(session, time, now)
        self._hear(time)

    def advance(self, now: int) -> None:
        """It is `now`: sessions that were silent for too long are left behind."""
        self._engine.advance(now)

    def flush(self) -> None:
        """Everything is judged."""
        self._engine.flush()

    def save(self) -> bytes:
        """Everything, as bytes: a checkpoint."""
        return self._engine.save()

    @classmethod
    def load(cls, profile: Profile, data: bytes, *, clock_error: int = 0) -> Self:
        """What was saved; raises ValueError if it is damaged."""
        loaded = cls(profile, timeout=0, clock_error=clock_error)
        loaded._engine = _native.IntervalsOnline.load(data)
        return loaded

    def news(self) -> list[MechanismNews]:
        """The findings since the last call."""
        return [_news(found) for found in self._engine.news()]

    def anomaly(self, number: int) -> Anomaly | None:
        """The counterexample of a piece of news; None if it is none of the last hundred."""
        report = self._engine.recent(number)
        return None if report is None else self._findings(report).anomalies[0]

    def status(self) -> IntervalsStatus:
        """The sizes of the engine, and how many findings there are."""
        counts = {check.anomaly: check.count for check in self._engine.checks() if check.count}
        return IntervalsStatus(
            counts=counts,
            watermark=self._engine.watermark,
            holding_back=tuple(self._engine.holding_back()[:_SHOWN]),
            latest=self._latest,
            **self._engine.sizes(),
        )

    def mechanisms(self) -> Mechanisms:
        """The answers so far; after `flush` those of the whole history."""
        found = mechanisms_of(self.profile, self._findings(self._engine.report()), self.clock_error)
        late = self._engine.sizes()["late"]
        return replace(found, verdicts=tuple(_open(verdict, late) for verdict in found.verdicts))

    def report(self, source: Source, initial: Initial, evidence: Iterable[EvidenceKind]) -> Report:
        """The answers so far, with the sizes of the history and the assumptions."""
        builder = Builder()
        builder.initial(initial.value, replaceable=initial.replaceable)
        nothing, so_far = History(builder.finish(), source), self.status()
        return Report(
            history={
                "path": source.path,
                "format": source.format,
                **{name: getattr(so_far, name) for name in _SUMMARY},
                "evidence": [str(kind) for kind in evidence],
            },
            verdicts=(),
            assumptions=(
                *assumptions.of_all(nothing, (), None),
                *assumptions.of_clocks(self.clock_error),
            ),
            mechanisms=self.mechanisms(),
        )

    def _findings(self, report: _native.IntervalsReport) -> Findings:
        excerpt = StreamExcerpt(History(report.columns), report.places)
        return Findings(excerpt, self.profile, report.judgement)

    def _hear(self, time: int | None) -> None:
        if time is not None and (self._latest is None or time > self._latest):
            self._latest = time


def _end(history: History) -> int | None:
    """About the last instant of the transactions: when the last of them ended."""
    if not len(history):
        return None
    last = history.transaction(len(history) - 1)
    spans = (last.operations[-1].interval if last.operations else None, last.interval)
    return next((span.complete for span in spans if span is not None and span.complete is not None), None)


def _news(found: _native.FindingNews) -> MechanismNews:
    mechanism = Mechanism(found.mechanism)
    return MechanismNews(
        found.number, mechanism, found.anomaly, found.case, found.transaction, found.other, found.key
    )


def _open(verdict: MechanismVerdict, late: int) -> MechanismVerdict:
    """Nothing holds if a transaction came too late to be judged."""
    if not late or verdict.outcome is not Outcome.HOLDS:
        return verdict
    transactions, was = ("1 transaction", "was") if late == 1 else (f"{late:,} transactions", "were")
    reason = f"{transactions} came too late and {was} not judged: the session had been left behind"
    return replace(verdict, outcome=Outcome.UNKNOWN, reason=reason)
