"""Inputs and outputs of histories: files, directories, standard streams, compressed or not."""

from __future__ import annotations

import gzip
import io
import os
import re
import sys
import tempfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from isoscope.errors import FormatError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["COMPRESSIONS", "File", "Input", "output", "uncompressed"]

#: Suffixes of compressed files; on input the content decides, not the name.
COMPRESSIONS = (".gz", ".zst")

#: Names of standard output: it is written to as it is, and never replaced by a new file.
_STANDARD_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
_BLOCK = 1 << 20
_HEAD = 1 << 16
# Compressed bytes taken at a time: few, because a hostile file can hold a thousand times as much.
_PIECE = 1 << 16
_GZIP = b"\x1f\x8b"
_ZSTANDARD = b"\x28\xb5\x2f\xfd"


def uncompressed(path: str) -> str:
    """The name without `.gz` or `.zst`."""
    for suffix in COMPRESSIONS:
        path = path.removesuffix(suffix)
    return path


@dataclass(frozen=True, slots=True)
class File:
    """One file of an input; `raw` is its content where it cannot be opened again (standard input)."""

    path: str
    raw: BinaryIO | None = None

    @classmethod
    def streamed(cls, path: str, stream: BinaryIO) -> File:
        """A file that can be read only once, such as standard input."""
        if stream.closed:
            raise UsageError(f"{path} can be read only once")
        with _reporting(path):
            return cls(path, cast("BinaryIO", _unpacked(_buffered(stream))))

    @property
    def stem(self) -> str:
        """The name without folders and suffixes; empty if the file has none."""
        if self.raw is not None:
            return ""
        name = uncompressed(Path(self.path).name)
        # Not every name is text; a session called by it must be.
        return Path(name).stem.encode("utf-8", "backslashreplace").decode()

    def blocks(self) -> Iterator[memoryview]:
        """The content, decompressed, in blocks of a megabyte."""
        with _reporting(self.path), self._open() as stream:
            block = bytearray(_BLOCK)
            while size := stream.readinto(block):
                yield memoryview(block)[:size]

    def read(self) -> bytes:
        """The whole content, decompressed."""
        return b"".join(map(bytes, self.blocks()))

    def head(self) -> bytes:
        """The start of the content, decompressed."""
        if self.raw is not None:
            with _reporting(self.path):
                return _peek(self.raw)
        with _reporting(self.path), self._open() as stream:
            return stream.read(_HEAD)

    @property
    def is_plain(self) -> bool:
        """Whether the file can be opened by its path as it is."""
        if self.raw is not None:
            return False
        with _reporting(self.path), Path(self.path).open("rb") as stream:
            return not stream.read(4).startswith((_GZIP, _ZSTANDARD))

    @contextmanager
    def _open(self) -> Iterator[io.BufferedIOBase]:
        if self.raw is not None:
            yield cast("io.BufferedIOBase", self.raw)
            return
        # A decompressor does not close the stream that it reads from.
        with Path(self.path).open("rb") as raw, _unpacked(raw) as stream:
            yield stream


@dataclass(frozen=True, slots=True)
class Input:
    """A history's files, in the order in which they are read."""

    path: str
    files: tuple[File, ...]

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Input:
        """The input at `path`: `-` is standard input, a directory is all of its files, 2 before 10."""
        name = _name(path, "read")
        if name == "-":
            return cls("<stdin>", (File.streamed("<stdin>", sys.stdin.buffer),))
        with _reporting(name):
            if not Path(name).is_dir():
                return cls(name, (File(name),))
            visible = [entry for entry in Path(name).iterdir() if not entry.name.startswith(".")]
            files = sorted((str(entry) for entry in visible if entry.is_file()), key=_natural)
            folders = sorted((str(entry) for entry in visible if entry.is_dir()), key=_natural)
        if not files:
            hint = f"\n\nhint: it holds folders: name one of them, such as {folders[0]}" if folders else ""
            raise UsageError(f"{name}: the directory holds no files{hint}")
        return cls(name, tuple(map(File, files)))

    @property
    def is_directory(self) -> bool:
        """Whether the files are those of a directory, even if it is only one."""
        return self.files[0].path != self.path

    def only(self, name: str) -> Input:
        """The same input, for a format called `name` of which one file is one history."""
        if len(self.files) == 1:
            return self
        raise UsageError(
            f"{self.path}: one file is one {name} history, and this directory holds {len(self.files)}\n\n"
            f"hint: name one of them, such as {self.files[0].path}; "
            "`isoscope check --summary` takes each file for a history of its own"
        )

    def head(self) -> bytes:
        """The start of the first file that is not empty."""
        for file in self.files:
            if head := file.head():
                return head
        return b""


