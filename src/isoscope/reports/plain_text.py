"""Texts of a history made safe to show, and numbers with their nouns."""

from __future__ import annotations

__all__ = ["counted", "printable", "shortened"]


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


def counted(number: int, one: str, several: str = "") -> str:
    """`1 key`, `2,000 keys`; `several` is the plural if it is not `one` with an s."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"
