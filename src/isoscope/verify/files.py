"""Opens a history or a certificate: compressed or not, in one of three formats, told by the content."""

from __future__ import annotations

import gzip
import io
import zlib
from typing import TYPE_CHECKING

from isoscope.verify import jepsen, parquet, plume
from isoscope.verify.history import BadInputError

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.verify.history import History

__all__ = ["open_text", "read_history"]

_OTHER = (
    "the verifier reads Plume text, Jepsen EDN and Isoscope's Parquet; "
    "`isoscope convert` makes one of them from any other format"
)


def read_history(path: Path) -> History:
    """The history of a file."""
    if path.is_dir():
        raise BadInputError(f"{path}: expected a file, found a directory; {_OTHER}")
    try:
        with path.open("rb") as file:
            start = file.read(4)
        if start == b"PAR1":
            return parquet.read(path)
        with open_text(path) as text:
            return _read_text(text, path)
    except (OSError, UnicodeDecodeError, EOFError, zlib.error) as error:
        raise BadInputError(f"{path}: {error}") from None


def open_text(path: Path) -> io.TextIOWrapper:
    """The text of a file, which may be compressed with gzip."""
    with path.open("rb") as file:
        is_compressed = file.read(2) == b"\x1f\x8b"
    if is_compressed:
        return io.TextIOWrapper(gzip.open(path), encoding="utf-8", newline="\n")
    return path.open(encoding="utf-8", newline="\n")


def _read_text(text: io.TextIOWrapper, path: Path) -> History:
    first = text.readline()
    while first and not first.strip():
        first = text.readline()
    text.seek(0)
    if first.startswith(("r(", "w(")) or not first:
        return plume.read(text, str(path))
    if first.lstrip().startswith(("{:", "[", "#", ";", "{ :")) and ":" in first + (content := text.read()):
        _refuse_log(path)
        text.seek(0)
        return jepsen.read(content, str(path))
    raise BadInputError(f"{path}: {_OTHER}")


def _refuse_log(path: Path) -> None:
    """A log beside the history would be part of the evidence; only Parquet keeps both in one file."""
    stem = path.name.split(".edn")[0]
    for ending in (".log", ".log.gz", ".log.zst"):
        log = path.with_name(stem + ending)
        if log.is_file() and log != path and (ending == ".log.zst" or _is_json(log)):
            raise BadInputError(f"{log} is a log of this history: convert both to Parquet first")


def _is_json(log: Path) -> bool:
    with open_text(log) as text:
        return text.read(1) == "{"
