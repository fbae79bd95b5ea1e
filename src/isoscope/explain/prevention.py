"""What would prevent an anomaly of a recorded program: one suggestion, about one of its statements."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from isoscope.history import OperationKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.verdict import Anomaly, Witness

__all__ = ["ABSENT_ROW", "Remedy", "Suggestion", "suggestions"]

#: The value of a row that is not there.
ABSENT_ROW = "absent"


class Remedy(StrEnum):
    """The kinds of change that a suggestion asks for."""

    LOCK = "lock"
    SERIALIZABLE = "serializable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A change of the program; `statements` are the reads that it is about, as `(sql, place)`.

    `is_phantom` says that these reads are about rows that were not there.
    """

    remedy: Remedy
    statements: tuple[tuple[str, str], ...] = ()
    is_phantom: bool = False

    def __str__(self) -> str:
        places = " and ".join(dict.fromkeys(place for _, place in self.statements))
        if self.remedy is Remedy.LOCK:
            lock = f"add FOR UPDATE to the SELECT at {places}"
            return f"{lock}, so that the second transaction waits for the first"
        said = "run these transactions at SERIALIZABLE and repeat those that fail"
        if not self.is_phantom:
            return said
        return (
            f"{said}, or give the table a constraint that forbids the second row: locks on rows do not help, "
            f"because {places} read rows that were not there yet"
        )


def suggestions(anomaly: Anomaly) -> Iterator[Suggestion]:
    """The change that most likely prevents the anomaly, then a stronger one; none without statements."""
    reads = [
        one
        for participant in anomaly.participants
        for one in participant.operations
        if one.sql and one.kind == OperationKind.READ and one.index in participant.matters
    ]
    if not reads:
        return
    statements = tuple(dict.fromkeys((_text(one), one.place) for one in reads))
    lockable = tuple(one for one in statements if one[0].lstrip("( ").lower().startswith("select"))
    is_phantom = any(one.value == ABSENT_ROW for one in reads)
    if lockable and not is_phantom:
        yield Suggestion(remedy=Remedy.LOCK, statements=lockable)
    yield Suggestion(remedy=Remedy.SERIALIZABLE, statements=statements, is_phantom=is_phantom)


def _text(witness: Witness) -> str:
    return witness.sql.partition("  ")[0]
