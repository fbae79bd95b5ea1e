"""Which SELECT of a statement a column belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from isoscope.record.derived_tables import sources_of
from isoscope.record.plan import NotUnderstoodError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from isoscope.record.tables import Table

__all__ = ["free_columns", "qualify"]


def free_columns(query: Any, outer: Mapping[str, Table], statement: Any) -> list[Any]:
    """The columns in a subquery that are those of the tables around it."""
    return [column for column in query.find_all(exp.Column) if _is_free(column, query, outer, statement)]


def _is_free(column: Any, query: Any, outer: Mapping[str, Table], statement: Any) -> bool:
    for select in _selects(column, query):
        if _has(select, column, statement):
            return False
    name, alias = statement.name(column.this), _alias(column, statement)
    if alias in outer if alias else any(name in table.columns for table in outer.values()):
        return True
    if column.is_star and not alias:
        return False
    raise NotUnderstoodError(f"the table of its column {column.name} is not found")


def _selects(column: Any, query: Any) -> Iterator[Any]:
    """The SELECTs around a column, from the inside out, up to the query."""
    node = column
    while node is not query:
        node = node.parent
        if isinstance(node, exp.Select):
            yield node


def _has(select: Any, column: Any, statement: Any) -> bool:
    """Whether a column is one of the tables of a SELECT, or one of its result."""
    name, alias = statement.name(column.this), _alias(column, statement)
    for source in sources_of(select):
        called = source.args["alias"].this if source.args.get("alias") else source.this
        if alias:
            if alias == statement.name(called):
                return True
        elif name in _columns(source, statement):
            return True
    is_behind = column.find_ancestor(exp.Order, exp.Group, exp.Having, exp.Select) is not select
    named = {statement.name(one.args["alias"]) for one in select.expressions if isinstance(one, exp.Alias)}
    return not alias and is_behind and name in named


def _columns(source: Any, statement: Any) -> set[str]:
    if isinstance(source, exp.Table):
        return set(statement.table(statement.reference(source).table).columns)
    inner = source.this if isinstance(source, exp.Subquery) else None
    while isinstance(inner, exp.SetOperation):
        inner = inner.this
    if not isinstance(inner, exp.Select):
        raise NotUnderstoodError("it reads from something that is no table")
    found = _results(inner, statement)
    if any(one.is_star for one in inner.expressions):
        found |= {column for one in sources_of(inner) for column in _columns(one, statement)}
    return found


def _results(select: Any, statement: Any) -> set[str]:
    """The names of the columns of a result."""
    named = [one.args["alias"] if isinstance(one, exp.Alias) else one.this for one in select.expressions]
    return {statement.name(one) for one in named if isinstance(one, exp.Identifier)}


def _alias(column: Any, statement: Any) -> str:
    table = column.args.get("table")
    return "" if table is None else str(statement.name(table))


def qualify(node: Any, scopes: tuple[Mapping[str, Table], ...], statement: Any) -> Any:
    """A copy in which the columns beside subqueries name their tables, the innermost that have them."""
    node = node.copy()
    for column in list(node.find_all(exp.Column)):
        if column.args.get("table") is not None or column.find_ancestor(exp.Select) is not None:
            continue
        name = statement.name(column.this)
        aliases = [alias for tables in scopes for alias, table in tables.items() if name in table.columns]
        if not aliases:
            raise NotUnderstoodError(f"the table of its column {column.name} is not found")
        column.set("table", exp.to_identifier(aliases[0], quoted=True))
    return node
