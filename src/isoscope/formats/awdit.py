"""AWDIT's test format: `r KEY VALUE` or `w KEY VALUE` a line, `-----` and `=====` between.

Integers from 0 only; no ids and no initial values: a read of a value that was never written is of thin air.
"""

from __future__ import annotations

import re
from functools import partial

from isoscope.formats.format import Format, read_one, write_text
from isoscope.history import Initial

__all__ = ["FORMAT"]

_LINE = re.compile(rb"[\s=-]*[rw][ \t]+\d+[ \t]+\d+[ \t]*([\r\n=-]|$)")


def _sniff(head: bytes) -> bool:
    return _LINE.match(head) is not None


FORMAT = Format(
    name="awdit",
    title="AWDIT's test format",
    suffixes=(".awdit",),
    sniff=_sniff,
    read=partial(read_one, "awdit"),
    write=partial(write_text, "awdit"),
    writer="awdit",
    holds=frozenset({"registers"}),
    initial=Initial(value=None),
)
