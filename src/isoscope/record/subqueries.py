"""Statements of several SELECTs: what each of them reads, by statements of their own in the same snapshot.

A subquery that does not depend on the rows around it is read as a statement of its own, and its answer
is kept: conditions compare with it as with a parameter. One that depends on them reads the rows that it finds
for any row that meets the rest of the condition around it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from isoscope.record.derived_tables import argument, nearest_queries, without_ctes
from isoscope.record.placeholders import marks, positional
from isoscope.record.plan import Answer, Kind, NotUnderstoodError, Plan
from isoscope.record.select_block import Block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.record.plan import Reference

__all__ = ["Parts", "change_of_parts", "plan_of_parts"]

_NAMED = re.compile(r":p_\d+_")
_PLACEHOLDER = re.compile(r"%\(p_(\d+)_\)s|[:$]p_(\d+)_")


#: Functions that give another value to a statement of the recorder, or that change something.
_VOLATILE = frozenset({"random", "nextval", "setval", "clock_timestamp", "gen_random_uuid", "randomblob"})


def plan_of_parts(statement: Any) -> Plan:
    """The plan of a query that has several SELECTs, or whose result does not show the rows that it read."""
    return Parts(statement).plan()


def change_of_parts(statement: Any, found: Plan) -> Plan:
    """The plan of a change that has subqueries."""
    return Parts(statement).change(found)


class Parts:
    """The parts of one statement, and the answers that their conditions compare with."""

    def __init__(self, statement: Any) -> None:
        self.statement = statement
        self.dialect = statement.dialect
        self.parts: list[Plan] = []
        self.answers: list[Answer] = []

    def plan(self) -> Plan:
        """The plan of the statement."""
        statement = self.statement
        self._check(statement.tree)
        self.query(without_ctes(statement.tree, statement.name))
        references = tuple(dict.fromkeys(one for part in self.parts for one in part.references))
        if not references:
            return Plan(kind=Kind.NO_ROWS, text=statement.sql)
        return Plan(
            kind=Kind.SELECT,
            text=statement.sql,
            references=references,
            parts=tuple(self.parts),
            answers=tuple(self.answers),
            marked=statement.marked,
        )

    def change(self, found: Plan) -> Plan:
        """The plan of a change with subqueries, whose own rows `found` shows."""
        tree = self.statement.tree
        self._check(tree, is_change=True)
        if isinstance(tree, exp.Insert):
            for query in nearest_queries(tree):
                self.query(without_ctes(query, self.statement.name))
            skips = any(tree.args.get(one) for one in ("conflict", "alternative", "ignore"))
            found = replace(found, may_be_empty=isinstance(tree.expression, exp.Query) and not skips)
        else:
            found = replace(found, condition=self._changed(tree))
        if not self.parts:
            return found
        references = [one for plan in (found, *self.parts) for one in plan.references]
        return Plan(
            kind=found.kind,
            text=found.text,
            references=tuple(dict.fromkeys(references)),
            parts=tuple(self.parts),
            answers=tuple(self.answers),
            change=replace(found, is_silent=False),
            marked=self.statement.marked,
        )

    def _changed(self, tree: Any) -> Any:
        """An UPDATE or DELETE as the SELECT of the rows that it changes; its condition."""
        if any(argument(tree, one) for one in ("from", "using", "order", "limit")):
            raise NotUnderstoodError("it changes rows of a join, and has a subquery")
        values = [one.expression for one in tree.expressions if isinstance(one, exp.EQ)]
        if len(values) != len(tree.expressions):
            raise NotUnderstoodError("it has a subquery in a value that is no plain one")
        where = tree.args.get("where")
        select = exp.select(*(one.copy() for one in values)).from_(tree.this.copy())
        if where is not None:
            select.set("where", where.copy())
        return Block(self, select).conditioned()

    def _check(self, tree: Any, *, is_change: bool = False) -> None:
        """Parts are written from the syntax tree: what is written must be what was read."""
        calls = {one.name.lower() for one in tree.find_all(exp.Anonymous)} & _VOLATILE
        if calls or next(tree.find_all(exp.Rand, exp.Uuid), None) is not None:
            raise NotUnderstoodError("it calls a function whose value changes, and has several SELECTs")
        if any(one is not tree or not is_change for one in tree.find_all(exp.DML)):
            raise NotUnderstoodError("it changes rows in a common table expression")
        if any(lock.args.get("wait") is not None for lock in tree.find_all(exp.Lock)):
            raise NotUnderstoodError("it skips rows that are locked, and has several SELECTs")
        try:
            again = sqlglot.parse_one(self.text(tree), dialect=self.dialect.name)
        except SqlglotError:
            again = None
        if again != tree:
            raise NotUnderstoodError("its syntax tree cannot be written as it was read")

    def text(self, node: Any) -> str:
        """A part of the tree as text."""
        text = node.sql(dialect=self.dialect.name, comments=False)
        return _PLACEHOLDER.sub(lambda found: f":p_{found[1] or found[2]}_", text)

    def query(self, node: Any) -> None:
        """Adds the parts of a query that depends on no rows around it."""
        if any(
            one.args.get("order") for one in node.find_all(exp.SetOperation) if one.find_ancestor(exp.Select)
        ):
            raise NotUnderstoodError("it orders the rows of a UNION in a subquery")
        if isinstance(node, exp.Subquery):
            if any(node.args.get(one) for one in ("order", "limit", "offset", "joins", "with_")):
                raise NotUnderstoodError("it has clauses behind a subquery in parentheses")
            self.query(node.this)
        elif isinstance(node, exp.SetOperation):
            if node.args.get("limit") or node.args.get("offset"):
                raise NotUnderstoodError("LIMIT may hide rows that a UNION read")
            self.query(node.this)
            self.query(node.expression)
        elif isinstance(node, exp.Select):
            Block(self, node).add()
        else:
            raise NotUnderstoodError("it reads from something that is no table")

    def part(
        self,
        references: Sequence[Reference],
        source: str,
        condition: Any,
        *,
        limit: Any = None,
        is_fixed: bool = True,
    ) -> None:
        """Adds a part: FROM and what follows it."""
        columns = [column for one in references for column in self.statement.identity(one, is_cast=True)]
        text = (
            f"SELECT DISTINCT {', '.join(columns)} {source}"
            if limit is None
            else f"SELECT {', '.join(columns)} {source}"
        )
        self.parts.append(
            Plan(
                kind=Kind.SELECT,
                text=self.statement.sql,
                separate=self._given(text),
                kept=marks(text),
                references=tuple(references),
                limit=limit,
                is_fixed=is_fixed,
                condition=condition,
                marked=self.statement.marked,
            )
        )

    def answer(self, text: str, kind: str) -> Any:
        """Adds an answer; the placeholder that stands for it."""
        self.answers.append(Answer(self._given(text), marks(text), kind))
        number = len(self.statement.marked.originals) + len(self.answers) - 1
        return exp.Placeholder(this=f"p_{number}_")

    def _given(self, text: str) -> str:
        """The text with a placeholder of the driver for each parameter."""
        return positional(text) if self.dialect.style == "qmark" else _NAMED.sub("%s", text)
