"""Writes that happen as a whole or not at all: append to a file, replace a file; and locks of folders."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

from isoscope.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["append", "locked", "replace", "sync"]


def append(handle: int, data: bytes, size: int) -> None:
    """Writes all of `data` behind the first `size` bytes of the file. Raises OSError, and then none of it."""
    rest = memoryview(data)
    if os.fstat(handle).st_size != size:
        # The last write failed, and so did the attempt to remove its rest.
        os.ftruncate(handle, size)
    try:
        while rest:
            rest = rest[os.write(handle, rest) :]
    except OSError:
        os.ftruncate(handle, size)
        raise


def replace(path: Path, data: bytes) -> None:
    """Makes `data` the content of the file. Raises OSError, and then the old content is there."""
    new = path.with_suffix(".new")
    try:
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            append(handle, data, 0)
            os.fsync(handle)
        finally:
            os.close(handle)
        new.replace(path)
        sync(path.parent)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def sync(path: Path) -> None:
    """Makes the content of a file, or the names in a folder, survive a loss of power."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def locked(folder: Path) -> int:
    """Locks the folder for this process, until the handle is closed. Raises UsageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / "lock", os.O_WRONLY | os.O_CREAT, 0o600)
    except OSError as error:
        raise UsageError(f"cannot use {folder}: {error.strerror or error}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise UsageError(
            f"{folder} is used by another service\n\nhint: give each service a --data folder of its own"
        ) from None
    return handle
