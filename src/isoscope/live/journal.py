"""The journal of the service: every batch is on disk before its collector gets the answer.

A folder of segments, `journal-00000001` and so on. A record is a head (length and checksum of the payload,
and a checksum of the head itself) and a payload, whose first byte is its kind. A process that is killed
leaves at most an unfinished last record, which no collector got an answer for: it is cut off. Any other
record that does not fit its checksum is damage, and damage is an error. docs/explanation/online-service.md
says why this is not a database.
"""

from __future__ import annotations

import json
import os
import struct
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias
from zlib import crc32

from isoscope.errors import UsageError
from isoscope.live.files import append, sync

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from isoscope.history import Scalar

__all__ = ["BatchRecord", "Cut", "FlushRecord", "Fsync", "HeartbeatRecord", "Journal", "Record", "TimeRecord"]

_MAGIC = b"isoscope journal 1\n"
_HEAD = struct.Struct("<III")
_BATCH = struct.Struct("<BqQHB")
_TIME = struct.Struct("<Bq")
#: Longer than any record of settings.
_SHORT = 1 << 16
_SETTINGS, _ARRIVED, _ADVANCED, _FLUSHED, _HEARD = range(5)


class Fsync(StrEnum):
    """When records are forced to the disk: before each answer, once a second, or by the operating system.

    A killed process loses nothing in any case; a power failure may lose records with the latter two.
    """

    ALWAYS = "always"
    INTERVAL = "interval"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRecord:
    """A batch as it arrived; `time` is in nanoseconds of the service's own clock."""

    time: int
    collector: str
    sequence: int
    form: int
    body: bytes


@dataclass(frozen=True, slots=True)
class TimeRecord:
    """A step of the clock: answers that had waited for the timeout became final."""

    time: int


@dataclass(frozen=True, slots=True)
class FlushRecord:
    """A flush: all answers became final."""

    time: int


@dataclass(frozen=True, slots=True)
class HeartbeatRecord:
    """Heartbeats: sessions, and the instants that their later operations begin at or after."""

    time: int
    beats: tuple[tuple[Scalar, int], ...]


Record: TypeAlias = BatchRecord | TimeRecord | FlushRecord | HeartbeatRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A segment that ended with an unfinished record: bytes that were kept, and bytes that were dropped."""

    file: str
    kept: int
    dropped: int

    def text(self) -> str:
        """In words."""
        return (
            f"{self.file}: the last record was cut off; the first {self.kept:,} bytes were kept and "
            f"{self.dropped:,} dropped"
        )


class Journal:
    """The segments of a folder from `first` on; the last one is appended to.

    `settings` are those that the records were judged with: a journal with other settings is refused.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any], *, first: int = 1, fsync: Fsync) -> None:
        self._folder = folder
        self._settings = bytes([_SETTINGS]) + json.dumps(settings, sort_keys=True).encode()
        self._first = self.segment = first
        self._fsync = fsync
        self._file = -1
        self._sync_lock = Lock()
        self._problem = ""
        #: Bytes in the segment, bytes written since the start, and how many of them are forced to the disk.
        self.size = self.written = self._synced = 0
        #: Bytes of the segments that are replayed so far, and of all of them.
        self.replayed = self.total = 0
        #: What was dropped of the last segment.
        self.cut: Cut | None = None

    def verify(self) -> None:
        """Raises UsageError if the journal was written with other settings."""
        with suppress(FileNotFoundError), self._path.open("rb") as source:
            payload = _framed(source.read(_SHORT), len(_MAGIC))
            if payload is not None:
                self._compare(payload)

    def replay(self) -> Iterator[Record]:
        """Every record so far; then the journal is open for more.

        Raises UsageError if the journal is damaged or was written with other settings.
        """
        numbers = self._numbers()
        self.total = sum((self._folder / _name(number)).stat().st_size for number in numbers)
        end = 0
        for number in numbers:
            self.segment = number
            data, end, before = (self._folder / _name(number)).read_bytes(), 0, self.replayed
            for payload, place in _payloads(data, self._path, is_last=number == numbers[-1]):
                end = place
                self.replayed = before + place
                if payload[0] == _SETTINGS:
                    self._compare(payload)
                else:
                    yield _record(payload)
            if end < len(data):
                self.cut = Cut(file=_name(number), kept=end, dropped=len(data) - end)
        self._open(end)

    def append(self, record: Record) -> int:
        """Writes a record; the position that `sync` takes. Raises OSError, and then nothing was written."""
        payload = _payload(record)
        if self._problem:
            raise OSError(self._problem)
        return self._write(payload)

    def sync(self, position: int | None = None) -> None:
        """Returns when the records up to `position` are as safe as the policy says; None forces all of them.

        Threads that wait at the same time share one fsync.
        """
        if position is not None and self._fsync is not Fsync.ALWAYS:
            return
        with self._sync_lock:
            if self._problem:
                raise OSError(self._problem)
            if self._synced < (self.written if position is None else position):
                self._force()

    def rotate(self) -> int:
        """Ends the segment and starts the next one; its number. Raises OSError, and then nothing changes."""
        if self._fsync is not Fsync.NEVER:
            self.sync()
        before = (self.segment, self._file, self.size)
        self.segment += 1
        try:
            with self._sync_lock:
                self._open(0)
        except OSError:
            if self._file != before[1]:
                os.close(self._file)
            self._path.unlink(missing_ok=True)
            self.segment, self._file, self.size = before
            raise
        os.close(before[1])
        return self.segment

    def forget(self, before: int) -> None:
        """Removes the segments before this one, which a checkpoint replaces."""
        for path in self._folder.glob("journal-*"):
            if int(path.name.removeprefix("journal-")) < before:
                path.unlink()
        self._first = before

    def close(self) -> None:
        """Closes the journal, and forces it to the disk unless the policy is never."""
        if self._file >= 0:
            if self._fsync is not Fsync.NEVER and not self._problem:
                self.sync()
            os.close(self._file)
            self._file = -1

    def _numbers(self) -> list[int]:
        found = sorted(int(path.name.removeprefix("journal-")) for path in self._folder.glob("journal-*"))
        numbers = [number for number in found if number >= self._first]
        expected = range(self._first, max([self._first, *found]) + 1)
        missing = [number for number in expected if number not in numbers]
        if missing and (found or self._first > 1):
            raise UsageError(f"{self._folder / _name(missing[0])} is missing: the journal has a hole")
        return numbers

    def _compare(self, payload: bytes) -> None:
        if payload == self._settings:
            return
        then, now = json.loads(payload[1:]), json.loads(self._settings[1:])
        changed = [name for name in now if then.get(name) != now[name]]
        changes = ", ".join(f"{name} was {then.get(name)} and is {now[name]}" for name in changed)
        raise UsageError(
            f"{self._folder}: this service ran with other settings ({changes})\n\n"
            "hint: start it as before, or with a --data folder of its own"
        )

    @property
    def has_records(self) -> bool:
        """Whether the segment has more than its settings."""
        return self.size > len(_MAGIC) + _HEAD.size + len(self._settings)

    @property
    def _path(self) -> Path:
        return self._folder / _name(self.segment)

    def _open(self, size: int) -> None:
        """Opens the segment for appending, and cuts it to its first `size` bytes."""
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.ftruncate(self._file, size)
        self.size = size
        if not size:
            self._write(self._settings, before=_MAGIC)
            sync(self._folder)

    def _write(self, payload: bytes, *, before: bytes = b"") -> int:
        head = struct.pack("<II", len(payload), crc32(payload))
        data = before + head + struct.pack("<I", crc32(head)) + payload
        append(self._file, data, self.size)
        self.size += len(data)
        self.written += len(data)
        return self.written

    def _force(self) -> None:
        end = self.written
        try:
            os.fsync(self._file)
        except OSError as error:
            # The system may have dropped the pages that it could not write: another fsync proves nothing.
            self._problem = f"the journal cannot be forced to the disk: {error.strerror}"
            raise
        self._synced = end


