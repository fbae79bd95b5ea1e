"""Whether the disk takes what the service writes: records of the journal, events and checkpoints."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["DiskHealth"]

#: Bytes below which a disk counts as full.
_LEAST = 1 << 16
#: Nanoseconds between two attempts to write a checkpoint.
_PAUSE = 1_000_000_000


class DiskHealth:
    """The latest problems of the disk that holds `folder`; each stays until a write shows that it is over."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writing = self._checkpointing = ""
        self._needed = 0
        self._next_checkpoint: int | None = None

    @property
    def problem(self) -> str:
        """What is wrong now; empty if nothing is."""
        if self._writing or self._checkpointing:
            return self._writing or self._checkpointing
        free = self._free()
        return f"the disk is full: {free:,} bytes are left" if free is not None and free < _LEAST else ""

    @property
    def has_failed(self) -> bool:
        """Whether the last write failed."""
        return bool(self._writing)

    def failed(self, error: OSError, *, size: int = 0) -> None:
        """A write of `size` bytes failed."""
        self._writing = f"cannot write to the disk: {error.strerror or error}"
        self._needed = max(self._needed, size)

    def wrote(self) -> None:
        """A write succeeded; a larger one that failed before has room only if that much is free."""
        free = self._free()
        if self._writing and (free is None or free >= self._needed):
            self._writing, self._needed = "", 0

    def checkpoint_failed(self, error: OSError, now: int) -> None:
        """A checkpoint could not be written; the journal stands in for it, and grows."""
        self._checkpointing = f"cannot write a checkpoint: {error.strerror or error}"
        self._next_checkpoint = now + _PAUSE

    def checkpointed(self) -> None:
        """A checkpoint was written."""
        self._checkpointing, self._next_checkpoint = "", None

    def is_checkpoint_due(self, now: int) -> bool:
        """Whether a checkpoint that failed should be tried again."""
        return self._next_checkpoint is not None and now >= self._next_checkpoint

    def _free(self) -> int | None:
        """Free bytes; None if the system does not say."""
        try:
            found = os.statvfs(self._folder)
        except OSError:
            return None
        return found.f_bavail * found.f_frsize if found.f_blocks else None
