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


EQUIVALENT = {
    Survivor(
        "reference/left_out.py", "hides", "asked(read) or ''", "asked(read)"
    ): "only reads with a predicate come here; the empty text is for the type checker",
    Survivor(
        "reference/snapshot.py", "demands", "2", "3"
    ): "the name of a relation becomes one more transaction, which begins before it commits and has no edge",
    Survivor(
        "verdict/presentation.py", "Presentation._subject", "'Report | Search'", "''"
    ): "`cast` is for the type checker",
}
