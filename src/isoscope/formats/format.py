"""The parts of a format: its name, how to recognise, read and write it, and the features that it can hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TypeAlias

from isoscope._native import ParseError, Reader
from isoscope.errors import FormatError
from isoscope.history import History, Initial, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.formats.source import Input

__all__ = [
    "FEATURES",
    "Fields",
    "Format",
    "ReadFunction",
    "SliceFunction",
    "SniffFunction",
    "WriteFunction",
    "Writer",
    "features_of",
    "feed",
    "fields",
    "format_error",
    "read_one",
    "read_text",
    "slice_text",
    "write_text",
]

_OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?[\s\[]*\{")
_TOKEN = re.compile(rb'"((?:[^"\\]|\\.)*)"(\s*:)?|[{}\[\]]', re.DOTALL)

#: Everything that a history can hold beyond committed transactions of integer reads and writes.
FEATURES = (
    "aborted transactions",
    "aborted transactions of several operations",
    "client intervals of operations",
    "client intervals of transactions",
    "columns",
    "deletes",
    "empty transactions",
    "event order",
    "explicit sequence numbers",
    "faults",
    "indeterminate transactions",
    "initial values of single keys",
    "inserts",
    "integers beyond 64 bits",
    "keys that are no integers",
    "lists",
    "lock modes",
    "markers of begin, commit and abort",
    "nodes of sessions",
    "predicates",
    "range reads",
    "read modes",
    "registers",
    "session ids that are no integers",
    "statement kinds",
    "tables",
    "timestamps",
    "tombstones",
    "transaction ids that are no integers",
    "transactions without a session id",
    "unknown results",
    "values that are no integers",
    "version order",
)


#: The replacement, in a file, of a feature that its format does not have; any other feature is left out.
_INSTEAD = {
    "aborted transactions of several operations": "each write is a transaction of its own",
    "indeterminate transactions": (
        "those whose writes were observed are written as committed, the others left out"
    ),
    "inserts": "written as writes",
    "integers beyond 64 bits": "keys, values or ids are numbered",
    "keys that are no integers": "all keys are numbered",
    "session ids that are no integers": "sessions are numbered",
    "transaction ids that are no integers": "transactions are numbered",
    "transactions without a session id": "their sessions are numbered",
    "values that are no integers": "all values are numbered",
}

#: The name of a native writer, or how it follows from the path without `.gz` or `.zst`.
Writer: TypeAlias = str | Callable[[str], str]


class ReadFunction(Protocol):
    """Reads a history; `initial` replaces the initial values that the format stands for."""

    def __call__(self, source: Input, *, initial: Initial | None = None) -> History:
        """Read `source`."""
        ...


class SliceFunction(Protocol):
    """Reads the input in slices, each a history of whole transactions; `initial` as in `ReadFunction`."""

    def __call__(self, source: Input, *, initial: Initial | None = None) -> Iterator[History]:
        """Read `source`."""
        ...


class WriteFunction(Protocol):
    """Writes everything that the format can hold; `path` is the target without `.gz` or `.zst`."""

    def __call__(self, history: History, sink: BinaryIO, *, path: str) -> None:
        """Write `history` to `sink`."""
        ...


class SniffFunction(Protocol):
    """Whether the start of the input looks like the format."""

    def __call__(self, head: bytes) -> bool:
        """Look at `head`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format; each lives in a file of its own and is listed in `formats/__init__.py`.

    A format without `write` is only read. `holds` are the features that survive writing; `initial` are the
    initial values that a reader assumes, so that other ones are lost (None: the format writes its own).
    `named` says whether the names of the files tell this format, where the content alone could be another.
    `writer` is the native writer, which may lose more: it names the losses among the features that the format
    holds `partly`, whether `holds` has them or not. `slices` reads histories that do not fit into memory;
    None if the format has none.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    sniff: SniffFunction
    read: ReadFunction
    slices: SliceFunction | None = None
    named: Callable[[Input], bool] | None = None
    write: WriteFunction | None = None
    holds: frozenset[str] = field(default_factory=frozenset)
    partly: frozenset[str] = field(default_factory=frozenset)
    initial: Initial | None = None
    writer: Writer | None = None

    def __post_init__(self) -> None:
        if unheard := (self.holds | self.partly) - set(FEATURES):
            raise ValueError(f"{self.name} holds {sorted(unheard)}, which no history has")

    def losses(self, history: History, path: str = "") -> tuple[str, ...]:
        """Names of everything that a file of `history` would lose; `path` is without `.gz` or `.zst`."""
        held = self.holds | self.partly
        features = features_of(history)
        lost = [_told(feature, held) for feature in features if feature not in held]
        # Those of single keys are a feature.
        said = replace(history.initial, of_key={})
        if self.initial is not None and _matters(history, features) and not _same(said, self.initial):
            lost.append(_initial_loss(said, self.initial))
        if self.writer is not None:
            lost += history.columns.unwritable(_name(self.writer, path))
        return tuple(lost)

    def leaves_operations(self, history: History, path: str = "") -> bool:
        """Whether a file called `path` would have any operation of `history`."""
        return self.writer is None or history.columns.leaves_operations(_name(self.writer, path))


