"""The steps that a history certainly shows, as edges of a graph: the material of cycles."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from isoscope.verify.explanation import external_reads, last_writes
from isoscope.verify.guarantees import versions_of
from isoscope.verify.history import RejectedError
from isoscope.verify.reads import INITIAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from isoscope.verify.supposition import Supposition

__all__ = ["Edge", "Steps", "path", "step_json"]

Version: TypeAlias = tuple[int, int]


class Edge(NamedTuple):
    """A step between two transactions; `left` and `entered` are the places of its operations."""

    start: int
    end: int
    by: str
    left: int = -1
    entered: int = -1
    key: Any = None
    versions: tuple[Version | None, ...] = ()
    reader: int = -1
    sees: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Named:
    """Names of transactions in a certificate."""

    ids: list[Any]

    def transaction(self, number: int) -> Any:
        return None if number == INITIAL else self.ids[number]

    def operation(self, version: Version | None) -> Any:
        return None if version is None else [self.ids[version[0]], version[1]]


def step_json(named: Named, edge: Edge) -> dict[str, Any]:
    """A step as a certificate has it."""
    found: dict[str, Any] = {
        "by": edge.by,
        "from": named.transaction(edge.start),
        "to": named.transaction(edge.end),
    }
    if edge.by == "wr":
        found["read"] = edge.entered
    if edge.by in ("ww", "rw"):
        found["versions"] = [*map(named.operation, edge.versions)]
    if edge.by == "rw":
        found["read"] = edge.left
    if edge.by == "axiom":
        sees = [step_json(named, each) for each in edge.sees]
        found |= {"reader": named.transaction(edge.reader), "read": edge.left, "sees": sees}
    return found


def path(
    edges: Callable[[int], Iterable[Edge]], starts: Iterable[int], is_end: Callable[[int], bool]
) -> list[Edge] | None:
    """The edges of a shortest path; of none if a start is an end."""
    came: dict[int, Edge | None] = dict.fromkeys(starts)
    waiting = deque(came)
    while waiting:
        at = waiting.popleft()
        if is_end(at):
            found: list[Edge] = []
            while (edge := came[at]) is not None:
                found.append(edge)
                at = edge.start
            return found[::-1]
        for edge in edges(at):
            if edge.end not in came:
                came[edge.end] = edge
                waiting.append(edge.end)
    return None


class Steps:
    """All steps that are certain under a supposition."""

    def __init__(self, supposition: Supposition) -> None:
        self.supposition = supposition
        self.level = supposition.level
        self.counted = [t for t in supposition.transactions if supposition.counts(t.number)]
        self.versions: dict[Any, list[Version]] = {}
        for t in self.counted:
            for key, version in versions_of(t):
                self.versions.setdefault(key, []).append(version)
        self._after: dict[tuple[Any, Version | None], dict[Version, tuple[Version | None, ...]]] = {}
        self.edges = [*self._all()]

    def after(self, key: Any, version: Version | None) -> dict[Version, tuple[Version | None, ...]]:
        """The versions that certainly come after one, each with the chain that shows it."""
        known = self._after.get((key, version))
        if known is None:
            known = self._after[key, version] = {}
            waiting: deque[tuple[Version | None, ...]] = deque([(version,)])
            while waiting:
                chain = waiting.popleft()
                for other in self.versions.get(key, ()):
                    if (
                        other not in known
                        and other != version
                        and self.supposition.before(key, chain[-1], other)
                    ):
                        known[other] = (*chain, other)
                        waiting.append(known[other])
        return known

    def reads(self, number: int) -> Iterator[tuple[int, Any]]:
        """Places and keys of the external reads of a transaction."""
        for place, key, _ in external_reads(self.supposition.transactions[number], []):
            if key not in self.supposition.history.unjudged:
                yield place, key

    def shown(self, number: int, place: int) -> tuple[bool, Version | None]:
        """Whether it is certain which version a read shows, and that version."""
        try:
            return True, self.supposition.version_read(number, place)
        except RejectedError:
            return False, None

    def _all(self) -> Iterator[Edge]:
        kind, level = self.level.kind, self.level
        is_weak = kind in ("read-committed", "read-atomic", "causal")
        for one in self.counted:
            for two in self.counted:
                if one.number != two.number:
                    yield from self._between(one.number, two.number)
            if is_weak:
                yield Edge(INITIAL, one.number, "initial")
            yield from self._of_reads(one.number)
        for key, versions in self.versions.items():
            for version in versions:
                for other, chain in self.after(key, version).items():
                    if other[0] != version[0]:
                        yield Edge(version[0], other[0], "ww", entered=other[1], key=key, versions=chain)
        del level

    def _between(self, one: int, two: int) -> Iterator[Edge]:
        if self.level.sessions and self.supposition.in_session(one, two):
            yield Edge(one, two, "session")
        if self.level.real_time and self.supposition.in_real_time(one, two):
            yield Edge(one, two, "real-time")

    def _of_reads(self, number: int) -> Iterator[Edge]:
        for place, key in self.reads(number):
            for source in sorted(self.supposition.dependencies(number, place)):
                if source != INITIAL and self.supposition.counts(source):
                    yield Edge(source, number, "wr", entered=place)
            is_certain, version = self.shown(number, place)
            left_out = self.supposition.transactions[number].left_out
            if is_certain and (self.level.phantoms or place not in left_out):
                for other, chain in self.after(key, version).items():
                    if other[0] != number:
                        yield Edge(number, other[0], "rw", place, other[1], key, chain)

    def axioms(self) -> Iterator[Edge]:
        """What the axiom of a weak level demands."""
        direct = [edge for edge in self.edges if edge.by in ("wr", "session")]
        into: dict[int, list[Edge]] = {}
        for edge in direct:
            into.setdefault(edge.start, []).append(edge)
        for reader in self.counted:
            for place, key in self.reads(reader.number):
                try:
                    source = self.supposition.source(reader.number, place)
                    shown = self.supposition.external_read(reader.number, place)
                except RejectedError:
                    continue
                for seen in self.counted:
                    if seen.number in (source, reader.number) or key not in last_writes(seen):
                        continue
                    if isinstance(shown, list) and any(
                        seen.number in self.supposition.writes.of(key, element) for element in shown
                    ):
                        continue
                    sees = self._sees(into, seen.number, reader.number, place)
                    if sees:
                        yield Edge(
                            seen.number, source, "axiom", place, reader=reader.number, sees=tuple(sees)
                        )

    def _sees(self, into: dict[int, list[Edge]], seen: int, reader: int, place: int) -> list[Edge] | None:
        if self.level.kind == "causal":
            return path(lambda at: into.get(at, ()), [seen], lambda at: at == reader)
        steps = [edge for edge in into.get(seen, ()) if edge.end == reader]
        if self.level.kind == "read-committed":
            steps = [edge for edge in steps if edge.by == "wr" and edge.entered < place]
        return steps[:1] or None
