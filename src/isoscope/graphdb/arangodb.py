"""ArangoDB over its HTTP API: AQL for queries, Pregel for strongly connected components.

Written from the documented protocol and never run against a server: none could be had. Vertices and edges are
in collections that are called like their labels and types, in the database of the address. Pregel is part of
ArangoDB up to version 3.11.
"""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from isoscope.arango_http import ArangoError, ArangoHttp
from isoscope.errors import DatabaseError, UsageError
from isoscope.graphdb.model import EVENT_EDGES, EVENTS, TRANSACTION_EDGES, joined
from isoscope.graphdb.store import FACTS, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isoscope.graphdb.model import DependencyGraph, Rows

__all__ = ["ArangoStore", "open_store"]

_VERTICES = ("Graph", "Transaction", *EVENTS)
_EDGES = (*TRANSACTION_EDGES, "did", *EVENT_EDGES)
#: Types of collections in requests.
_DOCUMENTS, _EDGE_DOCUMENTS = 2, 3
_DUPLICATE_NAME = 1207
_BATCH = 5_000
_PREGEL_SECONDS = 600.0
_PREGEL_WAIT = 0.2
_FAILED = ("canceled", "fatal error")


def open_store(address: str, *, read_only: bool = False) -> ArangoStore:  # noqa: ARG001
    """The database at this address. Raises DatabaseError if it does not answer.

    Its cursors have no mode that rejects changes, so that `read_only` makes no difference.
    """
    return ArangoStore(ArangoHttp(address))


class ArangoStore:
    """Graphs in collections of one database."""

    dialect = "arangodb"
    has_components = True

    def __init__(self, http: ArangoHttp) -> None:
        self._http = http
        http.version()
        for name in _VERTICES:
            self._create(name, _DOCUMENTS)
        for name in _EDGES:
            self._create(name, _EDGE_DOCUMENTS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection."""
        self._http.close()

    def load(self, *graphs: DependencyGraph) -> None:
        """Stores graphs, each in the place of one with the same name; the vertices `Graph` come last."""
        for graph in graphs:
            self.remove(graph.name)
        vertices, edges = joined(graphs)
        for label, rows in vertices.items():
            self._import(label, [{"_key": _key(row["id"]), **row} for row in rows])
        for table in edges:
            self._import(table.type, [_edge(row, table.start, table.end) for row in table.rows])
        self._import("Graph", [{"_key": _key(graph.name), **graph.facts} for graph in graphs])

    def remove(self, name: str) -> bool:
        """Deletes a graph; whether there was one."""
        is_known = any(graph["name"] == name for graph in self.graphs())
        for collection in (*_EDGES, *EVENTS, "Transaction"):
            query = f"FOR one IN {collection} FILTER one.graph == @name REMOVE one IN {collection}"
            self.run(query, {"name": name})
        self.run("FOR one IN Graph FILTER one.name == @name REMOVE one IN Graph", {"name": name})
        return is_known

    def graphs(self) -> list[dict[str, Any]]:
        """The facts of all stored graphs, by name."""
        rows = self.run("FOR graph IN Graph SORT graph.name RETURN graph", {}).rows
        return [{name: row[0][name] for name in FACTS} for row in rows]

    def components(self, name: str, relations: Sequence[str]) -> None:
        """Lets Pregel write the number of its component to every transaction; of all graphs at once."""
        asked = {
            "algorithm": "scc",
            "vertexCollections": ["Transaction"],
            "edgeCollections": [*relations],
            "params": {"resultField": "component", "store": True},
        }
        with self._errors(f"components of {name}"):
            job = self._http.request("POST", "/_api/control_pregel", asked).document()
            end = time.monotonic() + _PREGEL_SECONDS
            while (state := self._state(job)) != "done":
                if state in _FAILED or time.monotonic() > end:
                    raise DatabaseError(f"{self._http.where}: Pregel did not finish: {state}")
                time.sleep(_PREGEL_WAIT)

    def run(self, query: str, parameters: Mapping[str, Any]) -> Table:
        """The result of one statement; documents without an id of their own are rows with columns."""
        used = {name: value for name, value in parameters.items() if re.search(rf"@{name}\b", query)}
        with self._errors(query):
            found = list(self._http.query(query, used))
        if found and all(isinstance(one, dict) and _is_row(one) for one in found):
            columns = tuple(found[0])
            return Table(columns, tuple(tuple(_plain(one.get(name)) for name in columns) for one in found))
        return Table(("result",), tuple((_plain(one),) for one in found))

    def _state(self, job: object) -> str:
        path = f"/_api/control_pregel/{quote(str(job), safe='')}"
        return str(self._http.request("GET", path).document().get("state"))

    def _create(self, name: str, kind: int) -> None:
        with self._errors():
            try:
                self._http.request("POST", "/_api/collection", {"name": name, "type": kind})
            except ArangoError as error:
                if error.number != _DUPLICATE_NAME:
                    raise

    def _import(self, collection: str, rows: Rows) -> None:
        with self._errors():
            for start in range(0, len(rows), _BATCH):
                path = f"/_api/document/{collection}?silent=true"
                self._http.request("POST", path, rows[start : start + _BATCH])

    @contextmanager
    def _errors(self, query: str = "") -> Iterator[None]:
        """Errors of the exchange as ours."""
        try:
            yield
        except ArangoError as error:
            where = f"\n\n{query.strip()}" if query else ""
            raise UsageError(f"{self._http.where} rejects the query: {error}{where}") from None
        except (OSError, HTTPException) as error:
            message = str(error) or type(error).__name__
            raise DatabaseError(f"cannot use {self._http.where}: {message}") from None


def _key(text: str) -> str:
    """A key of a document: other characters than ArangoDB allows become `%` and their number."""
    return re.sub(r"[^A-Za-z0-9_:.@()+,=;$!*'-]", lambda one: f"%{ord(one[0]):X}", text)


def _edge(row: Mapping[str, Any], start: str, end: str) -> dict[str, Any]:
    attributes = {name: value for name, value in row.items() if name not in ("from", "to")}
    ends = {"_from": f"{start}/{_key(row['from'])}", "_to": f"{end}/{_key(row['to'])}"}
    # Edges of graphs are told apart by this attribute when one is removed.
    return {**ends, "graph": row["from"].rpartition(":")[0], **attributes}


def _is_row(value: Mapping[str, Any]) -> bool:
    return not ("_id" in value or {"vertices", "edges"} <= value.keys())


def _plain(value: Any) -> Any:
    """A document without the attributes of ArangoDB; its label is that of its collection."""
    if isinstance(value, list):
        return [*map(_plain, value)]
    if not isinstance(value, dict):
        return value
    found = {name: _plain(item) for name, item in value.items() if not name.startswith("_")}
    if "_id" in value and "label" not in found:
        found["label"] = str(value["_id"]).partition("/")[0]
    return found
