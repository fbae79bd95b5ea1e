"""The history of a run as it is written while the run goes on; a killed run leaves it behind.

After the first line come frames: their kind, the length and a checksum of their content. A frame of initial
values is JSON. A frame of transactions is the length of an Arrow stream, that stream, and another one: the
transactions that ended since the frame before, and those that were open then. Whatever an ended transaction
may have read is therefore in its frame or in an earlier one. An unfinished last frame is left out; the
transactions that were open at the last whole frame are indeterminate. A frame of the nodes of sessions and of
faults is JSON, too; it replaces an earlier one.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any
from zlib import crc32

from isoscope._native import Builder
from isoscope.errors import FormatError
from isoscope.formats.arrow import from_stream, to_stream
from isoscope.formats.format import FEATURES, Format
from isoscope.history import Deployment, History, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from isoscope.formats.source import Input
    from isoscope.history import Initial, Scalar

__all__ = ["FORMAT", "MAGIC", "deployment_frame", "initial_frame", "transactions_frame"]

MAGIC = b"isoscope recording 1\n"
_HEAD = struct.Struct("<cQI")
_LENGTH = struct.Struct("<Q")
_INITIAL, _TRANSACTIONS, _DEPLOYMENT = b"i", b"t", b"d"


def initial_frame(of_key: Mapping[int, int]) -> bytes:
    """Initial values of keys; those of all others are 0."""
    return _frame(_INITIAL, json.dumps([*of_key.items()]).encode())


def transactions_frame(ended: History, open_: History) -> bytes:
    """Transactions that have ended, and those that were open then."""
    stream = to_stream(ended)
    return _frame(_TRANSACTIONS, _LENGTH.pack(len(stream)) + stream + to_stream(open_))


def deployment_frame(deployment: Deployment) -> bytes:
    """The nodes of sessions and the faults until now."""
    return _frame(_DEPLOYMENT, json.dumps(deployment.document()).encode())


def _frame(kind: bytes, content: bytes) -> bytes:
    return _HEAD.pack(kind, len(content), crc32(content)) + content


def _sniff(head: bytes) -> bool:
    return head.startswith(MAGIC)


def _read(source: Input, *, initial: Initial | None = None) -> History:
    [file] = source.only("recording").files
    builder = Builder()
    of_key: dict[Scalar, Any] = {}
    builder.initial(0, replaceable=False)
    open_, deployment = b"", Deployment()
    for kind, content, place in _frames(file.read(), source.path):
        if kind == _INITIAL:
            of_key |= dict(_initial_values(content, source.path, place))
            continue
        if kind == _DEPLOYMENT:
            deployment = _deployment(content, source.path, place)
            continue
        stream, open_ = _streams(content, source.path, place)
        _add(builder, stream, source.path)
    if open_:
        _add(builder, open_, source.path)
    if initial is not None:
        builder.initial(initial.value, replaceable=initial.replaceable)
        of_key = dict(initial.of_key)
    for key, value in of_key.items():
        builder.initial_of(key, value)
    said = Source(path=source.path, format="recording", deployment=deployment)
    return History(builder.finish(), said)


def _frames(data: bytes, path: str) -> Iterator[tuple[bytes, bytes, int]]:
    """The whole frames: kind, content and place."""
    at = len(MAGIC)
    while len(data) - at >= _HEAD.size:
        kind, length, check = _HEAD.unpack_from(data, at)
        end = at + _HEAD.size + length
        if end > len(data):
            return
        content = data[at + _HEAD.size : end]
        if crc32(content) != check or kind not in (_INITIAL, _TRANSACTIONS, _DEPLOYMENT):
            raise _damaged(path, at, "a frame that fits its checksum")
        yield kind, content, at
        at = end


def _streams(content: bytes, path: str, place: int) -> tuple[bytes, bytes]:
    if len(content) < _LENGTH.size:
        raise _damaged(path, place, "two Arrow streams")
    middle = _LENGTH.size + _LENGTH.unpack_from(content)[0]
    return content[_LENGTH.size : middle], content[middle:]


def _initial_values(content: bytes, path: str, place: int) -> list[tuple[int, int]]:
    try:
        return [(int(key), int(value)) for key, value in json.loads(content)]
    except (TypeError, ValueError, RecursionError):
        raise _damaged(path, place, "initial values of keys") from None


def _deployment(content: bytes, path: str, place: int) -> Deployment:
    try:
        return Deployment.of(json.loads(content))
    except (KeyError, TypeError, ValueError, RecursionError):
        raise _damaged(path, place, "nodes of sessions and faults") from None


def _add(builder: Builder, stream: bytes, path: str) -> None:
    for transaction in from_stream(stream, path=path):
        builder.add(transaction)


def _damaged(path: str, place: int, expected: str) -> FormatError:
    return FormatError(
        path=path,
        expected=expected,
        found="something else",
        byte=place,
        hint="the file was changed or damaged",
    )


FORMAT = Format(
    name="recording",
    title="A run that was killed",
    suffixes=(".recording",),
    sniff=_sniff,
    read=_read,
    slices=None,
    write=None,
    holds=frozenset(FEATURES),
)
