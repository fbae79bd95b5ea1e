"""What a suite is: measurements with their figures, plots, and what its section of the page says."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from benchmarks.plot import Panel, figure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

__all__ = ["DATA", "Measured", "Measurement", "Plot", "Suite", "combined", "summarised"]

#: Where suites write their histories; not in version control.
DATA = Path(__file__).parent / "data"
Point = TypeVar("Point")


@dataclass(frozen=True, slots=True)
class Measurement:
    """Figures by name, each with its unit as it is shown; `group` is the table in which it stands."""

    name: str
    figures: Mapping[str, str]
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """The points of one picture; it stands above the table of its group."""

    name: str
    title: str
    panels: Sequence[Panel]
    group: str = ""

    def svg(self) -> str:
        """The picture."""
        return figure(self.panels, title=self.title)


Measured: TypeAlias = Measurement | Plot


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """What is measured at full size and, where that takes long, `quick` at a small one; None: not at all.

    `groups` says of each table how its figures were measured, if that is not true of all of them.
    """

    title: str
    how: str
    full: Callable[[], Iterable[Measured]]
    quick: Callable[[], Iterable[Measured]] | None = None
    groups: Mapping[str, str] = field(default_factory=dict)


def summarised(
    points: Iterable[Point],
    measurement: Callable[[Point], Measurement],
    plots: Callable[[list[Point]], Iterable[Plot]],
) -> Iterator[Measured]:
    """A measurement of each point as it comes, and the plots of all of them."""
    kept: list[Point] = []
    for point in points:
        kept.append(point)
        yield measurement(point)
    if kept:
        yield from plots(kept)


def combined(title: str, how: str, parts: Sequence[Suite]) -> Suite:
    """One suite of several, each with a table of its own."""

    def measured(part: Suite, chosen: Callable[[], Iterable[Measured]] | None) -> Iterator[Measured]:
        for one in chosen() if chosen else ():
            yield replace(one, group=one.group or part.title)

    return Suite(
        title=title,
        how=how,
        full=lambda: chain.from_iterable(measured(part, part.full) for part in parts),
        quick=lambda: chain.from_iterable(measured(part, part.quick) for part in parts),
        groups={name: how for part in parts for name, how in {part.title: part.how, **part.groups}.items()},
    )
