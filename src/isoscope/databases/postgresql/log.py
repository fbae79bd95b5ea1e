"""The order of versions in PostgreSQL's log, from the messages of its logical decoding plugin `pgoutput`.

Transactions come in the order of their commit records, whole and committed; others do not come at all. The
table has two columns, an integer key and an integer value, and its key is its replica identity.
The format: PostgreSQL documentation, "Logical Replication Message Formats", protocol version 1.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

__all__ = ["versions"]

_BEGIN, _COMMIT, _INSERT, _UPDATE, _DELETE = b"BCIUD"
#: Parts of an update: the new row, after the old key if that has changed.
_NEW = ord("N")
_NUMBER_OF_TRANSACTION = Struct(">17xI")
#: After the kind and the number of the table: which row this is, and its count of columns.
_ROW = Struct(">BH")
_COLUMN = Struct(">BI")
#: Columns without bytes: null, and unchanged ones that are stored elsewhere.
_EMPTY = b"nu"


def versions(messages: Iterable[bytes], *, without: Collection[int] = ()) -> Iterator[tuple[int, int]]:
    """Committed versions (key, value) by commit; the last one of each key in each transaction.

    Transactions with numbers in `without` are left out.
    """
    rows: dict[int, int] = {}
    is_left_out = False
    for message in messages:
        kind = message[0]
        if kind == _BEGIN:
            rows.clear()
            is_left_out = _NUMBER_OF_TRANSACTION.unpack_from(message)[0] in without
        elif kind in {_INSERT, _UPDATE}:
            key, value = _new_row(message)
            rows.pop(key, None)
            rows[key] = value
        elif kind == _DELETE:
            rows.pop(int(_columns(message, 5)[0][0] or 0), None)
        elif kind == _COMMIT and not is_left_out:
            yield from rows.items()


def _new_row(message: bytes) -> tuple[int, int]:
    columns, end = _columns(message, 5)
    if message[5] != _NEW:
        columns, _ = _columns(message, end)
    key, value = columns
    assert key is not None
    assert value is not None
    return int(key), int(value)


def _columns(message: bytes, at: int) -> tuple[list[bytes | None], int]:
    """The columns of the row at `at`, and where the next row is."""
    _, count = _ROW.unpack_from(message, at)
    at += _ROW.size
    columns: list[bytes | None] = []
    for _ in range(count):
        if message[at] in _EMPTY:
            columns.append(None)
            at += 1
            continue
        _, length = _COLUMN.unpack_from(message, at)
        at += _COLUMN.size
        columns.append(message[at : at + length])
        at += length
    return columns, at
