"""Where a key of a TOML document stands: messages need it, and `tomllib` does not keep it."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Place", "find"]

_HEADER = re.compile(r"\s*\[\s*(?P<key>[^\]\[]+?)\s*\]\s*(?:#.*)?$")
_PAIR = re.compile(r"\s*(?P<key>(?:[\w.-]|\"[^\"]*\"|'[^']*')+?)\s*=\s*(?=\S)")
_WORD = re.compile(r"\"([^\"]*)\"|'([^']*)'|([\w-]+)")


class Place(NamedTuple):
    """Line and column from 1, and the line's text; of a key that is not found, the first line."""

    line: int
    column: int
    text: str


def find(document: str, path: tuple[str, ...], *, of_value: bool) -> Place:
    """The key at `path` or its value; if the key is nowhere, the innermost table around it."""
    best, most = Place(1, 1, document.partition("\n")[0]), 0
    table: tuple[str, ...] = ()
    for number, text in enumerate(document.splitlines(), start=1):
        if header := _HEADER.match(text):
            table = _words(header["key"])
            found, column = table, header.start("key")
        elif pair := _PAIR.match(text):
            found = table + _words(pair["key"])
            column = pair.end() if of_value else pair.start("key")
        else:
            continue
        if most < len(found) <= len(path) and path[: len(found)] == found:
            best, most = (
                Place(number, _within(text, column, path[len(found) :], of_value=of_value) + 1, text),
                len(found),
            )
    return best


def _words(key: str) -> tuple[str, ...]:
    """The parts of a dotted key."""
    return tuple("".join(parts) for parts in _WORD.findall(key))


def _within(text: str, column: int, rest: tuple[str, ...], *, of_value: bool) -> int:
    """The column of what is left of the path in an inline table that begins on this line."""
    for word in rest:
        inner = re.compile(rf"[{{,]\s*(?P<key>{re.escape(word)})\s*=\s*").search(text, column)
        if inner is None:
            break
        column = inner.end() if of_value else inner.start("key")
    return column
