"""A picture as data: its parts and their places, in pixels from the top left. `svg` turns it into text."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Area", "Arrow", "Box", "Lane", "Panel", "Picture", "Row", "Text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """A rectangle."""

    x: int
    y: int
    width: int
    height: int

    @property
    def right(self) -> int:
        """Its right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> int:
        """Its lower edge."""
        return self.y + self.height

    def meets(self, other: Area) -> bool:
        """Whether the two have a point in common that is not on an edge."""
        is_beside = self.right <= other.x or other.right <= self.x
        return not is_beside and self.y < other.bottom and other.y < self.bottom


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A line of text, `y` being its middle."""

    text: str
    area: Area


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An operation of a transaction; `index` is None for the row that counts the operations left out."""

    text: str
    index: int | None
    matters: bool
    area: Area


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A transaction; `note` is a word about it, and a side whose time is unknown is open."""

    transaction: str
    title: str
    status: str
    note: str
    area: Area
    heading: Area
    rows: tuple[Row, ...] = ()
    open_left: bool = False
    open_right: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A session from left to right."""

    label: Text
    area: Area


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """A step; `points` are its corners from the first transaction to the second, the rest is as in `Link`."""

    step: str
    before: str
    after: str
    relation: str
    inferred: bool
    operations: tuple[tuple[str, int], ...]
    points: tuple[tuple[int, int], ...]
    label: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Transactions and the arrows between them; `caption` says what the proof supposes, if it does."""

    area: Area
    axis: Text
    lanes: tuple[Lane, ...] = ()
    boxes: tuple[Box, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    caption: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A whole counterexample; `legend` has a line for every kind of arrow, `remarks` replace a drawing."""

    area: Area
    title: Text
    panels: tuple[Panel, ...]
    legend: tuple[tuple[str, Text], ...] = ()
    remarks: tuple[Text, ...] = ()
