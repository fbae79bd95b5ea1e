"""The content of a row of PostgreSQL, from the text of a composite value such as `(1,"a b",,t)`.

Databases that speak its protocol only show the columns as texts of their own.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from isoscope.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from isoscope.record.tables import Table

__all__ = ["row_content", "text_content"]

#: A field, in quotes or not, and the comma or the parenthesis behind it.
_FIELD = re.compile(r'(?:(?P<quoted>"(?:[^"\\]|""|\\.)*")|(?P<plain>[^,()"]*))[,)]', re.DOTALL)
_ESCAPED = re.compile(r'"(")|\\(.)', re.DOTALL)
#: Types whose texts do not compare as their values do.
_INCOMPARABLE = frozenset({"interval", "json", "jsonb", "money", "bytea", "inet", "cidr", "timetz"})


def row_content(text: str, table: Table) -> dict[str, Any]:
    """The columns of a row as values that conditions can compare; columns that they cannot are left out."""
    fields = list(_fields(text))
    if len(fields) != len(table.columns):
        raise UsageError(
            f"the columns of the table {table.name} changed while it was recorded\n\n"
            "hint: change the schema first, then start the program and record it"
        )
    kinds = table.types or ("",) * len(fields)
    found: dict[str, Any] = {}
    for column, kind, field in zip(table.columns, kinds, fields, strict=True):
        if field is None:
            found[column] = None
        elif kind not in _INCOMPARABLE and not kind.startswith("_"):
            value = _READERS.get(kind, str)(field)
            found |= {} if value is None else {column: value}
    return found


#: Types whose texts mean the same in every session, whatever its settings are.
_SETTLED = frozenset(
    {"int2", "int4", "int8", "oid", "text", "varchar", "bpchar", "uuid", "bool", "numeric"}
    | {"timestamp", "timestamptz", "date", "time"}
)


def text_content(cells: Mapping[str, str | None], table: Table) -> dict[str, Any]:
    """The columns of a row, of which each is a text, as values that conditions can compare.

    Other columns are left out: versions that differ in nothing else count as the same.
    """
    found: dict[str, Any] = {}
    for column in table.columns:
        kind, text = table.type_of(column), cells.get(column)
        if kind in _SETTLED and column in cells:
            value = None if text is None else _READERS.get(kind, str)(text)
            found |= {column: value} if text is None or value is not None else {}
    return found


def _fields(text: str) -> Iterator[str | None]:
    """The fields as texts; NULL is a field without any character, and an empty text has quotes."""
    if '"' not in text:
        yield from (field or None for field in text[1:-1].split(","))
        return
    for found in _FIELD.finditer(text, 1):
        if found["quoted"] is None:
            yield found["plain"] or None
        else:
            yield _ESCAPED.sub(lambda part: part[1] or part[2], found["quoted"][1:-1])


def _number(text: str) -> Decimal | None:
    """A number; NaN and infinity are none."""
    return Decimal(text) if text[-1].isdigit() else None


def _instant(text: str) -> str | None:
    """A time as ISO writes it, in UTC if it has a zone."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None  # Infinity, a year before 1 or after 9999, or another DateStyle.
    return (found if found.tzinfo is None else found.astimezone(UTC)).isoformat()


_READERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("int2", "int4", "int8", "oid"), int),
    **dict.fromkeys(("numeric", "float4", "float8"), _number),
    **dict.fromkeys(("timestamp", "timestamptz"), _instant),
    "time": lambda text: time.fromisoformat(text).isoformat() if text < "24" else None,
    "bool": lambda text: text in ("t", "true"),
    "bpchar": str.rstrip,
}
