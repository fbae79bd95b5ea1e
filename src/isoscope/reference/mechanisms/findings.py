"""Findings: an anomaly of the catalogue, which case of it, and the operations that show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from isoscope.reference.mechanisms.versions import Place

__all__ = ["Finding"]


class Finding(NamedTuple):
    """One anomaly; cases and the order of the operations are those that checkers name."""

    name: str
    case: str
    places: tuple[Place, ...]
