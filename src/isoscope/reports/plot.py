"""The activity of a history as one page of small charts, in SVG.

A chart for which the history has no data says why.
"""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from isoscope.activity import Clock
from isoscope.explain import shown
from isoscope.explain.value_text import duration
from isoscope.reports import activity as words
from isoscope.reports.charts import STYLE, Frame, Scale, bar, line, round_up, short, text, written
from isoscope.reports.plain_text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from isoscope.activity import Activity, Bucket

__all__ = ["render_plot"]

WIDTH, HEIGHT, HEAD = 470, 250, 64
_FRAME = Frame(left=62, right=WIDTH - 82, top=58, bottom=HEIGHT - 46)
_STYLES = ("", "second", "third", "fourth")
#: The least distance between labels at the ends of lines.
_GAP = 12
_AXES = {
    Clock.CLIENT: "since the first invocation, by the client's clock",
    Clock.DATABASE: "ticks since the first one, by the database's clock",
    Clock.EVENTS: "events, in the order of invocations and completions",
    Clock.APPEARANCE: "transactions, in order of appearance: the history has no times",
}


class _Panel(NamedTuple):
    title: str
    says: str
    marks: list[str]
    is_empty: bool = False


def render_plot(activity: Activity, *, title: str) -> str:
    """The page; the same activity and title give the same bytes."""
    panels = [
        _throughput(activity),
        _latency(activity),
        _under_way(activity),
        _shares(activity),
        _busiest(activity),
        _distribution(activity),
    ]
    width, height = 2 * WIDTH, 3 * HEIGHT + HEAD
    said = words.extent(activity)
    about = " ".join(f"{panel.title}: {panel.says}." for panel in panels)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'aria-labelledby="title about">',
        f'<title id="title">{written(title)}: what went on</title>',
        f'<desc id="about">{written(f"{said}. {about}")}</desc>',
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{width}" height="{height}"/>',
        text(24, 32, _cut(title, 90), style="head"),
        text(24, 51, said),
    ]
    for number, panel in enumerate(panels):
        x, y = number % 2 * WIDTH, number // 2 * HEIGHT + HEAD
        parts += [
            f'<g transform="translate({x} {y})">',
            text(24, 20, panel.title, style="title"),
            text(24, 36, "not in this history" if panel.is_empty else _cut(panel.says, 78)),
            *panel.marks,
            "</g>",
        ]
    return "\n".join([*parts, "</svg>", ""])


def _throughput(activity: Activity) -> _Panel:
    title = "Throughput"
    if lacking := words.missing(activity).get("throughput"):
        return _empty(title, lacking)
    if activity.throughput is None:
        instants = activity.buckets[0].length
        says, unit = f"committed transactions in {instants:,} ticks", instants
    else:
        says, unit = f"committed transactions a second; {short(activity.throughput)} over all", 10**9
    values = {"committed": [bucket.committed * unit / bucket.length for bucket in activity.buckets]}
    return _Panel(title, says, list(_over_time(activity, values, short)))


def _latency(activity: Activity) -> _Panel:
    title = "Latency of committed transactions"
    found = activity.latency
    if found is None:
        return _empty(title, words.missing(activity)["latency"])
    by_name: dict[str, list[float | None]] = {
        name: [getattr(bucket.latency, name, None) for bucket in activity.buckets]
        for name in ("p50", "p95", "p99", "max")
    }
    known = [value for values in by_name.values() for value in values if value is not None]
    scale = Scale.logarithmic(min(known), max(known))
    says = f"{words.latency(found)} over all; log scale"
    return _Panel(title, says, list(_over_time(activity, by_name, _duration, scale)))


def _under_way(activity: Activity) -> _Panel:
    title = "Transactions under way"
    if lacking := words.missing(activity).get("under_way"):
        return _empty(title, lacking)
    values = {name: [getattr(b.under_way, name) for b in activity.buckets] for name in ("mean", "peak")}
    says = f"{words.under_way(activity.under_way)} over all"
    return _Panel(title, says, list(_over_time(activity, values, short)))


