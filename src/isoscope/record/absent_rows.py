"""Rows that a read did not show, although some version of them meets its condition.

Such a read saw a version that does not meet the condition: the row was not there yet, deleted, or
different. Where one version only can have been seen, the read is an observation of it like any other. Where
several can, it is a read of the range of this one key that shows no row, with the values that it did not see.
This is how phantoms are found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from isoscope.record.conditions import AliasedRow, equalities, matches
from isoscope.record.plan import Kind
from isoscope.record.rows import key_label
from isoscope.record.traces import is_cut_off

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.record.tables import Table
    from isoscope.record.traces import Statement, TracedDatabase, TracedTransaction
    from isoscope.record.versions import RowHistory, Version, Versions

__all__ = ["AbsentRow", "AbsentRows"]

_WITH_CONDITION = (Kind.SELECT, Kind.UPDATE, Kind.DELETE)
_OPEN = "it is not known whether rows that it did not show meet its condition"


@dataclass(frozen=True, slots=True)
class AbsentRow:
    """A row that a read did not show; `version` is what it saw of it, None if several versions are possible.

    Then `unseen` are the values that it would have shown or cannot have met: it saw another one. `reason`
    says why not even these are known.
    """

    key: str
    version: Version | None = None
    unseen: tuple[Any, ...] = ()
    reason: str = ""


class AbsentRows:
    """Finds them, with an index of the columns that conditions compare for equality."""

    def __init__(self, versions: Versions) -> None:
        self._versions = versions
        self._indexes: dict[tuple[str, tuple[str, ...]], _Index] = {}

    def of(self, reader: TracedTransaction, statement: Statement, shown: set[str]) -> Iterator[AbsentRow]:
        """The rows that this statement did not show and that matter."""
        plan = statement.plan
        if plan.kind not in _WITH_CONDITION or (plan.is_point and shown):
            return  # A condition that names one row cannot hide another.
        hides = "a join" if len(plan.references) > 1 else "LIMIT" if is_cut_off(statement) else ""
        for reference in plan.references:
            for row in self._rows(reader.database, reader.database.tables[reference.table], statement):
                if row.key in shown:
                    continue
                found = _absent(reader, statement, row, reference.alias)
                if found is not None and hides:
                    yield AbsentRow(row.key, reason=f"{hides} may have hidden rows that it read")
                elif found is not None:
                    yield found

    def _rows(self, database: TracedDatabase, table: Table, statement: Statement) -> Iterable[RowHistory]:
        """The rows of a table that may meet the condition in some version."""
        name = database.prefix + table.name
        if len(statement.plan.references) > 1:
            return self._versions.by_table[name]
        compared = equalities(statement.plan.condition, statement.values)
        if not set(table.key) <= compared.keys():
            return self._candidates(name, compared)
        found = self._versions.rows.get(key_label(name, [compared[column] for column in table.key]))
        return [found] if found is not None else []

    def _candidates(self, table: str, compared: dict[str, Any]) -> Iterable[RowHistory]:
        """The rows of which some version may have these values."""
        columns = tuple(sorted(compared))
        if not columns:
            return self._versions.by_table[table]
        if (table, columns) not in self._indexes:
            self._indexes[table, columns] = _Index(self._versions.by_table[table], columns)
        return self._indexes[table, columns].find(compared)


class _Index:
    """Rows by the values of some columns, in any version."""

    def __init__(self, rows: Iterable[RowHistory], columns: tuple[str, ...]) -> None:
        self._columns = columns
        self._rows: dict[tuple[str, ...], dict[str, RowHistory]] = {}
        self._unknown: dict[str, RowHistory] = {}
        for row in rows:
            for version in (row.initial(), *row.versions):
                self._add(row, version)

    def _add(self, row: RowHistory, version: Version) -> None:
        if version.is_dead:
            return
        content = version.content or {}
        if any(column not in content for column in self._columns):
            self._unknown[row.key] = row
            return
        values = tuple(str(content[column]) for column in self._columns)
        self._rows.setdefault(values, {})[row.key] = row

    def find(self, compared: dict[str, Any]) -> Iterable[RowHistory]:
        values = tuple(str(compared[column]) for column in self._columns)
        return {**self._rows.get(values, {}), **self._unknown}.values()


def _absent(reader: TracedTransaction, statement: Statement, row: RowHistory, alias: str) -> AbsentRow | None:
    """What a read that does not show a row saw of it; None if that says nothing."""
    if any(one.writer is reader for one in row.versions):
        return None  # Its own write, before or after: no observation of another transaction.
    states = [row.initial(), *row.versions]
    answers = [_matches(statement, one, alias) for one in states]
    if not any(answer is not False for answer in answers):
        return None
    could_be_seen = [_is_possible(reader, statement, row, place, one) for place, one in enumerate(states)]
    found = _seen(
        row.key, [*zip(states, answers, could_be_seen, strict=True)], is_whole=not row.is_seen_outside
    )
    return found if reader.database.has_versions else _by_content(found, states, answers)


def _by_content(found: AbsentRow, states: list[Version], answers: list[bool | None]) -> AbsentRow:
    """The same where values are contents: the initial state has none of its name.

    It may be like a later version, so that the clock excludes no content: only the condition does.
    """
    matching = {str(one.value) for one, answer in zip(states, answers, strict=True) if answer is True}
    left = (one for one in found.unseen if one != states[0].value)
    kept = left if states[0].is_dead else (one for one in left if str(one) in matching)
    return replace(found, unseen=tuple(kept))


def _seen(key: str, states: list[tuple[Version, bool | None, bool]], *, is_whole: bool) -> AbsentRow:
    """What was seen; of each state, whether it meets the condition and whether the clock allows it.

    If not `is_whole`, transactions that were not recorded wrote states that are not known.
    """
    possible = [(one, answer) for one, answer, is_possible in states if answer is not True and is_possible]
    if len(possible) == 1 and is_whole:
        return AbsentRow(key, possible[0][0])
    if any(answer is None for _, answer in possible):
        return AbsentRow(key, reason=_OPEN)
    # Times that leave no state are no evidence: then only the condition counts.
    left = {str(one.value) for one, _ in possible}
    unseen = [
        one.value for one, answer, _ in states if answer is True or (left and str(one.value) not in left)
    ]
    return AbsentRow(key, unseen=tuple(dict.fromkeys(unseen)))


def _matches(statement: Statement, version: Version, alias: str) -> bool | None:
    if version.is_dead:
        return False
    return matches(statement.plan.condition, AliasedRow(alias, version.content or {}), statement.values)


def _is_possible(
    reader: TracedTransaction, statement: Statement, row: RowHistory, place: int, version: Version
) -> bool:
    """By the clock: it was committed when the read ended, and not replaced before the reader began."""
    if version.writer is not None and version.writer.end[0] > statement.complete:
        return False
    following = row.versions[place:] if row.is_ordered else []
    return not any(_was_committed(one, reader.begin) for one in following)


def _was_committed(version: Version, time: int) -> bool:
    """Whether a version was there at this time for certain: its writer committed and was told so."""
    writer = version.writer
    return writer is not None and writer.status == "committed" and writer.end[1] < time
