"""Placeholders of the drivers, as names that a SQL parser understands, and back.

`%s`, `%(name)s`, `?`, `$1` and `:name` become `:p_0_`, `:p_1_`, ... in the order of the text. Texts in quotes
and comments are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["Marked", "bound", "mark", "marks", "numbered", "positional", "unmark"]

_SKIPPED = (
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|--[^\n]*|/\*.*?\*/"
    r"|\$(?P<tag>[A-Za-z_]*)\$.*?\$(?P=tag)\$|::"
)
#: The placeholders of each parameter style of the DB-API.
_STYLES = {
    "pyformat": re.compile(rf"{_SKIPPED}|%%|(?P<mark>%(?:\((?P<name>[^)]*)\))?[sbt])", re.DOTALL),
    "qmark": re.compile(
        rf"{_SKIPPED}|(?P<mark>\?(?P<number>\d*)|\$(?P<place>\d+)|[:@$](?P<name>[A-Za-z_]\w*))", re.DOTALL
    ),
}
_NAMED = re.compile(r":p_(\d+)_")


class Marked:
    """A statement whose placeholders have names; `originals` are the placeholders as they were."""

    __slots__ = ("is_in_order", "names", "originals", "places", "text")

    def __init__(self, text: str, originals: list[str], names: list[str | None]) -> None:
        self.text = text
        self.originals = originals
        self.names = names
        #: The place of the parameter of each placeholder, where they are given as a sequence.
        self.places = [_place(original, number) for number, original in enumerate(originals)]
        self.is_in_order = self.places == list(range(len(originals)))


def mark(sql: str, style: str) -> Marked:
    """The statement with placeholders that have names."""
    originals: list[str] = []
    names: list[str | None] = []

    def name(found: re.Match[str]) -> str:
        if found["mark"] is None:
            return found[0]
        originals.append(found["mark"])
        names.append(found["name"])
        return f":p_{len(originals) - 1}_"

    return Marked(_STYLES[style].sub(name, sql), originals, names)


def unmark(text: str, marked: Marked) -> str:
    """The text with the placeholders that it had."""
    return _NAMED.sub(lambda found: marked.originals[int(found[1])], text)


def positional(text: str) -> str:
    """The text with a question mark for each placeholder."""
    return _NAMED.sub("?", text)


def numbered(text: str) -> str:
    """The text with `$1`, `$2`, ... for its placeholders."""
    return _NAMED.sub(lambda found: f"${int(found[1]) + 1}", text)


def marks(text: str) -> tuple[int, ...]:
    """The numbers of the placeholders in a text, in its order."""
    return tuple(int(number) for number in _NAMED.findall(text))


def bound(marked: Marked, parameters: Any) -> list[Any] | None:
    """The value of each placeholder in the order of the text; None if they cannot be told."""
    if not marked.originals:
        return []
    if type(parameters) is list and marked.is_in_order and len(parameters) == len(marked.places):
        return parameters
    if isinstance(parameters, Mapping):
        values = [parameters.get(name) for name in marked.names if name is not None]
        return values if len(values) == len(marked.names) else None
    if not isinstance(parameters, Sequence) or len(parameters) <= max(marked.places):
        return None
    return [parameters[place] for place in marked.places]


def _place(original: str, number: int) -> int:
    """The place of a parameter: `?2` and `$2` name it, others take the next one."""
    named = original.lstrip("?$")
    return int(named) - 1 if named.isdigit() else number
