"""LadybugDB, an embedded graph database that speaks Cypher: the default, because pip installs it.

One file holds all graphs of one address. Vertices have an attribute `graph`; no edge joins two graphs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from isoscope.errors import DatabaseError, UsageError
from isoscope.graphdb.model import EVENT_EDGES, EVENTS, TRANSACTION_EDGES, joined
from isoscope.graphdb.store import FACTS, Table, driver

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isoscope.graphdb.model import DependencyGraph, Rows

__all__ = ["LadybugStore", "open_store"]

_TYPES = {str: "STRING", int: "INT64", bool: "BOOL"}


def _columns(texts: str = "", numbers: str = "", flags: str = "") -> dict[str, type]:
    named = ((texts, str), (numbers, int), (flags, bool))
    return {name: kind for names, kind in named for name in names.split()}


_EVENT = _columns("id graph label name kind key value data problem", "transaction place operation line")
_VERTICES = {
    "Transaction": _columns(
        "id graph name session status",
        "number lane place position block reads writes invoke complete line",
    ),
    **dict.fromkeys(EVENTS, _EVENT),
}
_EDGE = _columns(
    "type key source", "before after first_operation second_operation evidence via", flags="inside"
)
_EVENT_EDGE = _columns("key source")
#: Paths may be as long as a graph has transactions.
_LONGEST_PATH = 1_000_000_000
_MEMORY = ":memory:"


def open_store(address: str, *, read_only: bool = False) -> LadybugStore:
    """The database in this file, which is made if it is missing; `:memory:` is in no file."""
    path = address.removeprefix("ladybug:")
    if not path:
        raise UsageError("the name of the database is empty\n\nhint: name a file, such as graphs.lbug")
    if Path(path).is_dir():
        hint = Path(path) / "graphs.lbug"
        raise UsageError(f"{path} is a folder\n\nhint: name a file in it, such as {hint}")
    return LadybugStore(path, read_only=read_only)


class LadybugStore:
    """Graphs in one file, or in memory."""

    dialect = "ladybug"
    has_components = False

    def __init__(self, path: str, *, read_only: bool = False) -> None:
        self._path = path
        self._read_only = read_only
        self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Writes everything to the file."""
        self._connection.close()
        self._database.close()

    def load(self, *graphs: DependencyGraph) -> None:
        """Stores graphs, each in the place of one with the same name."""
        for graph in graphs:
            self._forget(graph.name)
        vertices, edges = joined(graphs)
        with _Transaction(self._connection):
            for label, rows in vertices.items():
                self._copy(label, _VERTICES[label], rows)
            for table in edges:
                columns = {"from": str, "to": str, **_edge_columns(table.type)}
                self._copy(table.type, columns, table.rows, ends=(table.start, table.end))
            self._copy("Graph", FACTS, [graph.facts for graph in graphs])

    def remove(self, name: str) -> bool:
        """Deletes a graph; whether there was one."""
        return self._forget(name)

    def _forget(self, name: str) -> bool:
        """Deletes a graph; a file of which nothing is left is made anew, which is quicker."""
        known = [graph["name"] for graph in self.graphs()]
        if name not in known:
            return False
        if known == [name] and self._path != _MEMORY:
            self.close()
            for file in (Path(self._path), *_beside(self._path)):
                file.unlink(missing_ok=True)
            self._open()
            return True
        with _Transaction(self._connection):
            self._delete(name)
        return True

    def _open(self) -> None:
        ladybug = driver("ladybug", "graph")
        try:
            self._database = ladybug.Database(self._path, read_only=self._read_only)
            # With one thread, LIMIT 1 gives the same row every time.
            self._connection = ladybug.Connection(self._database, num_threads=1)
        except RuntimeError as error:
            raise DatabaseError(f"cannot open {self._path}: {_first_line(error)}") from None
        self._connection.execute(f"CALL var_length_extend_max_depth={_LONGEST_PATH}")
        if not self._read_only:
            self._define()

    def graphs(self) -> list[dict[str, Any]]:
        """The facts of all stored graphs, by name."""
        columns = ", ".join(f"graph.{name}" for name in FACTS)
        rows = self.run(f"MATCH (graph:Graph) RETURN {columns} ORDER BY graph.name", {}).rows
        return [dict(zip(FACTS, row, strict=True)) for row in rows]

    def components(self, name: str, relations: Sequence[str]) -> None:
        """LadybugDB has them in an extension that is not part of the package."""
        raise UsageError(f"LadybugDB names no components of {name} by {', '.join(relations)}")

    def run(self, query: str, parameters: Mapping[str, Any]) -> Table:
        """The result of one statement."""
        used = {name: value for name, value in parameters.items() if f"${name}" in query}
        try:
            result = self._connection.execute(query, used)
        except RuntimeError as error:
            raise UsageError(f"LadybugDB rejects the query: {error}\n\n{query.strip()}") from None
        if isinstance(result, list):
            result = result[-1]
        rows = tuple(tuple(map(_plain, row)) for row in result.get_all())
        return Table(tuple(result.get_column_names()), rows)

    def _define(self) -> None:
        self._define_vertices("Graph", FACTS, "name")
        for label, columns in _VERTICES.items():
            self._define_vertices(label, columns, "id")
        every: dict[str, Sequence[tuple[str, str]]] = {
            **dict.fromkeys(TRANSACTION_EDGES, (("Transaction", "Transaction"),)),
            "did": tuple(("Transaction", event) for event in EVENTS),
            **EVENT_EDGES,
        }
        for kind, labels in every.items():
            pairs = ", ".join(f"FROM {start} TO {end}" for start, end in labels)
            fields = "".join(f", `{name}` {_TYPES[of]}" for name, of in _edge_columns(kind).items())
            self._connection.execute(f"CREATE REL TABLE IF NOT EXISTS {kind}({pairs}{fields})")

    def _define_vertices(self, label: str, columns: Mapping[str, type], key: str) -> None:
        fields = ", ".join(f"`{name}` {_TYPES[of]}" for name, of in columns.items())
        self._connection.execute(f"CREATE NODE TABLE IF NOT EXISTS {label}({fields}, PRIMARY KEY ({key}))")

    def _copy(
        self, table: str, columns: Mapping[str, type], rows: Rows, ends: tuple[str, str] | None = None
    ) -> None:
        if not rows:
            return
        pyarrow = driver("pyarrow", "graph")
        data = pyarrow.table({name: [row[name] for row in rows] for name in columns})
        several = ends is not None and table in ("did", *EVENT_EDGES)
        options = f" (from='{ends[0]}', to='{ends[1]}')" if several and ends is not None else ""
        self._connection.execute(f"COPY {table} FROM $data{options}", {"data": data})

    def _delete(self, name: str) -> None:
        for label in (*EVENTS, "Transaction"):
            query = f"MATCH (vertex:{label} {{graph: $name}}) DETACH DELETE vertex"
            self._connection.execute(query, {"name": name})
        self._connection.execute("MATCH (graph:Graph {name: $name}) DELETE graph", {"name": name})


