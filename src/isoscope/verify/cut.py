"""Cut isolation: two external reads of a key in one transaction show the same.

Bailis et al. 2013. Cost: linear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.verify.explanation import external_reads
from isoscope.verify.history import RejectedError
from isoscope.verify.predicates import Seen

if TYPE_CHECKING:
    from isoscope.verify.explanation import Explanation

__all__ = ["check"]


def check(explanation: Explanation) -> None:
    """Raise `RejectedError` for a transaction that reads a key in two states."""
    for t in explanation.history.transactions:
        if not explanation.counting[t.number]:
            continue
        seen = Seen()
        for _, key, value in external_reads(t, []):
            if seen.differs(key, value):
                raise RejectedError(f"{t} reads key {key} twice and differently")