def _shares(activity: Activity) -> _Panel:
    title = "Transactions that did not commit"
    if not activity.buckets:
        return _empty(title, "no transaction was recorded")
    rates = {status: words.percent(activity.share(status)) for status in ("aborted", "indeterminate")}
    says = ", ".join(f"{status} {rate}" for status, rate in rates.items())
    seen = [status for status in rates if status == "aborted" or activity.total(status)]
    values = {status: [_share(bucket, status) for bucket in activity.buckets] for status in seen}
    return _Panel(title, says, list(_over_time(activity, values, words.percent)))


def _share(bucket: Bucket, status: str) -> float | None:
    count: int = getattr(bucket, status)
    return count / bucket.transactions if bucket.transactions else None


def _busiest(activity: Activity) -> _Panel:
    title = "Busiest keys"
    if not activity.keys:
        return _empty(title, "no transaction reads or writes a key")
    frame = Frame(left=122, right=WIDTH - 126, top=60, bottom=HEIGHT - 12)
    most = max(max(used.readers, used.writers) for used in activity.keys)
    marks = [
        bar(frame.right + 12, 43, (10, 7)),
        text(frame.right + 26, 50, "writers", style="small"),
        bar(frame.right + 66, 43, (10, 7), "hollow"),
        text(frame.right + 80, 50, "readers", style="small"),
    ]
    for place, used in enumerate(activity.keys):
        y = frame.top + 18 * place
        marks += [
            text(frame.left - 6, y + 10, _cut(shown(used.key), 16), anchor="end"),
            bar(frame.left, y + 1, (frame.x(used.writers / most) - frame.left, 6)),
            bar(frame.left, y + 8, (frame.x(used.readers / most) - frame.left, 5), "hollow"),
            text(frame.right + 62, y + 10, f"{used.writers:,}", style="small", anchor="end"),
            text(WIDTH - 8, y + 10, f"{used.readers:,}", style="small", anchor="end"),
        ]
    return _Panel(title, "how many transactions write and read each", marks)


