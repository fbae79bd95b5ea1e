"""A page of small line plots as SVG, without any library."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from isoscope.reports.charts import round_up

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Panel", "figure"]

WIDTH, HEIGHT, COLUMNS = 300, 210, 3
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 30, 46
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#333333", "#aa4499")
SHAPES = ("circle", "square", "diamond", "cross", "triangle")


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Series over the same places of the horizontal axis; `joined` if these are numbers that grow.

    `at` are those numbers, if the axis is to be true to scale. A logarithmic axis is for series that
    differ by factors; its values are more than 0.
    """

    title: str
    across: str
    labels: Sequence[str]
    series: Mapping[str, Sequence[float]]
    joined: bool = True
    at: Sequence[float] = ()
    is_logarithmic: bool = False

    def place(self, number: int) -> float:
        """Where a value stands, as a share of the axis."""
        if self.at:
            return 0.05 + 0.9 * self.at[number] / max(self.at)
        return (number + 0.5) / len(self.labels)


@dataclass(frozen=True, slots=True)
class _Scale:
    """The vertical axis: the values that have a line, the lowest first."""

    ticks: Sequence[float]
    is_logarithmic: bool

    @classmethod
    def of(cls, panel: Panel) -> _Scale:
        values = [value for series in panel.series.values() for value in series]
        if not panel.is_logarithmic:
            top = round_up(max(values))
            return cls([0.0, 0.5 * top, 1.0 * top], is_logarithmic=False)
        lowest, highest = floor(log10(min(values))), ceil(log10(max(values)))
        return cls(
            [10.0**power for power in range(lowest, max(highest, lowest + 1) + 1)], is_logarithmic=True
        )

    def share(self, value: float) -> float:
        """Where a value stands, from the bottom to the top."""
        if not self.is_logarithmic:
            return value / self.ticks[-1]
        first, last = log10(self.ticks[0]), log10(self.ticks[-1])
        return (log10(value) - first) / (last - first)


def figure(panels: Sequence[Panel], *, title: str) -> str:
    """The panels in rows of three, with one legend."""
    lines = -(-len(panels) // COLUMNS)
    colours = [*dict.fromkeys(name for panel in panels for name in panel.series)]
    width, height = COLUMNS * WIDTH, lines * HEIGHT + 60
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="12" y="22" font-size="15">{escape(title)}</text>',
        *_legend(colours),
    ]
    for number, panel in enumerate(panels):
        x, y = number % COLUMNS * WIDTH, number // COLUMNS * HEIGHT + 56
        parts += [f'<g transform="translate({x} {y})">', *_panel(panel, colours), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def _legend(names: Sequence[str]) -> Iterator[str]:
    x = 18
    for number, name in enumerate(names):
        yield _marker(number, x, 40)
        yield f'<text x="{x + 10}" y="44" font-size="12">{escape(name)}</text>'
        x += max(150, 30 + 7 * len(name))


def _panel(panel: Panel, colours: Sequence[str]) -> Iterator[str]:
    scale = _Scale.of(panel)
    yield f'<text x="{LEFT}" y="16" font-size="12">{escape(panel.title)}</text>'
    for value in scale.ticks:
        y = _down(scale.share(value))
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="#dddddd"/>'
        yield _text(LEFT - 5, y + 4, f"{value:g}", "end")
    for place, label in enumerate(panel.labels):
        # Long labels stand on two lines in turn, so that they do not run into each other.
        lower = 11 if place % 2 and (panel.at or max(map(len, panel.labels)) > 7) else 0
        yield _text(_right(panel.place(place)), HEIGHT - BOTTOM + 14 + lower, label, "middle")
    yield _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, panel.across, "middle")
    for name, values in panel.series.items():
        number = colours.index(name)
        points = [
            (_right(panel.place(place)), _down(scale.share(value))) for place, value in enumerate(values)
        ]
        if panel.joined:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            yield f'<polyline points="{path}" fill="none" stroke="{COLOURS[number]}" stroke-width="1.5"/>'
        yield from (_marker(number, x, y) for x, y in points)


def _right(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _down(share: float) -> float:
    return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="10" text-anchor="{anchor}">{escape(text)}</text>'


def _marker(number: int, x: float, y: float) -> str:
    """A shape of its own for each series, so that colour is not needed."""
    colour, shape = COLOURS[number], SHAPES[number]
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
    paths = {
        "square": "M-2.7-2.7h5.4v5.4h-5.4z",
        "diamond": "M0-4L4 0L0 4L-4 0z",
        "cross": "M-3-3L3 3M-3 3L3-3",
        "triangle": "M0-3.5L3.5 3h-7z",
    }
    style = f'stroke="{colour}" stroke-width="1.5" fill="{colour}"'
    return f'<path d="{paths[shape]}" transform="translate({x:.1f} {y:.1f})" {style}/>'
