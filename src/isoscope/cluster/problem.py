"""A fault of the input that a part of it shows, on its way to the driver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope.errors import FormatError, UsageError

if TYPE_CHECKING:
    from isoscope.errors import IsoscopeError
    from isoscope.history import Source

__all__ = ["Problem"]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with the row at a position; without `expected`, `found` is the whole message."""

    position: int
    expected: str
    found: str

    def error(self, source: Source) -> IsoscopeError:
        """The error for the user."""
        if not self.expected:
            return UsageError(f"{source.place(self.position)}: {self.found}")
        path, line = source.locate(self.position)
        return FormatError(path=path, line=line, expected=self.expected, found=self.found)