def features_of(history: History) -> list[str]:
    """The features that a history has, in the order of `FEATURES`."""
    nodes = ["nodes of sessions"] if history.deployment.nodes else []
    faults = ["faults"] if history.deployment.faults else []
    return sorted([*history.columns.features(), *nodes, *faults], key=FEATURES.index)


def _told(feature: str, held: frozenset[str]) -> str:
    """The name of a lost feature, with its replacement in the file."""
    # Where no aborted transaction is written, there is nothing more to say.
    if feature == "aborted transactions of several operations" and "aborted transactions" not in held:
        return feature
    return f"{feature}: {_INSTEAD[feature]}" if feature in _INSTEAD else feature


def _same(said: Initial, here: Initial) -> bool:
    """Python finds False and 0.0 equal to 0; a history does not."""
    return said == here and type(said.value) is type(here.value)


def _initial_loss(said: Initial, here: Initial) -> str:
    if str(said) == str(here):
        return "whether an explicit write of the initial value takes its place"
    return f"the initial value ({said}, but {here} in every file of this format)"


def _matters(history: History, features: list[str]) -> bool:
    """Lists always start empty, so only registers, read or written, can lose their initial values."""
    counts = history.counts
    return "registers" in features or not counts["append"] or any(counts[k] for k in ("insert", "delete"))


@dataclass(frozen=True, slots=True)
class Fields:
    """The names of an object's fields; more may follow if the head ends before the object does."""

    names: frozenset[str] = frozenset()
    is_whole: bool = False

    def any(self, *names: str) -> bool:
        """Whether the object has one of these."""
        return not self.names.isdisjoint(names)


@lru_cache(maxsize=4)
def fields(head: bytes) -> Fields:
    """The fields of the first object, alone or first in an array; none if the head is no such JSON."""
    start = _OBJECT.match(head)
    names: set[str] = set()
    depth = 1
    for token in _TOKEN.finditer(head, start.end()) if start else ():
        if token[0] in b"{[":
            depth += 1
        elif token[0] in b"}]":
            depth -= 1
        elif depth == 1 and token[2]:
            names.add(token[1].decode("utf-8", "replace"))
        if depth == 0:
            return Fields(frozenset(names), is_whole=True)
    return Fields(frozenset(names))


def read_text(name: str, source: Input, *, initial: Initial | None = None) -> History:
    """Reads a format whose parser is `Reader(name)`."""
    return feed(Reader(name), source, name=name, initial=initial)


def read_one(name: str, source: Input, *, initial: Initial | None = None) -> History:
    """The same for a format of which one file is one history."""
    return read_text(name, source.only(name), initial=initial)


def write_text(writer: Writer, history: History, sink: BinaryIO, *, path: str) -> None:
    """Writes a format that has a native writer."""
    history.columns.write(_name(writer, path), sink)


def _name(writer: Writer, path: str) -> str:
    return writer if isinstance(writer, str) else writer(path)


def feed(reader: Reader, source: Input, *, name: str, initial: Initial | None = None) -> History:
    """Feeds the input to `reader`, file by file and block by block; `name` is the format's."""
    files: list[tuple[int, str]] = []
    line, is_text = 1, reader.is_text
    try:
        for file in source.files:
            files.append((line, file.path))
            reader.start_of_file(file.stem)
            for block in file.blocks():
                reader.feed(block)
            line = reader.end_of_file()
        columns = reader.finish(_row(initial))
    except ParseError as error:
        raise format_error(error, _source(source, name, files, is_text=is_text)) from None
    return History(columns, _source(source, name, files, is_text=is_text))


def slice_text(name: str, source: Input, *, initial: Initial | None = None) -> Iterator[History]:
    """Reads a format whose parser is `Reader(name)` and can be drained; the last slice may be empty."""
    reader, files, line = Reader(name), list[tuple[int, str]](), 1
    replaced = _row(initial)
    try:
        for file in source.files:
            files.append((line, file.path))
            reader.start_of_file(file.stem)
            for block in file.blocks():
                reader.feed(block)
                if columns := reader.drain(replaced):
                    yield History(columns, _source(source, name, files, is_text=True))
            line = reader.end_of_file()
        yield History(reader.finish(replaced), _source(source, name, files, is_text=True))
    except ParseError as error:
        raise format_error(error, _source(source, name, files, is_text=True)) from None


def _row(initial: Initial | None) -> tuple[Any, list[tuple[Any, Any]]] | None:
    return None if initial is None else (initial.value, list(initial.of_key.items()))


def _source(source: Input, name: str, files: list[tuple[int, str]], *, is_text: bool) -> Source:
    # A directory of one file still names the file.
    several = tuple(files) if source.is_directory else ()
    return Source(path=source.path, format=name, files=several, is_text=is_text)


def format_error(error: ParseError, source: Source) -> FormatError:
    """The kernel's error with the path of the file in which it happened."""
    line, column, expected, found, hint, excerpt, caret = error.args
    path, number = source.locate(line) if line else (source.path, 0)
    return FormatError(
        path=path,
        line=number if source.is_text else 0,
        column=column,
        byte=number - 1 if line and not source.is_text else None,
        expected=expected,
        found=found,
        hint=hint,
        excerpt=excerpt,
        caret=caret,
    )