def _distribution(activity: Activity) -> _Panel:
    title = "Use of keys"
    if not activity.keys_by_use:
        return _empty(title, "no transaction reads or writes a key")
    frame = Frame(left=62, right=WIDTH - 20, top=_FRAME.top, bottom=_FRAME.bottom)
    high = Scale.logarithmic(1, max(activity.keys_by_use)).high
    # A column of one key must be visible.
    scale = Scale(low=0.5, high=high, is_log=True)
    marks = list(_rows(frame, scale, short, [10.0**power for power in range(12) if 10**power <= scale.high]))
    column = (frame.right - frame.left) / len(activity.keys_by_use)
    for place, keys in enumerate(activity.keys_by_use):
        x = frame.left + place * column
        if place % (1 + len(activity.keys_by_use) // 14) == 0:
            label = f"{2**place:,}"
            marks.append(text(x + column / 2, frame.bottom + 14, label, style="small", anchor="middle"))
        if keys:
            top = frame.y(scale.share(keys))
            width = min(column - 4, 40)
            marks.append(bar(x + (column - width) / 2, top, (width, frame.bottom - top)))
            marks.append(text(x + column / 2, top - 3, short(keys), style="small", anchor="middle"))
    across = "transactions that use a key: this many or more, up to the next"
    marks.append(text((frame.left + frame.right) / 2, frame.bottom + 32, across, anchor="middle"))
    total = counted(sum(activity.keys_by_use), "key")
    return _Panel(title, f"how many of {total} are used by how many transactions; log scale", marks)


def _empty(title: str, why: str) -> _Panel:
    """A panel that says why it is empty."""
    size = (_FRAME.right - _FRAME.left, _FRAME.bottom - _FRAME.top)
    x, y = (_FRAME.left + _FRAME.right) / 2, (_FRAME.top + _FRAME.bottom) / 2
    lines = [text(x, y - 4 + 16 * place, said, anchor="middle") for place, said in enumerate(wrap(why, 48))]
    return _Panel(
        title,
        f"not in this history: {why}",
        [bar(_FRAME.left, _FRAME.top, size, "empty"), *lines],
        is_empty=True,
    )


def _over_time(
    activity: Activity,
    by_name: Mapping[str, Sequence[float | None]],
    number: Callable[[float], str],
    scale: Scale | None = None,
) -> Iterator[str]:
    """Lines over the buckets, each with its name at its end."""
    most = max(value or 0 for values in by_name.values() for value in values)
    scale = scale or Scale.linear(most)
    yield from _faults(activity)
    yield from _rows(_FRAME, scale, number, scale.ticks())
    yield from _time_axis(activity)
    ends: list[tuple[float, str]] = []
    for (name, values), style in zip(by_name.items(), _STYLES, strict=False):
        points = [
            None if value is None else (_FRAME.x(_middle(activity, bucket)), _FRAME.y(scale.share(value)))
            for bucket, value in zip(activity.buckets, values, strict=True)
        ]
        yield from line(points, style)
        ends += [(point[1], name) for point in reversed(points) if point is not None][:1]
    for y, name in _apart(ends):
        yield text(_FRAME.right + 5, y + 4, name, style="small")


def _faults(activity: Activity) -> Iterator[str]:
    """A band for each fault, from its start to its end, with its name for those who point at it."""
    for fault in activity.faults:
        start, stop = (
            min(1.0, max(0.0, ((instant or 0) - activity.first) / activity.length))
            for instant in (fault.start, fault.stop or activity.first + activity.length)
        )
        x, width = _FRAME.x(start), max(1.5, _FRAME.x(stop) - _FRAME.x(start))
        said = written(f"{fault.kind} of {fault.node}")
        yield (
            f'<rect fill="#c34a00" fill-opacity="0.13" x="{x:.1f}" y="{_FRAME.top}" width="{width:.1f}" '
            f'height="{_FRAME.bottom - _FRAME.top}"><title>{said}</title></rect>'
        )


def _middle(activity: Activity, bucket: Bucket) -> float:
    return (bucket.start + bucket.length / 2) / activity.length


def _rows(
    frame: Frame, scale: Scale, number: Callable[[float], str], ticks: Sequence[float]
) -> Iterator[str]:
    for tick in ticks:
        y = frame.y(scale.share(tick))
        yield f'<line x1="{frame.left:.1f}" x2="{frame.right:.1f}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>'
        yield text(frame.left - 6, y + 4, number(tick), style="small", anchor="end")


def _time_axis(activity: Activity) -> Iterator[str]:
    step = max(1, round(round_up(activity.length / 5)))
    for tick in range(0, activity.length + 1, step):
        x = _FRAME.x(tick / activity.length)
        label = _duration(tick) if activity.clock is Clock.CLIENT else f"{tick:,}"
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_FRAME.bottom}" y2="{_FRAME.bottom + 4}" class="grid"/>'
        yield text(x, _FRAME.bottom + 16, label, style="small", anchor="middle")
    middle = (_FRAME.left + _FRAME.right) / 2
    yield text(middle, _FRAME.bottom + 33, _AXES[activity.clock], anchor="middle")


def _apart(ends: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """Labels in the order of their heights, moved down where they would touch, and up from the bottom.

    Of equal heights, the last is the highest: the lines come from the lowest up, p50 first and max last.
    """
    placed: list[tuple[float, str]] = []
    for y, name in sorted(ends, key=lambda end: (end[0], -ends.index(end))):
        placed.append((max(y, placed[-1][0] + _GAP) if placed else y, name))
    limit = _FRAME.bottom + 4
    for place in range(len(placed) - 1, -1, -1):
        y, name = placed[place]
        placed[place] = (min(y, limit), name)
        limit = placed[place][0] - _GAP
    return placed


def _duration(nanoseconds: float) -> str:
    return duration(round(nanoseconds)) if nanoseconds else "0"


def _cut(said: str, longest: int) -> str:
    return said if len(said) <= longest else f"{said[: longest - 3]}..."
