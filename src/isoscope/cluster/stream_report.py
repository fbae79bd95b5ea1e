"""What all parts of a stream said so far, as one report and as findings in one order."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

from isoscope.checkers import online_report
from isoscope.checkers.clock import AXIOMS, METHOD
from isoscope.checkers.online import OnlineStatus, unverified
from isoscope.cluster.stream_part import OF_SESSIONS
from isoscope.history import EvidenceKind, Initial, Source
from isoscope.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from isoscope.cluster.stream_part import PartResult, StreamQuestion
    from isoscope.levels import Level
    from isoscope.verdict import Anomaly, Report

__all__ = ["StreamSoFar"]

#: So many late transactions are named in a report; all are counted.
_NAMED = 3


@dataclass(slots=True)
class StreamSoFar:
    """The last result of each part, and the late transactions: how many, and the first by name."""

    batch: int = -1
    #: How many lines of findings were written.
    lines: int = 0
    results: dict[int, PartResult] = field(default_factory=dict)
    late: int = 0
    first_late: tuple[int | str, ...] = ()

    def take(self, batch: int, results: Iterable[PartResult]) -> None:
        """The results of a batch."""
        self.batch = batch
        for result in results:
            self.results[result.part] = result
            self.late += len(result.late)
            self.first_late = (*self.first_late, *result.late)[:_NAMED]

    def report(self, question: StreamQuestion, path: str) -> Report:
        """The verdicts so far; what waits for the watermark is not part of them."""
        levels = [_Level(level, place, question, self) for place, level in enumerate(question.levels)]
        present = frozenset().union(*(one.evidence for one in self.results.values()))
        report = online_report(
            levels,
            source=Source(path=path, format="aion"),
            initial=Initial(value=question.initial),
            evidence=[kind for kind in EvidenceKind if str(kind) in present],
        )
        return replace(report, assumptions=(*report.assumptions, *self._said(question)))

    def _said(self, question: StreamQuestion) -> Iterable[str]:
        yield "timestamps of several transactions are not counted on Spark"
        if self.late:
            names = ", ".join(map(str, self.first_late)) + (", ..." if self.late > _NAMED else "")
            what = "it wrote" if self.late == 1 else "they wrote"
            yield f"{self.lateness()}, and reads of what {what} look wrong: {names}"
        waiting = sum(one.waiting for part, one in self.results.items() if part >= question.parts)
        if waiting:
            yield f"transactions that wait for the watermark, and are not judged yet: {waiting:,}"

    def lateness(self) -> str:
        """Why nothing can hold if a transaction was late."""
        came = "1 transaction came" if self.late == 1 else f"{self.late:,} transactions came"
        return f"{came} behind the watermark"


@dataclass(frozen=True, slots=True)
class _Level:
    """One level, over all parts; as `Online`."""

    level: Level
    place: int
    question: StreamQuestion
    stream: StreamSoFar

    @property
    def _of_keys(self) -> list[PartResult]:
        return [one for part, one in sorted(self.stream.results.items()) if part < self.question.parts]

    @property
    def _of_sessions(self) -> list[PartResult]:
        return [one for part, one in sorted(self.stream.results.items()) if part >= self.question.parts]

    def status(self) -> OnlineStatus:
        """The counters: of reads and keys those of the parts of keys, of the rest those of sessions."""
        by_key = _sum([one.statuses[self.place] for one in self._of_keys])
        by_session = _sum([one.statuses[self.place] for one in self._of_sessions])
        own = ("keys", "provisional", "unverifiable", "unverifiable_reads", "overturned")
        return replace(
            by_session,
            **{name: getattr(by_key, name) for name in own},
            counts=self.verdict().anomaly_counts,
            memory=by_session.memory + by_key.memory,
            ties=0,
        )

    def verdict(self) -> Verdict:
        """The answer so far."""
        counts: dict[str, int] = {}
        anomalies: list[Anomaly] = []
        for name in AXIOMS:
            results = self._of_sessions if name in OF_SESSIONS else self._of_keys
            verdicts = [one.verdicts[self.place] for one in results]
            if count := sum(verdict.anomaly_counts.get(name, 0) for verdict in verdicts):
                counts[name] = count
                shown = [one for verdict in verdicts for one in verdict.anomalies if one.name == name]
                kept = shown[: self.question.max_anomalies]
                anomalies += map(_without_operations, kept) if name in OF_SESSIONS else kept
        reasons = [unverified(_sum([one.statuses[self.place] for one in self._of_keys]))]
        reasons += [self.stream.lateness()] if self.stream.late else []
        reason = "; ".join(filter(None, reasons))
        outcome = Outcome.VIOLATED if counts else Outcome.UNKNOWN if reason else Outcome.HOLDS
        return Verdict(
            level=self.level,
            outcome=outcome,
            method=METHOD,
            reason=reason if outcome is Outcome.UNKNOWN else "",
            anomaly_counts=counts,
            anomalies=tuple(anomalies),
        )


def _without_operations(anomaly: Anomaly) -> Anomaly:
    """A finding of a part of sessions, which has none of the operations that there were."""
    participants = (
        replace(one, operations=(), matters=frozenset(), left_out=one.left_out + len(one.operations))
        for one in anomaly.participants
    )
    return replace(anomaly, participants=tuple(participants))


def _sum(statuses: Sequence[OnlineStatus]) -> OnlineStatus:
    numbers = [one.name for one in fields(OnlineStatus) if one.name not in ("counts", "watermark")]
    sums = {name: sum(getattr(status, name) for status in statuses) for name in numbers}
    return OnlineStatus(**sums, counts={}, watermark=None)
