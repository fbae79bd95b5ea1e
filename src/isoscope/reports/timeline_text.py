"""A timeline for a terminal: a line for each operation, with its bar, its interval and its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.explain import abbreviated, shown
from isoscope.reports.terminal import Paint, columns, padded, paragraph
from isoscope.reports.timeline import tracks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isoscope.reports.timeline import Bar, Track
    from isoscope.verdict import Anomaly, Witness

__all__ = ["render_timeline"]

#: Most columns of the bars, and fewest: with less room there are no bars.
_WIDEST, _NARROWEST = 44, 14
_FILL = {"matters": "=", "snapshot": "~", "end": "#", "other": "-"}
_KEY = "time from left to right, not to scale; = what matters, {}# the commit, inside which versions appear"


def render_timeline(
    anomaly: Anomaly, place: Callable[[Witness], str], *, width: int, paint: Paint
) -> Iterator[str]:
    """The lines; `place` gives the place of an operation in the input."""
    tracks = tracks_of(anomaly).tracks
    places = {(t.participant.transaction, one.index): place(one) for t in tracks for one in _operations(t)}
    labels = max(columns(bar.label) for track in tracks for bar in track.bars) + 6
    behind = max(
        columns(bar.when) + columns(places[track.participant.transaction, bar.index]) + 2
        for track in tracks
        for bar in track.bars
    )
    room = min(_WIDEST, width - labels - behind)
    for track in tracks:
        yield "  " + _head(track, paint)
        for bar in track.bars:
            drawn = f"{_drawn(bar, room)}  " if room >= _NARROWEST else ""
            where = places[track.participant.transaction, bar.index]
            line = f"    {padded(bar.label, labels - 4)}{drawn}{bar.when}{where}"
            yield line if bar.kind != "other" else paint.faint(line)
        if track.left_out:
            yield paint.faint(f"    ... {track.left_out:,} more")
    if room >= _NARROWEST:
        has_snapshot = any(bar.kind == "snapshot" for track in tracks for bar in track.bars)
        key = _KEY.format("~ took the snapshot, " if has_snapshot else "")
        yield paragraph(key, width=width, head=paint.faint("  "), margin=2)


def _operations(track: Track) -> Iterator[Witness]:
    drawn = {bar.index for bar in track.bars}
    return (one for one in track.participant.operations if one.index in drawn)


def _head(track: Track, paint: Paint) -> str:
    one = track.participant
    facts = [] if one.session is None else [f"session {shown(one.session)}{one.at}"]
    facts += [] if one.status == "committed" else [one.status]
    return "  ".join([paint.name(abbreviated(one.transaction)), ", ".join(facts)]).rstrip()


def _drawn(bar: Bar, room: int) -> str:
    """`|==|`, of at least two columns, in a line of `room`."""
    start = min(round(bar.start * (room - 2)), room - 2)
    stop = max(start + 1, round(bar.stop * (room - 2)) + 1)
    inner = _FILL[bar.kind] * (stop - start - 1)
    return padded(f"{' ' * start}|{inner}|", room)
