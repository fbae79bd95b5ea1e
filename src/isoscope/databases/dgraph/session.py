"""A session: one HTTP connection, and one transaction of Dgraph at a time.

Every answer has `extensions.txn`: the start timestamp, and after a mutation the keys on which the commit is
compared with others, which the client sends with it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from isoscope.databases.database import Aborted, ConnectionLost
from isoscope.errors import DatabaseError
from isoscope.history import Timestamp

if TYPE_CHECKING:
    from isoscope.databases.database import Content, Found
    from isoscope.databases.dgraph.client import Client

__all__ = ["EMPTY", "DgraphSession"]

#: A list without elements, each of which a comma precedes. An empty text would be no value at all.
EMPTY = "."


class DgraphSession:
    """One connection; `_keys` and `_predicates` are what the commit is compared on."""

    def __init__(self, client: Client, name: str, content: Content) -> None:
        self.client, self._name, self._content = client, name, content
        self._start = 0
        self._hash = ""
        self._keys: set[str] = set()
        self._predicates: set[str] = set()

    def begin(self) -> None:
        """Starts a transaction, and asks for its start timestamp."""
        self.rollback()
        # A query of nothing fetches the start timestamp.
        self._found(-1, -1)

    def read(self, key: int) -> Found:
        """What `key` holds."""
        rows = self._found(key, key)
        return self._value(rows[0]) if rows else None

    def write(self, key: int, value: int) -> None:
        """Overwrites a register."""
        self._set(key, value)

    def append(self, key: int, value: int) -> None:
        """Appends to a list; the whole text is written."""
        [row] = self._found(key, key) or [None]
        if row is None:
            self._refuse("the row is not there")
        else:
            self._mutate({"set": [{"uid": row["uid"], self._value_name: f"{row['value']},{value}"}]})

    def insert(self, key: int, value: int) -> None:
        """Adds a row."""
        if self._found(key, key):
            self._refuse("the row is there already")
        content = f"{EMPTY},{value}" if self._content == "list" else value
        self._mutate({"set": [{f"{self._name}.key": key, self._value_name: content}]})

    def delete(self, key: int) -> None:
        """Removes a row."""
        rows = self._found(key, key)
        if not rows:
            self._refuse("the row is not there")
        gone = {"uid": rows[0]["uid"], f"{self._name}.key": None, self._value_name: None}
        self._mutate({"delete": [gone]})

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        """Registers from `low` to `high`."""
        return sorted((int(row["key"]), int(row["value"])) for row in self._found(low, high))

    def commit(self) -> tuple[Timestamp, Timestamp]:
        """Commits; a transaction that wrote nothing ends where it started."""
        start, ended = self._start, self._start
        if self._keys:
            context = {"keys": sorted(self._keys), "preds": sorted(self._predicates)}
            try:
                answer = self.client.post(f"/commit?{self._transaction()}", context)
            except DatabaseError as error:
                # It may be committed nevertheless.
                raise ConnectionLost(str(error)) from None
            ended = int(answer["extensions"]["txn"]["commit_ts"])
        self._forget()
        return Timestamp(start), Timestamp(ended)

    def rollback(self) -> None:
        """Tells the server, if it knows of the transaction."""
        if self._keys:
            with suppress(Exception):
                self.client.post(f"/commit?{self._transaction()}&abort=true", {})
        self._forget()

    def close(self) -> None:
        """Rolls back and closes the connection."""
        self.rollback()
        self.client.close()

    @property
    def _value_name(self) -> str:
        return f"{self._name}.value"

    def _found(self, low: int, high: int) -> list[Any]:
        """The nodes of keys from `low` to `high`.

        Only `eq` finds a node that the transaction itself has made: other functions of an index go through
        what is committed.
        """
        key, value = f"{self._name}.key", self._value_name
        which = f"eq({key}, {low})" if low == high else f"between({key}, {low}, {high})"
        query = f"{{ rows(func: {which}) {{ uid key: {key} value: {value} }} }}"
        at = f"?{self._transaction()}" if self._start else ""
        answer = self.client.post(f"/query{at}", query, kind="application/dql")
        self._note(answer)
        return [row for row in answer["data"].get("rows", []) if "value" in row]

    def _set(self, key: int, value: int) -> None:
        rows = self._found(key, key)
        if not rows:
            self._refuse("the row is not there")
        self._mutate({"set": [{"uid": rows[0]["uid"], self._value_name: value}]})

    def _mutate(self, mutation: dict[str, Any]) -> None:
        self._note(self.client.post(f"/mutate?{self._transaction()}", mutation))

    def _note(self, answer: dict[str, Any]) -> None:
        told = answer["extensions"]["txn"]
        self._start = int(told["start_ts"])
        self._hash = told.get("hash", self._hash)
        self._keys |= set(told.get("keys") or ())
        self._predicates |= set(told.get("preds") or ())

    def _transaction(self) -> str:
        return f"startTs={self._start}" + (f"&hash={self._hash}" if self._hash else "")

    def _value(self, row: dict[str, Any]) -> Found:
        value = row["value"]
        return tuple(map(int, value.split(",")[1:])) if self._content == "list" else int(value)

    def _refuse(self, reason: str) -> None:
        self.rollback()
        raise Aborted(reason)

    def _forget(self) -> None:
        self._start, self._hash, self._keys, self._predicates = 0, "", set(), set()
