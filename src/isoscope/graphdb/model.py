"""The dependency graph of a history as vertices and edges of a property graph (Qiu 2023, Figure 3.3).

Vertices are transactions that count as committed, and their reads and writes (events). Edges lead from
events to events (`event_wr`, ...) and, projected, from transactions to transactions (`wr`, ...): one edge for
each relation of two transactions, with the first pair of events that shows it and the number of such pairs.
Edges `snapshot` are a dependency (`ww` or `wr`), alone or followed by one `rw`: snapshot isolation forbids
cycles of them.

Transactions have positions, in which they were completed as far as that is known. A cycle has an edge that
leads back to a smaller position. A `block` is a run of positions that such edges span: no cycle leaves it, so
that edges `inside` a block are enough for a complete search. Any numbering would be correct.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from isoscope._native import event_graph
from isoscope.history import Interval, OperationKind, Range, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from isoscope._native import EventGraph
    from isoscope.history import History, Operation, Transaction

__all__ = [
    "EVENTS",
    "EVENT_EDGES",
    "NEVER",
    "RELATIONS",
    "TRANSACTION_EDGES",
    "DependencyGraph",
    "EdgeTable",
    "Rows",
    "blocks",
    "export",
    "joined",
]

Rows: TypeAlias = list[dict[str, Any]]

#: Relations between transactions that break levels.
RELATIONS = ("wr", "ww", "rw")
TRANSACTION_EDGES = (*RELATIONS, "session", "real_time", "snapshot")
_ANY = tuple((a, b) for a in ("ReadEvent", "WriteEvent") for b in ("ReadEvent", "WriteEvent"))
#: Each with the labels of the vertices that it joins.
EVENT_EDGES = {
    "event_wr": (("WriteEvent", "ReadEvent"),),
    "event_ww": (("WriteEvent", "WriteEvent"),),
    "event_rw": (("ReadEvent", "WriteEvent"),),
    "event_session": _ANY,
    "event_real_time": _ANY,
}
EVENTS = ("ReadEvent", "WriteEvent")
#: The number that stands for an unknown time or operation: not every engine has nulls in edges.
NEVER = -1
_READS = (OperationKind.READ, OperationKind.RANGE_READ)
_WRITES = (OperationKind.WRITE, OperationKind.APPEND, OperationKind.INSERT, OperationKind.DELETE)


@dataclass(frozen=True, slots=True)
class EdgeTable:
    """Edges of one type between vertices of two labels; rows have `from` and `to`, ids of vertices."""

    type: str
    start: str
    end: str
    rows: Rows


@dataclass(frozen=True, kw_only=True)
class DependencyGraph:
    """A graph to be stored under a name."""

    name: str
    facts: dict[str, Any]
    vertices: dict[str, Rows] = field(default_factory=dict)
    edges: list[EdgeTable] = field(default_factory=list)


def export(history: History, name: str) -> DependencyGraph:
    """The dependency graph of a history, under this name."""
    return _Export(history, name).graph()


def joined(graphs: Iterable[DependencyGraph]) -> tuple[dict[str, Rows], list[EdgeTable]]:
    """The vertices and edges of several graphs, one table for each kind."""
    vertices: dict[str, Rows] = defaultdict(list)
    edges: dict[tuple[str, str, str], Rows] = defaultdict(list)
    for graph in graphs:
        for label, rows in graph.vertices.items():
            vertices[label] += rows
        for table in graph.edges:
            edges[table.type, table.start, table.end] += table.rows
    return vertices, [EdgeTable(*ends, rows) for ends, rows in edges.items()]


def blocks(edges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Runs of positions (first, last) that edges to smaller positions span, joined where they overlap."""
    found: list[tuple[int, int]] = []
    for first, last in sorted((after, before) for before, after in edges if after < before):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found


class _NativeEdge(NamedTuple):
    """Two operations that show why one transaction precedes another."""

    before: int
    after: int
    relation: str
    key: int
    first: int
    second: int
    source: str


