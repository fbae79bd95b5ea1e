"""What judges: the levels of the database's clock, or the mechanisms of a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from isoscope.live.by_clock import ClockEngines
from isoscope.live.by_intervals import IntervalsEngine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from isoscope.history import EvidenceKind, History, Scalar
    from isoscope.live.judging import Judging
    from isoscope.live.telling import Told
    from isoscope.verdict import Anomaly, Report

__all__ = ["Engines", "engines_of"]


class Engines(Protocol):
    """One engine or several, all told the same. Time is the service's own, in nanoseconds."""

    def admit(self, history: History) -> None:
        """Raises ValueError if the transactions cannot be judged; any thread may ask, nothing changes."""

    def refuse(self, history: History) -> None:
        """Raises ValueError as `take` would."""

    def take(self, history: History, now: int) -> int:
        """How many of the transactions are new. Raises ValueError if they are refused: none is taken."""

    def heartbeat(self, beats: Iterable[tuple[Scalar, int]], now: int) -> None:
        """What each session does from now on begins at its instant or later; raises ValueError."""

    def advance(self, now: int) -> None:
        """What has waited long enough becomes final."""

    def flush(self) -> None:
        """Everything becomes final."""

    def news(self) -> Iterator[Told]:
        """The violations that became final since the last call."""

    def status(self) -> dict[str, Any]:
        """How far everything is, as JSON: `levels` and `mechanisms`, one of them empty."""

    def report(self) -> Report:
        """What they say as of now."""

    def anomaly(self, event: Mapping[str, Any]) -> Anomaly | None:
        """The counterexample of a recent violation, by what was told of it."""

    def save(self) -> tuple[bytes, ...]:
        """Everything that they know."""

    def close(self) -> None:
        """Ends their threads."""

    @property
    def evidence(self) -> tuple[EvidenceKind, ...]:
        """What kinds of evidence there were."""

    @property
    def memory(self) -> int:
        """Bytes that they hold."""

    @property
    def trouble(self) -> str:
        """What a disk said when something could not be spilled or read back."""


def engines_of(
    judging: Judging, saved: Sequence[bytes] = (), *, evidence: Iterable[str] = (), path: str = "<live>"
) -> Engines:
    """The engines that judge so, as they were saved or new."""
    kind = ClockEngines if judging.profile is None else IntervalsEngine
    return kind(judging, saved, evidence=evidence, path=path)
