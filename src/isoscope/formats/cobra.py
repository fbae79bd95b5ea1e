"""Cobra's client logs: a directory of `T1.log`, `T2.log`, ..., one a session, in big-endian binary.

Reads name the write that they saw, so the value of an operation is the id of a write, or the hash of its
value where the ids were taken out; 0 is the value before the first write. With or without the client's times,
which are found out.
"""

from __future__ import annotations

from dataclasses import replace

from isoscope._native import Reader
from isoscope.formats.format import Format, feed
from isoscope.formats.source import Input, uncompressed
from isoscope.history import History, Initial

__all__ = ["FORMAT"]

_TAGS = b"SWRCA"
_TEXT = bytes(range(32, 127)) + b"\t\n\r"
#: How long the start of a transaction is, without a time and with one.
_STARTS = (9, 17)


def _sniff(head: bytes) -> bool:
    """A start and then a record of any kind, in bytes that are no text; mistakes are for the parser."""
    is_binary = bool(head.translate(None, _TEXT))
    return is_binary and head[:1] == b"S" and any(_is_followed(head, size) for size in _STARTS)


def _is_followed(head: bytes, size: int) -> bool:
    return len(head) == size or (len(head) > size and head[size] in _TAGS)


def _read(source: Input, *, initial: Initial | None = None) -> History:
    logs = tuple(file for file in source.files if uncompressed(file.path).endswith(".log")) or source.files
    history = feed(Reader(FORMAT.name), Input(source.path, logs), name=FORMAT.name, initial=initial)
    ignored = len(source.files) - len(logs)
    notes = (("files that are not called *.log, not read", ignored),) if ignored else ()
    return History(history.columns, replace(history.source, notes=notes))


FORMAT = Format(
    name="cobra",
    title="Cobra client logs",
    suffixes=(".log",),
    sniff=_sniff,
    read=_read,
    initial=Initial(value=0, replaceable=True),
)
