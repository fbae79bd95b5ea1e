"""The row that an INSERT or UPDATE writes, as far as its text and its parameters tell.

Where they tell enough, the database is not asked for the row: a change without a result costs half as much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from isoscope.record.conditions import conjuncts, value_of
from isoscope.record.plan import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from isoscope.record.plan import Plan
    from isoscope.record.tables import Table

__all__ = ["SILENT_TYPES", "compared_values", "key_types", "place_of", "written_content", "written_row"]

#: Types of columns whose values are those of the parameters, and the types of these.
SILENT_TYPES: Mapping[str, type] = {
    **dict.fromkeys(("int2", "int4", "int8"), int),
    **dict.fromkeys(("text", "varchar"), str),
    "bool": bool,
}
_KEY_TYPES = (int, str)


def place_of(placeholder: exp.Expr) -> int:
    """The place of the parameter of a placeholder."""
    return int(str(placeholder.this).removeprefix("p_").removesuffix("_"))


def compared_values(tree: exp.Expr, name: Callable[[Any], str]) -> dict[str, exp.Expr]:
    """The columns that a condition compares with one parameter or constant each."""
    found: dict[str, exp.Expr] = {}
    for part in conjuncts(tree.args.get("where")):
        is_column = isinstance(part, exp.EQ) and isinstance(part.this, exp.Column)
        if is_column and _is_plain(part.expression):
            found.setdefault(name(part.this.this), part.expression)
    return found


def written_row(kind: Kind, tree: exp.Expr, table: Table, name: Callable[[Any], str]) -> dict[str, exp.Expr]:
    """The columns that a change of one row writes or compares, with a parameter or a constant for each."""
    if kind is Kind.UPDATE:
        parts = [part for part in tree.expressions if isinstance(part, exp.EQ) and _is_plain(part.expression)]
        written = {
            name(part.this.this): part.expression for part in parts if isinstance(part.this, exp.Column)
        }
        return {**compared_values(tree, name), **written}
    return dict(_inserted(tree, table, name)) if kind is Kind.INSERT else {}


def _inserted(tree: exp.Expr, table: Table, name: Callable[[Any], str]) -> Iterator[tuple[str, exp.Expr]]:
    """The columns of the one row of an INSERT."""
    values = tree.args.get("expression")
    if not isinstance(values, exp.Values) or len(values.expressions) != 1 or tree.args.get("conflict"):
        return
    cells = values.expressions[0].expressions
    has_names = isinstance(tree.this, exp.Schema)
    names = [name(one) for one in tree.this.expressions] if has_names else table.columns
    yield from ((column, cell) for column, cell in zip(names, cells, strict=False) if _is_plain(cell))


def _is_plain(value: exp.Expr | None) -> bool:
    if isinstance(value, exp.Neg):
        return isinstance(value.this, exp.Literal)
    return isinstance(value, exp.Placeholder | exp.Literal | exp.Null | exp.Boolean)


def key_types(table: Table, row: Mapping[str, exp.Expr]) -> tuple[tuple[int, type], ...] | None:
    """The places of the parameters of the key, with their types; None if the key is not known from them."""
    found: list[tuple[int, type]] = []
    for column in table.key:
        value, kind = row.get(column), SILENT_TYPES.get(table.type_of(column))
        if value is None or kind not in _KEY_TYPES:
            return None
        if isinstance(value, exp.Placeholder):
            found.append((place_of(value), kind))
        elif type(value_of(value, {}, ())) is not kind:
            return None
    return tuple(found)


def written_content(plan: Plan, table: Table, values: Sequence[Any]) -> dict[str, Any]:
    """The columns of the row whose values are known."""
    found = {}
    for column, part in plan.row.items():
        value = value_of(part, {}, values)
        kind = SILENT_TYPES.get(table.type_of(column))
        # A VARCHAR may lose spaces at its end.
        if value is None or (type(value) is kind and not str(value).endswith(" ")):
            found[column] = value
    return found
