"""The statements of a recorded program in a counterexample: SQL, parameters, file and line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.explain import abbreviated, harmless, suggestions

if TYPE_CHECKING:
    from isoscope.verdict import Anomaly, Witness

__all__ = ["prevention", "statements"]


def statements(anomaly: Anomaly) -> list[tuple[str, str, str]]:
    """The transaction, place and SQL of each statement that matters, in the order of time."""
    found = [
        one
        for participant in anomaly.participants
        for one in participant.operations
        if one.sql and one.index in participant.matters
    ]
    rows = (
        (abbreviated(one.transaction), harmless(one.place), harmless(one.sql))
        for one in sorted(found, key=_time)
    )
    return list(dict.fromkeys(rows))


def prevention(anomaly: Anomaly) -> str:
    """What would prevent the anomaly; empty if no statement is known."""
    first = next(suggestions(anomaly), None)
    return "" if first is None else str(first)


def _time(witness: Witness) -> int:
    return (witness.interval or (None, None))[0] or 0
