"""How a statement is executed, and how the rows that it read and wrote are found out."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp

    from isoscope.record.placeholders import Marked
    from isoscope.record.tables import Table

__all__ = [
    "CHANGES", "STAMP", "Answer", "Dialect", "Kind", "NotUnderstoodError", "Plan", "Reference",
    "not_understood",
]  # fmt: skip


class NotUnderstoodError(Exception):
    """Why a statement is not understood."""


class Kind(StrEnum):
    """What a statement does, as far as rows are concerned."""

    SELECT = "select"
    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"
    NO_ROWS = "no-rows"
    NOT_UNDERSTOOD = "not-understood"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a database says what the hidden columns need.

    `version` names the hidden column of a row's version, empty if the database has none: then the version
    is the content of the row. `style` is the parameter style of the driver. Columns of the types `plain`
    are sent as texts that need no cast. If `is_separate`, a SELECT stays as it is, and a second one in the
    same snapshot names the rows. If `is_commit_ordered`, no two commits overlap by their recorded times.
    `returning` are the changes that can return rows. If not `is_folding`, names
    of tables without quotes keep their case. If it `has_parts`, statements of several SELECTs are understood.
    If it `has_text_cells`, the content shows each column as a text, and the types say what it means. `stamp`
    is the hidden column of the time at which a version was committed. Commands with a word of `past` let
    later reads see old versions. If it `is_restarting`, a rollback to a savepoint may begin the transaction
    anew.
    """

    name: str
    style: str
    version: str = ""
    text: str = "CAST({} AS TEXT)"
    plain: frozenset[str] = frozenset()
    row: str = ""
    collect: str = ""
    pair: str = ""
    cell: str = "{}"
    is_separate: bool = False
    is_commit_ordered: bool = False
    quote: str = '"'
    is_folding: bool = True
    returning: tuple[Kind, ...] = (Kind.INSERT, Kind.UPDATE, Kind.DELETE)
    has_parts: bool = False
    has_text_cells: bool = False
    stamp: str = ""
    past: tuple[str, ...] = ()
    is_restarting: bool = False

    def shows_key(self, table: Table) -> bool:
        """Whether the content of a row shows its key as the key itself is shown."""
        return bool(table.types) and all(table.type_of(column) in self.plain for column in table.key)


@dataclass(frozen=True, slots=True)
class Reference:
    """A table in a statement, and the name by which the statement calls it."""

    table: str
    alias: str
    is_outer: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What a subquery answers in the snapshot of its statement: a list, one value, or whether it has rows."""

    separate: str
    kept: tuple[int, ...]
    kind: str

    def of(self, rows: Any) -> Any:
        """The answer as a value that conditions compare."""
        values = [row[0] for row in rows]
        if self.kind == "list":
            return values
        return (values[0] if values else None) if self.kind == "value" else values[0] > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A statement as it is executed, and how its hidden columns are read.

    A row of the result has `visible` columns of the program (None: all but `hidden`), then the hidden ones:
    for each reference its version and its key, or one text of all rows that an aggregate is made of. A change
    has the content of the row, too; its key is then left out if the content shows it.
    `separate` is the statement that names the rows instead, with the parameters at the places `kept`. If an
    UPDATE `is_locating`, it is executed before the change, and the rows are read again behind it. `point` is,
    for each column of the key, the place of the integer parameter that the condition compares it with, or
    None: the hidden columns show only the columns without one. It is empty if they show all.
    `row` is what the text says of the one row that an INSERT or UPDATE writes: a parameter or a constant for
    each column. If it says enough, the statement `is_silent`: it can be executed without hidden columns in a
    transaction whose number is known, if the parameters of the key have the types `checked`.
    A statement of several SELECTs has a plan for each of its `parts`. Their conditions compare with `answers`
    of subqueries, which follow the parameters. A `change` that has them follows their questions. If not
    `is_fixed`, the database chooses the rows of a LIMIT. An INSERT that `may_be_empty` writes what
    a SELECT finds.
    """

    kind: Kind
    text: str
    references: tuple[Reference, ...] = ()
    hidden: int = 0
    is_returning: bool = True
    is_aggregate: bool = False
    is_locking: bool = False
    limit: exp.Expr | None = field(default=None, compare=False)
    written: frozenset[str] = frozenset()
    separate: str = ""
    kept: tuple[int, ...] = ()
    is_locating: bool = False
    point: tuple[int | None, ...] = ()
    row: Mapping[str, exp.Expr] = field(default_factory=dict, compare=False)
    is_silent: bool = False
    checked: tuple[tuple[int, type], ...] = ()
    condition: exp.Expr | None = field(default=None, compare=False)
    marked: Marked | None = field(default=None, compare=False)
    reason: str = ""
    parts: tuple[Plan, ...] = ()
    answers: tuple[Answer, ...] = ()
    change: Plan | None = None
    is_fixed: bool = True
    may_be_empty: bool = False
    #: The text as psycopg takes it fastest: it finds what it made of bytes by their hash, which is kept.
    sent: str | bytes = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sent", self.text.encode() if self.text.isascii() else self.text)

    @property
    def is_point(self) -> bool:
        """Whether the condition names one row by parameters."""
        return bool(self.point) and None not in self.point


#: Among the columns of a content, the time at which the version was committed.
STAMP = "@"
CHANGES = (Kind.INSERT, Kind.UPDATE, Kind.DELETE)


def not_understood(sql: str, reason: str) -> Plan:
    """The plan of a statement that is executed unchanged."""
    return Plan(kind=Kind.NOT_UNDERSTOOD, text=sql, reason=reason)
