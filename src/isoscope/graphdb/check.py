"""Levels as queries: runs a level's query on a stored graph, and says what the answer is worth.

A cycle that a level forbids breaks it. Nothing found means `holds` only if the query is complete and the
graph shows all dependencies: an order of versions that is partly open may hide some.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from isoscope import levels as lattice
from isoscope.checkers.reads import NAMES as READS
from isoscope.checkers.recorded_order import CONTRADICTORY
from isoscope.errors import UsageError
from isoscope.graphdb.cycle import Cycle, cycle_of
from isoscope.graphdb.queries import (
    COMPONENT_RELATIONS,
    LEVELS,
    QueryMethod,
    Search,
    level_statements,
    named,
)
from isoscope.graphdb.stored_history import StoredHistory
from isoscope.levels import Level
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from isoscope.graphdb.store import GraphStore

__all__ = ["Answer", "WrongRead", "check", "facts_of"]

_DEFAULT = Search()
_OPEN = "the order of some versions is not known, and a query does not try them; `isoscope check` does"
_UNJUDGED = "some reads saw values that several transactions may have written"
_PREDICATES = "reads by predicates and deletions are not in the graph"
_FORKED = "reads of a list contradict each other, so that there is no one order of its versions"
_BOUNDED = "there is no such cycle of at most {} transactions; longer ones were not searched"


@dataclass(frozen=True, slots=True)
class WrongRead:
    """A read that no order of transactions explains."""

    name: str
    transaction: str
    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer for one level; a violated one has a cycle or wrong reads, an unknown one a reason."""

    level: Level
    outcome: Outcome
    method: QueryMethod
    reason: str = ""
    cycle: Cycle | None = None
    reads: tuple[WrongRead, ...] = ()
    queries: int = 0


def facts_of(store: GraphStore, name: str | None) -> dict[str, Any]:
    """The facts of a graph; without a name, of the only one. Raises UsageError if there is no such graph."""
    found = {graph["name"]: graph for graph in store.graphs()}
    if name is None and len(found) == 1:
        return next(iter(found.values()))
    if name in found:
        return found[name]
    known = ", ".join(sorted(found)) or "none"
    missing = (
        "there are several graphs" if name is None and found else f"there is no graph {name or ''}".strip()
    )
    raise UsageError(
        f"{missing} (stored: {known})\n\nhint: --name says which; `isoscope graph load` stores one"
    )


def check(store: GraphStore, level: Level, *, name: str | None = None, search: Search = _DEFAULT) -> Answer:
    """Whether a stored graph satisfies a level, by one method; without a name, the only graph."""
    if level not in LEVELS:
        raise UsageError(f"no query decides {level}\n\nhint: those are {', '.join(LEVELS)}")
    if search.method is QueryMethod.COMPONENTS and not store.has_components:
        raise UsageError(
            "this database has no query for strongly connected components\n\n"
            "hint: --method shortest-path is complete as well"
        )
    if search.method is QueryMethod.COMPONENTS and level not in COMPONENT_RELATIONS:
        raise UsageError(
            f"components do not decide {level}\n\nhint: --method shortest-path does, and is complete as well"
        )
    return _Check(store, facts_of(store, name), search).answer(level)


class _Check:
    """The queries of one graph by one method."""

    def __init__(self, store: GraphStore, facts: Mapping[str, Any], search: Search) -> None:
        self.store, self.facts, self.search, self.method = store, facts, search, search.method
        self.history = StoredHistory(store, facts)
        self.queries = 0

    def answer(self, level: Level) -> Answer:
        if self.facts["is_contradictory"]:
            return self._answer(level, Outcome.UNKNOWN, reason=CONTRADICTORY)
        wrong = self._wrong_reads()
        if breaking := tuple(read for read in wrong if _breaks(read, level)):
            return self._answer(level, Outcome.VIOLATED, reads=breaking)
        if edges := self.cycle(level):
            return self._answer(level, Outcome.VIOLATED, cycle=cycle_of(self.history, edges))
        reason = self._doubt(level, wrong)
        return self._answer(level, Outcome.UNKNOWN if reason else Outcome.HOLDS, reason=reason)

    def _answer(self, level: Level, outcome: Outcome, **more: Any) -> Answer:
        return Answer(level=level, outcome=outcome, method=self.method, queries=self.queries, **more)

    def _doubt(self, level: Level, wrong: tuple[WrongRead, ...]) -> str:
        """Why the level may be broken although nothing was found."""
        if not self.method.is_complete:
            return _BOUNDED.format(self.search.depth)
        if self.facts["predicates"]:
            return _PREDICATES
        if self.facts["unjudged"]:
            return _UNJUDGED
        if any(read.name == "incompatible-order" for read in wrong):
            return _FORKED
        return _OPEN if self._is_open(level) else ""

    def _is_open(self, level: Level) -> bool:
        """Whether an order of open versions is still to be found.

        Versions can follow any order of transactions that contains the edges of the level, which exists if
        these have no cycle. That decides PL-1 and PL-2, which do not speak of `rw`. It decides the others if
        open versions were never read: then no `rw` is open. Parallel snapshot isolation has no such order;
        snapshot isolation, which implies it, has.
        """
        if self.facts["is_complete"] or level in (Level.PL_1, Level.PL_2):
            return False
        if self.facts["has_open_registers"]:
            return True
        return level is Level.PARALLEL_SNAPSHOT_ISOLATION and bool(self.cycle(Level.SNAPSHOT_ISOLATION))

    def _wrong_reads(self) -> tuple[WrongRead, ...]:
        [query] = named(self.store.dialect, "wrong-reads")
        rows = (row[0] for row in self._run(query))
        names = ((name, read) for read in rows for name in read["problem"].split())
        return tuple(
            WrongRead(name, self.history.transaction(read["transaction"]).label, read["key"], read["value"])
            for name, read in names
        )

    def cycle(self, level: Level) -> list[dict[str, Any]]:
        """The edges of a cycle that the level forbids, in order; none if there is none."""
        if self.method is QueryMethod.COMPONENTS:
            self.store.components(self.facts["name"], COMPONENT_RELATIONS[level])
        queries = level_statements(self.store.dialect, self.search, level)
        for query, parameters in self._asked(queries):
            for row in self._run(query, **parameters):
                return [edge for value in row for edge in _edges(value)]
        return []

    def _asked(self, queries: tuple[str, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
        if self.method is not QueryMethod.RANDOM:
            yield from ((query, {}) for query in queries)
            return
        [ids] = named(self.store.dialect, "starts")
        starts = [row[0] for row in self._run(ids)]
        Random(self.search.seed).shuffle(starts)
        yield from ((query, {"start": start}) for start in starts for query in queries)

    def _run(self, query: str, **parameters: Any) -> tuple[tuple[Any, ...], ...]:
        self.queries += 1
        return self.store.run(query, {"graph": self.facts["name"], **parameters}).rows


def _edges(value: Any) -> Iterator[dict[str, Any]]:
    """The edges of what a query returned: an edge, a path, or a list of edges."""
    if isinstance(value, list):
        for item in value:
            yield from _edges(item)
    elif "edges" in value:
        yield from value["edges"]
    else:
        yield value


def _breaks(read: WrongRead, level: Level) -> bool:
    weakest = Level.PL_2 if read.name == "dirty-update" else READS[read.name]
    return weakest in lattice.implied(level) or weakest is level
