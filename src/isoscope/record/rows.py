"""The rows that a statement named in its hidden columns: table, key, version and content."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from isoscope.record.plan import STAMP, Kind
from isoscope.record.row_text import row_content, text_content

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.record.plan import Plan
    from isoscope.record.tables import Table
    from isoscope.record.traces import Statement, TracedDatabase

__all__ = ["SeenRow", "has_integer_key", "key_label", "seen_rows"]

#: Table, key, version, content and stamp of each row, by table and name.
_Found: TypeAlias = "dict[tuple[str, str], tuple[Table, Sequence[Any], Any, dict[str, Any] | None, str]]"


class SeenRow(NamedTuple):
    """A row that a statement read or wrote; `content` is known of written versions.

    `stamp` is when a version that was read was committed, as far as the database shows it.
    """

    table: str
    key: str
    version: str
    columns: tuple[tuple[str, Any], ...]
    content: dict[str, Any] | None = None
    stamp: str = ""


def key_label(table: str, values: Sequence[Any]) -> str:
    """The name of a row: `accounts/7`, `stock/1/42`."""
    return "/".join([table, *map(str, values)])


def has_integer_key(plan: Plan, values: Sequence[Any]) -> bool:
    """Whether the parameters that a condition compares columns of the key with are integers."""
    places = [place for place in plan.point if place is not None]
    return all(place < len(values) and _integer(values[place]) is not None for place in places)


def _whole_key(plan: Plan, values: Sequence[Any], shown: Sequence[Any]) -> list[Any]:
    """The key of a row: columns that parameters tell, and those that the hidden columns show."""
    left = iter(shown)
    return [next(left) if place is None else _integer(values[place]) for place in plan.point]


def _integer(value: Any) -> int | None:
    if isinstance(value, int):
        return int(value)
    try:
        number = Decimal(str(value))
        return int(number) if number == int(number) else None
    except (ArithmeticError, ValueError):
        return None


def seen_rows(statement: Statement, database: TracedDatabase) -> list[SeenRow]:
    """Every row that the result of a statement names, each once."""
    if statement.seen is None:
        statement.seen = list(_seen_rows(statement, database))
    return statement.seen


def _seen_rows(statement: Statement, database: TracedDatabase) -> Iterator[SeenRow]:
    found: _Found = {}
    tables = [database.tables[one.table] for one in statement.plan.references]
    for row in statement.rows:
        if statement.plan.is_aggregate:
            for table, cell in zip(tables, row, strict=True):
                for version, *key in json.loads(cell or "[]"):
                    whole = _whole_key(statement.plan, statement.values, key) if statement.plan.point else key
                    _add(found, table, [version, *whole], database)
            continue
        if database.has_versions and statement.plan.kind in (Kind.INSERT, Kind.UPDATE):
            _add_new(found, tables[0], row, database)
            continue
        if statement.plan.point:
            key = _whole_key(statement.plan, statement.values, row[1:])
            _add(found, tables[0], [row[0], *key], database)
            continue
        at = 0
        for table in tables:
            width = 1 + len(table.key)
            _add(found, table, row[at : at + width], database)
            at += width
    yield from _unique(found)


def _add_new(found: _Found, table: Table, row: Sequence[Any], database: TracedDatabase) -> None:
    """A new version: its number, its key if the content does not show it, and its content."""
    content = row[-1] if isinstance(row[-1], dict) else row_content(row[-1], table)
    version, *key = row[:-1]
    identity = [version, *(key or [content[column] for column in table.key])]
    _add(found, table, identity, database, content)


def _add(
    found: _Found,
    table: Table,
    identity: Sequence[Any],
    database: TracedDatabase,
    content: dict[str, Any] | None = None,
) -> None:
    version, *key = identity
    if None in key:
        return  # The side of an outer join that has no row.
    stamp = ""
    if not database.has_versions:
        content = json.loads(version) if isinstance(version, str) else version
        stamp = content.pop(STAMP, None) or ""
        content = text_content(content, table) if database.has_text_cells else content
    name = database.prefix + table.name
    found[name, key_label(name, key)] = (table, key, database.prefix + str(version), content, stamp)


def _unique(found: _Found) -> Iterator[SeenRow]:
    for (name, label), (table, key, version, content, stamp) in found.items():
        yield SeenRow(name, label, version, tuple(zip(table.key, key, strict=True)), content, stamp)
