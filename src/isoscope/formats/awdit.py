"""AWDIT's test format: `r KEY VALUE` or `w KEY VALUE` a line, `-----` and `=====` between.

Integers from 0 only; no ids and no initial values: a read of a value that nobody wrote is of thin air.
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

_LINE = re.compile(rb"[\s=-]*[rw][ \t]+\d+[ \t]+\d+[ \t]*([\r\n=-]|$)")


def _sniff(head: bytes) -> bool:
    return _LINE.match(head) is not None


def _writer(path: str) -> str:  # noqa: ARG001
    return "awdit"


def _write(history: History, sink: BinaryIO, *, path: str) -> None:
    history.columns.write(_writer(path), sink)


FORMAT = Format(
    name="awdit",
    title="AWDIT's test format",
    suffixes=(".awdit",),
    sniff=_sniff,
    read=partial(read_text, "awdit"),
    write=_write,
    writer=_writer,
    holds=frozenset({"registers"}),
    initial=Initial(value=None),
)
