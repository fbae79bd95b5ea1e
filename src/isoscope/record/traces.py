"""Reads the files of recorded processes back: transactions with their statements, each with its plan."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from isoscope.record.conditions import value_of
from isoscope.record.dialects import DIALECTS
from isoscope.record.placeholders import bound
from isoscope.record.plan import CHANGES, Kind, Plan, not_understood
from isoscope.record.rows import has_integer_key
from isoscope.record.sql import analyse
from isoscope.record.tables import Table
from isoscope.record.trace_file import PLAIN_TYPES, plain, read_records
from isoscope.record.written_row import written_content

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from isoscope.record.rows import SeenRow

__all__ = ["Statement", "TracedDatabase", "TracedTransaction", "is_cut_off", "read_traces"]


@dataclass(slots=True)
class TracedDatabase:
    """A database as one file of a process describes it.

    `prefix` stands before the names of its tables if the recording is of several databases.
    """

    kind: str
    name: str = ""
    first: int = 0
    prefix: str = ""
    tables: dict[str, Table] = field(default_factory=dict)
    plans: dict[str, Plan] = field(default_factory=dict)

    def add(self, table: Table) -> None:
        """A table as it is from here on; plans of an earlier form of it are forgotten."""
        if self.tables.get(table.name, table) != table:
            self.plans.clear()
        self.tables[table.name] = table

    @property
    def has_versions(self) -> bool:
        """Whether rows name their writers; otherwise their content has to do."""
        return bool(DIALECTS[self.kind].version)

    @property
    def has_commit_order(self) -> bool:
        """Whether no two commits overlap by their times."""
        return DIALECTS[self.kind].is_commit_ordered

    @property
    def has_text_cells(self) -> bool:
        """Whether the content of a row shows each column as a text."""
        return DIALECTS[self.kind].has_text_cells

    @property
    def has_stamps(self) -> bool:
        """Whether a read shows when the version was committed."""
        return bool(DIALECTS[self.kind].stamp)

    def plan(self, sql: str) -> Plan:
        """The plan that the process had, made again from the text."""
        if sql not in self.plans:
            self.plans[sql] = analyse(sql, DIALECTS[self.kind], self.tables.get)
        return self.plans[sql]


@dataclass
class Statement:
    """A statement that was executed."""

    sql: str
    plan: Plan
    parameters: Any
    path: str
    line: int
    invoke: int
    complete: int
    rows: list[list[Any]]
    is_undone: bool
    seen: list[SeenRow] | None = None
    #: Whether the row that it wrote is known from its text: then some of its columns may not be.
    is_told: bool = False
    #: What its subqueries answered.
    answers: list[Any] = field(default_factory=list)

    @cached_property
    def values(self) -> list[Any]:
        """The parameters in the order of the placeholders in the text, and the answers behind them."""
        given = [] if self.plan.marked is None else bound(self.plan.marked, self.parameters)
        return [*(given or []), *self.answers] if self.answers and given is not None else given or []

    @property
    def is_change(self) -> bool:
        """Whether it writes rows that are known."""
        return self.plan.kind in CHANGES


@dataclass(slots=True, eq=False)
class TracedTransaction:
    """A transaction of the program; `end` is when its end was asked for and answered.

    Of one that did not commit, only the statements that write are kept: its reads are never judged. `stamp`
    is the time of the commit by the clock of the database, which its versions show; empty if it is not known.
    """

    session: str
    database: TracedDatabase
    status: str
    isolation: str
    begin: int
    end: tuple[int, int]
    statements: list[Statement]
    stamp: str = ""
    number: int = 0

    @property
    def label(self) -> str:
        """Its name in messages, and the name of the versions that it wrote."""
        return f"T{self.number}"


def read_traces(folder: Path) -> list[TracedTransaction]:
    """All transactions of a folder, numbered in the order in which they ended."""
    found = [one for path in sorted(folder.glob("*.trace")) for one in _read(path)]
    found.sort(key=lambda one: (one.end[1], one.session))
    for number, one in enumerate(found, start=1):
        one.number = number
    names = list(dict.fromkeys(one.database.name for one in found))
    for one in found if len(names) > 1 else ():
        one.database.prefix = f"db{names.index(one.database.name) + 1}."
    return found


def _read(path: Path) -> Iterator[TracedTransaction]:
    databases: dict[int, TracedDatabase] = {}
    texts = _Texts()
    for row in read_records(path):
        if "transaction" in row:
            yield _transaction(row, databases[row["database"]], texts)
        elif "statement" in row:
            texts.statements[row["statement"]] = row["sql"]
        elif "place" in row:
            texts.places[row["place"]] = tuple(row["at"])
        elif "table" in row:
            key, columns, types = (tuple(row[name]) for name in ("key", "columns", "types"))
            databases[row["database"]].add(Table(row["table"], key, columns, types))
        else:
            databases[row["number"]] = TracedDatabase(row["kind"], row.get("name", ""), row.get("first", 0))


@dataclass(slots=True)
class _Texts:
    """What the lines of a file call by numbers."""

    statements: dict[int, str] = field(default_factory=dict)
    places: dict[int, tuple[str, int]] = field(default_factory=dict)


def _transaction(row: Any, database: TracedDatabase, texts: _Texts) -> TracedTransaction:
    is_aborted = row["status"] == "aborted"
    plans = [_plan(one, database, texts.statements[one[0]]) for one in row["done"]]
    statements = [
        part
        for one, plan in zip(row["done"], plans, strict=True)
        if not is_aborted or plan.kind in CHANGES
        for part in _parts(_statement(one, plan, texts))
        if not is_aborted or part.is_change
    ]
    for one in statements:
        if one.plan.point and not has_integer_key(one.plan, one.values):
            one.plan = not_understood(one.sql, "its key is compared with a value that is no integer")
    _show_rows(statements, database)
    return TracedTransaction(
        row["transaction"],
        database,
        row["status"],
        row["isolation"],
        row.get("begin", row["done"][0][3]),
        tuple(row["end"]),
        statements,
        row.get("stamp", ""),
    )


def _statement(done: Any, plan: Plan, texts: _Texts) -> Statement:
    number, parameters, place, invoke, complete, rows, is_undone, _ = done
    path, line = texts.places[place]
    return Statement(
        texts.statements[number],
        plan,
        _parameters(parameters),
        path,
        line,
        invoke,
        complete,
        rows if plan.parts else _texts(rows),
        is_undone,
    )


def _parts(one: Statement) -> list[Statement]:
    """A statement of several SELECTs as one statement for each."""
    plan = one.plan
    if not plan.parts:
        return [one]
    if plan.change is not None:
        return _changes(one, plan.change)
    answered = zip(plan.answers, one.rows[len(plan.parts) :], strict=True)
    answers = [answer.of(rows) for answer, rows in answered]
    pairs = zip(plan.parts, one.rows, strict=False)
    found = [replace(one, plan=part, rows=_texts(rows), answers=answers) for part, rows in pairs]
    for part in found:
        if not part.plan.is_fixed and is_cut_off(part):
            part.plan = not_understood(part.sql, "its LIMIT lets the database choose among rows")
    return found


def _changes(one: Statement, change: Plan) -> list[Statement]:
    """A change with subqueries: what they read comes first, if it is known."""
    own, *rows = one.rows
    if not rows:
        reason = "another transaction may have ended while the rows of its subqueries were asked for"
        return [
            replace(one, plan=not_understood(one.sql, reason), rows=[]),
            replace(one, plan=change, rows=_texts(own)),
        ]
    parts = _parts(replace(one, plan=replace(one.plan, change=None), rows=rows))
    return [*parts, replace(one, plan=change, rows=_texts(own), answers=parts[0].answers)]


def is_cut_off(statement: Statement) -> bool:
    """Whether a LIMIT may have hidden rows."""
    if statement.plan.limit is None or statement.plan.is_aggregate:
        return False
    limit = value_of(statement.plan.limit.expression, {}, statement.values)
    return not isinstance(limit, int) or len(statement.rows) >= limit


def _texts(rows: Any) -> Any:
    """Rows of which a driver gave the cells as bytes, or their number."""
    if isinstance(rows, int):
        return rows
    return [[cell.decode() if isinstance(cell, bytes) else cell for cell in row] for row in rows]


def _show_rows(statements: list[Statement], database: TracedDatabase) -> None:
    """Gives the changes that were executed without hidden columns the row that their parameters tell."""
    version = None
    for one in statements:
        if isinstance(one.rows, int):
            one.is_told = True
            table = database.tables[one.plan.references[0].table]
            content = written_content(one.plan, table, one.values)
            row = [version, *(content.get(column) for column in table.key), content]
            if one.rows > 1 or None in row:
                one.plan = not_understood(one.sql, "its parameters do not tell which rows it changed")
            one.rows = [row] * one.rows
        elif one.plan.kind in (Kind.INSERT, Kind.UPDATE) and one.rows:
            version = one.rows[0][0]


def _parameters(given: Any) -> Any:
    """The parameters with values of JSON only."""
    if isinstance(given, tuple | list) and all(type(one) in PLAIN_TYPES for one in given):
        return list(given)
    return plain(given)


def _plan(done: list[Any], database: TracedDatabase, sql: str) -> Plan:
    """The plan that the process had; the last part of a statement says why it was not understood."""
    reason: str = done[-1]
    return not_understood(sql, reason) if reason else database.plan(sql)
