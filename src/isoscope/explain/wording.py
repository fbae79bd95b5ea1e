"""How an anomaly is told: one row for each name in the tables `WORDINGS`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from isoscope.verdict import Anomaly

__all__ = ["Wording"]


@dataclass(frozen=True, slots=True)
class Wording:
    """The functions that write the sentences of one anomaly.

    `message` says what happened. `contradiction` says why the steps of the proof cannot all be true; without
    it, the message stands there. `hint` says what to make sure of before the database is blamed.
    """

    message: Callable[[Anomaly], str]
    contradiction: Callable[[Anomaly], str] | None = None
    hint: str = ""
