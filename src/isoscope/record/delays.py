"""Delays between a read and what follows it, so that other transactions come in between."""

from __future__ import annotations

import random
from time import sleep
from typing import TYPE_CHECKING

from isoscope.record.plan import Kind
from isoscope.record.recording import Hook

if TYPE_CHECKING:
    from isoscope.record.recording import Session

__all__ = ["RandomDelays"]

#: The longest delay in seconds, and the share of the gaps that have one.
_LONGEST, _SHARE = 0.05, 0.5


class RandomDelays(Hook):
    """Delays statements that follow a read in their transaction; the seed decides which, and how long."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def before(self, session: Session) -> None:
        """Waits if the transaction has read something."""
        if any(one.plan.kind is Kind.SELECT for one in session.done) and self._random.random() < _SHARE:
            sleep(self._random.uniform(0, _LONGEST))
