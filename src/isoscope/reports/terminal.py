"""Lines for a terminal: their width in columns, line breaks, and a few colours."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

__all__ = ["GLUE", "Paint", "columns", "padded", "paragraph", "table"]

#: Stands for a space where a line should not end. Texts do not hold it: it is not printable, so escaped.
GLUE = "\N{NO-BREAK SPACE}"
#: Tells a terminal to change its colour; takes no column.
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
#: Red and cyan also differ in brightness, and the words say the same.
_COLOURS = {"violated": "red", "found": "red", "holds": "cyan", "absent": "cyan"}
_OPEN = "yellow"


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours, or none."""

    colour: bool = False

    def name(self, text: str) -> str:
        """The name of an anomaly or a transaction."""
        return click.style(text, bold=True) if self.colour else text

    def answer(self, text: str) -> str:
        """The answer, which begins with `Yes`, `No` or other words."""
        word = text.partition(" ")[0]
        shade = {"Yes.": "cyan", "No.": "red"}.get(word, _OPEN)
        return click.style(text, fg=shade, bold=True) if self.colour else text

    def faint(self, text: str) -> str:
        """A text that does not matter."""
        return click.style(text, dim=True) if self.colour else text

    def outcome(self, text: str) -> str:
        """An outcome or presence."""
        word = text.strip()
        return click.style(text, fg=_COLOURS.get(word, _OPEN), bold=word in _COLOURS) if self.colour else text


def columns(text: str) -> int:
    """The columns that a text takes: two for a wide character, none for a combining mark."""
    plain = _STYLE.sub("", text)
    return len(plain) if plain.isascii() else sum(map(_columns, plain))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def padded(text: str, width: int) -> str:
    """`text`, and spaces up to `width` columns, if it takes fewer."""
    return text + " " * (width - columns(text))


def paragraph(text: str, *, width: int = 100, head: str = "", margin: int = 0) -> str:
    """`text` in lines of `width` columns, indented by `margin`, with `head` before the first one.

    Words are never broken; words joined by `GLUE` only if they are too long for a line.
    """
    start = padded(head, margin)
    first, *others = _lines(text, width - margin, width - columns(start))
    lines = [start + first, *(" " * margin + line for line in others)]
    return "\n".join(line.rstrip() for line in lines).replace(GLUE, " ")


def _lines(text: str, width: int, room: int) -> list[str]:
    """The lines of a text; the first has `room` columns."""
    lines: list[str] = []
    line: list[str] = []
    for word in _words(text, width):
        needed = columns(word) + bool(line)
        if line and needed > room:
            lines.append(" ".join(line))
            line, room, needed = [], width, columns(word)
        line.append(word)
        room -= needed
    return [*lines, " ".join(line)]


def _words(text: str, width: int) -> Iterator[str]:
    for word in filter(None, text.split(" ")):
        yield from word.split(GLUE) if GLUE in word and columns(word) > width else [word]


def table(lines: Sequence[Sequence[str]], *, numbers: Container[int] = ()) -> str:
    """Columns as wide as their widest cells; those in `numbers` are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    aligned = (
        [
            cell.rjust(width) if place in numbers else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        for line in lines
    )
    return "\n".join("  ".join(line).rstrip() for line in aligned)
