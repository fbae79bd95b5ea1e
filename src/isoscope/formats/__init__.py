"""Histories from and to files: sniffed, read, written, converted.

A further format is one file that makes a `Format`, and one line in `FORMATS`. Another package brings one as
an entry point of the group `isoscope.formats` that names a `Format`.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isoscope import plugins
from isoscope.errors import FormatError, LossError, UnknownFormatError, UsageError
from isoscope.formats import (
    aion,
    awdit,
    cobra,
    dbcop_bincode,
    dbcop_hist,
    dbcop_json,
    dbcop_yaml,
    grail,
    jepsen,
    leopard,
    parquet,
    plume,
    program,
    recording,
    viper,
)
from isoscope.formats.format import FEATURES, Format, features_of
from isoscope.formats.source import COMPRESSIONS, File, Input, output, uncompressed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from isoscope.history import History, Initial

__all__ = [
    "FEATURES",
    "FORMATS",
    "Format",
    "Slices",
    "features_of",
    "find",
    "for_path",
    "histories",
    "load",
    "save",
    "slices",
]

FORMATS: tuple[Format, ...] = (
    program.FORMAT,  # before other lines of JSON
    plume.FORMAT,
    viper.FORMAT,
    jepsen.FORMAT,
    leopard.FORMAT,
    grail.FORMAT,
    aion.FORMAT,
    dbcop_yaml.FORMAT,  # before JSON, which may be YAML too
    dbcop_hist.FORMAT,
    dbcop_json.FORMAT,
    awdit.FORMAT,
    parquet.FORMAT,
    recording.FORMAT,
    dbcop_bincode.FORMAT,
    cobra.FORMAT,
)

#: Endings that many programs give to files of any content: they do not suggest a format.
_COMMON_SUFFIXES = (".json", ".jsonl", ".log")
#: Characters of an unknown content that a message shows.
_EXCERPT = 40


def load(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word of the field
    initial: Initial | None = None,
) -> History:
    """The history at `path`: a file, a directory, `-` for standard input; `.gz` and `.zst` as well.

    The format is recognised by content unless it is named. `initial` replaces the initial values that
    the format stands for.
    """
    source = Input.of(path)
    chosen = find(format) if format else _sniffed(source)
    try:
        return chosen.read(source, initial=initial)
    except FormatError as error:
        raise _with_advice(error, chosen, source, is_asked=bool(format)) from None


@dataclass(frozen=True, slots=True)
class Slices:
    """A history that is read in slices, each of whole transactions, anew for every iteration."""

    source: Input
    format: Format
    initial: Initial | None
    #: Whether the format was named, not recognised.
    is_asked: bool

    def __iter__(self) -> Iterator[History]:
        assert self.format.slices is not None
        try:
            yield from self.format.slices(self.source, initial=self.initial)
        except FormatError as error:
            raise _with_advice(error, self.format, self.source, is_asked=self.is_asked) from None


def slices(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word of the field
    initial: Initial | None = None,
) -> Slices:
    """The history at `path` in slices, for one that does not fit into memory; as `load` otherwise.

    Raises UsageError for standard input, which can be read only once, and for formats without slices.
    """
    source = Input.of(path)
    if any(file.raw is not None for file in source.files):
        raise UsageError(
            f"{source.path} can be read only once, and slices are read twice\n\nhint: save it to a file"
        )
    chosen = find(format) if format else _sniffed(source)
    if chosen.slices is None:
        names = " and ".join(candidate.name for candidate in FORMATS if candidate.slices)
        raise UsageError(
            f"{source.path}: {chosen.name} is read only as a whole\n\n"
            f"hint: {names} can be read in slices; `isoscope convert` writes them"
        )
    return Slices(source, chosen, initial, bool(format))


def _with_advice(error: FormatError, chosen: Format, source: Input, *, is_asked: bool) -> FormatError:
    """The error, with advice if the format was a guess, or the file looks like another format."""
    if not is_asked and chosen is _suggested_by_name(source):
        guess = f"the name says {chosen.name}: if it is not, name the format with --format"
        return replace(error, hint="; ".join([error.hint or guess, *_broken()]))
    file = next((file for file in source.files[1:] if file.path == error.path), None)
    found = _look(Input(source.path, (file,))) if file else None
    if file and found is None:
        return replace(error, hint="every file of a directory is read: correct this file, or take it out")
    if found is None or found is chosen:
        return error
    looks = f"here of {chosen.name}, and this file looks like {found.name}"
    return replace(error, hint=f"a directory is one history, {looks}: take it out")


def histories(path: str | os.PathLike[str]) -> list[str]:
    """The paths of many histories: each file of a directory, at any depth and by name, or `path` itself.

    Write-ahead logs beside histories are none.
    """
    name = os.fspath(path)
    if not Path(name).is_dir():
        return [name]
    below = (os.path.join(folder, file) for folder, _, files in os.walk(name) for file in files)  # noqa: PTH118
    visible = [file for file in below if not any(part.startswith(".") for part in _parts(file, name))]
    logs = {log.path for file in visible if (log := jepsen.log_beside(File(file)))}
    found = sorted(file for file in visible if file not in logs)
    if not found:
        raise UsageError(f"{name}: the directory holds no files")
    return found


def _parts(file: str, folder: str) -> tuple[str, ...]:
    return Path(file).relative_to(folder).parts


def save(
    history: History,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word of the field
    lossy: bool = False,
) -> tuple[str, ...]:
    """Writes `history`; the format follows from the name unless it is given.

    Raises LossError, naming everything that the format cannot hold, unless `lossy`; then it writes the
    rest and returns the names. A file without any operation of a history that has some is never written.
    """
    chosen = find(format) if format else for_path(os.fspath(path))
    if chosen.write is None:
        raise _only_read(chosen)
    plain = uncompressed(os.fspath(path))
    losses = chosen.losses(history, plain)
    if losses and not lossy:
        raise LossError(chosen.name, losses)
    if losses and history.counts["operations"] and not chosen.leaves_operations(history, plain):
        raise UsageError(
            f"{chosen.name} can hold no operation of this history, so nothing would be left of it\n\n"
            "hint: choose another format; Parquet holds everything"
        )
    with output(path) as sink:
        chosen.write(history, sink, path=plain)
    return losses


def find(name: str) -> Format:
    """The format with this name."""
    for candidate in FORMATS:
        if candidate.name == name.lower():
            return candidate
    if plugins.is_path(name) or name in plugins.names("format"):
        return _plugged_in(name)
    names = ", ".join([*(candidate.name for candidate in FORMATS), *plugins.names("format")])
    raise UnknownFormatError(f"no format is called `{name}`\n\nhint: the formats are {names}")


@cache
def _plugged_in(name: str) -> Format:
    """The format of another package; an exception of it becomes one line."""
    found = plugins.load("format", name)
    if not isinstance(found, Format):
        raise UsageError(f"{name} is no format: expected a `Format`, found {type(found).__name__}")
    functions = {field: getattr(found, field) for field in ("sniff", "read", "write", "named")}
    guarded: dict[str, Any] = {
        field: plugins.guard(f"the format {found.name} failed in `{field}`", function)
        for field, function in functions.items()
        if function is not None
    }
    return replace(found, **guarded)


def _plug_ins() -> list[Format]:
    """The formats of other packages that can be loaded; `_broken` names the others."""
    found = []
    for name in plugins.names("format"):
        with suppress(UsageError):
            found.append(_plugged_in(name))
    return found


def _broken() -> list[str]:
    """One line for each format of another package that cannot be loaded."""
    lines = []
    for name in plugins.names("format"):
        try:
            _plugged_in(name)
        except UsageError as error:
            lines.append(str(error))
    return lines


def _sniffed(source: Input) -> Format:
    found = _look(source) or _suggested_by_name(source)
    if found is None:
        raise _unrecognised(source)
    return found


def _suggested_by_name(source: Input) -> Format | None:
    """The format of a file whose content no format recognises: its parser says where the mistake is."""
    file = source.files[0]
    if source.is_directory or file.raw is not None or _look(source) is not None:
        return None
    head = file.head()
    if not head.strip() or _known_content(file, head):
        return None
    name = uncompressed(file.path)
    named = {suffix: one for one in FORMATS for suffix in one.suffixes if suffix not in _COMMON_SUFFIXES}
    longest = sorted(named, key=len, reverse=True)
    return next((named[suffix] for suffix in longest if name.endswith(suffix)), None)


def _look(source: Input) -> Format | None:
    for candidate in FORMATS:
        if candidate.named is not None and candidate.named(source):
            return candidate
    # Beside the files of a history a directory may hold notes, which no format recognises.
    heads = [file.head().removeprefix(b"\xef\xbb\xbf") for file in source.files]
    return _recognised(heads, FORMATS) or _recognised(heads, _plug_ins())


def _recognised(heads: Sequence[bytes], candidates: Sequence[Format]) -> Format | None:
    return next((found for head in heads for found in candidates if found.sniff(head)), None)


def _unrecognised(source: Input) -> UnknownFormatError:
    first = next((file for file in source.files if file.head().strip()), None)
    if first is None:
        return UnknownFormatError(
            f"{source.path}: the input is empty\n\n"
            "hint: was the history written? With --format an empty file is an empty history"
        )
    head = first.head().removeprefix(b"\xef\xbb\xbf")
    return UnknownFormatError(
        f"{first.path}: no format recognises this input; it starts with {_start(head)}\n\n"
        f"hint: {_advice(first, head)}"
    )


def _start(head: bytes) -> str:
    """The start of a content: its first line, or bytes if it is no text."""
    line = head[: 4 * _EXCERPT].decode(errors="replace").lstrip().partition("\n")[0]
    text = line.replace("\t", " ").rstrip()[:_EXCERPT]
    if text.isprintable() and "\ufffd" not in text:
        return f"`{text}`"
    return f"the bytes {head[:8].hex(' ')}"


def _known_content(file: File, head: bytes) -> str:
    """Advice about a content that is no history, but known; else nothing."""
    if jepsen.is_log(head):
        history = "X.edn" if file.raw else uncompressed(file.path).removesuffix(".log") + ".edn"
        return f"this is the write-ahead log of a Jepsen history: check {history} beside it"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "this is text in UTF-16: convert it to UTF-8"
    if file.path.endswith(COMPRESSIONS) and file.is_plain:
        return "the name says that the file is compressed, and its content is not: was it cut off or damaged?"
    return ""


def _advice(file: File, head: bytes) -> str:
    if known := _known_content(file, head):
        return known
    names = ", ".join([*(candidate.name for candidate in FORMATS), *plugins.names("format")])
    return "; ".join([f"name its format with --format ({names})", *_broken()])


def for_path(path: str) -> Format:
    """The format that the name of a file suggests: the one with the longest suffix."""
    name = uncompressed(path)
    found = _suggested(name, FORMATS) or _suggested(name, _plug_ins())
    if found is not None:
        return found
    only_read = [candidate for candidate in FORMATS if name.endswith(candidate.suffixes)]
    if only_read:
        raise _only_read(only_read[0])
    suffixes = ", ".join(_by_suffix([*FORMATS, *_plug_ins()]))
    raise UnknownFormatError(
        f"{path}: the name does not say which format to write\n\n"
        f"hint: name the format, or let the file end with one of {suffixes}"
    )


def _suggested(name: str, candidates: Sequence[Format]) -> Format | None:
    writable = _by_suffix(candidates)
    longest = sorted(writable, key=len, reverse=True)
    return next((writable[suffix] for suffix in longest if name.endswith(suffix)), None)


def _by_suffix(candidates: Iterable[Format]) -> dict[str, Format]:
    return {
        suffix: candidate
        for candidate in candidates
        if candidate.write is not None
        for suffix in candidate.suffixes
    }


def _only_read(chosen: Format) -> UsageError:
    written = ", ".join(candidate.name for candidate in FORMATS if candidate.write is not None)
    return UsageError(f"{chosen.name} is only read\n\nhint: these can be written: {written}")
