"""Plume and PolySI text: one operation a line, `r(key,value,session,transaction)` or `w(...)`.

Integers only; value 0 is the initial value of every key, unless an explicit write of 0 replaces it.
Transaction -1 marks an aborted write, each line a transaction of its own.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from isoscope.formats.format import Format, read_text
from isoscope.history import Initial

if TYPE_CHECKING:
    from isoscope.history import History

__all__ = ["FORMAT"]

_LINE = re.compile(rb"\s*[rw]\(-?\d+,")


def _sniff(head: bytes) -> bool:
    return _LINE.match(head) is not None


def _writer(path: str) -> str:  # noqa: ARG001
    return "plume"


def _write(history: History, sink: BinaryIO, *, path: str) -> None:
    history.columns.write(_writer(path), sink)


FORMAT = Format(
    name="plume",
    title="Plume and PolySI text",
    suffixes=(".txt", ".plume"),
    sniff=_sniff,
    read=partial(read_text, "plume"),
    write=_write,
    writer=_writer,
    holds=frozenset({"registers"}),
    partly=frozenset({"aborted transactions"}),
    initial=Initial(value=0, replaceable=True),
)
