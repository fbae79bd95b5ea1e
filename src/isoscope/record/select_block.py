"""One SELECT of a statement that has several: the rows that it and the subqueries in its clauses read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from isoscope.record.correlated import Correlated, around, exists_limit_dropped, unknown
from isoscope.record.derived_tables import argument, is_nested, merged, nearest_queries, sources_of
from isoscope.record.plan import NotUnderstoodError, Reference
from isoscope.record.scopes import free_columns

if TYPE_CHECKING:
    from isoscope.record.subqueries import Parts
    from isoscope.record.tables import Table

__all__ = ["Block", "is_aggregated"]

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)


def is_aggregated(select: Any) -> bool:
    """Whether a row of the result is made of several rows."""
    if select.args.get("group"):
        return True
    calls = (call for one in select.expressions for call in one.find_all(exp.AggFunc))
    return any(
        call.find_ancestor(exp.Window) is None and call.find_ancestor(exp.Select) in (select, None)
        for call in calls
    )


class Block:
    """A SELECT with its tables; derived tables that are plain selections are among them."""

    def __init__(self, parts: Parts, select: Any) -> None:
        self.parts = parts
        self.name = parts.statement.name
        self.select = merged(select, self.table, self.name)
        self.sources = sources_of(self.select)
        self.where = self.select.args.get("where")

    def table(self, source: Any) -> Table:
        """The table that a source names."""
        statement = self.parts.statement
        found: Table = statement.table(statement.reference(source).table)
        return found

    def add(self) -> None:
        """Adds the parts of this SELECT."""
        if any(isinstance(one, exp.Subquery) for one in self.sources):
            self._derived()
            return
        condition = self.conditioned()
        if not self.sources:
            return
        if not self.is_cut:
            self.parts.part(self.references(), self._source(), condition)
            return
        order, limit = self._order(), self.select.args.get("limit")
        if not isinstance(limit, exp.Limit) or self.select.args.get("offset"):
            raise NotUnderstoodError("OFFSET or FETCH hides rows in a statement of several SELECTs")
        text = self._source(order, limit)
        self.parts.part(self.references(), text, condition, limit=limit, is_fixed=self._is_fixed(order))

    @property
    def is_cut(self) -> bool:
        """Whether LIMIT or OFFSET leave out rows that FROM and WHERE find; a GROUP BY read all."""
        is_made = self.select.args.get("distinct") or is_aggregated(self.select)
        return not is_made and any(self.select.args.get(one) for one in ("limit", "offset"))

    def _derived(self) -> None:
        """A derived table that is read as a whole, whatever is then made of it."""
        select, inner = self.select, self.sources[0].this
        is_select = isinstance(inner, exp.Select)
        has_limit = is_select and bool(inner.args.get("limit"))
        is_made = is_select and (inner.args.get("distinct") or is_aggregated(inner))
        is_reading_more = [*nearest_queries(select)] != [*nearest_queries(argument(select, "from"))]
        if len(self.sources) > 1 or is_reading_more or (self.where is not None and not has_limit):
            raise NotUnderstoodError("it chooses rows of a derived table that is no plain selection")
        if (
            (select.args.get("limit") or select.args.get("offset"))
            and not is_made
            and not is_aggregated(select)
        ):
            raise NotUnderstoodError("LIMIT may hide rows of a derived table")
        self.parts.query(self.sources[0])

    def references(self) -> list[Reference]:
        """The tables of this SELECT."""
        sides = [False, *(bool(join.side) for join in self.select.args.get("joins") or [])]
        reference = self.parts.statement.reference
        return [reference(one, is_outer=side) for one, side in zip(self.sources, sides, strict=True)]

    def known(self) -> dict[str, Table]:
        """The tables of this SELECT by the names that it calls them by."""
        return {one.alias: self.parts.statement.table(one.table) for one in self.references()}

    def from_text(self) -> str:
        """The tables and their joins."""
        sources = [argument(self.select, "from").this, *(self.select.args.get("joins") or [])]
        return " ".join(self.parts.text(one).strip() for one in sources)

    def _source(self, *clauses: Any) -> str:
        behind = [self.parts.text(one).strip() for one in (self.where, *clauses) if one is not None]
        return " ".join([f"FROM {self.from_text()}", *behind])

    def _order(self) -> Any:
        """ORDER BY without the names and numbers of columns of the result."""
        if (order := self.select.args.get("order")) is None:
            return None
        order = order.copy()
        outputs = self.select.expressions
        named = {self.name(one.args["alias"]): one.this for one in outputs if isinstance(one, exp.Alias)}
        for one in order.expressions:
            key = one.this
            if isinstance(key, exp.Literal):
                found = outputs[int(key.this) - 1]
            else:
                is_bare = isinstance(key, exp.Column) and not key.table
                found = named.get(self.name(key.this)) if is_bare else None
            if found is not None:
                one.set("this", (found.this if isinstance(found, exp.Alias) else found).copy())
        if is_nested(order) or any(one.this.is_star for one in order.expressions):
            raise NotUnderstoodError("it orders rows by a subquery or by all columns")
        return order

    def _is_fixed(self, order: Any) -> bool:
        """Whether ORDER BY leaves no choice of rows: it names the primary key of the one table."""
        references = self.references()
        if order is None or len(references) != 1:
            return False
        columns = {self.name(one.this.this) for one in order.expressions if isinstance(one.this, exp.Column)}
        return set(self.parts.statement.table(references[0].table).key) <= columns

    def _nested(self, condition: Any) -> None:
        """The subqueries; in the condition, what stands for them takes their place."""
        pairs = (
            []
            if condition is None
            else zip(list(nearest_queries(self.where)), list(nearest_queries(condition)), strict=True)
        )
        copies = {id(query): copy for query, copy in pairs}
        for query in list(nearest_queries(self.select)):
            copy = copies.get(id(query))
            if free_columns(query, self.known() if self.sources else {}, self.parts.statement):
                Correlated(self, query, Block(self.parts, exists_limit_dropped(query)), copy).add()
                continue
            self.parts.query(exists_limit_dropped(query))
            if copy is not None:
                self._answer(query, copy)

    def conditioned(self) -> Any:
        """Adds the parts of the subqueries alone; the condition with what stands for them."""
        condition = None if self.where is None else self.where.copy()
        self._nested(condition)
        return condition

    def _answer(self, query: Any, copy: Any) -> None:
        """Puts the answer of a subquery in its place in the condition."""
        place, text = around(copy), self.parts.text(query)
        if isinstance(place, exp.In) and not isinstance(place.this, exp.Tuple):
            listed = self.parts.answer(text, "list")
            place.replace(exp.In(this=place.this.copy(), field=listed))
        elif isinstance(place, exp.Exists):
            place.replace(self.parts.answer(f"SELECT count(*) FROM ({text}) AS isoscope_rows", "rows"))
        elif isinstance(place, exp.Subquery) and isinstance(place.parent, _COMPARISONS):
            place.replace(self.parts.answer(text, "value"))
        else:
            place.replace(unknown())
