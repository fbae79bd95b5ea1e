"""Tables on the simulated database: a row is a key of its store, and the value names the row's version.

Understood are the statements of the applications: SELECT with conditions and aggregates, INSERT of values,
UPDATE, DELETE. Columns of a key that are integers are packed into the key of the store, so that a condition
on the first of them reads a range.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp

from isoscope.errors import UsageError
from isoscope.record.conditions import AliasedRow, equalities, matches, value_of
from isoscope.record.rows import key_label
from isoscope.record.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from isoscope.record.plan import Plan

__all__ = ["Stored", "Tables", "computed", "is_met", "selected"]

_TABLE_BITS, _KEY_BITS = 6, 56
_AGGREGATES: dict[type[exp.Expr], Callable[[Any], Any]] = {exp.Max: max, exp.Min: min, exp.Sum: sum}


class Stored:
    """A version of a row: the number of the transaction that wrote it, and its columns."""

    __slots__ = ("content", "writer")

    def __init__(self, writer: int, content: dict[str, Any]) -> None:
        self.writer = writer
        self.content = content


class Tables:
    """The tables, the keys of their rows in the store, and every version that was written."""

    def __init__(self) -> None:
        self.by_name: dict[str, Table] = {}
        self._versions: dict[int, Stored] = {}
        self._values = count(1)
        self._keys: dict[str, int] = {}

    def create(self, sql: str) -> None:
        """A table with its primary key; an index changes nothing."""
        tree = sqlglot.parse_one(sql, dialect="postgres")
        if not isinstance(tree, exp.Create) or not isinstance(tree.this, exp.Schema):
            return
        columns = [one for one in tree.this.expressions if isinstance(one, exp.ColumnDef)]
        key = [one.name for one in columns if one.find(exp.PrimaryKeyColumnConstraint)]
        for one in tree.this.find_all(exp.PrimaryKey):
            key = [part.name for part in one.expressions]
        if len(self.by_name) >= 1 << _TABLE_BITS:
            raise UsageError(f"the simulated database has at most {1 << _TABLE_BITS} tables")
        name = tree.this.this.name
        self.by_name[name] = Table(name, tuple(key), tuple(one.name for one in columns))

    def store(self, writer: int, content: dict[str, Any]) -> int:
        """The value of a new version."""
        value = next(self._values)
        self._versions[value] = Stored(writer, content)
        return value

    def version(self, value: int) -> Stored:
        """The version that a value names."""
        return self._versions[value]

    def key(self, table: Table, columns: Sequence[Any]) -> int:
        """The key of a row in the store."""
        if all(type(one) is int for one in columns):
            return self._packed(table, columns)[0]
        # Names get numbers in the order in which they are met, in the upper half of the table's keys.
        number = self._keys.setdefault(key_label(table.name, columns), len(self._keys))
        return self._first(table) + (1 << (_KEY_BITS - 1)) + number

    def bounds(self, table: Table, plan: Plan, values: Sequence[Any]) -> tuple[int, int]:
        """The keys between which a condition finds its rows."""
        compared = equalities(plan.condition, values)
        if set(table.key) <= compared.keys():
            key = self.key(table, [compared[column] for column in table.key])
            return key, key
        known: list[int] = []
        for column in table.key:
            if type(compared.get(column)) is not int:
                break
            known.append(compared[column])
        if known:
            return self._packed(table, known)
        return self._first(table), self._first(table) + (1 << _KEY_BITS) - 1

    def _packed(self, table: Table, columns: Sequence[int]) -> tuple[int, int]:
        """The first and the last key that begin with these columns."""
        bits = (_KEY_BITS - 1) // len(table.key)
        low, left = 0, len(table.key) - len(columns)
        for one in columns:
            if not 0 <= one < 1 << bits:
                raise UsageError(f"the key {one} of {table.name} does not fit into {bits} bits")
            low = low << bits | one
        first = self._first(table) + (low << bits * left)
        return first, first + (1 << bits * left) - 1

    def _first(self, table: Table) -> int:
        return list(self.by_name).index(table.name) << _KEY_BITS


def is_met(plan: Plan, stored: Stored, values: Sequence[Any]) -> bool:
    """Whether a version meets the condition of a statement."""
    answer = matches(plan.condition, AliasedRow(plan.references[0].alias, stored.content), values)
    if answer is None:
        raise UsageError(f"the simulated database does not understand the condition of {plan.text}")
    return answer


def computed(part: exp.Expr | None, content: dict[str, Any], values: Sequence[Any]) -> Any:
    """The value of a column, a parameter, a constant, or a sum or difference of them."""
    if isinstance(part, exp.Add | exp.Sub):
        left, right = computed(part.this, content, values), computed(part.expression, content, values)
        return left + right if isinstance(part, exp.Add) else left - right
    return value_of(part, content, values)


def selected(tree: exp.Expr, found: list[Stored], values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The result of a SELECT of these rows."""
    parts = [one.this if isinstance(one, exp.Alias) else one for one in tree.expressions]
    if any(isinstance(one, exp.AggFunc) for one in parts):
        return [tuple(_aggregate(one, found, values) for one in parts)]
    return [tuple(_cells(parts, one.content, values)) for one in found]


def _cells(parts: list[exp.Expr], content: dict[str, Any], values: Sequence[Any]) -> Iterator[Any]:
    for part in parts:
        if isinstance(part, exp.Star):
            yield from content.values()
        else:
            yield computed(part, content, values)


def _aggregate(part: exp.Expr, found: list[Stored], values: Sequence[Any]) -> Any:
    if isinstance(part, exp.Count):
        return len(found)
    cells = [computed(part.this, one.content, values) for one in found]
    cells = [one for one in cells if one is not None]
    return _AGGREGATES[type(part)](cells) if cells else None
