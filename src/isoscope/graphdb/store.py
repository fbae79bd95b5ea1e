"""What every graph database must do: keep named graphs, run queries, forget a graph.

An address names the database: `ladybug:FOLDER/FILE` or just a path (embedded), `bolt://HOST:PORT` (Neo4j,
ArcadeDB), `http://HOST:PORT` (ArangoDB). Drivers are imported when their database is opened.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from isoscope.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType, TracebackType

    from isoscope.graphdb.model import DependencyGraph

__all__ = ["FACTS", "GraphStore", "Table", "driver", "open_store"]

#: Addresses begin with these; everything else is a path of the embedded database.
_SCHEMES = {
    "bolt": "bolt",
    "bolt+s": "bolt",
    "neo4j": "bolt",
    "neo4j+s": "bolt",
    "http": "arangodb",
    "https": "arangodb",
    "ladybug": "ladybug",
}
#: Attributes of the vertex that stands for a whole graph, and their types.
FACTS = {
    "name": str,
    "path": str,
    "format": str,
    "transactions": int,
    "edges": int,
    "largest_block": int,
    "predicates": int,
    "is_complete": bool,
    "has_open_registers": bool,
    "is_contradictory": bool,
    "unjudged": int,
}


@dataclass(frozen=True, slots=True)
class Table:
    """The result of a query: names of columns, and rows of plain values.

    Vertices and edges are dictionaries of their attributes, a path is one with `vertices` and `edges`.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


class GraphStore(Protocol):
    """A graph database that is open."""

    #: The folder of queries in its language.
    dialect: str
    #: Whether it can name strongly connected components by itself.
    has_components: bool

    def load(self, *graphs: DependencyGraph) -> None:
        """Stores graphs, each in the place of one with the same name; several at once are quicker."""
        ...

    def remove(self, name: str) -> bool:
        """Deletes a graph; whether there was one."""
        ...

    def graphs(self) -> list[dict[str, Any]]:
        """The facts of all stored graphs, by name."""
        ...

    def components(self, name: str, relations: Sequence[str]) -> None:
        """Writes the number of its strongly connected component to each transaction: `component`."""
        ...

    def run(self, query: str, parameters: Mapping[str, Any]) -> Table:
        """The result of one statement. Raises UsageError if the database rejects it."""
        ...

    def close(self) -> None:
        """Ends the connection."""
        ...

    def __enter__(self) -> GraphStore:
        """The store itself, which is closed at the end."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Closes the store."""
        ...


def open_store(address: str, *, read_only: bool = False) -> GraphStore:
    """The graph database at this address. Raises UsageError if its driver is missing.

    One that is `read_only` rejects queries that change something, as far as the database can tell.
    """
    scheme, colon, rest = address.partition(":")
    if rest.startswith("//") and scheme not in _SCHEMES:
        known = ", ".join(f"{name}://" for name in _SCHEMES if name != "ladybug")
        raise UsageError(f"{address}: no graph database is at {scheme}://\n\nhint: a path, or one of {known}")
    module = _SCHEMES.get(scheme, "ladybug") if colon else "ladybug"
    opened = import_module(f"isoscope.graphdb.{module}").open_store
    store: GraphStore = opened(address, read_only=read_only)
    return store


def driver(name: str, extra: str) -> ModuleType:
    """The module of a driver. Raises UsageError that says how to install it."""
    try:
        return import_module(name)
    except ImportError:
        raise UsageError(
            f"the Python package `{name}` is not installed\n\nhint: pip install 'isoscope[{extra}]'"
        ) from None
