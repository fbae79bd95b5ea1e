"""The place of an operation in its input: `path:3` for a line, `path: byte 17` for an offset."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Place"]

_PLACE = re.compile(r"(?P<path>.*?):(?P<byte> byte )?(?P<number>\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    """A line or byte of a file; `unit` says which."""

    path: str
    unit: str
    number: str

    @classmethod
    def parse(cls, text: str) -> Place | None:
        """None if the text does not end in a number."""
        found = _PLACE.fullmatch(text)
        if found is None:
            return None
        return cls(found["path"], "byte" if found["byte"] else "line", found["number"])
