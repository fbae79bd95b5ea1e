"""The versions of each row that a recorded program wrote, and their order.

The order of two versions follows from times, because a writer holds the lock of the row from its write
until its commit: a transaction whose write was answered before the commit of another was asked for cannot
have come after it. Two statements that overlap outside of transactions leave the order open, unless the
process lets its connections commit one after the other: then the order is that of the commits. Where the
database tells when each writer committed by its own clock, that is the order of the versions.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from isoscope.record.plan import Kind
from isoscope.record.rows import SeenRow, seen_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.record.traces import Statement, TracedTransaction

__all__ = ["ABSENT", "INITIAL", "RowHistory", "Version", "Versions", "content_text", "written_content"]

INITIAL = "initial"
ABSENT = "absent"


@dataclass(slots=True, eq=False)
class Version:
    """What a transaction left of a row; `writer` is None for the state before the recording."""

    writer: TracedTransaction | None
    value: Any
    content: dict[str, Any] | None
    is_dead: bool = False
    locked: int = 0
    #: The columns that its statements wrote, if the others are those of the version before; else None.
    written: frozenset[str] | None = None

    def follow(self, before: dict[str, Any]) -> None:
        """Takes the columns that its statements did not write from the version before it."""
        if self.written is not None:
            kept = {name: value for name, value in before.items() if name not in self.written}
            self.content = {**kept, **(self.content or {})}

    def replace(self, earlier: Version) -> None:
        """Takes the place of an earlier version of the same writer."""
        self.locked = earlier.locked
        if self.written is not None and not earlier.is_dead:
            self.follow(earlier.content or {})
            self.written = None if earlier.written is None else self.written | earlier.written

    @property
    def released(self) -> int:
        """When the end of its writer was asked for: until then the row was locked."""
        return 0 if self.writer is None else self.writer.end[0]

    @property
    def stamp(self) -> Decimal:
        """When its writer committed, by the clock of the database; 0 if that is not known."""
        return Decimal(self.writer.stamp) if self.writer is not None and self.writer.stamp else Decimal()


@dataclass(slots=True)
class RowHistory:
    """One row: its versions after the initial state, in their order if `is_ordered`."""

    table: str
    key: str
    columns: dict[str, Any]
    versions: list[Version] = field(default_factory=list)
    is_inserted_first: bool = False
    is_ordered: bool = True
    is_initial_seen: bool = False
    kept: dict[str, Any] = field(default_factory=dict)
    #: Whether a read shows a version that no recorded transaction wrote while others did.
    is_seen_outside: bool = False

    def complete(self) -> None:
        """Gives each version the columns that an UPDATE left as they were."""
        before = self.initial().content or {}
        for version in self.versions if self.is_ordered and not self.is_seen_outside else ():
            version.follow(before)
            before = version.content or {}

    @property
    def existed(self) -> bool:
        """Whether the row was there before the recording."""
        return self.is_initial_seen or not self.is_inserted_first

    def initial(self) -> Version:
        """The state before the first write; its content as far as it is known."""
        if not self.existed:
            return Version(None, ABSENT, None, is_dead=True)
        return Version(None, INITIAL, {**self.kept, **self.columns})


class Versions:
    """All rows that the transactions wrote."""

    def __init__(self, transactions: Iterable[TracedTransaction]) -> None:
        #: The value of a version, by its row, the time at which it was committed, and its content.
        self.stamped: dict[tuple[str, Decimal, str], str] = {}
        self.rows: dict[str, RowHistory] = {}
        self.by_table: dict[str, list[RowHistory]] = defaultdict(list)
        #: The transaction of each number that rows have as their version.
        self.writers: dict[str, TracedTransaction] = {}
        #: The contents of each row that transactions wrote, whether they committed or not.
        self.contents: dict[str, set[str]] = defaultdict(set)
        self._firsts: dict[str, tuple[Statement, SeenRow]] = {}
        for transaction in transactions:
            for statement in transaction.statements:
                if statement.is_change:
                    self._add(transaction, statement)
        for row in self.rows.values():
            self._order(row)

    def _add(self, transaction: TracedTransaction, statement: Statement) -> None:
        for seen in seen_rows(statement, transaction.database):
            if transaction.database.has_versions and statement.plan.kind is not Kind.DELETE:
                self.writers[seen.version] = transaction
            if not transaction.database.has_versions:
                value = written_content(transaction, seen)
                self.contents[seen.key].add(value)
                if transaction.stamp:
                    at = Decimal(transaction.stamp)
                    self.stamped[seen.key, at, content_text(seen.content)] = value
            if statement.is_undone or transaction.status == "aborted":
                continue
            row = self.row(seen)
            version = _version(transaction, statement, seen)
            if row.versions and row.versions[-1].writer is transaction:
                version.replace(row.versions.pop())
            else:
                self._firsts.setdefault(f"{row.key}\0{transaction.number}", (statement, seen))
            row.versions.append(version)

    def stamped_value(self, seen: SeenRow) -> str | None:
        """The version that was committed at the time that a read shows; None if no recorded one was."""
        if not seen.stamp:
            return None
        return self.stamped.get((seen.key, Decimal(seen.stamp), content_text(seen.content)))

    def row(self, seen: SeenRow) -> RowHistory:
        """The history of a row, new if it was not seen before."""
        found = self.rows.get(seen.key)
        if found is None:
            found = self.rows[seen.key] = RowHistory(seen.table, seen.key, dict(seen.columns))
            self.by_table[seen.table].append(found)
        return found

    def _order(self, row: RowHistory) -> None:
        stamps = [one.stamp for one in row.versions]
        if all(stamps) and len(set(stamps)) == len(stamps):
            row.versions.sort(key=lambda one: one.stamp)
        else:
            row.versions.sort(key=_moment)
            pairs = zip(row.versions, row.versions[1:], strict=False)
            row.is_ordered = all(_is_before(one, other) for one, other in pairs)
        if not row.versions or (writer := row.versions[0].writer) is None:
            return
        statement, seen = self._firsts[f"{row.key}\0{writer.number}"]
        row.is_inserted_first = statement.plan.kind is Kind.INSERT
        if statement.plan.kind is Kind.UPDATE and seen.content:
            # An UPDATE leaves the columns that it does not set as they were.
            written = statement.plan.written
            row.kept = {name: value for name, value in seen.content.items() if name not in written}


def _version(transaction: TracedTransaction, statement: Statement, seen: SeenRow) -> Version:
    if statement.plan.kind is Kind.DELETE:
        dead = f"{transaction.label}_deleted"
        return Version(transaction, dead, None, is_dead=True, locked=statement.complete)
    value = transaction.label if transaction.database.has_versions else written_content(transaction, seen)
    is_partial = statement.is_told and statement.plan.kind is Kind.UPDATE
    written = statement.plan.written if is_partial else None
    return Version(transaction, value, seen.content, locked=statement.complete, written=written)


def written_content(transaction: TracedTransaction, seen: SeenRow) -> str:
    """The content of a version as one value, with its writer if reads can tell them apart by their times."""
    text = content_text(seen.content)
    return f"{text} ({transaction.label})" if transaction.stamp else text


def content_text(content: dict[str, Any] | None) -> str:
    """The content of a row as one value of a history."""
    return ", ".join(f"{name}={value}" for name, value in (content or {}).items())


def _moment(one: Version) -> tuple[int, int]:
    """By what versions are sorted: the commits where they do not overlap, else the middle of the lock."""
    if one.writer is None:
        return 0, 0
    is_ordered = one.writer.database.has_commit_order
    return (one.writer.end[1] if is_ordered else one.locked + one.released), one.writer.number


def _is_before(one: Version, other: Version) -> bool:
    """Whether the opposite order is impossible: `one` had its lock before `other` released its own."""
    if one.writer is not None and other.writer is not None and one.writer.database.has_commit_order:
        return one.writer.end[1] <= other.writer.end[0]
    return other.released > one.locked and not one.released > other.locked
