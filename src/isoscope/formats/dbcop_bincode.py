"""The histories of dbcop as of 2019, `history.bincode`, which PolySI and AWDIT share.

Sessions of transactions of reads and writes of unsigned integers; value 0 is the initial value. One file
is one history.
"""

from __future__ import annotations

import re
import struct
from functools import partial

from isoscope.formats.format import Format, read_one
from isoscope.history import Initial

__all__ = ["FORMAT"]

_HEADER = struct.Struct("<5Q")
_LENGTH = struct.Struct("<Q")
_DATE = re.compile(rb"\d{4}-\d\d-\d\dT")
_LARGEST = 1 << 32


def _sniff(head: bytes) -> bool:
    """Five numbers that are no text, because half of each is zero, then a text and two dates."""
    if len(head) < _HEADER.size or max(_HEADER.unpack_from(head)) >= _LARGEST:
        return False
    at = _HEADER.size
    for has_date in (False, True, True):
        if len(head) < at + _LENGTH.size:
            return False
        [length] = _LENGTH.unpack_from(head, at)
        text = head[at + _LENGTH.size : at + _LENGTH.size + length]
        if len(text) < length or (has_date and text and not _DATE.match(text)):
            return False
        at += _LENGTH.size + length
    return len(head) >= at + _LENGTH.size and _LENGTH.unpack_from(head, at)[0] < _LARGEST


FORMAT = Format(
    name="dbcop-bincode",
    title="dbcop and PolySI histories (bincode)",
    suffixes=(".bincode",),
    sniff=_sniff,
    read=partial(read_one, "dbcop-bincode"),
    initial=Initial(value=0, replaceable=True),
)
