"""The judge of a part of a stream: the online engines of its levels, and transactions that wait.

A transaction waits until the watermark is past it. Then every transaction before it has arrived, or is late,
and the engines get them in the order of their timestamps: what they find does not depend on arrival.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from isoscope._native import ParseError, Reader
from isoscope.checkers.online import Online
from isoscope.cluster import pickled_scalars  # noqa: F401 - for what it does
from isoscope.cluster.arrivals import END
from isoscope.errors import UsageError
from isoscope.formats.format import format_error
from isoscope.history import History, Source, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from isoscope.checkers.online import OnlineStatus
    from isoscope.cluster.arrivals import Arrival
    from isoscope.history import Scalar, Unknown
    from isoscope.levels import Level
    from isoscope.verdict import Verdict

__all__ = ["OF_SESSIONS", "PartResult", "StreamFinding", "StreamPart", "StreamQuestion"]

_MILLISECOND = 1_000_000
#: What sessions alone show; the parts of keys show the rest.
OF_SESSIONS = frozenset({"session-order", "timestamp-inversion"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamQuestion:
    """The question that every part is asked. Times are milliseconds of the database's clock.

    A transaction may arrive `timeout` later than one with a later time. What is final stays in memory for
    `keep`: as long as a transaction may run.
    """

    levels: tuple[Level, ...]
    parts: int
    timeout: int
    keep: int
    max_anomalies: int
    initial: Scalar | Unknown

    def engines(self, *, of_sessions: bool) -> list[Online]:
        """New engines; in a part of sessions every read finds nothing, which is then right."""
        return [
            Online(
                level,
                timeout=0,
                keep=self.keep * _MILLISECOND,
                max_anomalies=self.max_anomalies,
                initial=None if of_sessions else self.initial,
            )
            for level in self.levels
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamFinding:
    """A finding of a part that became final, or was retracted; as `ClockNews`."""

    level: Level
    number: int
    name: str
    axiom: str
    transaction: Any
    other: Any
    key: Any
    is_retracted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PartResult:
    """What a part says after a batch: what is new, and its verdicts so far."""

    part: int
    watermark: int
    findings: tuple[StreamFinding, ...]
    late: tuple[int | str, ...]
    waiting: int
    evidence: frozenset[str]
    statuses: tuple[OnlineStatus, ...]
    verdicts: tuple[Verdict, ...]


@dataclass(slots=True, kw_only=True)
class StreamPart:
    """A part: parts of sessions have the numbers behind those of keys."""

    number: int
    question: StreamQuestion
    engines: list[Online]
    watermark: int = 0
    waiting: list[Arrival] = field(default_factory=list)
    evidence: frozenset[str] = frozenset()
    #: The place of the last transaction of each session that the engines took.
    last_places: dict[str, int] = field(default_factory=dict)
    _late: list[int | str] = field(default_factory=list)

    @classmethod
    def new(cls, number: int, question: StreamQuestion) -> StreamPart:
        """A part that no transaction came to."""
        engines = question.engines(of_sessions=number >= question.parts)
        return cls(number=number, question=question, engines=engines)

    @classmethod
    def load(cls, number: int, question: StreamQuestion, data: bytes) -> StreamPart:
        """The part that was saved."""
        engines, watermark, waiting, evidence, places = pickle.loads(data)
        return cls(
            number=number,
            question=question,
            engines=[Online.load(level, one) for level, one in zip(question.levels, engines, strict=True)],
            watermark=watermark,
            waiting=waiting,
            evidence=evidence,
            last_places=places,
        )

    def save(self) -> bytes:
        """Everything, as bytes."""
        engines = [engine.save() for engine in self.engines]
        return pickle.dumps((engines, self.watermark, self.waiting, self.evidence, self.last_places))

    @property
    def is_of_sessions(self) -> bool:
        """Whether it judges sessions, not keys."""
        return self.number >= self.question.parts

    def advance(self, arrivals: Iterable[Arrival], watermark: int) -> PartResult:
        """Takes what arrived while the watermark was here, and judges what it is past."""
        for arrival in arrivals:
            if arrival.time is not None and arrival.time <= watermark and watermark:
                self._late.append(arrival.id)
            else:
                self.waiting.append(arrival)
        self.watermark = watermark
        if due := self._due(watermark):
            self._take(due)
        for engine in self.engines:
            engine.advance(watermark * _MILLISECOND)
            if watermark >= END:
                engine.flush()
        return self._result()

    @property
    def due_at(self) -> int:
        """The watermark at which it has something to do."""
        times = [one.time for one in self.waiting if one.time is not None]
        return max(self.watermark + 1, min(times, default=END - 1))

    def _due(self, watermark: int) -> list[Arrival]:
        """The transactions that the watermark is past; the others go on waiting."""
        ordered = sorted(self.waiting, key=_in_session if self.is_of_sessions else _in_time)
        due: list[Arrival] = []
        self.waiting, held = [], set()
        for one in _once(ordered):
            is_past = one.time is None or one.time <= watermark
            if self.is_of_sessions and one.session and is_past:
                is_past = one.session not in held and (self._follows(one) or self._is_overdue(one, watermark))
            if not is_past:
                held.add(one.session)
                self.waiting.append(one)
            elif self._is_out_of_order(one):
                self._late.append(one.id)
            else:
                due.append(one)
                if one.place is not None and self.is_of_sessions:
                    self.last_places[one.session] = one.place
        return due

    def _follows(self, one: Arrival) -> bool:
        """Whether no transaction of its session may still come before it."""
        return one.place is None or one.place <= self.last_places.get(one.session, -1) + 1

    def _is_overdue(self, one: Arrival, watermark: int) -> bool:
        """Whether the one before it in its session has had its time twice."""
        return one.time is None or one.time + self.question.timeout <= watermark

    def _is_out_of_order(self, one: Arrival) -> bool:
        """Whether a later one of its session was taken: sessions are judged in their order."""
        known = self.is_of_sessions and one.session and one.place is not None
        return bool(known) and one.place <= self.last_places.get(one.session, -1)  # type: ignore[operator]

    def _take(self, due: Sequence[Arrival]) -> None:
        reader = Reader("aion")
        reader.start_of_file("")
        source = Source(path="<stream>", format="aion")
        try:
            reader.feed("\n".join(one.line for one in due).encode())
            reader.end_of_file()
            history = History(reader.finish(), source)
        except ParseError as error:
            raise format_error(error, source) from None
        if history.columns.status_counts()[Status.INDETERMINATE]:
            one = next(one for one in history if one.status is Status.INDETERMINATE)
            raise UsageError(f"transaction {one.id!r}: it is not known whether it committed")
        self.evidence |= {str(kind) for kind in history.evidence.present}
        try:
            for engine in self.engines:
                engine.take(history, self.watermark * _MILLISECOND)
        except ValueError as error:
            raise UsageError(f"{error}\n\nhint: `isoscope check` can judge a recorded history") from None

    def _result(self) -> PartResult:
        late = tuple(self._late) if self.is_of_sessions else ()
        self._late = []
        return PartResult(
            part=self.number,
            watermark=self.watermark,
            findings=tuple(self._findings()),
            late=late,
            waiting=len(self.waiting),
            evidence=self.evidence,
            statuses=tuple(engine.status() for engine in self.engines),
            verdicts=tuple(engine.verdict() for engine in self.engines),
        )

    def _findings(self) -> Iterator[StreamFinding]:
        for engine in self.engines:
            for news in engine.news():
                if (news.name in OF_SESSIONS) == self.is_of_sessions:
                    yield StreamFinding(
                        level=engine.level,
                        number=news.number * 2 * self.question.parts + self.number,
                        name=news.name,
                        axiom=news.axiom,
                        transaction=news.transaction,
                        other=news.other,
                        key=news.key,
                        is_retracted=news.is_retracted,
                    )


def _once(ordered: Iterable[Arrival]) -> Iterator[Arrival]:
    """Without copies, which stand side by side: a broker may deliver a message twice."""
    before = None
    for one in ordered:
        if one != before:
            yield one
        before = one


def _in_time(one: Arrival) -> tuple[Any, ...]:
    return one.order


def _in_session(one: Arrival) -> tuple[Any, ...]:
    return one.session, 0 if one.place is None else one.place, one.order