class _Transaction:
    """Everything inside happens, or nothing does."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN TRANSACTION")

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        self._connection.execute("COMMIT" if kind is None else "ROLLBACK")


def _beside(path: str) -> Iterator[Path]:
    """Files that the database keeps beside its own."""
    return (Path(f"{path}{extension}") for extension in (".wal", ".shadow", ".lock"))


def _edge_columns(kind: str) -> Mapping[str, type]:
    if kind in EVENT_EDGES:
        return _EVENT_EDGE
    return {} if kind == "did" else _EDGE


def _plain(value: Any) -> Any:
    """A value of the driver without its inner numbers."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "_NODES" in value:
        return _forward(_plain(value["_NODES"]), _plain(value["_RELS"]))
    return dict(_attributes(value))


def _forward(vertices: list[dict[str, Any]], edges: list[dict[str, Any]]) -> dict[str, Any]:
    """A path in the direction of its edges: one that was searched from its end comes backwards."""
    is_backwards = bool(edges) and edges[0].get("before") != vertices[0].get("number")
    if is_backwards and edges[0].get("after") == vertices[0].get("number"):
        vertices, edges = vertices[::-1], edges[::-1]
    return {"vertices": vertices, "edges": edges}


def _attributes(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, item in value.items():
        if name == "_LABEL" and "label" not in value:
            yield "label", item
        elif not name.startswith("_") and item is not None:
            yield name, _plain(item)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
