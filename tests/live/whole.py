"""The engine of mechanisms as the service meets it, and slow: all behind the watermark is judged anew.

It says what the native one is to say, by the judgement of whole histories.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from isoscope import _native
from isoscope.history import History, Initial, Status
from isoscope.recorder import build

if TYPE_CHECKING:
    from isoscope._native import Columns, _IntervalsFinding, _IntervalsJudged, _ProfileRow
    from isoscope.history import Transaction

_FAR = 2**62


@dataclass
class WholeOnline:
    profile: _ProfileRow
    clock_error: int
    most: int
    initial: Any
    timeout: int
    taken: list[Transaction] = field(default_factory=list)
    #: Up to which instant each session is known, and when it was heard of.
    sessions: dict[Any, tuple[int, int]] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=lambda: {"late": 0, "repeated": 0})
    watermark: int | None = None
    told: dict[tuple[Any, ...], int] = field(default_factory=dict)
    fresh: list[tuple[int, int, int, Any, Any, Any]] = field(default_factory=list)

    def admit(self, columns: Columns) -> None:
        for one in History(columns):
            if any(operation.interval is None for operation in one.operations):
                raise ValueError(one.number, "an operation without an interval")

    def take(self, columns: Columns, now: int) -> int:
        self.admit(columns)
        before = len(self.taken)
        known = {one.id for one in self.taken}
        for one in History(columns):
            begin, end = _span(one)
            if one.id in known:
                self.numbers["repeated"] += 1
            elif self.watermark is not None and begin < self.watermark:
                self.numbers["late"] += 1
            else:
                self.taken.append(one)
                self._hear(one.session_id, end, now)
        self.advance(now)
        return len(self.taken) - before

    def heartbeat(self, session: Any, time: int, now: int) -> None:
        self._hear(session, time, now)

    def advance(self, now: int) -> None:
        bounds = [bound for bound, heard in self.sessions.values() if now - heard <= self.timeout]
        if self.sessions:
            self._move(min(bounds) if bounds else max(bound for bound, _ in self.sessions.values()))

    def flush(self) -> None:
        self._move(max([*(bound for bound, _ in self.sessions.values()), self.watermark or 0]))

    def news(self) -> list[tuple[int, int, int, Any, Any, Any]]:
        fresh, self.fresh = self.fresh, []
        return fresh

    def recent(self, number: int) -> tuple[Columns, list[tuple[int, int]], _IntervalsFinding] | None:
        columns, places, judged = self.report()
        found = {self.told[_key(columns, finding)]: finding for finding in judged[1]}
        return (columns, places, found[number]) if number in found else None

    def report(self) -> tuple[Columns, list[tuple[int, int]], _IntervalsJudged]:
        settled = [one for one in self.taken if _span(one)[1] <= (self.watermark or 0)]
        columns = build(settled, initial=Initial(value=self.initial)).columns
        judged = _native.judge_intervals(columns, self.profile, clock_error=self.clock_error, most=self.most)
        history = History(columns)
        places = [(one.session, columns.place_in_session(one.number)) for one in history]
        return columns, places, judged

    def counts(self) -> list[int]:
        return self.report()[2][0]

    def sizes(self) -> dict[str, int]:
        pending = sum(_span(one)[1] > (self.watermark or 0) for one in self.taken)
        return {
            "transactions": len(self.taken),
            "aborted": sum(one.status is Status.ABORTED for one in self.taken),
            "indeterminate": sum(one.status is Status.INDETERMINATE for one in self.taken),
            "operations": sum(len(one.operations) for one in self.taken),
            "keys": self.report()[0].key_count,
            "sessions": len(self.sessions),
            "live": len(self.taken),
            "pending": pending,
            "memory": 1000 * len(self.taken),
            **self.numbers,
        }

    def save(self) -> bytes:
        return pickle.dumps(self)

    @staticmethod
    def load(data: bytes) -> WholeOnline:
        loaded: WholeOnline = pickle.loads(data)
        return loaded

    def _hear(self, session: Any, time: int, now: int) -> None:
        bound, _ = self.sessions.get(session, (-_FAR, 0))
        self.sessions[session] = (max(bound, time), now)

    def _move(self, watermark: int) -> None:
        if self.watermark is not None and watermark <= self.watermark:
            return
        self.watermark = watermark
        columns, _, judged = self.report()
        for finding in judged[1]:
            key = _key(columns, finding)
            if key not in self.told:
                self.told[key] = len(self.told) + 1
                name, case, ids, row = key
                other = ids[1] if len(ids) > 1 else None
                self.fresh.append((self.told[key], name, case, ids[0], other, row))


def _span(one: Transaction) -> tuple[int, int]:
    spans = [operation.interval for operation in one.operations if operation.interval is not None]
    times = [time for span in spans for time in (span.invoke, span.complete) if time is not None]
    return min(times), max(times)


def _key(columns: Columns, finding: _IntervalsFinding) -> tuple[Any, ...]:
    history = History(columns)
    places = [columns.locate(operation) for operation in finding[2]]
    ids = tuple(history.transaction(number).id for number, _ in places)
    number, place = places[0]
    return finding[0], finding[1], ids, history.transaction(number).operations[place].key