def _natural(path: str) -> tuple[list[str | int], str]:
    """Sorts numbers inside names by their size: the sessions of a run are often called T1 to T24."""
    pieces = re.split(r"([0-9]+)", path)
    return [int(piece) if place % 2 else piece for place, piece in enumerate(pieces)], path


def _unpacked(raw: BinaryIO) -> io.BufferedIOBase:
    """The content of `raw`, decompressed if its first bytes say that it is compressed."""
    magic = _peek(raw, 4)
    if magic.startswith(_GZIP):
        return io.BufferedReader(cast("io.RawIOBase", gzip.GzipFile(fileobj=raw)), _BLOCK)
    if magic.startswith(_ZSTANDARD):
        return io.BufferedReader(_Frames(raw), _BLOCK)
    return cast("io.BufferedIOBase", raw)


class _Frames(io.RawIOBase):
    """Zstandard frames one after the other.

    The library's own stream ends without an error where a file is cut off; the history would be shorter.
    """

    def __init__(self, raw: BinaryIO) -> None:
        import zstandard  # noqa: PLC0415 - heavy, and few files need it

        self._raw = raw
        self._decompressor = zstandard.ZstdDecompressor()
        self._frame = self._decompressor.decompressobj()
        self._between = True
        self._content = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while not self._content:
            block = self._frame.unused_data or self._raw.read(_PIECE)
            if not block:
                if not self._between:
                    raise EOFError("the end of the file inside a frame")
                return 0
            if self._frame.eof:
                self._frame = self._decompressor.decompressobj()
            self._content = self._frame.decompress(block)
            self._between = self._frame.eof
        size = min(len(buffer), len(self._content))
        buffer[:size] = self._content[:size]
        self._content = self._content[size:]
        return size


def _buffered(stream: BinaryIO) -> BinaryIO:
    return io.BufferedReader(cast("io.RawIOBase", stream), _BLOCK)


def _peek(stream: BinaryIO, size: int = _HEAD) -> bytes:
    return cast("io.BufferedReader", stream).peek(size)[:size]


@contextmanager
def _reporting(path: str) -> Iterator[None]:
    """Turns exceptions of the system and of decompressors into errors for the user."""
    try:
        yield
    except OSError as error:
        if isinstance(error, gzip.BadGzipFile):
            raise _corrupt(path, error) from None
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
    except (EOFError, zlib.error) as error:
        raise _corrupt(path, error) from None
    except Exception as error:
        if type(error).__name__ != "ZstdError":
            raise
        raise _corrupt(path, error) from None


def _corrupt(path: str, error: Exception) -> FormatError:
    return FormatError(
        path=path,
        expected="compressed data that is whole",
        found=str(error).rstrip(".") or type(error).__name__,
        hint="the file was cut off or damaged on its way: fetch it again",
    )


@contextmanager
def output(path: str | os.PathLike[str], *, gzip_level: int = 9) -> Iterator[BinaryIO]:
    """A place to write to: `-` is standard output; a file appears only when it is complete."""
    name = _name(path, "write")
    if name in _STANDARD_OUTPUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    # A link stays one, and a device or a pipe is written to, not replaced by a file.
    if Path(name).exists() and not Path(name).is_file() and not Path(name).is_dir():
        with _writing(name), Path(name).open("wb") as raw, _compressed(name, raw, gzip_level) as stream:
            yield stream
        return
    target = Path(os.path.realpath(name))
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise UsageError(f"cannot write {name}: {error.strerror or error}") from None
    try:
        with os.fdopen(handle, "wb") as raw, _compressed(name, raw, gzip_level) as stream:
            yield stream
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(target)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise UsageError(f"cannot write {name}: {error.strerror or error}") from None
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextmanager
def _writing(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write {name}: {error.strerror or error}") from None


def _name(path: str | os.PathLike[str], verb: str) -> str:
    name = os.fspath(path)
    if not name:
        raise UsageError(f"cannot {verb} a file without a name")
    if "\0" in name:
        raise UsageError(f"cannot {verb} {name!r}: no file has a name with a NUL byte")
    return name


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def _compressed(name: str, raw: BinaryIO, gzip_level: int) -> Iterator[BinaryIO]:
    if name.endswith(".gz"):
        # No name and no time in the header: the same history gives the same bytes.
        with gzip.GzipFile("", "wb", gzip_level, raw, mtime=0) as stream:
            yield cast("BinaryIO", stream)
    elif name.endswith(".zst"):
        import zstandard  # noqa: PLC0415 - heavy, and few files need it

        with zstandard.ZstdCompressor(level=3).stream_writer(raw, closefd=False) as stream:
            yield cast("BinaryIO", stream)
    else:
        yield raw
