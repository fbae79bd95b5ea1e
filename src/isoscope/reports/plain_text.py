"""Texts of a history made safe to show: printable, and short where there is little room."""

from __future__ import annotations

__all__ = ["printable", "shortened"]


def printable(text: str) -> str:
    """The text, with the number of every character that is not printable in its place."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in text)


def shortened(text: str, longest: int) -> str:
    """The text in printable characters, without its middle if that takes more than `longest` of them."""
    half = longest // 2
    if len(text) > 8 * longest:
        text = f"{text[: 4 * longest]}{text[-4 * longest :]}"
    safe = printable(text)
    return safe if len(safe) <= longest else f"{safe[: longest - half].rstrip()}…{safe[-half + 1 :].lstrip()}"
