"""The terminal: its width and its colours."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["echo", "has_colour", "in_columns", "width"]

NARROWEST, USUAL, WIDEST = 60, 100, 120


def width() -> int:
    """Columns of the terminal, within readable limits; without a terminal, the usual number."""
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((USUAL, 24)).columns))


def has_colour() -> bool:
    """Whether standard output shows colours; NO_COLOR and FORCE_COLOR decide first."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return os.environ.get("TERM") != "dumb" and sys.stdout.isatty()


def echo(text: str) -> None:
    """Prints a text, with its colours if the terminal shows them."""
    click.echo(text, color=has_colour())


def in_columns(rows: Iterable[Sequence[str]]) -> str:
    """A table with columns as wide as their cells."""
    lines = list(rows)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
