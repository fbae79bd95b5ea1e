"""Exceptions: each means that a question could not be asked. A violation is a result, not one of these.

IsoscopeError
├── FormatError      the input is not what its format says (path, line, column or byte, expected, found, hint)
├── UnknownFormatError  nothing recognises the input, or no format has that name
├── LossError        a history holds something that the target format cannot
├── DatabaseError    a database cannot be started, reached or used any longer
├── ServiceError     the online service cannot be reached, or refused what it was told
└── UsageError       an option or argument makes no sense
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "DatabaseError",
    "FormatError",
    "IsoscopeError",
    "LossError",
    "ServiceError",
    "UnknownFormatError",
    "UsageError",
]


class IsoscopeError(Exception):
    """Anything that the command line reports as `error: ...` with status 2."""


class UsageError(IsoscopeError):
    """An option or argument makes no sense."""


class DatabaseError(IsoscopeError):
    """A database cannot be started, reached or used any longer."""


class ServiceError(IsoscopeError):
    """The online service cannot be reached, or refused what it was told."""


class UnknownFormatError(IsoscopeError):
    """Nothing recognises the input, or no format has that name."""


@dataclass(eq=False)
class LossError(IsoscopeError):
    """A history holds something that the target format cannot."""

    format: str
    losses: tuple[str, ...]

    def __str__(self) -> str:
        lost = "\n".join(f"  - {loss}" for loss in self.losses)
        return (
            f"{self.format} cannot hold all of this history; it would lose\n{lost}\n\n"
            "hint: --lossy (in Python `lossy=True`) writes the rest; Parquet holds everything"
        )


@dataclass(eq=False, kw_only=True)
class FormatError(IsoscopeError):
    """The input is not what its format says."""

    path: str
    expected: str
    found: str
    line: int = 0
    column: int = 0
    byte: int | None = None
    hint: str = ""
    excerpt: str = ""
    caret: int = 0

    def __str__(self) -> str:
        parts = [f"{self.where}: expected {self.expected}, found {self.found}"]
        if self.excerpt:
            margin = f"{self.line:>5} | "
            parts += [
                margin + self.excerpt,
                " " * (len(margin) - 2) + "| " + " " * (self.caret - 1) + "^",
            ]
        if self.hint:
            parts += ["", f"hint: {self.hint}"]
        return "\n".join(parts)

    @property
    def where(self) -> str:
        """`path:line:column`, as far as it is known; `path: byte N` in a file that is no text."""
        if self.byte is not None:
            return f"{self.path}: byte {self.byte}"
        places = [number for number in (self.line, self.column) if number]
        return ":".join([self.path, *map(str, places)])
