"""The terminal: its width and its colours."""

from __future__ import annotations

import os
import shutil
import sys

import click

__all__ = ["echo", "has_colour", "width"]

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
