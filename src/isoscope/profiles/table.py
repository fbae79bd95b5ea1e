"""A table of a TOML document, read with care: what is missing is None, what is wrong says where it stands."""

from __future__ import annotations

import difflib
import json
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from isoscope.errors import FormatError
from isoscope.profiles import places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["Table", "excerpt"]

_Choice = TypeVar("_Choice", bound=StrEnum)


class Table:
    """One table: its keys, and where it stands in which file."""

    __slots__ = ("_at", "_content", "_document", "_path")

    def __init__(
        self, content: Mapping[str, Any], *, document: str, path: str, at: tuple[str, ...] = ()
    ) -> None:
        self._content = content
        self._document = document
        self._path = path
        self._at = at

    def __contains__(self, key: str) -> bool:
        return key in self._content

    def __iter__(self) -> Iterator[str]:
        return iter(self._content)

    def allow(self, keys: Iterable[str]) -> None:
        """Refuses every key that is none of these."""
        known = list(keys)
        for key in self._content:
            if key not in known:
                close = difflib.get_close_matches(key, known, n=1)
                hint = f"did you mean `{close[0]}`?" if close else ""
                raise self.mistake(
                    key, f"one of {', '.join(known)}", found=_shown(key), hint=hint, of_value=False
                )

    def text(self, key: str) -> str | None:
        """A text that is not empty and can be shown."""
        value = self._content.get(key)
        if value is None or _is_text(value):
            return None if value is None else str(value)
        raise self.mistake(key, "a text")

    def texts(self, key: str) -> tuple[str, ...]:
        """Several texts, or none."""
        value = self._content.get(key, [])
        if isinstance(value, list) and all(map(_is_text, value)):
            return tuple(value)
        raise self.mistake(key, 'a list of texts such as ["..."]')

    def flag(self, key: str) -> bool | None:
        """True or false."""
        value = self._content.get(key)
        if value is None or isinstance(value, bool):
            return value
        raise self.mistake(key, "true or false")

    def choice(self, key: str, choices: type[_Choice]) -> _Choice | None:
        """One of these words."""
        value = self._content.get(key)
        if value is None or value in list(choices):
            return None if value is None else choices(value)
        words = list(map(str, choices))
        close = difflib.get_close_matches(str(value), words, n=1)
        raise self.mistake(
            key, f"one of {', '.join(words)}", hint=f"did you mean `{close[0]}`?" if close else ""
        )

    def table(self, key: str) -> Table | None:
        """A table inside this one."""
        value = self._content.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.mistake(key, "a table")
        return Table(value, document=self._document, path=self._path, at=(*self._at, key))

    def mistake(
        self, key: str, expected: str, *, found: str = "", hint: str = "", of_value: bool = True
    ) -> FormatError:
        """What was expected at `key`, and what stands there."""
        place = places.find(self._document, (*self._at, key), of_value=of_value)
        return FormatError(
            path=self._path,
            expected=expected,
            found=found or _shown(self._content.get(key)),
            line=place.line,
            column=place.column,
            hint=hint,
            excerpt=excerpt(place.text),
            caret=place.column,
        )


def excerpt(line: str) -> str:
    """A line that can be shown: nothing in it drives a terminal."""
    return "".join(one if one.isprintable() else " " for one in line)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.isprintable() and value.strip() != ""


def _shown(value: object) -> str:
    """A value as TOML would write it, near enough."""
    return "nothing" if value is None else json.dumps(value, default=str)
