"""Which kinds of evidence a history carries, and how complete each is."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isoscope._native import Columns, EvidenceExtents

__all__ = ["Evidence", "EvidenceKind", "Extent"]


class EvidenceKind(StrEnum):
    """A kind of evidence, on which a checker can build."""

    VALUES = "values"
    VERSION_ORDER = "version-order"
    TIMESTAMPS = "timestamps"
    INTERVALS = "intervals"


class Extent(IntEnum):
    """How much of a kind of evidence there is."""

    ABSENT = 0
    PARTIAL = 1
    COMPLETE = 2


class Evidence:
    """Which kinds of evidence a history carries, and how complete each is.

    Which kinds there are is known at once; how complete they are takes a pass over all writes.
    """

    __slots__ = ("_columns", "_extents", "present")

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._extents: EvidenceExtents | None = None
        self.present = tuple(map(EvidenceKind, columns.present_evidence()))

    def __getitem__(self, kind: EvidenceKind | str) -> Extent:
        """How complete one kind of evidence is."""
        extent: str = getattr(self._looked(), EvidenceKind(kind).name.lower())
        return Extent[extent.upper()]

    @property
    def repeated_values(self) -> int:
        """(key, value) pairs that several transactions wrote, the initial one included."""
        return self._looked().repeated_values

    def _looked(self) -> EvidenceExtents:
        if self._extents is None:
            self._extents = self._columns.evidence()
        return self._extents
