"""The interface of online engines: levels of the database's clock, or mechanisms of a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from isoscope.live.clock_engines import ClockEngines
from isoscope.live.interval_engine import IntervalsEngine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from isoscope.history import EvidenceKind, History, Scalar
    from isoscope.live.check_settings import CheckSettings
    from isoscope.live.event_json import Event
    from isoscope.verdict import Anomaly, Report

__all__ = ["Engines", "open_engines"]


class Engines(Protocol):
    """One engine or several, which take the same batches. Time is the service's own, in nanoseconds."""

    def admit(self, history: History) -> None:
        """Raises ValueError if the batch lacks evidence. Changes nothing; any thread may call it."""

    def validate(self, history: History) -> None:
        """Raises ValueError as `take` would; a `take` right afterwards does not validate again."""

    def take(self, history: History, now: int) -> int:
        """How many of the transactions are new. Raises ValueError if they are refused: none is taken."""

    def retake(self, history: History, now: int) -> int:
        """Takes a batch of the journal, which no engine refused when it came."""

    def heartbeat(self, beats: Iterable[tuple[Scalar, int]], now: int) -> None:
        """Each later operation of a session begins at its instant or later; raises ValueError."""

    def advance(self, now: int) -> None:
        """Answers that have waited for the timeout become final."""

    def flush(self) -> None:
        """All answers become final."""

    def news(self) -> Iterator[Event]:
        """The violations that became final since the last call."""

    def status(self) -> dict[str, Any]:
        """The progress as JSON: `levels` and `mechanisms`, one of them empty."""

    def report(self) -> Report:
        """The verdicts on all transactions so far."""

    def anomaly(self, event: Mapping[str, Any]) -> Anomaly | None:
        """The counterexample of a recent violation, given its event."""

    def save(self) -> tuple[bytes, ...]:
        """The state of the engines."""

    def close(self) -> None:
        """Ends the threads of the engines."""

    @property
    def evidence(self) -> tuple[EvidenceKind, ...]:
        """The kinds of evidence in all batches so far."""

    @property
    def memory(self) -> int:
        """Bytes that the engines hold."""

    @property
    def trouble(self) -> str:
        """The error of the disk when state could not be spilled or read back; empty if there was none."""


def open_engines(
    check: CheckSettings, saved: Sequence[bytes] = (), *, evidence: Iterable[str] = (), path: str = "<live>"
) -> Engines:
    """The engines for these settings, restored from `saved` or new."""
    kind = ClockEngines if check.profile is None else IntervalsEngine
    return kind(check, saved, evidence=evidence, path=path)
