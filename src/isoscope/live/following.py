"""A file that grows, or a pipe: its transactions as they come, in the AION shape."""

from __future__ import annotations

import os
import stat
from select import select
from typing import TYPE_CHECKING

from isoscope._native import ParseError, Reader
from isoscope.errors import UsageError
from isoscope.formats.format import format_error
from isoscope.history import History, Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from threading import Event

__all__ = ["follow"]

_BLOCK = 1 << 20
#: Seconds between two looks at a file that does not grow.
_GLANCE = 0.1


def follow(handle: int, path: str, *, to_the_end: bool, stop: Event) -> Iterator[History | None]:
    """What is new, again and again until `stop`; None if there is nothing new for now.

    A file is followed beyond its end unless `to_the_end`; a pipe ends when its writer ends it. Raises
    FormatError at the first line that is no transaction, and UsageError if the file was cut.
    """
    reading = _Reading(path)
    for block in _blocks(handle, path, to_the_end=to_the_end, stop=stop):
        yield reading.lines(block) if block else None
    # Who stops may do so in the middle of a line that somebody is writing.
    if not stop.is_set():
        yield reading.rest()


class _Reading:
    """Feeds whole lines to the parser: it may keep the start of a line to itself for long."""

    def __init__(self, path: str) -> None:
        self._reader = Reader("aion")
        self._reader.start_of_file("")
        self._source = Source(path=path, format="aion")
        self._tail = b""

    def lines(self, block: bytes) -> History | None:
        text = self._tail + block
        end = text.rfind(b"\n") + 1
        self._tail = text[end:]
        if not end:
            return None
        try:
            self._reader.feed(text[:end])
            # The parser hands over a block when the next one comes.
            self._reader.feed(b"")
            columns = self._reader.drain()
        except ParseError as error:
            raise format_error(error, self._source) from None
        return None if columns is None else History(columns, self._source)

    def rest(self) -> History:
        try:
            self._reader.feed(self._tail)
            self._reader.end_of_file()
            return History(self._reader.finish(), self._source)
        except ParseError as error:
            raise format_error(error, self._source) from None


def _blocks(handle: int, path: str, *, to_the_end: bool, stop: Event) -> Iterator[bytes]:
    """Blocks as they come, and an empty one now and then; the end of what has one."""
    is_file, position = stat.S_ISREG(os.fstat(handle).st_mode), 0
    while not stop.is_set():
        if not is_file and not select([handle], [], [], _GLANCE)[0]:
            yield b""
            continue
        try:
            block = os.read(handle, _BLOCK)
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
        position += len(block)
        if not block and (to_the_end or not is_file):
            return
        if not block:
            if os.fstat(handle).st_size < position:
                raise UsageError(f"{path} was cut while it was followed\n\nhint: check the whole file anew")
            stop.wait(_GLANCE)
        yield block
