"""The mechanisms of a profile by the clients' clocks: one engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.checkers.online_intervals import OnlineIntervals
from isoscope.history import EvidenceKind, Initial, Source
from isoscope.live.event_json import MechanismEvent, mechanisms_status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from isoscope.history import History, Scalar
    from isoscope.live.check_settings import CheckSettings
    from isoscope.verdict import Anomaly, Report

__all__ = ["IntervalsEngine"]


class IntervalsEngine:
    """The engine of one profile, restored from `saved` or new."""

    def __init__(
        self,
        check: CheckSettings,
        saved: Sequence[bytes] = (),
        *,
        evidence: Iterable[str] = (),
        path: str = "<live>",
    ) -> None:
        if check.profile is None:
            raise AssertionError("mechanisms are those of a profile")
        self._source = Source(path=path, format="live")
        self._initial = Initial(value=check.initial)
        self._evidence = {EvidenceKind(kind) for kind in evidence}
        if saved:
            self._engine = OnlineIntervals.load(check.profile, saved[0], clock_error=check.clock_error)
        else:
            self._engine = OnlineIntervals(
                check.profile,
                timeout=check.timeout,
                clock_error=check.clock_error,
                max_anomalies=check.max_anomalies,
                initial=check.initial,
            )

    def admit(self, history: History) -> None:
        """Raises ValueError if the operations have no intervals."""
        if len(history) and EvidenceKind.INTERVALS not in history.evidence.present:
            first = history.transaction(0)
            place = f"{history.source.place(first.line)}: " if first.line else ""
            raise ValueError(f"{place}transaction {first.id!r}: its operations have no intervals")

    def validate(self, history: History) -> None:
        """Raises ValueError if the engine refuses the transactions."""
        self._engine.admit(history)

    def take(self, history: History, now: int) -> int:
        """How many of the transactions are new. Raises ValueError if one is refused: none is taken."""
        taken = self._engine.take(history, now)
        self._evidence.update(history.evidence.present)
        return taken

    def retake(self, history: History, now: int) -> int:
        """Takes a batch of the journal."""
        return self.take(history, now)

    def heartbeat(self, beats: Iterable[tuple[Scalar, int]], now: int) -> None:
        """Each later operation of a session begins at its instant or later."""
        for session, time in beats:
            self._engine.heartbeat(session, time, now)
        self._engine.advance(now)

    def advance(self, now: int) -> None:
        """The engine stops waiting for sessions that were silent for the timeout."""
        self._engine.advance(now)

    def flush(self) -> None:
        """All operations are judged."""
        self._engine.flush()

    def news(self) -> Iterator[MechanismEvent]:
        """The violations that were found since the last call."""
        return map(MechanismEvent, self._engine.news())

    def status(self) -> dict[str, Any]:
        """The progress of the mechanisms."""
        return {
            "levels": [],
            "mechanisms": mechanisms_status(self._engine.status(), self._engine.mechanisms()),
        }

    def report(self) -> Report:
        """The verdicts on the mechanisms so far."""
        return self._engine.report(self._source, self._initial, self.evidence)

    def anomaly(self, event: Mapping[str, Any]) -> Anomaly | None:
        """The counterexample of a recent violation."""
        return self._engine.anomaly(event["number"])

    @property
    def evidence(self) -> tuple[EvidenceKind, ...]:
        """The kinds of evidence in all batches so far."""
        return tuple(kind for kind in EvidenceKind if kind in self._evidence)

    @property
    def memory(self) -> int:
        """Bytes that the engine holds."""
        return self._engine.status().memory

    @property
    def trouble(self) -> str:
        """Empty: this engine spills nothing."""
        return ""

    def save(self) -> tuple[bytes, ...]:
        """The state of the engine."""
        return (self._engine.save(),)

    def close(self) -> None:
        """Does nothing: there is no thread to end."""
