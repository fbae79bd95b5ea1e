"""Places of operations in the input as links, from the folder in which the page is."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote

from isoscope.reports.places import Place

if TYPE_CHECKING:
    from collections.abc import Set

__all__ = ["PlaceLink", "PlaceLinks", "Sentence"]

#: A browser shows none of these as text.
_NO_TEXT = (".parquet", ".bincode", ".gz", ".zst")


@dataclass(frozen=True, slots=True)
class PlaceLink:
    """A place as the page shows it; without `href` it is no link, and without a number no position."""

    name: str
    href: str = ""
    has_number: bool = True


#: Texts, and links where the sentence names a place.
Sentence: TypeAlias = list[str | PlaceLink]


class PlaceLinks:
    """Links to the history at `path` from a page in `folder`; None stands for no links."""

    def __init__(self, path: str, folder: str | None) -> None:
        self._path, self._folder = path, folder
        self._in_brackets = re.compile(rf"(\({re.escape(path)}[^()]*:(?: byte )?\d+\))")
        self._links: dict[str, PlaceLink] = {}
        self._files: dict[str, str] = {}

    def link(self, place: str) -> PlaceLink:
        """`line 3`, and before it the name of the file if the history has several."""
        if place not in self._links:
            self._links[place] = self._link(place)
        return self._links[place]

    def sentence(self, text: str, places: Set[str]) -> Sentence:
        """The text, with links where it names one of `places` in brackets."""
        parts: Sentence = []
        for part in self._in_brackets.split(text):
            parts += ["(", self.link(part[1:-1]), ")"] if part[1:-1] in places else [part]
        return parts

    def _link(self, text: str) -> PlaceLink:
        place = Place.parse(text)
        if place is None:
            return PlaceLink(text, has_number=False)
        folder = os.path.join(self._path, "")  # noqa: PTH118 - Path would drop the separator
        inside = "" if place.path == self._path else f"{place.path.removeprefix(folder)}, "
        if place.path not in self._files:
            self._files[place.path] = self._href(place.path)
        href = self._files[place.path]
        is_link = href and place.unit == "line"
        return PlaceLink(f"{inside}{place.unit} {place.number}", f"{href}#L{place.number}" if is_link else "")

    def _href(self, path: str) -> str:
        """From the page to the file; empty if there is no way, or if a browser could not show the file."""
        if self._folder is None or path.endswith(_NO_TEXT):
            return ""
        try:
            way = os.path.relpath(path, self._folder)
        except ValueError:  # on another drive
            return ""
        return quote(way.replace(os.sep, "/").encode("utf-8", "surrogateescape"))
