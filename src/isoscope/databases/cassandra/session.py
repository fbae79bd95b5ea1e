"""A session on Cassandra: transactions that the client makes, since one of Cassandra is a single request.

Reads go to the database at once; writes wait in the client. With `accord`, the commit is one transaction of
Accord: it reads again all that was read, and writes only if nothing has changed. With `lightweight`, it is a
batch with a condition on each row that was read; Cassandra takes such a batch for one partition alone, so all
rows are in one. Values are unique, so an equal value is the same version. With `quorum`, the commit is a
batch that compares nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.databases.database import Aborted, ConnectionLost

if TYPE_CHECKING:
    from collections.abc import Callable

    from isoscope.databases.database import Content, Found

__all__ = ["CassandraSession"]


class CassandraSession:
    """A client whose requests all go to one node; `execute` sends a request and returns its rows."""

    def __init__(
        self, execute: Callable[[str], list[Any]], table: str, content: Content, isolation: str
    ) -> None:
        self._execute, self._table, self._content = execute, table, content
        self._compares, self._is_accord = isolation != "quorum", isolation == "accord"
        #: How a row is found, and all rows.
        self._row = "p = 0 AND k" if isolation == "lightweight" else "k"
        self._all = f"SELECT k, v FROM {table}{' WHERE p = 0' if isolation == 'lightweight' else ''}"
        self.begin()

    def begin(self) -> None:
        """Forgets everything; Cassandra learns of a transaction when it commits."""
        #: Texts that were read, None for no row.
        self._seen: dict[int, str | None] = {}
        #: Keys that must exist.
        self._present: set[int] = set()
        #: Texts to be written; None removes the row.
        self._writes: dict[int, str | None] = {}
        self._reads = 0

    def read(self, key: int) -> Found:
        """What `key` holds."""
        return self._value(self._writes[key] if key in self._writes else self._fetched(key))

    def write(self, key: int, value: int) -> None:
        """Overwrites a register; whether the row exists is known at the commit, if it compares."""
        if key in self._writes and self._writes[key] is None:
            raise Aborted("the row is not there")
        if key not in self._writes:
            self._present.add(key) if self._compares else self._existing(key)
        self._writes[key] = str(value)

    def add(self, key: int, text: str) -> None:
        """Adds a row without a read: whether it is there already is known at the commit, if it compares."""
        self._seen[key], self._writes[key] = None, text

    def append(self, key: int, value: int) -> None:
        """Appends to a list: it is read, and written as a whole."""
        text = self._writes[key] if key in self._writes else self._existing(key)
        if text is None:
            raise Aborted("the row is not there")
        self._writes[key] = f"{text},{value}"

    def insert(self, key: int, value: int) -> None:
        """Adds a row."""
        before = self._writes[key] if key in self._writes else self._fetched(key)
        if before is not None:
            raise Aborted("the row is there already")
        self._writes[key] = f",{value}" if self._content == "list" else str(value)

    def delete(self, key: int) -> None:
        """Removes a row."""
        before = self._writes[key] if key in self._writes else self._existing(key)
        if before is None:
            raise Aborted("the row is not there")
        self._writes[key] = None

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        """Registers from `low` to `high`: rows have no order, so all are read; new rows are not noticed."""
        found = {
            row.k: row.v for row in self._execute(self._all) if low <= row.k <= high and row.v is not None
        }
        self._reads += 1 + len(found)
        self._seen |= found
        found |= {key: text for key, text in self._writes.items() if low <= key <= high}
        return [(key, int(text)) for key, text in sorted(found.items()) if text is not None]

    def commit(self) -> None:
        """Writes everything; if it compares, only if nothing has changed that was read."""
        if self._compares:
            # One read is one transaction already.
            if self._writes or self._reads > 1:
                self._commit_accord() if self._is_accord else self._commit_lightweight()
        elif self._writes:
            changes = " ".join(self._change(key) for key in sorted(self._writes))
            self._execute_commit(f"BEGIN BATCH {changes} APPLY BATCH")

    def rollback(self) -> None:
        """Forgets what was to be written."""
        self.begin()

    def close(self) -> None:
        """The connections belong to the database."""

    def _commit_accord(self) -> None:
        keys = sorted({*self._seen, *self._present})
        names = {key: f"r{place}" for place, key in enumerate(keys)}
        lets = "".join(f"LET {names[key]} = (SELECT v FROM {self._table} WHERE k = {key}); " for key in keys)
        told = f"SELECT {', '.join(f'{names[key]}.v' for key in keys)}; " if keys else ""
        changes = " ".join(self._change(key) for key in sorted(self._writes))
        conditions = " AND ".join(self._condition(key, names[key]) for key in keys)
        if changes and conditions:
            changes = f"IF {conditions} THEN {changes} END IF"
        rows = self._execute_commit(f"BEGIN TRANSACTION {lets}{told}{changes} COMMIT TRANSACTION")
        found = dict(zip(keys, rows[0] if rows else (None,) * len(keys), strict=True))
        for key in keys:
            is_same = found[key] == self._seen[key] if key in self._seen else found[key] is not None
            if not is_same:
                raise Aborted("a compared key has changed")

    def _commit_lightweight(self) -> None:
        """One batch; a row that is only compared is changed in a column that is never read."""
        keys = sorted({*self._seen, *self._present, *self._writes})
        changes = " ".join(
            f"UPDATE {self._table} SET {self._assignment(key)} WHERE {self._row} = {key}{self._if(key)};"
            for key in keys
        )
        rows = self._execute_commit(f"BEGIN BATCH {changes} APPLY BATCH")
        # The first column says whether all conditions were true.
        if not rows[0][0]:
            raise Aborted("a compared key has changed")

    def _assignment(self, key: int) -> str:
        if key not in self._writes:
            return "c = 0"
        text = self._writes[key]
        return "v = null" if text is None else f"v = '{text}'"

    def _if(self, key: int) -> str:
        if key in self._seen:
            text = self._seen[key]
            return " IF v = null" if text is None else f" IF v = '{text}'"
        return " IF v != null"

    def _condition(self, key: int, name: str) -> str:
        if key not in self._seen:
            return f"{name} IS NOT NULL"
        text = self._seen[key]
        return f"{name} IS NULL" if text is None else f"{name}.v = '{text}'"

    def _change(self, key: int) -> str:
        text = self._writes[key]
        if text is None:
            return f"DELETE FROM {self._table} WHERE k = {key};"
        return f"INSERT INTO {self._table} (k, v) VALUES ({key}, '{text}');"

    def _execute_commit(self, statement: str) -> list[Any]:
        try:
            return self._execute(statement)
        except Aborted as error:
            # A time-out says nothing about what the request did.
            raise ConnectionLost(str(error)) from None

    def _existing(self, key: int) -> str:
        text = self._fetched(key)
        if text is None:
            raise Aborted("the row is not there")
        return text

    def _fetched(self, key: int) -> str | None:
        rows = self._execute(f"SELECT v FROM {self._table} WHERE {self._row} = {key}")
        text: str | None = rows[0].v if rows else None
        self._reads += 1
        if key in self._seen and self._seen[key] != text and self._compares:
            raise Aborted("a key that was read has changed")
        self._seen[key] = text
        return text

    def _value(self, text: str | None) -> Found:
        if text is None:
            return None
        return tuple(map(int, text.split(",")[1:])) if self._content == "list" else int(text)
