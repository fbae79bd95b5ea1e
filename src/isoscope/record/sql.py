"""SQL statements, understood once each: which rows of which tables a statement reads and writes.

The parser is sqlglot. The text of the program stays as it is: hidden columns are added to it that name the
rows of the result and their versions, and the recorder takes them out of the result again. A statement that
is not understood is executed unchanged, and `Plan.reason` says why.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from isoscope.record.conditions import conjuncts
from isoscope.record.placeholders import Marked, mark, marks, positional, unmark
from isoscope.record.plan import STAMP, Dialect, Kind, NotUnderstoodError, Plan, Reference, not_understood
from isoscope.record.select_block import is_aggregated
from isoscope.record.subqueries import change_of_parts, plan_of_parts
from isoscope.record.written_row import compared_values, key_types, place_of, written_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from isoscope.record.tables import Lookup, Table

__all__ = ["analyse", "parse"]


#: First words of statements that neither read nor write rows, as far as a history is concerned.
_NO_ROWS = frozenset(
    {"begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release", "set", "reset", "show"}
    | {"create", "drop", "alter", "comment", "analyze", "vacuum", "explain", "pragma", "attach", "detach"}
    | {
        "discard",
        "deallocate",
        "listen",
        "notify",
        "unlisten",
        "grant",
        "revoke",
        "use",
        "lock",
        "checkpoint",
    }
)
_AFTER_WHERE = (
    TokenType.GROUP_BY,
    TokenType.HAVING,
    TokenType.ORDER_BY,
    TokenType.LIMIT,
    TokenType.WINDOW,
)
#: Types of MariaDB that JSON cannot hold.
_BYTES = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "bit")
_INTEGERS = ("int2", "int4", "int8")
_MODIFYING = {exp.Insert: Kind.INSERT, exp.Update: Kind.UPDATE, exp.Delete: Kind.DELETE}


@lru_cache(maxsize=10_000)
def parse(sql: str, dialect: Dialect) -> tuple[Marked, exp.Expr | None]:
    """The statement with names for its placeholders, and its syntax tree; None if it cannot be parsed."""
    marked = mark(sql, dialect.style)
    try:
        trees = [one for one in sqlglot.parse(marked.text, dialect=dialect.name) if one is not None]
    except (SqlglotError, RecursionError):
        return marked, None
    return marked, trees[0] if len(trees) == 1 else None


def analyse(sql: str, dialect: Dialect, lookup: Lookup) -> Plan:
    """The plan of a statement; `lookup` finds the tables that it names."""
    first = sql.lstrip(" \t\r\n(;").split(None, 1)[:1]
    if not first or first[0].lower().rstrip(";") in _NO_ROWS:
        return Plan(kind=Kind.NO_ROWS, text=sql)
    marked, tree = parse(sql, dialect)
    if tree is None:
        return not_understood(sql, "it cannot be parsed")
    try:
        if isinstance(tree, exp.Query):
            return _read(_Select(sql, dialect, lookup, marked, tree))
        for kind, name in _MODIFYING.items():
            if isinstance(tree, kind):
                return _Change(sql, dialect, lookup, marked, tree).plan(name)
    except NotUnderstoodError as problem:
        return not_understood(sql, str(problem))
    return not_understood(sql, f"{type(tree).__name__.upper()} is not a statement about rows")


def _read(statement: _Select) -> Plan:
    """The plan of a query: by hidden columns if it has one SELECT, else by its parts."""
    try:
        return statement.plan()
    except NotUnderstoodError:
        if not statement.dialect.has_parts:
            raise
    return plan_of_parts(statement)


class _Statement:
    """What SELECT and the changing statements share."""

    def __init__(self, sql: str, dialect: Dialect, lookup: Lookup, marked: Marked, tree: Any) -> None:
        self.sql = sql
        self.dialect = dialect
        self.lookup = lookup
        self.marked = marked
        self.tree = tree

    def refuse_with(self) -> None:
        """Common table expressions."""
        if self.tree.args.get("with_") or self.tree.args.get("with"):
            raise NotUnderstoodError("it has a common table expression (WITH)")

    def quoted(self, name: str) -> str:
        """A name as an identifier."""
        quote = self.dialect.quote
        return quote + name.replace(quote, quote * 2) + quote

    def table(self, name: str) -> Table:
        found = self.lookup(name)
        if found is None:
            raise NotUnderstoodError(f"{name} is no table of the database")
        if not found.key:
            raise NotUnderstoodError(f"the table {name} has no primary key")
        return found

    def reference(self, source: Any, *, is_outer: bool = False) -> Reference:
        """A table that the statement names."""
        if not isinstance(source, exp.Table) or not isinstance(source.this, exp.Identifier):
            raise NotUnderstoodError("it reads from something that is no table")
        schema, alias = source.args.get("db"), source.args.get("alias")
        name = self.name(source.this)
        table = name
        if schema is not None and self.name(schema) not in ("public", "main"):
            table = f"{self.name(schema)}.{name}"
        return Reference(table, self.name(alias.this) if alias else name, is_outer)

    def name(self, identifier: exp.Identifier) -> str:
        """A name as the database folds it."""
        is_folded = self.dialect.is_folding and not identifier.quoted
        return str(identifier.this).lower() if is_folded else str(identifier.this)

    def hidden_columns(self, references: Sequence[Reference]) -> list[str]:
        """The hidden columns for each row of the result."""
        return [column for one in references for column in self.identity(one)]

    def identity(self, reference: Reference, *, is_cast: bool = False) -> list[str]:
        """The version and the key of a row, as expressions; all of them as texts if `is_cast`."""
        table, alias = self.table(reference.table), self.quoted(reference.alias)
        kinds = ["" if is_cast else table.type_of(column) for column in table.key]
        keys = [
            self._text(f"{alias}.{self.quoted(column)}", kind)
            for column, kind in zip(table.key, kinds, strict=True)
        ]
        if not self.dialect.version:
            return [self.content(reference), *keys]
        return [self._text(f"{alias}.{self.dialect.version}", "" if is_cast else "xid"), *keys]

    def point(self, reference: Reference) -> tuple[int | None, ...]:
        """The parameter that the condition compares each integer column of the key with; empty if none."""
        table = self.table(reference.table)
        if not self.dialect.version:
            return ()
        compared = {
            column: place_of(value)
            for column, value in compared_values(self.tree, self.name).items()
            if isinstance(value, exp.Placeholder) and table.type_of(column) in _INTEGERS
        }
        return tuple(map(compared.get, table.key)) if set(table.key) & set(compared) else ()

    def _text(self, expression: str, kind: str) -> str:
        return expression if kind in self.dialect.plain else self.dialect.text.format(expression)

    def content(self, reference: Reference) -> str:
        """The whole row as a text."""
        table, alias = self.table(reference.table), self.quoted(reference.alias)
        if self.dialect.row:
            return self._text(self.dialect.row.format(alias), "record")
        kinds = {name: table.type_of(name) for name in table.columns}
        cells = {name: self._cell(f"{alias}.{self.quoted(name)}", kind) for name, kind in kinds.items()}
        if self.dialect.stamp and isinstance(self.tree, exp.Query):
            cells[STAMP] = self._cell(f"{alias}.{self.dialect.stamp}", "")
        pairs = ", ".join(f"'{name}', {cell}" for name, cell in cells.items())
        return self.dialect.pair.format(pairs)

    def _cell(self, expression: str, kind: str) -> str:
        is_hex = kind in _BYTES and not self.dialect.has_text_cells
        return f"HEX({expression})" if is_hex else self.dialect.cell.format(expression)


class _Select(_Statement):
    """SELECT from tables, with joins, aggregates and locks."""

    def plan(self) -> Plan:
        self.refuse_with()
        if not isinstance(self.tree, exp.Select):
            raise NotUnderstoodError(f"{type(self.tree).__name__.upper()} is not a statement about rows")
        references = self._references()
        if not references:
            return self._without_tables()
        if self.dialect.is_separate:
            return self._separate(references)
        self._refuse()
        is_aggregate = is_aggregated(self.tree)
        point = () if len(references) > 1 else self.point(references[0])
        columns = (
            [self._collected(one, point) for one in references]
            if is_aggregate
            else _unknown(self.hidden_columns(references), point)
        )
        return Plan(
            kind=Kind.SELECT,
            text=unmark(self._with_columns(columns), self.marked),
            references=tuple(references),
            hidden=len(columns),
            is_aggregate=is_aggregate,
            is_locking=bool(self.tree.args.get("locks")),
            limit=self.tree.args.get("offset") or self.tree.args.get("limit"),
            point=point,
            condition=self.tree.args.get("where"),
            marked=self.marked,
        )

    def _separate(self, references: list[Reference]) -> Plan:
        """Names the rows that FROM and WHERE find, whatever is then made of them."""
        if any(select is not self.tree for select in self.tree.find_all(exp.Select)):
            raise NotUnderstoodError("it has a subquery")
        is_whole = not self.tree.args.get("distinct") and not is_aggregated(self.tree)
        limit = self.tree.args.get("offset") or self.tree.args.get("limit") if is_whole else None
        columns = ", ".join(self.hidden_columns(references))
        text = f"SELECT {columns} {self._from(is_whole=is_whole)}"
        return Plan(
            kind=Kind.SELECT,
            text=self.sql,
            separate=positional(text),
            kept=marks(text),
            references=tuple(references),
            limit=limit,
            condition=self.tree.args.get("where"),
            marked=self.marked,
        )

    def _from(self, *, is_whole: bool) -> str:
        """The text from FROM on; if not `is_whole`, only up to the end of WHERE."""
        text, depth, start = self.marked.text, 0, -1
        for token in sqlglot.tokenize(text, dialect=self.dialect.name):
            depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
            if depth == 0 and token.token_type is TokenType.FROM and start < 0:
                start = token.start
            elif depth == 0 and start >= 0 and not is_whole and token.token_type in _AFTER_WHERE:
                return text[start : token.start]
        return text[start:].rstrip().rstrip(";")

    def _without_tables(self) -> Plan:
        if next(self.tree.find_all(exp.Table), None) is not None:
            raise NotUnderstoodError("it reads tables in a subquery")
        return Plan(kind=Kind.NO_ROWS, text=self.sql)

    def _references(self) -> list[Reference]:
        from_ = self.tree.args.get("from_") or self.tree.args.get("from")
        if from_ is None:
            return []
        joins = self.tree.args.get("joins") or []
        sources = [(from_.this, False), *((join.this, bool(join.side)) for join in joins)]
        return [self.reference(source, is_outer=is_outer) for source, is_outer in sources]

    def _refuse(self) -> None:
        tree = self.tree
        if tree.args.get("distinct"):
            raise NotUnderstoodError("SELECT DISTINCT does not show which rows it read")
        if tree.args.get("having"):
            raise NotUnderstoodError("HAVING hides groups that it read")
        if any(select is not tree for select in tree.find_all(exp.Select)):
            raise NotUnderstoodError("it has a subquery")

    def _collected(self, reference: Reference, point: tuple[int | None, ...]) -> str:
        """All rows of a group as one text."""
        identity = _unknown(self.identity(reference, is_cast=True), point)
        return self.dialect.collect.format(", ".join(identity))

    def _with_columns(self, columns: Sequence[str]) -> str:
        """The text with columns at the end of the select list."""
        text, depth = self.marked.text, 0
        for token in sqlglot.tokenize(text, dialect=self.dialect.name):
            depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
            if token.token_type is TokenType.FROM and depth == 0:
                return f"{text[: token.start]}, {_named(columns)} {text[token.start :]}"
        raise NotUnderstoodError("its FROM is not found")


class _Change(_Statement):
    """INSERT, UPDATE and DELETE, with or without RETURNING."""

    def plan(self, kind: Kind) -> Plan:
        self.refuse_with()
        found = self._plan(kind)
        return change_of_parts(self, found) if any(self.tree.find_all(exp.Select)) else found

    def _plan(self, kind: Kind) -> Plan:
        target = self.tree.this.this if isinstance(self.tree.this, exp.Schema) else self.tree.this
        reference = self.reference(target)
        written = self._written()
        table = self.table(reference.table)
        self._refuse(kind, table, written)
        if kind not in self.dialect.returning:
            return self._without_returning(kind, reference, written)
        columns = self.identity(reference)
        is_returning = bool(self.tree.args.get("returning"))
        row = {} if is_returning else written_row(kind, self.tree, table, self.name)
        # The content of the new version says later whether a condition holds for it.
        if self.dialect.version and kind is not Kind.DELETE:
            shows_key = self.dialect.shows_key(table)
            columns = [*(columns[:1] if shows_key else columns), self.content(reference)]
        text = self.marked.text.rstrip().rstrip(";").rstrip()
        text += f"{',' if is_returning else ' RETURNING'} {_named(columns)}"
        return Plan(
            kind=kind,
            text=unmark(text, self.marked),
            references=(reference,),
            hidden=len(columns),
            is_returning=is_returning,
            condition=self.tree.args.get("where"),
            written=written,
            marked=self.marked,
            row=row,
            **self._silence(table, row),
        )

    def _silence(self, table: Table, row: Mapping[str, exp.Expr]) -> dict[str, Any]:
        """Whether the row follows from the text, and the types that parameters of its key must have."""
        is_known = self.dialect.version and table.is_plain and not any(self.marked.names)
        checked = key_types(table, row) if is_known else None
        return {} if checked is None else {"is_silent": True, "checked": checked}

    def _without_returning(self, kind: Kind, reference: Reference, written: frozenset[str]) -> Plan:
        """The rows of an UPDATE are found by its condition; before it, if it may change what is compared."""
        if kind is not Kind.UPDATE or any(self.tree.args.get(one) for one in ("order", "limit", "from_")):
            raise NotUnderstoodError(f"the database does not show which rows this {kind.upper()} changed")
        table, where = self.table(reference.table), self.tree.args.get("where")
        compared = [one.this.name for one in conjuncts(where) if isinstance(one, exp.EQ)]
        is_point = sorted(compared) == sorted(table.key) and len([*conjuncts(where)]) == len(compared)
        source = ".".join(map(self.quoted, table.name.split(".")))
        text = f"SELECT {', '.join(self.identity(reference))} FROM {source} AS {self.quoted(reference.alias)}"
        condition = _where(self.marked.text, self.dialect)
        return Plan(
            kind=kind,
            text=self.sql,
            # The newest version, which the change has locked: it writes none if it changes no value.
            separate=unmark(f"{text} {condition} FOR UPDATE", self.marked),
            kept=marks(condition),
            references=(reference,),
            is_returning=False,
            is_locating=not is_point,
            condition=where,
            written=written,
            marked=self.marked,
        )

    def _written(self) -> frozenset[str]:
        """The columns that an UPDATE sets."""
        parts = (part for part in self.tree.expressions if isinstance(part, exp.EQ))
        return frozenset(column.name for part in parts for column in part.this.find_all(exp.Column))

    def _refuse(self, kind: Kind, table: Table, written: frozenset[str]) -> None:
        if any(self.tree.find_all(exp.Select)) and not self.dialect.has_parts:
            raise NotUnderstoodError("it has a subquery")
        if next(self.tree.find_all(exp.Join), None) is not None:
            raise NotUnderstoodError("it changes rows of a join")
        if kind is Kind.UPDATE and written & set(table.key):
            raise NotUnderstoodError(f"it changes the primary key of {table.name}")
        if self.marked.text.rstrip().endswith("*/") or "--" in self.marked.text.splitlines()[-1]:
            raise NotUnderstoodError("it ends in a comment")


def _where(text: str, dialect: Dialect) -> str:
    """The WHERE clause of a change, empty if it has none."""
    depth = 0
    for token in sqlglot.tokenize(text, dialect=dialect.name):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0 and token.token_type is TokenType.WHERE:
            return text[token.start :].rstrip().rstrip(";")
    return ""


def _unknown(identity: list[str], point: tuple[int | None, ...]) -> list[str]:
    """Version and key without the columns that parameters tell."""
    if not point:
        return identity
    version, *key = identity
    return [version, *(column for column, place in zip(key, point, strict=True) if place is None)]


def _named(columns: Sequence[str]) -> str:
    """Hidden columns with names of their own: ORDER BY must not find the name of a key twice."""
    return ", ".join(f"{column} AS isoscope_{number}" for number, column in enumerate(columns))
