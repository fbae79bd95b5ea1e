"""The violations that were reported, numbered 1, 2, 3, ...: a file of JSON lines, the latest also in memory.

A listener asks for the events after the last number that it has seen, as often as it likes. A slow listener
delays nothing, and a listener that reconnects misses no event and sees none twice.
"""

from __future__ import annotations

import json
import os
from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING

from isoscope.errors import UsageError
from isoscope.live.files import append

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["EventKind", "EventLog", "LoggedEvent"]

#: Events that are kept in memory, and lines between two remembered places of the file.
_RECENT = 1000
_STRIDE = 256


class EventKind(StrEnum):
    """What an event reports."""

    VIOLATION = "violation"
    RETRACTION = "retraction"


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event: its number, and its JSON without the end of line."""

    number: int
    line: bytes

    @property
    def kind(self) -> EventKind:
        """Whether it reports a violation or takes one back."""
        return EventKind.RETRACTION if json.loads(self.line)["retracted"] else EventKind.VIOLATION


class EventLog:
    """The file of violations, from its first `count` lines on, which are `size` bytes."""

    def __init__(self, path: Path, count: int = 0, size: int = 0) -> None:
        self.path = path
        self._lock = Lock()
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if os.fstat(self._file).st_size < size:
            os.close(self._file)
            raise UsageError(f"{path}: expected at least {size} bytes, as the checkpoint says")
        # The replay of the journal writes the events after the checkpoint again, byte for byte.
        os.ftruncate(self._file, size)
        self.count, self.size = 0, 0
        #: Where every `_STRIDE`-th line starts.
        self._places: list[int] = []
        self._recent: deque[LoggedEvent] = deque(maxlen=_RECENT)
        self._index(count)

    def append(self, lines: Sequence[bytes]) -> None:
        """Adds events, each without its end of line. Raises OSError, and then none was added."""
        with self._lock:
            append(self._file, b"".join(line + b"\n" for line in lines), self.size)
            for line in lines:
                self._remember(line)

    def after(self, number: int, limit: int) -> list[LoggedEvent]:
        """At most `limit` events after this number."""
        with self._lock:
            if number >= self.count:
                return []
            if self._recent and number + 1 >= self._recent[0].number:
                start = max(0, number + 1 - self._recent[0].number)
                return list(islice(self._recent, start, start + limit))
            last = self.count
        return self._from_file(max(0, number), min(limit, last - number))

    def sync(self) -> None:
        """Forces the file to the disk."""
        os.fsync(self._file)

    def close(self) -> None:
        """Closes the file."""
        os.close(self._file)

    def _from_file(self, number: int, limit: int) -> list[LoggedEvent]:
        with self.path.open("rb") as source:
            source.seek(self._places[number // _STRIDE])
            lines = islice(source, number % _STRIDE, number % _STRIDE + limit)
            return [LoggedEvent(place, line.rstrip(b"\n")) for place, line in enumerate(lines, number + 1)]

    def _index(self, count: int) -> None:
        with self.path.open("rb") as source:
            for line in source:
                self._remember(line.rstrip(b"\n"))
        if self.count != count:
            self.close()
            raise UsageError(f"{self.path}: expected {count} lines, as the checkpoint says")

    def _remember(self, line: bytes) -> None:
        if self.count % _STRIDE == 0:
            self._places.append(self.size)
        self.count += 1
        self.size += len(line) + 1
        self._recent.append(LoggedEvent(self.count, line))
