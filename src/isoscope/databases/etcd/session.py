"""A session on etcd: transactions that the client makes, as etcd's own library for them does.

Reads show the state at one revision, that of the first read. Writes wait in the client. The commit is one
request: it compares what the isolation demands, and writes everything or nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from isoscope.databases.database import Aborted, ConnectionLost
from isoscope.databases.etcd.client import Client, Refused, decoded, encoded
from isoscope.history import Timestamp

if TYPE_CHECKING:
    from isoscope.databases.database import Content, Found

__all__ = ["EtcdSession", "Row", "Table", "parse_row"]

Comparison: TypeAlias = Literal["read-set", "written-keys", "none"]
#: Keys may be negative: texts sort as the numbers do.
_OFFSET = 1 << 63


class Row(NamedTuple):
    """A row, and the revision that wrote it."""

    key: int
    value: Found
    revision: int


class Table(NamedTuple):
    """The prefix of the keys of a run, and what the rows hold."""

    prefix: str
    content: Content

    def key(self, key: int) -> str:
        """A key of the run as a key of etcd."""
        return encoded(f"{self.prefix}{key + _OFFSET:016x}")

    def end(self, key: int) -> str:
        """The end of a range up to a key, which is in the range."""
        return encoded(f"{self.prefix}{key + _OFFSET:016x}\0")

    def number(self, key: str) -> int:
        """The key of the run that a key of etcd stands for."""
        return int(decoded(key).removeprefix(self.prefix), 16) - _OFFSET

    def text(self, value: Found) -> str:
        """A value as etcd keeps it."""
        return encoded(",".join(map(str, value)) if isinstance(value, tuple) else str(value))


def parse_row(table: Table, found: dict[str, Any]) -> Row:
    """A row of an answer."""
    text = decoded(found.get("value", ""))
    elements = tuple(map(int, text.split(","))) if text else ()
    value: Found = elements if table.content == "list" else int(text)
    return Row(table.number(found["key"]), value, int(found["mod_revision"]))


class EtcdSession:
    """A client of one node; with `is_local` the node answers reads by itself, without asking the others."""

    def __init__(self, client: Client, table: Table, comparison: str, *, is_local: bool) -> None:
        self.client = client
        self._table, self._comparison, self._is_local = table, comparison, is_local
        self.begin()

    def begin(self) -> None:
        """Forgets everything; etcd learns of a transaction when it commits."""
        #: The revision of the snapshot; 0 before the first request.
        self._revision = 0
        #: Revisions of the keys that were read, 0 for none; and ranges.
        self._seen: dict[int, int] = {}
        self._ranges: list[tuple[int, int]] = []
        #: What is to be written; None removes the row.
        self._writes: dict[int, Found] = {}
        #: Keys that must exist, or must be as they were seen, at every isolation.
        self._present: set[int] = set()
        self._unchanged: set[int] = set()

    def read(self, key: int) -> Found:
        """What `key` holds."""
        if key in self._writes:
            if not self._revision:
                # The first read takes the snapshot, also if the client knows the answer.
                self._ask({"key": self._table.key(key)})
            return self._writes[key]
        row = self._fetched(key)
        return None if row is None else row.value

    def write(self, key: int, value: int) -> None:
        """Overwrites a register; whether the row exists is known at the commit."""
        if key in self._writes and self._writes[key] is None:
            raise Aborted("the row is not there")
        if key not in self._writes:
            self._present.add(key)
        if self._comparison == "written-keys" and not self._revision:
            # What is written is compared with a snapshot, which the first statement takes.
            self._fetched(key)
        self._writes[key] = value

    def append(self, key: int, value: int) -> None:
        """Appends to a list: etcd cannot, so the list is read and compared at every isolation."""
        if key not in self._writes:
            row = self._existing(key)
            self._unchanged.add(key)
            self._writes[key] = row.value
        before = self._writes[key]
        self._writes[key] = (*(before if isinstance(before, tuple) else ()), value)

    def insert(self, key: int, value: int) -> None:
        """Adds a row."""
        if key in self._writes:
            if self._writes[key] is not None:
                raise Aborted("the row is there already")
        elif self._fetched(key) is not None:
            raise Aborted("the row is there already")
        else:
            self._unchanged.add(key)
        self._writes[key] = (value,) if self._table.content == "list" else value

    def delete(self, key: int) -> None:
        """Removes a row."""
        if key in self._writes:
            if self._writes[key] is None:
                raise Aborted("the row is not there")
        else:
            self._existing(key)
            self._present.add(key)
        self._writes[key] = None

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        """Registers from `low` to `high`."""
        body = {"key": self._table.key(low), "range_end": self._table.end(high)}
        rows = {row.key: row for row in self._ask(body)}
        self._ranges.append((low, high))
        self._seen |= {row.key: row.revision for row in rows.values()}
        found: dict[int, Found] = {key: row.value for key, row in rows.items()}
        found |= {key: value for key, value in self._writes.items() if low <= key <= high}
        return [(key, value) for key, value in sorted(found.items()) if isinstance(value, int)]

    def commit(self) -> tuple[Timestamp, Timestamp] | None:
        """Compares and writes in one request; revisions are the timestamps.

        A transaction that wrote nothing has seen one revision, and needs no request.
        """
        if not self._writes:
            return (Timestamp(self._revision), Timestamp(self._revision)) if self._revision else None
        body = {"compare": self._comparisons(), "success": [self._change(key) for key in self._writes]}
        try:
            answer = self.client.post("kv/txn", body)
        except Refused as error:
            # A time-out or a new leader says nothing about what the request did.
            raise ConnectionLost(str(error)) from None
        if not answer.get("succeeded"):
            raise Aborted("a compared key has changed")
        commit = int(answer["header"]["revision"])
        return Timestamp(self._revision or commit - 1), Timestamp(commit)

    def rollback(self) -> None:
        """Forgets what was to be written."""
        self.begin()

    def close(self) -> None:
        """Closes the connection."""
        self.client.close()

    def _existing(self, key: int) -> Row:
        row = self._fetched(key)
        if row is None:
            raise Aborted("the row is not there")
        return row

    def _fetched(self, key: int) -> Row | None:
        rows = self._ask({"key": self._table.key(key)})
        self._seen[key] = rows[0].revision if rows else 0
        return rows[0] if rows else None

    def _ask(self, body: dict[str, Any]) -> list[Row]:
        """Rows at the revision of the snapshot."""
        if self._revision:
            body["revision"] = str(self._revision)
        if self._is_local:
            body["serializable"] = True
        try:
            answer = self.client.post("kv/range", body)
        except Refused as error:
            raise Aborted(str(error)) from None
        self._revision = self._revision or int(answer["header"]["revision"])
        return [parse_row(self._table, found) for found in answer.get("kvs", ())]

    def _comparisons(self) -> list[dict[str, str]]:
        """What must be so when the transaction commits."""
        same = set(self._unchanged)
        if self._comparison == "read-set":
            same |= self._seen.keys()
        found = [self._same(key) for key in sorted(same)]
        found += [self._exists(key) for key in sorted(self._present - same)]
        if self._comparison == "read-set":
            found += [self._older(low, high) for low, high in self._ranges]
        elif self._comparison == "written-keys":
            found += [self._older(key, key) for key in sorted(self._writes.keys() - same)]
        return found

    def _same(self, key: int) -> dict[str, str]:
        revision = str(self._seen[key])
        return {"key": self._table.key(key), "target": "MOD", "result": "EQUAL", "mod_revision": revision}

    def _exists(self, key: int) -> dict[str, str]:
        return {"key": self._table.key(key), "target": "CREATE", "result": "GREATER", "create_revision": "0"}

    def _older(self, low: int, high: int) -> dict[str, str]:
        """No key of the range was written after the snapshot."""
        limit = str(self._revision + 1)
        return {
            "key": self._table.key(low),
            "range_end": self._table.end(high),
            "target": "MOD",
            "result": "LESS",
            "mod_revision": limit,
        }

    def _change(self, key: int) -> dict[str, Any]:
        value = self._writes[key]
        if value is None:
            return {"request_delete_range": {"key": self._table.key(key)}}
        return {"request_put": {"key": self._table.key(key), "value": self._table.text(value)}}
