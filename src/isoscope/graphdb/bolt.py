"""Graph databases that speak Cypher over Bolt: Neo4j, and ArcadeDB with its Bolt plug-in.

An address is `bolt://[USER:PASSWORD@]HOST:PORT[/DATABASE]`. All graphs share one database: vertices have an
attribute `graph`, and no edge joins two graphs.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import unquote, urlsplit

from isoscope.errors import DatabaseError, UsageError
from isoscope.graphdb.model import EVENTS, joined
from isoscope.graphdb.store import FACTS, Table, driver

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isoscope.graphdb.model import DependencyGraph, EdgeTable, Rows

__all__ = ["BoltStore", "open_store"]

_LABELS = (*EVENTS, "Transaction")
#: Rows that one statement creates, and vertices that one deletes.
_BATCH = 5_000
_CONNECT_SECONDS = 10.0


def open_store(address: str, *, read_only: bool = False) -> BoltStore:
    """The database at this address. Raises DatabaseError if it does not answer."""
    return BoltStore(address, read_only=read_only)


class BoltStore:
    """Graphs in a server."""

    dialect = "neo4j"

    def __init__(self, address: str, *, read_only: bool = False) -> None:
        self._neo4j = driver("neo4j", "graph")
        # The driver logs what it raises as well.
        logging.getLogger("neo4j").addHandler(logging.NullHandler())
        self._mode = self._neo4j.READ_ACCESS if read_only else self._neo4j.WRITE_ACCESS
        self._where = _without_password(address)
        parts = urlsplit(address)
        user = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
        server = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        with self._errors():
            self._driver = self._neo4j.GraphDatabase.driver(
                server, auth=user, connection_timeout=_CONNECT_SECONDS, notifications_min_severity="OFF"
            )
        self._database = parts.path.strip("/") or None
        try:
            with self._errors():
                self._driver.verify_connectivity()
            if not read_only:
                self._index()
            self.has_components = self._has_procedure("gds.scc.stream")
        except BaseException:
            self._driver.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection."""
        self._driver.close()

    def load(self, *graphs: DependencyGraph) -> None:
        """Stores graphs, each in the place of one with the same name; the vertices `Graph` come last."""
        for graph in graphs:
            self.remove(graph.name)
        vertices, edges = joined(graphs)
        for label, rows in vertices.items():
            self._each(f"UNWIND $rows AS row CREATE (vertex:{label}) SET vertex = row", rows)
        for table in edges:
            self._each(_creation(table), [_edge(row) for row in table.rows])
        facts = [graph.facts for graph in graphs]
        self._each("UNWIND $rows AS row CREATE (graph:Graph) SET graph = row", facts)

    def remove(self, name: str) -> bool:
        """Deletes a graph; whether there was one."""
        query = "MATCH (graph:Graph {name: $name}) DELETE graph RETURN count(*)"
        [[found]] = self.run(query, {"name": name}).rows
        for label in _LABELS:
            self._delete(label, name)
        return bool(found)

    def graphs(self) -> list[dict[str, Any]]:
        """The facts of all stored graphs, by name."""
        rows = self.run("MATCH (graph:Graph) RETURN graph ORDER BY graph.name", {}).rows
        return [{name: row[0][name] for name in FACTS} for row in rows]

    def components(self, name: str, relations: Sequence[str]) -> None:
        """By Neo4j's Graph Data Science library, also in a store that is read-only otherwise."""
        projected = f"isoscope-{name}"
        self._write(
            "MATCH (before:Transaction {graph: $name}) "
            f"OPTIONAL MATCH (before)-[:{'|'.join(relations)}]->(after:Transaction) "
            "RETURN gds.graph.project($projected, before, after)",
            {"name": name, "projected": projected},
        )
        try:
            self._write(
                "CALL gds.scc.write($projected, {writeProperty: 'component'})", {"projected": projected}
            )
        finally:
            self._write(
                "CALL gds.graph.drop($projected) YIELD graphName RETURN graphName", {"projected": projected}
            )

    def run(self, query: str, parameters: Mapping[str, Any]) -> Table:
        """The result of one statement."""
        return self._run(query, parameters, self._mode)

    def _write(self, query: str, parameters: Mapping[str, Any]) -> None:
        self._run(query, parameters, self._neo4j.WRITE_ACCESS)

    def _run(self, query: str, parameters: Mapping[str, Any], mode: str) -> Table:
        session = self._driver.session(database=self._database, default_access_mode=mode)
        with self._errors(query), session:
            result = session.run(query, dict(parameters))
            columns = tuple(result.keys())
            return Table(columns, tuple(tuple(map(self._plain, row)) for row in result))

    def _index(self) -> None:
        for label in _LABELS:
            for attribute in ("id", "graph"):
                name = f"{label}_{attribute}".lower()
                self.run(f"CREATE INDEX {name} IF NOT EXISTS FOR (v:{label}) ON (v.{attribute})", {})

    def _has_procedure(self, name: str) -> bool:
        try:
            rows = self.run("SHOW PROCEDURES YIELD name WHERE name = $name RETURN name", {"name": name}).rows
        except UsageError:  # ArcadeDB has no such statement
            return False
        return bool(rows)

    def _each(self, query: str, rows: Rows) -> None:
        for start in range(0, len(rows), _BATCH):
            self.run(query, {"rows": rows[start : start + _BATCH]})

    def _delete(self, label: str, name: str) -> None:
        query = f"MATCH (v:{label} {{graph: $name}}) WITH v LIMIT {_BATCH} DETACH DELETE v RETURN count(*)"
        while self.run(query, {"name": name}).rows[0][0]:
            pass

    @contextmanager
    def _errors(self, query: str = "") -> Iterator[None]:
        """Errors of the driver as ours."""
        try:
            yield
        except self._neo4j.exceptions.ClientError as error:
            where = f"\n\n{query.strip()}" if query else ""
            raise UsageError(f"{self._where} rejects the query: {error.message}{where}") from None
        except (self._neo4j.exceptions.Neo4jError, self._neo4j.exceptions.DriverError, ValueError) as error:
            hint = "is a server of a graph database running there?"
            raise DatabaseError(f"cannot use {self._where}: {_reason(error)}\n\nhint: {hint}") from None

    def _plain(self, value: Any) -> Any:
        """A value of the driver as dictionaries, lists and scalars."""
        graph = self._neo4j.graph
        if isinstance(value, graph.Path):
            nodes, relationships = value.nodes, value.relationships
            return {"vertices": [*map(self._plain, nodes)], "edges": [*map(self._plain, relationships)]}
        if isinstance(value, graph.Node):
            return {"label": next(iter(value.labels), ""), **dict(value.items())}
        if isinstance(value, graph.Relationship):
            return {"label": value.type, **dict(value.items())}
        if isinstance(value, list):
            return [*map(self._plain, value)]
        if isinstance(value, dict):
            return {name: self._plain(item) for name, item in value.items()}
        return value


def _creation(edges: EdgeTable) -> str:
    return (
        "UNWIND $rows AS row "
        f"MATCH (start:{edges.start} {{id: row.start}}), (end:{edges.end} {{id: row.end}}) "
        f"CREATE (start)-[edge:{edges.type}]->(end) SET edge = row.attributes"
    )


def _edge(row: dict[str, Any]) -> dict[str, Any]:
    attributes = {name: value for name, value in row.items() if name not in ("from", "to")}
    return {"start": row["from"], "end": row["to"], "attributes": attributes}


def _without_password(address: str) -> str:
    scheme, _, rest = address.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


def _reason(error: BaseException) -> str:
    """The first line, without the list of addresses that were tried."""
    return str(error).strip().partition("\n")[0].partition(" (resolved to")[0]
