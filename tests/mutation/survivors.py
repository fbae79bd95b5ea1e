"""Mutants that no test can tell from the right line, each with the reason."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EQUIVALENT", "Survivor"]


@dataclass(frozen=True, slots=True)
class Survivor:
    """In a function of a file, relative to the package, `right` became `wrong`, and all tests passed."""

    file: str
    function: str
    right: str
    wrong: str


EQUIVALENT: dict[Survivor, str] = {}
