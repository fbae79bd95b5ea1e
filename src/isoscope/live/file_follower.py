"""Transactions from a file that grows, or from a pipe, in the shape of AION or of Leopard."""

from __future__ import annotations

import os
import re
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
#: Seconds between two reads of a file that does not grow.
_POLL_SECONDS = 0.1
_TRANSACTION = re.compile(rb'"transactionID"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)')
_VERB = re.compile(rb'"operationTraceType"\s*:\s*"(\w+)')
_ENDS = (b"commit", b"abort", b"rollback")


def follow(
    handle: int, path: str, *, shape: str = "aion", to_the_end: bool, stop: Event
) -> Iterator[History | None]:
    """Yields the new transactions until `stop`; None if there are none for now.

    A file is followed beyond its end unless `to_the_end`; a pipe ends when its writer ends it. Raises
    FormatError at the first line that is not a transaction, and UsageError if the file was cut.
    """
    lines = _LeopardLines(path) if shape == "leopard" else _AionLines(path)
    for block in _blocks(handle, path, to_the_end=to_the_end, stop=stop):
        yield lines.take(block) if block else None
    # At `stop`, the last line may be unfinished.
    if not stop.is_set():
        yield lines.rest()


class _AionLines:
    """Feeds whole lines to the parser, which would hold back the start of an unfinished line."""

    def __init__(self, path: str) -> None:
        self._reader = Reader("aion")
        self._reader.start_of_file("")
        self._source = Source(path=path, format="aion")
        self._tail = b""

    def take(self, block: bytes) -> History | None:
        text = self._tail + block
        end = text.rfind(b"\n") + 1
        self._tail = text[end:]
        if not end:
            return None
        try:
            self._reader.feed(text[:end])
            # The parser returns the transactions of a block when it gets the next block.
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


class _LeopardLines:
    """Feeds whole transactions: the operations of several transactions alternate in the file."""

    def __init__(self, path: str) -> None:
        self._path, self._tail, self._number = path, b"", 0
        self._open: dict[bytes, list[tuple[int, bytes]]] = {}

    def take(self, block: bytes) -> History | None:
        *whole, self._tail = (self._tail + block).split(b"\n")
        ended: list[tuple[int, bytes]] = []
        for line in whole:
            ended += self._line(line)
        return self._history(ended) if ended else None

    def rest(self) -> History:
        ended = self._line(self._tail)
        # The end of these transactions is unknown.
        return self._history([*ended, *(line for lines in self._open.values() for line in lines)])

    def _line(self, line: bytes) -> list[tuple[int, bytes]]:
        """All lines of the transaction that ends with this line; a line that is not an operation alone."""
        self._number += 1
        name, verb = _TRANSACTION.search(line), _VERB.search(line)
        if not line.strip():
            return []
        if name is None or verb is None:
            return [(self._number, line)]
        lines = self._open.setdefault(name[1], [])
        lines.append((self._number, line))
        return self._open.pop(name[1]) if verb[1].lower() in _ENDS else []

    def _history(self, lines: list[tuple[int, bytes]]) -> History:
        reader = Reader("leopard")
        try:
            reader.start_of_file("")
            reader.feed(b"\n".join(line for _, line in lines))
            reader.end_of_file()
            return History(reader.finish(), _Unplaced(path=self._path, format="leopard"))
        except ParseError as error:
            place, *rest = error.args
            number = lines[place - 1][0] if 0 < place <= len(lines) else 0
            source = Source(path=self._path, format="leopard")
            raise format_error(ParseError(number, *rest), source) from None


class _Unplaced(Source):
    """The source of lines that are not consecutive in the file."""

    def place(self, line: int | None) -> str:  # noqa: ARG002 - it is that of a slice
        """The path alone."""
        return self.path


def _blocks(handle: int, path: str, *, to_the_end: bool, stop: Event) -> Iterator[bytes]:
    """Blocks as they are written, and an empty one when there is none for now."""
    is_file, position = stat.S_ISREG(os.fstat(handle).st_mode), 0
    while not stop.is_set():
        if not is_file and not select([handle], [], [], _POLL_SECONDS)[0]:
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
            stop.wait(_POLL_SECONDS)
        yield block
