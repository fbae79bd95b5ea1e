"""Labels in pictures: short, printable, and measured without a font.

Widths are those of the widest usual fonts, so that no text leaves its place in any viewer.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING

from isoscope.explain import shown
from isoscope.explain.value_text import key_in_words
from isoscope.reports.plain_text import shortened

if TYPE_CHECKING:
    from isoscope.verdict import Witness

__all__ = ["key", "measure", "operation"]

#: Most letters of a key, and of a value.
_KEY, _VALUE = 16, 22
#: A letter of a monospaced font of 12 pixels, and of a proportional one.
_MONOSPACED, _PROPORTIONAL = 7.3, 6.9
_VERBS = {"read": "read", "write": "wrote", "insert": "inserted"}
_NARROW, _BROAD = frozenset("fijlrt.,:;'|!()[] "), frozenset("mwMW@%")


def operation(witness: Witness) -> str:
    """An operation on a short line: `read x = 1`, `wrote x = 1`, `appended 1 to x`."""
    name, value = key(witness.key), shortened(shown(witness.value), _VALUE)
    if witness.asked is not None and witness.kind == "read":
        return f"read rows without {name}"
    match witness.kind:
        case "read" | "write" | "insert":
            return f"{_VERBS[witness.kind]} {name} = {value}"
        case "range-read":
            return f"read rows {value}"
        case "append":
            return f"appended {value} to {name}"
        case "delete":
            return f"deleted {name}"
        case kind:
            return kind


def key(name: object) -> str:
    """A key: a bare number would read like a value."""
    return shortened(key_in_words(name), _KEY)


@lru_cache(maxsize=4096)
def measure(text: str, *, size: int = 12, monospaced: bool = False) -> int:
    """The most pixels that a text takes; wide characters count double."""
    letters = map(_monospaced if monospaced else _proportional, text)
    return ceil(sum(letters) * size / 12)


@lru_cache(maxsize=1024)
def _monospaced(letter: str) -> float:
    return _MONOSPACED * _columns(letter)


@lru_cache(maxsize=1024)
def _proportional(letter: str) -> float:
    if letter in _NARROW:
        return 4.6
    return 11.5 if letter in _BROAD else _PROPORTIONAL * _columns(letter) * (1.2 if letter.isupper() else 1)


def _columns(letter: str) -> int:
    """One, or two for a character that needs another font."""
    return 1 if letter.isascii() or unicodedata.east_asian_width(letter) in ("Na", "H", "N") else 2
