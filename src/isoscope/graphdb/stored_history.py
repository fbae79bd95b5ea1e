"""The transactions of a stored graph, as much of a history as counterexamples are made of."""

from __future__ import annotations

import json
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from isoscope.errors import UsageError
from isoscope.graphdb.model import NEVER
from isoscope.graphdb.queries import named
from isoscope.history import Initial, Interval, Operation, OperationKind, Source, Status, Transaction

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.graphdb.store import GraphStore

__all__ = ["StoredHistory"]

#: Counterexamples have few transactions.
_CACHED = 256


class StoredHistory:
    """A graph of a store by its name; transactions are fetched when they are asked for."""

    def __init__(self, store: GraphStore, facts: Mapping[str, Any]) -> None:
        self._store = store
        self.name: str = facts["name"]
        self.source = Source(path=facts["path"], format=facts["format"])
        self.initial = Initial()
        self._rows = lru_cache(maxsize=_CACHED)(self._fetched)

    @cached_property
    def columns(self) -> _Places:
        """Where operations and transactions stand."""
        return _Places(self)

    def id(self, number: int) -> str:
        """The id of the vertex of a transaction."""
        return f"{self.name}:T{number}"

    def transaction(self, number: int) -> Transaction:
        """The transaction with this number, made of its vertices."""
        row, events = self._rows(number)
        interval = Interval(*(None if row[end] == NEVER else row[end] for end in ("invoke", "complete")))
        return Transaction(
            number=number,
            id=row["name"],
            session=row["lane"],
            session_id=_session(row["session"]),
            status=Status(row["status"]),
            operations=tuple(_operation(event) for event in events),
            interval=None if interval == (None, None) else interval,
            line=row["line"] or None,
        )

    def place_in_session(self, number: int) -> int:
        """How many transactions came before it in its session."""
        place: int = self._rows(number)[0]["place"]
        return place

    def located(self, operation: int) -> tuple[int, int]:
        """The transaction of an operation, and its place among the events there."""
        event = self._event(operation)
        number: int = event["transaction"]
        events = [other["operation"] for other in self._rows(number)[1]]
        return number, events.index(operation)

    def edges(self, before: int, after: int) -> list[dict[str, Any]]:
        """The dependencies between two transactions."""
        [query] = named(self._store.dialect, "edge")
        rows = self._store.run(query, {"before": self.id(before), "after": self.id(after)}).rows
        return [row[0] for row in rows]

    def _event(self, operation: int) -> dict[str, Any]:
        for query in named(self._store.dialect, "event"):
            if rows := self._store.run(query, {"id": f"{self.name}:E{operation}"}).rows:
                event: dict[str, Any] = rows[0][0]
                return event
        raise self._damaged(f"{self.name}:E{operation}")

    def _damaged(self, missing: str) -> UsageError:
        """The error of a graph from which something was deleted since it was loaded."""
        hint = "hint: `isoscope graph load` stores it again"
        return UsageError(f"the graph {self.name} was changed: the vertex {missing} is missing\n\n{hint}")

    def _fetched(self, number: int) -> tuple[dict[str, Any], tuple[dict[str, Any], ...]]:
        """The vertex of a transaction, and those of its events in program order."""
        vertex, *events = named(self._store.dialect, "transaction")
        rows = self._store.run(vertex, {"id": self.id(number)}).rows
        if not rows:
            raise self._damaged(self.id(number))
        [row] = rows[0]
        found = [row[0] for query in events for row in self._store.run(query, {"id": self.id(number)}).rows]
        return row, tuple(sorted(found, key=lambda event: event["place"]))


class _Places:
    """Where operations and transactions of a stored graph stand."""

    def __init__(self, history: StoredHistory) -> None:
        self._history = history

    def locate(self, operation: int) -> tuple[int, int]:
        return self._history.located(operation)

    def place_in_session(self, transaction: int) -> int:
        return self._history.place_in_session(transaction)


def _operation(event: Mapping[str, Any]) -> Operation:
    key, value = json.loads(event["data"])
    return Operation(
        kind=OperationKind(event["kind"]),
        key=key,
        value=tuple(value) if isinstance(value, list) else value,
        line=event["line"] or None,
    )


def _session(text: str) -> int | str | None:
    return int(text) if text.isdecimal() else text or None
