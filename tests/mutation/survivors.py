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


_MISSED = (
    "shown is not None and write.place is not None and write.is_certain and (write.transaction != "
    "reading.observation.place.transaction) and _is_before(shown, write.transaction, order)"
)
EQUIVALENT = {
    Survivor(
        "reference/left_out.py", "hides", "asked(read) or ''", "asked(read)"
    ): "only reads with a predicate come here; the empty text is for the type checker",
    Survivor(
        "reference/snapshot.py", "demands", "2", "3"
    ): "the name of a relation becomes one more transaction, which begins before it commits and has no edge",
    Survivor(
        "reference/instants/traces.py",
        "_before",
        "related(other, step, changed)",
        "related(step, other, changed)",
    ): "two steps are related whichever of them is named first",
    Survivor(
        "reference/mechanisms/certifier.py",
        "missed",
        _MISSED,
        _MISSED.replace(" and write.place is not None", ""),
    ): "the initial version alone has no place, and no version comes before it; the check is for the types",
    Survivor(
        "reference/mechanisms/lock_order.py", "_since", "1000000", "1000001"
    ): "the place stands for the end of a transaction, and is only compared with those of its operations",
    Survivor(
        "reference/mechanisms/mutual_exclusion.py",
        "_covers",
        "predicate.bounds is None or row.inserted is None",
        "row.inserted is None",
    ): "one of the two locks is of a predicate: if the other one has no bounds, the first inserts nothing",
    Survivor(
        "verdict/presentation.py", "Presentation._subject", "'Report | Search'", "''"
    ): "`cast` is for the type checker",
}
