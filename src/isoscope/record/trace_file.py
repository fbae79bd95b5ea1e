"""The files of recorded processes, one for each process and thread.

A file is a sequence of records, each a list of objects behind its length and checksum: tables, statements and
places when they are first used, and transactions when they end. A process that is killed loses only the
transactions that were open. The objects are written by `marshal`, which takes a quarter of the time of JSON;
its format for plain values is the same in all versions of Python that Isoscope supports.
"""

from __future__ import annotations

import json
import marshal
from datetime import date, datetime, time
from decimal import Decimal
from struct import Struct
from typing import TYPE_CHECKING, Any, TypeAlias
from zlib import crc32

from isoscope.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from isoscope.record.done import Done
    from isoscope.record.plan import Plan
    from isoscope.record.recording import Database
    from isoscope.record.tables import Table

__all__ = ["PLAIN_TYPES", "Prepared", "Writer", "encoded", "plain", "read_records"]

#: Lines that come before a transaction, the number of its database, and its statements.
Prepared: TypeAlias = "tuple[list[Any], int, list[tuple[Any, ...]]]"
#: Values of these types are written as they are.
PLAIN_TYPES = frozenset({int, str, bool, type(None)})
_HEAD = Struct("<II")
_MARSHAL = 4


class Writer:
    """A file of one thread; statements and tables are written when they are first used."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)
        self._statements: dict[tuple[int, str], int] = {}
        self._databases: dict[int, int] = {}
        self._tables: dict[tuple[int, str], Table] = {}
        #: The number of each plan in this file; plans are kept so that their identities are not used again.
        self._numbers: dict[int, int] = {}
        self._plans: list[Plan] = []
        self._places: dict[tuple[str, int], int] = {}
        #: Statements that had parameters of other types than `marshal` knows, and may have them again.
        self._converted: set[int] = set()

    def prepared(self, database: Database, done: Sequence[Done]) -> Prepared:
        """What can be made of a transaction before its end is known."""
        lines: list[Any] = []
        number = self._database(database, lines)
        numbers, places, converted = self._numbers, self._places, self._converted
        rows = []
        for one in done:
            sql, plan, parameters, at, invoke, complete, found, reader, is_undone = one
            statement = numbers.get(id(plan))
            if statement is None:
                statement = self._statement(sql, plan, number, database, lines)
            place = places.get(at)
            if place is None:
                place = places[at] = len(places)
                lines.append({"place": place, "at": at})
            if statement in converted:
                parameters = _plain_parameters(parameters)
            if reader is not None:
                found = reader(found, plan.hidden)
            rows.append((statement, parameters, place, invoke, complete, found, is_undone, plan.reason))
        return lines, number, rows

    def transaction(self, session: str, row: dict[str, Any], prepared: Prepared) -> None:
        """Writes a transaction that has ended; the file then holds it whatever happens."""
        lines, number, done = prepared
        lines.append({"transaction": session, "database": number, **row, "done": done})
        data = _dumped(lines)
        if data is None:
            self._converted |= {one[0] for one in done if _dumped([one[1]]) is None}
        self._file.write(_record(data) if data is not None else encoded(lines))

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _database(self, database: Database, lines: list[Any]) -> int:
        number = self._databases.get(id(database))
        if number is None:
            number = self._databases[id(database)] = len(self._databases)
            dialect = database.dialect.name
            lines.append({"kind": database.kind, "number": number, "dialect": dialect, **database.facts})
        return number

    def _statement(self, sql: str, plan: Plan, number: int, database: Database, lines: list[Any]) -> int:
        """The number of a statement whose plan is new, with the tables that it needs."""
        for reference in plan.references:
            table = database.tables.get(reference.table)
            if table is not None and self._tables.get((number, table.name)) != table:
                self._tables[number, table.name] = table
                about = {"key": table.key, "columns": table.columns, "types": table.types}
                lines.append({"table": table.name, "database": number, **about})
        statement = self._statements.get((number, sql))
        if statement is None:
            statement = self._statements[number, sql] = len(self._statements)
            lines.append({"statement": statement, "database": number, "sql": sql})
        self._numbers[id(plan)] = statement
        self._plans.append(plan)
        return statement


def encoded(objects: list[Any]) -> bytes:
    """A record of a file."""
    data = _dumped(objects) or _dumped([_with_plain_parameters(one) for one in objects])
    return _record(data or marshal.dumps(plain(objects), _MARSHAL))


def _record(data: bytes) -> bytes:
    return _HEAD.pack(len(data), crc32(data)) + data


def _dumped(objects: list[Any]) -> bytes | None:
    """The objects as bytes; None if one of them is not of a plain type."""
    try:
        return marshal.dumps(objects, _MARSHAL)
    except ValueError:
        return None


def _with_plain_parameters(line: Any) -> Any:
    """A line with parameters of plain types; rows mostly are of such types anyhow."""
    if "done" not in line:
        return line
    done = [(one[0], _plain_parameters(one[1]), *one[2:]) for one in line["done"]]
    return {**line, "done": done}


def _plain_parameters(given: Any) -> Any:
    """Parameters of plain types; only those that are of another one are written as JSON, which takes long."""
    if type(given) is not tuple and type(given) is not list:
        return plain(given)
    return [one if type(one) in PLAIN_TYPES else _CONVERSIONS.get(type(one), plain)(one) for one in given]


def plain(value: Any) -> Any:
    """A value of which JSON can hold each part: times and numbers of other types become texts."""
    return json.loads(_ENCODER.encode(value))


def _text(value: Any) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    isoformat = getattr(value, "isoformat", None)
    return isoformat() if isoformat is not None else str(value)


_ENCODER = json.JSONEncoder(default=_text, separators=(",", ":"))
#: What `plain` makes of the types that parameters often have; JSON takes many times as long.
_CONVERSIONS: dict[type, Callable[[Any], Any]] = {
    Decimal: str,
    date: date.isoformat,
    datetime: datetime.isoformat,
    time: time.isoformat,
}


def read_records(path: Path) -> Iterator[Any]:
    """The objects of a file; a last record that is not complete is left out."""
    data = path.read_bytes()
    at, number = 0, 1
    while at + _HEAD.size <= len(data):
        length, checksum = _HEAD.unpack_from(data, at)
        record = data[at + _HEAD.size : at + _HEAD.size + length]
        if len(record) < length:
            return  # The process was killed while it wrote.
        if crc32(record) != checksum:
            raise _damaged(path, number, record)
        yield from marshal.loads(record)
        at, number = at + _HEAD.size + length, number + 1


def _damaged(path: Path, number: int, record: bytes) -> FormatError:
    return FormatError(
        path=str(path),
        line=number,
        expected="a record that a recorded process wrote",
        found=ascii(record[:20]),
        hint="the file was changed or damaged",
    )
