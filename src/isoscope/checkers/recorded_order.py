"""An order of versions that is recorded beside values and lists, and the levels that must fit it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.history import EvidenceKind
from isoscope.levels import Level

if TYPE_CHECKING:
    from isoscope.history import History

__all__ = ["CONTRADICTORY", "WEAK", "is_recorded_beside_lists"]

#: Levels that ask for a commit order, which contains what is recorded.
WEAK = (Level.READ_COMMITTED, Level.READ_ATOMIC, Level.CAUSAL)
#: Why a level is unknown if one source of the order breaks it and another does not.
CONTRADICTORY = (
    "the sources of the version order contradict each other, and so do the verdicts that they lead to"
)


def is_recorded_beside_lists(history: History) -> bool:
    """Whether a log, a declaration or timestamps order versions."""
    return EvidenceKind.TIMESTAMPS in history.evidence.present or bool(history.columns.versions())
