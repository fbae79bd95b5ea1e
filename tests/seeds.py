"""How many seeds a test tries: few in `make test`, many in `make test-deep`."""

from __future__ import annotations

import os

__all__ = ["DEEP", "seeds"]

DEEP = os.environ.get("ISOSCOPE_HYPOTHESIS") == "deep"


def seeds(few: int, *, deep: int) -> int:
    """`few` is the smallest number that still shows every case that the test asks for, with a margin."""
    return deep if DEEP else few