def _name(number: int) -> str:
    return f"journal-{number:08}"


def _payload(record: Record) -> bytes:
    if isinstance(record, TimeRecord):
        return _TIME.pack(_ADVANCED, record.time)
    if isinstance(record, FlushRecord):
        return _TIME.pack(_FLUSHED, record.time)
    if isinstance(record, HeartbeatRecord):
        return _TIME.pack(_HEARD, record.time) + json.dumps(record.beats).encode()
    name = record.collector.encode()
    head = _BATCH.pack(_ARRIVED, record.time, record.sequence, len(name), record.form)
    return head + name + record.body


def _record(payload: bytes) -> Record:
    if payload[0] == _ADVANCED:
        return TimeRecord(_TIME.unpack(payload)[1])
    if payload[0] == _FLUSHED:
        return FlushRecord(_TIME.unpack(payload)[1])
    if payload[0] == _HEARD:
        beats = json.loads(payload[_TIME.size :])
        return HeartbeatRecord(
            _TIME.unpack_from(payload)[1], tuple((session, time) for session, time in beats)
        )
    _, time, sequence, length, form = _BATCH.unpack_from(payload)
    body = _BATCH.size + length
    return BatchRecord(
        time=time,
        collector=payload[_BATCH.size : body].decode(),
        sequence=sequence,
        form=form,
        body=payload[body:],
    )


def _payloads(data: bytes, path: Path, *, is_last: bool) -> Iterator[tuple[bytes, int]]:
    """The payloads of a segment, each with the place where it ends."""
    if not data.startswith(_MAGIC):
        if is_last and _is_torn(data, _MAGIC):
            return
        raise UsageError(f"{path}: expected a journal of Isoscope, found {data[:19]!r}")
    at = len(_MAGIC)
    while at < len(data):
        payload = _framed(data, at)
        if payload is None:
            if is_last and _is_unfinished(data, at):
                return
            raise UsageError(
                f"{path}: byte {at}: the journal is damaged\n\n"
                "hint: restore it from a backup, or start anew with another --data folder"
            )
        at += _HEAD.size + len(payload)
        yield payload, at


def _framed(data: bytes, at: int) -> bytes | None:
    """The payload of the record at `at`, if it is whole."""
    if len(data) - at < _HEAD.size:
        return None
    length, check, own = _HEAD.unpack_from(data, at)
    payload = data[at + _HEAD.size : at + _HEAD.size + length]
    is_whole = crc32(data[at : at + 8]) == own and len(payload) == length > 0 and crc32(payload) == check
    return payload if is_whole else None


def _is_unfinished(data: bytes, at: int) -> bool:
    """Whether the bytes at `at` are the start of an unfinished record.

    A power failure may keep the length of a file but not its content: zeros, or a last record of zeros.
    """
    rest = data[at:]
    if len(rest) < _HEAD.size or not rest.strip(b"\0"):
        return True
    length, own = struct.unpack_from("<I4xI", rest)
    return bool(crc32(rest[:8]) == own and len(rest) <= _HEAD.size + length)


def _is_torn(data: bytes, whole: bytes) -> bool:
    return whole.startswith(data) or not data.strip(b"\0")
