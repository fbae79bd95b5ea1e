"""The mechanisms of a profile by the clients' clocks: one engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.checkers.online_intervals import OnlineIntervals
from isoscope.history import EvidenceKind, Initial, Source
from isoscope.live.telling import MechanismTold, mechanisms_status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from isoscope.history import History, Scalar
    from isoscope.live.judging import Judging
    from isoscope.verdict import Anomaly, Report

__all__ = ["IntervalsEngine"]


class IntervalsEngine:
    """The engine of one profile, as it was saved or new."""

    def __init__(
        self,
        judging: Judging,
        saved: Sequence[bytes] = (),
        *,
        evidence: Iterable[str] = (),
        path: str = "<live>",
    ) -> None:
        if judging.profile is None:
            raise AssertionError("mechanisms are those of a profile")
        self._source = Source(path=path, format="live")
        self._initial = Initial(value=judging.initial)
        self._evidence = {EvidenceKind(kind) for kind in evidence}
        if saved:
            self._engine = OnlineIntervals.load(judging.profile, saved[0], clock_error=judging.clock_error)
        else:
            self._engine = OnlineIntervals(
                judging.profile,
                timeout=judging.timeout,
                clock_error=judging.clock_error,
                max_anomalies=judging.most,
                initial=judging.initial,
            )

    def admit(self, history: History) -> None:
        """Raises ValueError if nobody recorded when the operations were sent and answered."""
        if len(history) and EvidenceKind.INTERVALS not in history.evidence.present:
            first = history.transaction(0)
            place = f"{history.source.place(first.line)}: " if first.line else ""
            raise ValueError(f"{place}transaction {first.id!r}: its operations have no intervals")

    def refuse(self, history: History) -> None:
        """Raises ValueError if the engine would refuse the transactions."""
        self._engine.admit(history)

    def take(self, history: History, now: int) -> int:
        """How many of the transactions are new. Raises ValueError if one is refused: none is taken."""
        taken = self._engine.take(history, now)
        self._evidence.update(history.evidence.present)
        return taken

    def heartbeat(self, beats: Iterable[tuple[Scalar, int]], now: int) -> None:
        """What each session does from now on begins at its instant or later."""
        for session, time in beats:
            self._engine.heartbeat(session, time, now)
        self._engine.advance(now)

    def advance(self, now: int) -> None:
        """Sessions that were silent for too long are left behind."""
        self._engine.advance(now)

    def flush(self) -> None:
        """Everything is judged."""
        self._engine.flush()

    def news(self) -> Iterator[MechanismTold]:
        """What was found since the last call."""
        return map(MechanismTold, self._engine.news())

    def status(self) -> dict[str, Any]:
        """How far the mechanisms are."""
        return {
            "levels": [],
            "mechanisms": mechanisms_status(self._engine.status(), self._engine.mechanisms()),
        }

    def report(self) -> Report:
        """What the mechanisms say as of now."""
        return self._engine.report(self._source, self._initial, self.evidence)

    def anomaly(self, event: Mapping[str, Any]) -> Anomaly | None:
        """The counterexample of a recent violation."""
        return self._engine.anomaly(event["number"])

    @property
    def evidence(self) -> tuple[EvidenceKind, ...]:
        """What kinds of evidence there were."""
        return tuple(kind for kind in EvidenceKind if kind in self._evidence)

    @property
    def memory(self) -> int:
        """Bytes that the engine holds."""
        return self._engine.status().memory

    @property
    def trouble(self) -> str:
        """Nothing is spilled here."""
        return ""

    def save(self) -> tuple[bytes, ...]:
        """Everything that the engine knows."""
        return (self._engine.save(),)

    def close(self) -> None:
        """There is no thread to end."""
