"""Marks of a chart as SVG: scales, text, lines and bars. The same numbers give the same bytes."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import floor, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["STYLE", "Frame", "Scale", "bar", "line", "round_up", "short", "text", "written"]

#: Series differ by dash as well as by colour; the colours also differ in grey and for colour-blind readers.
STYLE = """
.page{fill:#fff}
text{font:11px system-ui,sans-serif;fill:#333}
.head{font-size:17px;font-weight:600;fill:#111}
.title{font-size:13px;font-weight:600;fill:#111}
.small{font-size:10px}
.grid{stroke:#ddd;stroke-width:1}
.line{fill:none;stroke:#0072b2;stroke-width:2;stroke-linejoin:round}
.second{stroke:#c34a00;stroke-dasharray:7 3}
.third{stroke:#7a3b8f;stroke-dasharray:2 2.5}
.fourth{stroke:#555;stroke-width:1}
.dot{fill:#0072b2}.dot.second{fill:#c34a00;stroke:none}
.dot.third{fill:#7a3b8f;stroke:none}.dot.fourth{fill:#555;stroke:none}
.bar{fill:#0072b2}
.hollow{fill:none;stroke:#c34a00;stroke-width:1.2}
.empty{fill:none;stroke:#bbb;stroke-dasharray:4 4}
@media (prefers-color-scheme:dark){
.page{fill:#16181c}text{fill:#ccc}.head,.title{fill:#f2f2f2}.grid{stroke:#3a3d44}
.line{stroke:#56b4e9}.second{stroke:#f0a35e}.third{stroke:#d39be6}.fourth{stroke:#aaa}
.dot,.bar{fill:#56b4e9}.dot.second{fill:#f0a35e}.dot.third{fill:#d39be6}.dot.fourth{fill:#aaa}
.hollow{stroke:#f0a35e}.empty{stroke:#555}
}
""".strip()

_SIZES = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Numbers from `low` to `high` along an axis, by their logarithm if asked for."""

    low: float
    high: float
    is_log: bool = False

    @classmethod
    def linear(cls, most: float) -> Scale:
        """From zero to a round number that is not below `most`."""
        return cls(low=0.0, high=round_up(most, (1, 1.5, 2, 3, 4, 5, 6, 8, 10)))

    @classmethod
    def logarithmic(cls, least: float, most: float) -> Scale:
        """From a power of ten to a power of ten."""
        low = floor(log10(max(least, 1)))
        high = max(low + 1, -floor(-log10(max(most, 1))))
        return cls(low=10.0**low, high=10.0**high, is_log=True)

    def share(self, number: float) -> float:
        """How far along the axis a number is, from 0 to 1."""
        if self.is_log:
            found = log10(max(number, self.low) / self.low) / log10(self.high / self.low)
        else:
            found = (number - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, found))

    def ticks(self) -> list[float]:
        """The numbers beside the axis."""
        if not self.is_log:
            return [self.high * share for share in (0.0, 0.5, 1.0)]
        powers = round(log10(self.high / self.low))
        step = -(-powers // 4)
        return [self.low * 10.0**power for power in range(0, powers + 1, step)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The part of a panel in which marks are drawn."""

    left: float
    right: float
    top: float
    bottom: float

    def x(self, share: float) -> float:
        """Across, from the left."""
        return self.left + share * (self.right - self.left)

    def y(self, share: float) -> float:
        """Up, from the bottom."""
        return self.bottom - share * (self.bottom - self.top)


def text(x: float, y: float, said: str, *, style: str = "", anchor: str = "") -> str:
    """One line of text, escaped."""
    attributes = f' class="{style}"' if style else ""
    attributes += f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{attributes}>{written(said)}</text>'


def written(said: str) -> str:
    """The text as XML: markup is escaped, and so are characters that are not printable."""
    return escape(said if said.isprintable() else ascii(said)[1:-1])


def line(points: Sequence[tuple[float, float] | None], style: str) -> Iterator[str]:
    """A line through the points, broken where one is missing; a point without neighbours is a dot."""
    for run in _runs(points):
        if len(run) == 1:
            (x, y) = run[0]
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" class="dot {style}"/>'
        else:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in run)
            yield f'<polyline points="{path}" class="line {style}"/>'


def _runs(points: Sequence[tuple[float, float] | None]) -> Iterator[list[tuple[float, float]]]:
    run: list[tuple[float, float]] = []
    for point in [*points, None]:
        if point is not None:
            run.append(point)
        elif run:
            yield run
            run = []


def bar(x: float, y: float, size: tuple[float, float], style: str = "bar") -> str:
    """A rectangle from its upper left corner."""
    width, height = size
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" class="{style}"/>'
    )


def round_up(value: float, leading: Sequence[float] = (1, 2, 5, 10)) -> float:
    """The next number that is one of `leading` followed by zeros."""
    if value <= 0:
        return 1.0
    step: float = 10.0 ** floor(log10(value))
    return next((step * start for start in leading if step * start >= value), step * 10)


def short(number: float) -> str:
    """A number in few characters: `12`, `1.2k`, `35k`, `4M`."""
    for size, unit in _SIZES:
        if number >= size:
            scaled = number / size
            return f"{scaled:.0f}{unit}" if scaled >= 10 else f"{scaled:.1f}{unit}".replace(".0", "")
    return f"{number:.3g}"
