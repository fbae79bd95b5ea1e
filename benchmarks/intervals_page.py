"""One part of the page on the method of intervals: what was done, a table of what came out, pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchmarks.loading import Row

__all__ = ["Part", "Told", "share", "table"]

Point = TypeVar("Point")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A part as it was measured: its text, and its pictures by file name."""

    text: str
    pictures: dict[str, str]


def _none(_: Sequence[object]) -> dict[str, str]:
    return {}


def _nothing(_: Sequence[object]) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(Generic[Point]):
    """What is measured, point by point, and how it is told; `also` is what the page has below the table."""

    title: str
    how: str
    measure: Callable[[], Iterable[Point]]
    row: Callable[[Point], Row]
    pictures: Callable[[list[Point]], dict[str, str]] = _none
    also: Callable[[list[Point]], str] = _nothing

    def told(self, said: Callable[[Row], None]) -> Told:
        """Measures everything; each row is `said` when it is there."""
        points: list[Point] = []
        rows: list[Row] = []
        for point in self.measure():
            points.append(point)
            rows.append(self.row(point))
            said(rows[-1])
        pictures = self.pictures(points) if points else {}
        shown = "".join(f"![{file}]({file})\n\n" for file in pictures)
        text = f"## {self.title}\n\n{self.how}\n\n{shown}{table(rows)}{self.also(points)}"
        return Told(text=text, pictures=pictures)


def table(rows: Sequence[Row]) -> str:
    """A column for each figure; rows may lack some."""
    titles = [*dict.fromkeys(title for row in rows for title in row.figures)]
    lines = [f"| {' | '.join(['', *titles])} |", f"|{'---|' * (len(titles) + 1)}"]
    lines += [
        f"| {' | '.join([row.name, *(row.figures.get(title, '') for title in titles)])} |" for row in rows
    ]
    return "\n".join([*lines, ""])


def share(part: float, whole: float) -> str:
    """A percentage; nothing of nothing is none."""
    return f"{100 * part / whole:.2f} %" if whole else "-"
