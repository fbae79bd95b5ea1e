"""Cobra's client logs: a directory of `T1.log`, `T2.log`, ..., one a session, in big-endian binary.

Reads name the write that they saw, so the value of an operation is the id of a write; 0 is what was there
before. With or without the client's times, which are found out.
"""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from isoscope.formats.format import Format, read_text
from isoscope.history import Initial

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FORMAT"]

_SIZES = {b"W": 25, b"R": 33}
_ENDS = (b"C", b"A")
_TEXT = bytes(range(32, 127)) + b"\t\n\r"
#: So many records of a log tell a log from anything else.
_ENOUGH = 64


def _sniff(head: bytes) -> bool:
    """Records that start a transaction and do nothing against it, in bytes that are no text."""
    return bool(head.translate(None, _TEXT)) and any(_is_log(head, size) for size in (9, 17))


def _is_log(head: bytes, size: int) -> bool:
    open_id = b""
    for tag, fields in islice(_records(head, size), _ENOUGH):
        is_cut_off = len(fields) < 8
        if (tag == b"S") == bool(open_id) or tag not in (b"S", *_SIZES, *_ENDS):
            return False
        if tag == b"S":
            open_id = fields[:8]
        elif tag in _ENDS:
            if fields[:8] != open_id and not is_cut_off:
                return False
            open_id = b""
    return True


def _records(head: bytes, size: int) -> Iterator[tuple[bytes, bytes]]:
    """The records of `head`; the last one may be cut off."""
    at = 0
    while at < len(head):
        tag = head[at : at + 1]
        end = at + _SIZES.get(tag, size)
        yield tag, head[at + 1 : end]
        at = end


FORMAT = Format(
    name="cobra",
    title="Cobra client logs",
    suffixes=(".log",),
    sniff=_sniff,
    read=partial(read_text, "cobra"),
    initial=Initial(value=0, replaceable=True),
)
