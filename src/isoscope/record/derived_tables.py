"""Common table expressions and derived tables, as the tables that they select from.

A common table expression is the derived table that it names. A derived table that is a plain selection of one
table is this table under its name: its condition joins that of the SELECT around it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from isoscope.record.plan import NotUnderstoodError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isoscope.record.tables import Table

__all__ = ["argument", "is_nested", "merged", "nearest_queries", "sources_of", "without_ctes"]

#: What makes a derived table more than a selection of rows.
_MORE = ("distinct", "group", "having", "limit", "offset", "joins", "locks", "laterals", "windows", "qualify")


def argument(node: Any, name: str) -> Any:
    """An argument of a node, whose name has an underscore behind it in some versions of the parser."""
    return node.args.get(f"{name}_") or node.args.get(name)


def nearest_queries(node: Any) -> Iterator[Any]:
    """The outermost SELECTs and UNIONs below a node."""
    for child in node.iter_expressions():
        if isinstance(child, exp.Select | exp.SetOperation):
            yield child
        else:
            yield from nearest_queries(child)


def is_nested(node: Any) -> bool:
    """Whether a SELECT is below this node."""
    return next(nearest_queries(node), None) is not None


def sources_of(select: Any) -> list[Any]:
    """What FROM and its joins name."""
    from_ = argument(select, "from")
    return [] if from_ is None else [from_.this, *(join.this for join in select.args.get("joins") or [])]


def without_ctes(tree: Any, name: Callable[[Any], str]) -> Any:
    """A copy of a statement in which derived tables stand for its common table expressions."""
    tree = tree.copy()
    # From the inside out: an inner name hides an outer one.
    for with_ in reversed(list(tree.find_all(exp.With))):
        query = with_.parent
        with_.pop()
        if with_.args.get("recursive"):
            raise NotUnderstoodError("it has a recursive common table expression")
        rest = [*with_.expressions, query]
        for number, one in enumerate(with_.expressions):
            for later in rest[number + 1 :]:
                _inline(one, later, name)
    return tree


def _inline(cte: Any, tree: Any, name: Callable[[Any], str]) -> None:
    if not isinstance(cte.this, exp.Query) or cte.args["alias"].args.get("columns"):
        raise NotUnderstoodError("it has a common table expression that is no plain SELECT")
    called = name(cte.args["alias"].this)
    for table in list(tree.find_all(exp.Table)):
        is_named = isinstance(table.this, exp.Identifier) and not table.args.get("db")
        if is_named and name(table.this) == called:
            alias = table.args.get("alias") or exp.TableAlias(this=table.this.copy())
            table.replace(exp.Subquery(this=cte.this.copy(), alias=alias.copy()))


def merged(select: Any, table_of: Callable[[Any], Table], name: Callable[[Any], str]) -> Any:
    """A copy of a SELECT whose derived tables are tables where they are plain selections of one."""
    select = select.copy()
    has_sides = any(join.side for join in select.args.get("joins") or [])
    for source in sources_of(select):
        if isinstance(source, exp.Subquery) and not has_sides:
            inner = merged(source.this, table_of, name) if isinstance(source.this, exp.Select) else None
            if inner is not None and _is_plain(inner, source, select):
                _merge(select, source, inner, table_of(sources_of(inner)[0]), name)
    return select


def _is_plain(inner: Any, source: Any, outer: Any) -> bool:
    sources, alias = sources_of(inner), source.args.get("alias")
    if len(sources) != 1 or not isinstance(sources[0], exp.Table) or any(map(inner.args.get, _MORE)):
        return False
    has_order = bool(inner.args.get("order")) and bool(outer.args.get("limit"))
    is_computed = next(inner.find_all(exp.AggFunc, exp.Window), None) is not None
    is_named = alias is not None and not alias.args.get("columns")
    return is_named and not has_order and not is_computed and not is_nested(inner)


def _merge(select: Any, source: Any, inner: Any, table: Table, name: Callable[[Any], str]) -> None:
    """Puts the table of a derived table in its place, under its name."""
    called = source.args["alias"].this
    renamed = _outputs(inner, table, called, name)
    if any(not isinstance(one, exp.Column) or name(one.this) != output for output, one in renamed.items()):
        _rename(select, renamed, name(called), name)
    where = inner.args.get("where")
    found = sources_of(inner)[0].copy()
    found.set("alias", exp.TableAlias(this=called.copy()))
    source.replace(found)
    if where is not None:
        select.where(_named(where.this, called), copy=False)


def _outputs(inner: Any, table: Table, called: Any, name: Callable[[Any], str]) -> dict[str, Any]:
    """What each column of a derived table is, in terms of its table under the name of the derived one."""
    found: dict[str, Any] = {}
    for one in inner.expressions:
        if one.is_star:
            found |= {
                column: exp.column(exp.to_identifier(column, quoted=True), table=called.copy())
                for column in table.columns
            }
        elif isinstance(one, exp.Alias):
            found[name(one.args["alias"])] = _named(one.this, called)
        elif isinstance(one, exp.Column):
            found[name(one.this)] = _named(one, called)
    return found


def _named(node: Any, called: Any) -> Any:
    """A copy in which all columns are those of the one table."""
    node = node.copy()
    for column in list(node.find_all(exp.Column)):
        column.set("table", called.copy())
    return node


def _rename(select: Any, renamed: dict[str, Any], called: str, name: Callable[[Any], str]) -> None:
    """Writes what the columns of a derived table are in the place of their names."""
    others = [one for one in sources_of(select) if not isinstance(one, exp.Subquery) or one.alias != called]
    if others or any(is_nested(one) for one in _clauses(select)):
        raise NotUnderstoodError("it has a derived table with other names of columns beside other tables")
    for clause in _clauses(select):
        for column in list(clause.find_all(exp.Column)):
            is_own = not column.table or name(column.args["table"]) == called
            found = renamed.get(name(column.this)) if is_own and not column.is_star else None
            if found is not None:
                place = found.copy() if isinstance(found, exp.Column) else exp.Paren(this=found.copy())
                column.replace(place)


def _clauses(select: Any) -> list[Any]:
    """The clauses that decide which rows a SELECT reads."""
    return [one for one in (select.args.get("where"), select.args.get("order")) if one is not None]
