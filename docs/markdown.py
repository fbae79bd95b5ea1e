"""The Markdown of generated pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from isoscope.levels import Level

__all__ = ["codes", "facts", "links", "page", "table"]

_NOTICE = "<!-- Written by docs/generate.py: edit the code, not this page. -->"


def page(title: str, *parts: str) -> str:
    """A generated page."""
    return "\n\n".join([_NOTICE, f"# {title}", *parts]) + "\n"


def facts(told: dict[str, str]) -> str:
    """A list of facts, without the empty ones."""
    return "\n".join(f"- {head}: {text}" for head, text in told.items() if text)


def codes(names: Iterable[str]) -> str:
    """Names as code."""
    return ", ".join(f"`{name}`" for name in names)


def links(chosen: Iterable[Level]) -> str:
    """Levels as links into their page."""
    return ", ".join(f"[{level}](levels.md#{level})" for level in chosen)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the first row is its head."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
