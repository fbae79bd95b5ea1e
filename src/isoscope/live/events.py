"""The violations that were told, numbered 1, 2, 3, ...: a file of JSON lines, and the last of them in memory.

Who listens asks for what comes after the last number that he has seen, as often as he likes: nobody waits for
a slow listener, and one that comes back misses nothing and sees nothing twice.
"""

from __future__ import annotations

import os
from collections import deque
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING

from isoscope.errors import UsageError
from isoscope.live.files import append

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Events"]

#: Events that are kept in memory, and between two places of the file that are remembered.
_RECENT = 1000
_STRIDE = 256


class Events:
    """The file of violations, from its first `count` lines on, which are `size` bytes."""

    def __init__(self, path: Path, count: int = 0, size: int = 0) -> None:
        self.path = path
        self._lock = Lock()
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if os.fstat(self._file).st_size < size:
            os.close(self._file)
            raise UsageError(f"{path}: expected at least {size} bytes, as the checkpoint says")
        # What came after the checkpoint is told again by the journal, to the letter.
        os.ftruncate(self._file, size)
        self.count, self.size = 0, 0
        #: Where every so manieth line starts.
        self._places: list[int] = []
        self._recent: deque[tuple[int, bytes]] = deque(maxlen=_RECENT)
        self._index(count)

    def append(self, lines: Sequence[bytes]) -> None:
        """Adds events, each without its end of line. Raises OSError, and then none was added."""
        with self._lock:
            append(self._file, b"".join(line + b"\n" for line in lines), self.size)
            for line in lines:
                self._note(line)

    def after(self, number: int, most: int) -> list[tuple[int, bytes]]:
        """At most so many events after this number, with their numbers."""
        with self._lock:
            if self._recent and number + 1 >= self._recent[0][0]:
                start = max(0, number + 1 - self._recent[0][0])
                return list(islice(self._recent, start, start + most))
            if number >= self.count:
                return []
            last = self.count
        return self._from_file(max(0, number), min(most, last - number))

    def sync(self) -> None:
        """Forces the file to the disk."""
        os.fsync(self._file)

    def close(self) -> None:
        """Closes the file."""
        os.close(self._file)

    def _from_file(self, number: int, most: int) -> list[tuple[int, bytes]]:
        with self.path.open("rb") as source:
            source.seek(self._places[number // _STRIDE])
            lines = islice(source, number % _STRIDE, number % _STRIDE + most)
            return [(number + place, line.rstrip(b"\n")) for place, line in enumerate(lines, start=1)]

    def _index(self, count: int) -> None:
        with self.path.open("rb") as source:
            for line in source:
                self._note(line.rstrip(b"\n"))
        if self.count != count:
            self.close()
            raise UsageError(f"{self.path}: expected {count} lines, as the checkpoint says")

    def _note(self, line: bytes) -> None:
        if self.count % _STRIDE == 0:
            self._places.append(self.size)
        self.count += 1
        self.size += len(line) + 1
        self._recent.append((self.count, line))
