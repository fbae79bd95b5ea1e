"""An order of versions that is recorded beside values and lists, and the levels that must fit it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.history import EvidenceKind
from isoscope.levels import Level

if TYPE_CHECKING:
    from isoscope.history import History

__all__ = ["CONTRADICTORY", "WEAK", "has_several_sources", "is_recorded_beside_lists"]

#: Levels that ask for a commit order, which contains what is recorded.
WEAK = (Level.READ_COMMITTED, Level.READ_ATOMIC, Level.CAUSAL)
#: Why a level is unknown if one source of the order breaks it and another does not.
CONTRADICTORY = (
    "the sources of the version order contradict each other, and so do the verdicts that they lead to"
)


def is_recorded_beside_lists(history: History) -> bool:
    """Whether a log, a declaration or timestamps order versions."""
    return EvidenceKind.TIMESTAMPS in history.evidence.present or bool(history.columns.versions())


def has_several_sources(history: History) -> bool:
    """Whether sources of the order of versions may contradict each other."""
    others = history.columns.versions()
    lists, timestamps = history.counts["append"] > 0, EvidenceKind.TIMESTAMPS in history.evidence.present
    return len(others) + lists + timestamps > 1
