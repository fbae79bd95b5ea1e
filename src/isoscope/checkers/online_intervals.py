"""The method of intervals while transactions arrive: the mechanisms of a profile, judged behind a watermark.

Li et al. 2023 (Leopard), section IV. What every session has gone beyond is judged for good and forgotten; the
rest waits. A session says by a heartbeat that nothing of it from before an instant is to come; one that says
nothing for the timeout is left behind, and what comes of it later is counted and not judged.
`rust/kernel/src/intervals` is the engine. It knows no clock: every call says what time it is, in nanoseconds
that never go back; instants of operations and heartbeats are the clients' own. After `flush` the verdicts are
those that `intervals` gives for the whole, unless somebody came late.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Self

from isoscope import _native
from isoscope._native import UNKNOWN, Builder
from isoscope.checkers import assumptions
from isoscope.checkers.few import Few, refused
from isoscope.checkers.intervals import Found, told
from isoscope.checkers.violations import CASES, NAMES
from isoscope.history import History
from isoscope.verdict import Mechanism, Outcome, Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from isoscope.history import EvidenceKind, Initial, Scalar, Source, Unknown
    from isoscope.profiles import Profile
    from isoscope.verdict import Anomaly, Mechanisms, MechanismVerdict

__all__ = ["IntervalsStatus", "MechanismNews", "OnlineIntervals"]

#: So many sessions that hold the watermark back are named.
_SHOWN = 10
#: What a report says of a history, in its order.
_SUMMARY = ("sessions", "transactions", "operations", "keys", "aborted", "indeterminate")


class MechanismNews(NamedTuple):
    """Something that was found, by the ids of the transactions that it is found in."""

    number: int
    mechanism: Mechanism
    name: str
    case: str
    transaction: Scalar
    other: Scalar
    key: Scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalsStatus:
    """How many of what there are.

    `live` transactions are in memory, `pending` ones of them wait for the `watermark`, the instant that every
    session has gone beyond; it waits for the one that is `holding_back`. `late` transactions came after it
    and were not judged, nor were the `aside` reads of what they may have written; `repeated` ones came twice.
    `latest` is the last instant that anybody told of.
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
        """Nanoseconds between what was told and what is judged; None if nobody can say."""
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
        most: int = 10,
        initial: Scalar | Unknown = UNKNOWN,
    ) -> None:
        """A session is left behind after `timeout` nanoseconds of silence."""
        self.profile = profile
        self.clock_error = clock_error
        self._latest: int | None = None
        self._engine = _native.IntervalsOnline(
            profile.native, clock_error=clock_error, most=most, initial=initial, timeout=timeout
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
        """What the session does from now on begins at `time` or later."""
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
        """What was found since the last call."""
        return [_news(*row) for row in self._engine.news()]

    def anomaly(self, number: int) -> Anomaly | None:
        """The counterexample of a piece of news; None if it is none of the last hundred."""
        shown = self._engine.recent(number)
        if shown is None:
            return None
        columns, places, judged = shown
        return Found(Few(History(columns), places), self.profile, judged).anomalies[0]

    def status(self) -> IntervalsStatus:
        """How many of what there are."""
        counts = {name: count for name, count in zip(NAMES, self._engine.counts(), strict=True) if count}
        return IntervalsStatus(
            counts=counts,
            watermark=self._engine.watermark,
            holding_back=tuple(self._engine.holding_back()[:_SHOWN]),
            latest=self._latest,
            **self._engine.sizes(),
        )

    def mechanisms(self) -> Mechanisms:
        """The answers so far; after `flush` those of the whole history."""
        columns, places, judged = self._engine.report()
        found = told(
            self.profile, Found(Few(History(columns), places), self.profile, judged), self.clock_error
        )
        late = self._engine.sizes()["late"]
        return replace(found, verdicts=tuple(_open(verdict, late) for verdict in found.verdicts))

    def report(self, source: Source, initial: Initial, evidence: Iterable[EvidenceKind]) -> Report:
        """The same, with all that was taken so far and what the answers rest on."""
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

    def _hear(self, time: int | None) -> None:
        if time is not None and (self._latest is None or time > self._latest):
            self._latest = time


def _end(history: History) -> int | None:
    """About the last instant that the transactions tell of: when the last of them ended."""
    if not len(history):
        return None
    last = history.transaction(len(history) - 1)
    spans = (last.operations[-1].interval if last.operations else None, last.interval)
    return next((span.complete for span in spans if span is not None and span.complete is not None), None)


def _news(  # noqa: PLR0913, PLR0917 - a row of the engine
    number: int, name: int, case: int, transaction: Scalar, other: Scalar, key: Scalar
) -> MechanismNews:
    called = NAMES[name]
    return MechanismNews(number, list(Mechanism)[name], called, CASES[called][case], transaction, other, key)


def _open(verdict: MechanismVerdict, late: int) -> MechanismVerdict:
    """Nothing holds for good if somebody came too late to be judged."""
    if not late or verdict.outcome is not Outcome.HOLDS:
        return verdict
    who, was = ("1 transaction", "was") if late == 1 else (f"{late:,} transactions", "were")
    reason = f"{who} came too late and {was} not judged: the session had been left behind"
    return replace(verdict, outcome=Outcome.UNKNOWN, reason=reason)
