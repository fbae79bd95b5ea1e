"""A subquery that depends on the rows around it: it reads what it finds for any of them.

These are the rows that meet the rest of the condition around it. If one equality joins both, its two sides
show later whether a row that was not shown had a row on the other side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from isoscope.record.conditions import conjuncts
from isoscope.record.derived_tables import is_nested, nearest_queries
from isoscope.record.plan import NotUnderstoodError
from isoscope.record.scopes import free_columns, qualify

if TYPE_CHECKING:
    from isoscope.record.select_block import Block

__all__ = ["Correlated", "around", "exists_limit_dropped", "unknown"]


def unknown() -> Any:
    """A condition that is never known."""
    return exp.Anonymous(this="isoscope_unknown")


def around(query: Any) -> Any:
    """The IN or EXISTS that a subquery belongs to, or the subquery in its parentheses."""
    node = query.parent
    while isinstance(node, exp.Subquery) and isinstance(node.parent, exp.Subquery | exp.Exists):
        node = node.parent
    is_listed = isinstance(node, exp.Subquery) and isinstance(node.parent, exp.In)
    return node.parent if is_listed and node.arg_key == "query" else node


def exists_limit_dropped(query: Any) -> Any:
    """A subquery without a LIMIT that says nothing: EXISTS only asks for one row."""
    limit = query.args.get("limit")
    is_one = isinstance(limit, exp.Limit) and limit.expression.is_int and int(limit.expression.this) > 0
    if not is_one or query.args.get("offset") or not isinstance(around(query), exp.Exists):
        return query
    copy = query.copy()
    copy.set("limit", None)
    return copy


class Correlated:
    """A subquery, the SELECT around it, and its copy in the condition of this SELECT."""

    def __init__(self, outer: Block, query: Any, inner: Block, copy: Any) -> None:
        self.outer, self.query, self.inner, self.copy = outer, query, inner, copy
        self.parts = outer.parts
        self._refuse()
        statement, known = self.parts.statement, outer.known()
        scopes = inner.known(), known
        if set(known) & set(scopes[0]):
            raise NotUnderstoodError("a subquery and the SELECT around it have tables of the same name")
        self.rest = [qualify(one, (known,), statement) for one in self._rest()]
        self.own = [qualify(one, scopes, statement) for one in conjuncts(inner.where)]
        self.joining = [one for one in self.own if any(map(self._is_outer, one.find_all(exp.Column)))]

    def _is_outer(self, column: Any) -> bool:
        return self.parts.statement.name(column.args["table"]) in self.outer.known()

    def _refuse(self) -> None:
        inner, outer = self.inner.select, self.outer.select
        joins = [*(inner.args.get("joins") or []), *(outer.args.get("joins") or [])]
        if not self.inner.sources or not all(isinstance(one, exp.Table) for one in self.inner.sources):
            raise NotUnderstoodError("a subquery that depends on the rows around it has a derived table")
        if is_nested(inner):
            raise NotUnderstoodError("a subquery that depends on the rows around it has another one")
        if self.inner.is_cut or self.outer.is_cut:
            raise NotUnderstoodError("LIMIT may hide rows that a subquery read")
        if any(join.side in ("RIGHT", "FULL") or join.args.get("using") for join in joins):
            raise NotUnderstoodError("a subquery depends on the rows of such a join")
        if any(query is self.query for join in joins for query in nearest_queries(join)):
            raise NotUnderstoodError("a subquery in the condition of a join depends on the rows around it")

    def _rest(self) -> list[Any]:
        """The parts of the condition around it that decide for which rows it is asked."""
        parts = list(conjuncts(self.outer.where))
        mine = [one for one in parts if any(query is self.query for query in nearest_queries(one))]
        for one in mine:
            while isinstance(one, exp.Not | exp.Paren):
                one = one.this  # noqa: PLW2901 - the condition without NOT and parentheses
            if not isinstance(one, exp.Exists | exp.In | exp.Predicate) or isinstance(one, exp.Connector):
                raise NotUnderstoodError("a subquery that depends on the rows around it stands beside OR")
        # One row may decide several such subqueries: none is asked only where another has a row.
        return [one for one in parts if not any(map(self._is_correlated, nearest_queries(one)))]

    def _is_correlated(self, query: Any) -> bool:
        return bool(free_columns(query, self.outer.known(), self.parts.statement))

    def add(self) -> None:
        """Adds what it reads, and what the condition around it says later."""
        both = f"FROM {self.outer.from_text()}, {self.inner.from_text()}"
        source = f"{both} {self._where([*self.rest, *self.own])}".rstrip()
        alone = [one for one in self.own if one not in self.joining]
        pair = self._pair()
        if pair is None:
            condition = _joined([*alone, *(unknown() for _ in self.joining[:1])])
            found = unknown()
        else:
            inner, outer = pair
            is_there = exp.Is(this=outer.copy(), expression=exp.Null())
            asked = self._where([*self.rest, exp.Not(this=is_there)])
            name = self.parts.text(outer)
            asked_for = self.parts.answer(
                f"SELECT DISTINCT {name} FROM {self.outer.from_text()} {asked}", "list"
            )
            condition = _joined([*alone, exp.In(this=inner.copy(), field=asked_for.copy())])
            found = self._found(outer, asked_for, f"SELECT DISTINCT {name} {source}")
        self.parts.part(self.inner.references(), source, condition)
        if self.copy is not None:
            around(self.copy).replace(found)

    def _found(self, outer: Any, asked_for: Any, text: str) -> Any:
        """Whether the subquery has a row, as a condition on the row around it: known where it was asked."""
        if not isinstance(around(self.query), exp.Exists):
            return unknown()
        has_row = exp.In(this=outer.copy(), field=self.parts.answer(text, "list"))
        is_asked = exp.In(this=outer.copy(), field=asked_for.copy())
        other = exp.And(this=exp.Not(this=is_asked), expression=unknown())
        return exp.Paren(this=exp.Or(this=has_row, expression=exp.Paren(this=other)))

    def _pair(self) -> tuple[Any, Any] | None:
        """The columns of both sides, if one equality of columns joins them."""
        if len(self.joining) != 1 or not isinstance(self.joining[0], exp.EQ):
            return None
        sides = [self.joining[0].this.unnest(), self.joining[0].expression.unnest()]
        if not all(isinstance(one, exp.Column) for one in sides):
            return None
        sides.sort(key=self._is_outer)
        inner, outer = sides
        return None if self._is_outer(inner) or not self._is_outer(outer) else (inner, outer)

    def _where(self, parts: list[Any]) -> str:
        found = _joined(parts)
        return "" if found is None else f"WHERE {self.parts.text(found)}"


def _joined(parts: list[Any]) -> Any:
    """The conditions, joined by AND."""
    return exp.and_(*(one.copy() for one in parts)) if parts else None
