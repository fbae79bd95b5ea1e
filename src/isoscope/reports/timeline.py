"""The times of a counterexample: a track for each transaction, a bar from invocation to completion.

Pure data, the same for the same anomaly. Instants keep their order; a long wait is drawn shorter than to
scale, so that short operations beside it can be seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from isoscope.explain import client_times_of
from isoscope.reports.picture.labels import operation
from isoscope.verdict import MechanismFacts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.verdict import Anomaly, Participant, Witness

__all__ = ["LEGEND", "Arrow", "Bar", "Track", "Tracks", "tracks_of"]

#: The meaning of each kind of bar.
LEGEND = {
    "matters": "what the mechanism is about",
    "snapshot": "the statement that took the snapshot",
    "end": "commit or abort: versions appear inside it, locks go",
    "other": "other operations",
}
_READS = ("read", "range-read")
#: The share of the width that is divided evenly among the steps from one instant to the next.
_EVEN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One operation; `start` and `stop` are shares of the width, and `when` is the same in words.

    `kind` is a key of `LEGEND`. An unknown end is at the edge of the picture.
    """

    label: str
    kind: str
    index: int
    place: str
    start: float
    stop: float
    when: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One transaction; `left_out` counts the operations that have no bar."""

    participant: Participant
    bars: tuple[Bar, ...]
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """A dependency from one bar to another, each by its transaction and index; `relation` is ww, wr or rw."""

    relation: str
    start: tuple[str, int]
    stop: tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracks:
    """All tracks, by the time of their first bar; `length` is the time that the whole width stands for."""

    tracks: tuple[Track, ...]
    arrows: tuple[Arrow, ...]
    instants: int
    length: str


def tracks_of(anomaly: Anomaly) -> Tracks:
    """The timeline of an anomaly of mechanisms."""
    instants = client_times_of(anomaly)
    shown = [_shown(participant) for participant in anomaly.participants]
    times = sorted(
        {time for bars in shown for one in bars for time in one.interval or () if time is not None}
    )
    share = dict(zip(times, _shares(times), strict=True))
    marks = _Marks(anomaly)
    tracks = []
    for participant, operations in zip(anomaly.participants, shown, strict=True):
        bars = tuple(
            _bar(one, participant, marks, share, instants.between(one.interval)) for one in operations
        )
        left_out = participant.left_out + len(participant.operations) - len(bars)
        tracks.append(Track(participant=participant, bars=bars, left_out=left_out))
    tracks.sort(key=lambda track: (min(bar.start for bar in track.bars), track.participant.lane))
    drawn = {(track.participant.transaction, bar.index) for track in tracks for bar in track.bars}
    return Tracks(
        tracks=tuple(tracks),
        arrows=tuple(one for one in _arrows(anomaly) if {one.start, one.stop} <= drawn),
        instants=len(times),
        length=instants.said(instants.last),
    )


def _arrows(anomaly: Anomaly) -> Iterator[Arrow]:
    """The dependencies between the operations that show the anomaly, by what each read or wrote."""
    for one, other in pairwise(anomaly.witnesses):
        if one.transaction == other.transaction or one.key != other.key:
            continue
        if one.kind in _READS and other.kind in _READS:
            continue
        if one.kind in _READS and _shows(one, other):
            yield Arrow(relation="wr", start=_place(other), stop=_place(one))
        elif other.kind in _READS:
            relation, start, stop = ("wr", one, other) if _shows(other, one) else ("rw", other, one)
            yield Arrow(relation=relation, start=_place(start), stop=_place(stop))
        else:
            relation = "rw" if one.kind in _READS else "ww"
            yield Arrow(relation=relation, start=_place(one), stop=_place(other))


def _shows(read: Witness, write: Witness) -> bool:
    return read.value == write.value or (isinstance(read.value, tuple) and write.value in read.value)


def _place(one: Witness) -> tuple[str, int]:
    return one.transaction, one.index


class _Marks:
    """The operations that ended a transaction or took a snapshot for another one, and lock clauses."""

    def __init__(self, anomaly: Anomaly) -> None:
        facts = anomaly.facts_as(MechanismFacts)
        self.ends = {*map(_place, facts.ends)}
        used = zip(anomaly.witnesses, facts.snapshots, strict=False)
        self.snapshots = {_place(taken) for one, taken in used if _place(one) != _place(taken)}
        self.clauses = {(transaction, index): clause for transaction, index, clause in facts.clauses}


def _shown(participant: Participant) -> list[Witness]:
    """Its operations; a begin only if it takes the snapshot."""
    return [one for one in participant.operations if one.kind != "begin" or one.index in participant.matters]


def _shares(times: Sequence[int]) -> list[float]:
    """The position of each instant from 0 to 1: half by its time, half by its rank."""
    if len(times) < 2:
        return [0.0] * len(times)
    span = times[-1] - times[0]
    return [
        _EVEN * place / (len(times) - 1) + (1 - _EVEN) * (time - times[0]) / span
        for place, time in enumerate(times)
    ]


def _kind(one: Witness, participant: Participant, marks: _Marks) -> str:
    if one.kind in ("commit", "abort") and _place(one) in marks.ends:
        return "end"
    if _place(one) in marks.snapshots:
        return "snapshot"
    return "matters" if one.index in participant.matters else "other"


def _bar(one: Witness, participant: Participant, marks: _Marks, share: dict[int, float], when: str) -> Bar:
    invoke, complete = one.interval or (None, None)
    return Bar(
        label=" ".join([operation(one), *filter(None, [marks.clauses.get(_place(one))])]),
        kind=_kind(one, participant, marks),
        index=one.index,
        place=one.place,
        start=0.0 if invoke is None else share[invoke],
        stop=1.0 if complete is None else share[complete],
        when=when,
    )