class _Export:
    """One history on its way into vertices and edges."""

    def __init__(self, history: History, name: str) -> None:
        self.history = history
        self.name = name
        native = event_graph(history.columns)
        self.facts = _native_facts(native)
        self.sessions, self.real_time = native.sessions, native.real_time
        self.wrong: dict[int, str] = {}
        for read, problem in native.wrong_reads:
            self.wrong[read] = f"{self.wrong.get(read, '')} {problem}".strip()
        columns = (native.before, native.after, native.relations, native.keys, native.first, native.second)
        self.edges = [_NativeEdge(*row) for row in zip(*columns, native.sources, strict=True)]
        self.keys = history.keys
        numbers = sorted(native.transactions)
        self.transactions = {number: history.transaction(number) for number in numbers}
        self.first_operation = {number: history.columns.first_operation(number) for number in numbers}

    def graph(self) -> DependencyGraph:
        events = self._events()
        vertices = {label: [row for row in events.values() if row["label"] == label] for label in EVENTS}
        return DependencyGraph(
            name=self.name,
            facts=self._facts(),
            vertices={"Transaction": [*map(self._transaction, self.transactions.values())], **vertices},
            edges=[*self._transaction_edges(), *self._containment(events), *self._event_edges(events)],
        )

    def id(self, number: int) -> str:
        return f"{self.name}:T{number}"

    def event_id(self, operation: int) -> str:
        return f"{self.name}:E{operation}"

    @cached_property
    def positions(self) -> dict[int, int]:
        """Places in the order of completion; of what has none, in the order of the input."""
        ordered = sorted(self.transactions.values(), key=lambda t: (_finished(t), t.number))
        return {transaction.number: place for place, transaction in enumerate(ordered)}

    @cached_property
    def pairs(self) -> dict[tuple[int, int, str], list[_NativeEdge]]:
        """The projection: the edges between events by (before, after, relation)."""
        found: dict[tuple[int, int, str], list[_NativeEdge]] = defaultdict(list)
        for edge in self.edges:
            found[edge[:3]].append(edge)
        return dict(sorted(found.items()))

    @cached_property
    def block(self) -> dict[int, int]:
        """The block of each transaction; those in none have a negative number of their own."""
        at = self.positions
        spans = blocks((at[before], at[after]) for before, after, _ in self.pairs)
        numbered = enumerate(spans)
        block_at = {p: number for number, (first, last) in numbered for p in range(first, last + 1)}
        return {number: block_at.get(place, -1 - place) for number, place in at.items()}

    def _facts(self) -> dict[str, Any]:
        sizes = Counter(number for number in self.block.values() if number >= 0)
        return {
            "name": self.name,
            "path": self.history.source.path,
            "format": self.history.source.format,
            "transactions": len(self.transactions),
            "edges": len(self.pairs),
            "largest_block": max(sizes.values(), default=1),
            "predicates": self.history.counts["range-read"] + self.history.counts["delete"],
            **self.facts,
        }

    def _transaction(self, transaction: Transaction) -> dict[str, Any]:
        number, operations = transaction.number, transaction.operations
        interval = transaction.interval or transaction.positions or Interval(None, None)
        return {
            "id": self.id(number),
            "graph": self.name,
            "name": transaction.label,
            "number": number,
            "session": "" if transaction.session_id is None else _text(transaction.session_id),
            "lane": transaction.session,
            "place": self.history.columns.place_in_session(number),
            "status": str(transaction.status),
            "position": self.positions[number],
            "block": self.block[number],
            "reads": sum(operation.kind in _READS for operation in operations),
            "writes": sum(operation.kind in _WRITES for operation in operations),
            "invoke": NEVER if interval.invoke is None else interval.invoke,
            "complete": NEVER if interval.complete is None else interval.complete,
            "line": transaction.line or 0,
        }

    def _events(self) -> dict[int, dict[str, Any]]:
        """The vertices of reads and writes by the numbers of operations."""
        found = {}
        for number, transaction in self.transactions.items():
            for index, operation in enumerate(transaction.operations):
                if operation.kind in _READS + _WRITES:
                    place = self.first_operation[number] + index
                    found[place] = self._event(transaction, index, place)
        return found

    def _event(self, transaction: Transaction, index: int, place: int) -> dict[str, Any]:
        operation = transaction.operations[index]
        return {
            "id": self.event_id(place),
            "graph": self.name,
            "label": "ReadEvent" if operation.kind in _READS else "WriteEvent",
            "name": f"{transaction.label}.{index}",
            "transaction": transaction.number,
            "place": index,
            "operation": place,
            "kind": str(operation.kind),
            "key": _text(operation.key),
            "value": _text(operation.value),
            "data": _data(operation),
            "problem": self.wrong.get(place, ""),
            "line": operation.line or 0,
        }

    def _transaction_edges(self) -> Iterator[EdgeTable]:
        rows: dict[str, Rows] = {relation: [] for relation in RELATIONS}
        for (before, after, relation), shown in self.pairs.items():
            rows[relation].append(self._edge(before, after, relation, shown))
        for relation, pairs in (("session", self.sessions), ("real_time", self.real_time)):
            rows[relation] = [self._edge(before, after, relation) for before, after in sorted(pairs)]
        rows["snapshot"] = self._snapshots()
        return (EdgeTable(relation, "Transaction", "Transaction", found) for relation, found in rows.items())

    def _edge(
        self, before: int, after: int, relation: str, shown: Sequence[_NativeEdge] = (), via: int = NEVER
    ) -> dict[str, Any]:
        first = shown[0] if shown else None
        return {
            "from": self.id(before),
            "to": self.id(after),
            "before": before,
            "after": after,
            "type": relation,
            "key": "" if first is None else _text(self.keys[first.key]),
            "source": "" if first is None else first.source,
            "first_operation": NEVER if first is None else first.first,
            "second_operation": NEVER if first is None else first.second,
            "evidence": len(shown),
            "via": via,
            "inside": self.block[before] == self.block[after],
        }

    def _snapshots(self) -> Rows:
        """Dependencies, alone or followed by one anti-dependency; of several reasons the shortest."""
        missed: dict[int, list[int]] = defaultdict(list)
        for before, after, relation in self.pairs:
            if relation == "rw":
                missed[before].append(after)
        depends = [ends for ends in self.pairs if ends[2] != "rw"]
        found = {ends[:2]: self._edge(*ends) for ends in reversed(depends)}
        for before, via, relation in depends:
            for after in missed[via]:
                if (before, after) not in found:
                    edge = self._edge(before, after, f"{relation} rw", via=via)
                    # The path leads through `via`: a cycle through it lies in the block of all three.
                    edge["inside"] = edge["inside"] and self.block[via] == self.block[before]
                    found[before, after] = edge
        return [found[ends] for ends in sorted(found)]

    def _containment(self, events: dict[int, dict[str, Any]]) -> Iterator[EdgeTable]:
        for label in EVENTS:
            contained = (event for event in events.values() if event["label"] == label)
            rows = [{"from": self.id(event["transaction"]), "to": event["id"]} for event in contained]
            yield EdgeTable("did", "Transaction", label, rows)

    def _event_edges(self, events: dict[int, dict[str, Any]]) -> Iterator[EdgeTable]:
        found: dict[tuple[str, str, str], Rows] = {
            (relation, *ends): [] for relation, joined in EVENT_EDGES.items() for ends in joined
        }
        for relation, first, second, key, source in self._event_pairs(events):
            row = {"from": events[first]["id"], "to": events[second]["id"], "key": key, "source": source}
            found[relation, events[first]["label"], events[second]["label"]].append(row)
        return (EdgeTable(*ends, rows) for ends, rows in found.items())

    def _event_pairs(self, events: dict[int, dict[str, Any]]) -> Iterator[tuple[str, int, int, str, str]]:
        for edge in self.edges:
            yield f"event_{edge.relation}", edge.first, edge.second, _text(self.keys[edge.key]), edge.source
        ends: dict[int, list[int]] = defaultdict(list)
        for place, event in events.items():
            ends[event["transaction"]].append(place)
        for relation, pairs in (("event_session", self.sessions), ("event_real_time", self.real_time)):
            for before, after in sorted(pairs):
                yield relation, ends[before][-1], ends[after][0], "", ""


def _native_facts(native: EventGraph) -> dict[str, Any]:
    return {
        "is_complete": native.is_complete,
        "has_open_registers": native.has_open_registers,
        "is_contradictory": native.is_contradictory,
        "unjudged": native.repeated_reads + native.unjudged_keys + native.has_unsure_keys,
    }


def _finished(transaction: Transaction) -> int:
    """When a transaction was completed; else begun, for one without an answer; 0 without times."""
    interval = transaction.positions or transaction.interval
    if interval is not None:
        times = (interval.complete, interval.invoke)
        return next((time for time in times if time is not None), 0)
    return 0 if transaction.commit is None else transaction.commit.physical


def _text(value: object) -> str:
    """A key or value as a reader of the graph sees it."""
    if isinstance(value, tuple):
        return f"[{' '.join(map(_text, value))}]"
    if isinstance(value, Range):
        return f"[{' '.join(f'{_text(key)}={_text(item)}' for key, item in value.rows)}]"
    return "nil" if value is None else str(value)


def _data(operation: Operation) -> str:
    """The key and the value as JSON, from which a counterexample is made again."""
    value = operation.value
    if isinstance(value, Range | Unknown):
        value = _text(value)
    return json.dumps([operation.key, value], default=str, ensure_ascii=False)
