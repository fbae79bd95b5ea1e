"""Plume and PolySI text: one operation a line, `r(key,value,session,transaction)` or `w(...)`.

Integers only; value 0 is the initial value of every key, unless an explicit write of 0 replaces it.
Transaction -1 marks an aborted write, each line a transaction of its own.
"""

from __future__ import annotations

import re
from functools import partial

from isoscope.formats.format import Format, read_text, write_text
from isoscope.history import Initial

__all__ = ["FORMAT"]

_LINE = re.compile(rb"\s*[rw]\(-?\d+,")


def _sniff(head: bytes) -> bool:
    return _LINE.match(head) is not None


FORMAT = Format(
    name="plume",
    title="Plume and PolySI text",
    suffixes=(".txt", ".plume"),
    sniff=_sniff,
    read=partial(read_text, "plume"),
    write=partial(write_text, "plume"),
    writer="plume",
    holds=frozenset({"registers"}),
    partly=frozenset({"aborted transactions"}),
    initial=Initial(value=0, replaceable=True),
)
