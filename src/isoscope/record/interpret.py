"""Recorded processes as one history: statements become reads and writes of rows.

The key of a row is its table and primary key. Its value is the transaction that wrote the version, so that
values are unique; where the database does not name the writer, it is the content of the row.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from isoscope.record.absent_rows import AbsentRows
from isoscope.record.initial_contents import InitialContents
from isoscope.record.plan import Kind
from isoscope.record.rows import SeenRow, seen_rows
from isoscope.record.stamps import drop_unconfirmed, own_row
from isoscope.record.versions import INITIAL, Versions, content_text, written_content

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.record.traces import Statement, TracedTransaction
    from isoscope.record.versions import Version

__all__ = ["Access", "Interpretation", "interpret"]


class Access(NamedTuple):
    """A read or a write of one row, or the values of a row that a read did not see (`not-shown`).

    `uncovered` says why it cannot be judged instead.
    """

    kind: str
    key: str = ""
    value: Any = None
    statement: Statement | None = None
    uncovered: str = ""
    is_absent: bool = False


@dataclass(slots=True)
class Interpretation:
    """The history that the processes made together."""

    transactions: list[tuple[TracedTransaction, list[Access]]]
    outside: dict[str, dict[str, str]]
    orders: dict[str, list[Any]]
    initial: dict[str, Any]
    uncovered: Counter[tuple[str, str]] = field(default_factory=Counter)


def interpret(transactions: Sequence[TracedTransaction]) -> Interpretation:
    """What the transactions read and wrote."""
    return _Interpreter(transactions).result()


class _Interpreter:
    def __init__(self, transactions: Sequence[TracedTransaction]) -> None:
        self.transactions = transactions
        drop_unconfirmed(transactions)
        self.versions = Versions(transactions)
        #: Rows that transactions wrote which were not recorded, with their versions.
        self.outside: dict[str, dict[str, str]] = {}
        #: The content of rows that was there before the recording, where rows do not name their writers.
        self.initial_contents = InitialContents(transactions, self.versions)
        #: Contents that no transaction wrote and that were not there before either.
        self.outside_contents: set[tuple[str, str]] = set()
        self.uncovered: Counter[tuple[str, str]] = Counter()
        #: Writes that no statement shows, but a read does.
        self.inferred: dict[int, dict[str, None]] = {}
        self.firsts: dict[str, int] = {}
        for one in transactions:
            first = self.firsts.setdefault(one.database.name, one.database.first)
            self.firsts[one.database.name] = min(first, one.database.first)
        self.known: dict[str, set[Any]] = {}

    def result(self) -> Interpretation:
        self._note_initial_rows()
        for row in self.versions.rows.values():
            row.complete()
        absent = AbsentRows(self.versions)
        accesses = [
            (one, [access for done in one.statements for access in self._accesses(one, done, absent)])
            for one in self.transactions
        ]
        for one, found in accesses:
            found += [Access("write", key, one.label) for key in self.inferred.get(one.number, ())]
        return Interpretation(accesses, self.outside, self._orders(), self._initial(), self.uncovered)

    def _note_initial_rows(self) -> None:
        """Rows of which a read shows the state before the recording."""
        for one in self.transactions:
            for statement in one.statements:
                if statement.plan.kind not in (Kind.SELECT, Kind.DELETE) or not one.database.has_versions:
                    continue
                for seen in seen_rows(statement, one.database):
                    if seen.version in self.versions.writers:
                        continue
                    if self._is_initial(one, seen):
                        self.versions.row(seen).is_initial_seen = True
                    elif seen.key in self.versions.rows:
                        self.versions.rows[seen.key].is_seen_outside = True

    def _accesses(self, one: TracedTransaction, done: Statement, absent: AbsentRows) -> Iterator[Access]:
        if done.plan.kind is Kind.NOT_UNDERSTOOD:
            yield self._unread(done, done.plan.reason)
            return
        shown = seen_rows(done, one.database)
        if one.status != "aborted":
            yield from self._not_shown(one, done, absent, {seen.key for seen in shown})
        if done.is_change:
            yield from self._changes(one, done, shown)
            return
        for seen in shown:
            own = own_row(one, done, seen) if one.database.has_stamps else None
            if own is not None and own.content == seen.content:
                yield Access("read", seen.key, _written(one, done, seen), done)
            elif own is not None or (one.database.has_stamps and not seen.stamp):
                yield self._unread(done, "a row that it read does not show which version it is")
            else:
                yield Access("read", seen.key, self._value(one, done, seen), done)

    def _unread(self, done: Statement, reason: str) -> Access:
        self.uncovered[done.sql, reason] += 1
        return Access("range-read", statement=done, uncovered=reason)

    def _not_shown(
        self, one: TracedTransaction, done: Statement, absent: AbsentRows, shown: set[str]
    ) -> Iterator[Access]:
        """What a statement saw of rows that its result does not show."""
        reasons: dict[str, None] = {}
        if done.plan.kind is Kind.INSERT and not done.rows and not done.plan.may_be_empty:
            reasons["it inserted nothing, and does not show the row that it met"] = None
        for row in absent.of(one, done, shown):
            if row.version is not None:
                yield Access("read", row.key, self._state(one, row.key, row.version), done, is_absent=True)
            elif row.reason:
                reasons[row.reason] = None
            else:
                yield Access("not-shown", row.key, list(row.unseen), done)
        for reason in reasons:
            yield self._unread(done, reason)

    def _changes(self, one: TracedTransaction, done: Statement, shown: list[SeenRow]) -> Iterator[Access]:
        for seen in shown:
            if done.plan.kind is Kind.DELETE and one.database.has_versions and one.status != "aborted":
                yield Access("read", seen.key, self._value(one, done, seen), done)
            if not done.is_undone:
                yield Access("write", seen.key, _written(one, done, seen), done)

    def _value(self, reader: TracedTransaction, done: Statement, seen: SeenRow) -> Any:
        """The version that a read shows, by the name of its writer."""
        if not reader.database.has_versions:
            return self.versions.stamped_value(seen) or self._content(done, seen)
        writer = self.versions.writers.get(seen.version)
        if writer is not None:
            if not self._has_written(writer, seen.key):
                self.inferred.setdefault(writer.number, {})[seen.key] = None
            return writer.label
        if self._is_initial(reader, seen):
            return INITIAL
        name = f"outside_{seen.version}"
        self.outside.setdefault(name, {})[seen.key] = name
        return name

    def _state(self, reader: TracedTransaction, key: str, version: Version) -> Any:
        """A version that was seen and not shown; that of before has the name that other reads give it."""
        if version.value != INITIAL or reader.database.has_versions:
            return version.value
        return self.initial_contents.of_key.get(key, INITIAL)

    def _content(self, done: Statement, seen: SeenRow) -> str:
        """The content that a read shows; the first that no transaction wrote was there before."""
        value = content_text(seen.content)
        is_new = (seen.key, value) not in self.outside_contents
        if is_new and self.initial_contents.is_from_outside(done, seen):
            self.outside.setdefault(f"outside_{len(self.outside) + 1}", {})[seen.key] = value
            self.outside_contents.add((seen.key, value))
        return value

    def _is_initial(self, reader: TracedTransaction, seen: SeenRow) -> bool:
        """Whether a version was there before the recording of its database."""
        return int(seen.version.removeprefix(reader.database.prefix)) < self.firsts[reader.database.name]

    def _has_written(self, writer: TracedTransaction, key: str) -> bool:
        if writer.label not in self.known:
            self.known[writer.label] = {
                seen.key
                for done in writer.statements
                if done.is_change
                for seen in seen_rows(done, writer.database)
            }
        return key in self.known[writer.label]

    def _orders(self) -> dict[str, list[Any]]:
        """The order of the versions of each row that has several, where it is known."""
        return {
            row.key: [one.value for one in row.versions]
            for row in self.versions.rows.values()
            if row.is_ordered and len(row.versions) > 1 and not self._is_seen_outside(row.key)
        }

    def _is_seen_outside(self, key: str) -> bool:
        return any(key in rows for rows in self.outside.values())

    def _initial(self) -> dict[str, Any]:
        """The rows that were there before the recording; all others were not.

        Where values are contents, only those are named whose content some transaction wrote again.
        """
        if any(not one.database.has_versions for one in self.transactions):
            return self.initial_contents.written_again()
        return {row.key: INITIAL for row in self.versions.rows.values() if row.existed}


def _written(one: TracedTransaction, done: Statement, seen: SeenRow) -> Any:
    if done.plan.kind is Kind.DELETE:
        return f"{one.label}_deleted"
    return one.label if one.database.has_versions else written_content(one, seen)
