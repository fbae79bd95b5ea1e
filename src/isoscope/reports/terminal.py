"""Lines for a terminal: as wide as it is, whatever the characters, and in few colours."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["GLUE", "Paint", "columns", "padded", "paragraph"]

#: Stands for a space where a line should not end. It is in no text: what is not printable is escaped.
GLUE = "\N{NO-BREAK SPACE}"
#: How a terminal is told to change its colour; it takes no room.
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
#: Blue and red, or their brightness, are told apart by everybody; the words say the same.
_COLOURS = {"violated": "red", "found": "red", "holds": "cyan", "absent": "cyan"}
_OPEN = "yellow"


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours, or none."""

    colour: bool = False

    def name(self, text: str) -> str:
        """What a reader looks for: an anomaly, a transaction."""
        return click.style(text, bold=True) if self.colour else text

    def faint(self, text: str) -> str:
        """What is there and does not matter."""
        return click.style(text, dim=True) if self.colour else text

    def outcome(self, text: str) -> str:
        """The answer; its word says it as well."""
        word = text.strip()
        return click.style(text, fg=_COLOURS.get(word, _OPEN), bold=word in _COLOURS) if self.colour else text


def columns(text: str) -> int:
    """How many columns of a terminal a text takes: two for a wide character, none for a mark on another."""
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

    Names and places are never broken, and what is glued only if it is too long for a line.
    """
    start = padded(head, margin)
    first, *others = _lines(text, width - margin, width - columns(start))
    lines = [start + first, *(" " * margin + line for line in others)]
    return "\n".join(line.rstrip() for line in lines).replace(GLUE, " ")


def _lines(text: str, width: int, room: int) -> list[str]:
    """The lines of a text; there is `room` in the first."""
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
