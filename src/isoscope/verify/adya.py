"""Adya's levels and parallel snapshot isolation: conditions on the dependencies that a version order gives.

Adya 1999; Cerone and Gotsman 2018. The versions of a key come in the order of their writers in the witness,
which also contains wr, ww and the sessions of the level. What is left to check are anti-dependencies (rw)
that lead backward in it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from math import inf
from typing import TYPE_CHECKING, Any

from isoscope.verify.explanation import last_writes
from isoscope.verify.history import RejectedError
from isoscope.verify.levels import OF_ROWS
from isoscope.verify.reachability import first_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from isoscope.verify.history import History, Transaction
    from isoscope.verify.levels import Level
    from isoscope.verify.reads import Observation, Reads

__all__ = ["check"]


class _Graph:
    """Places in the order instead of transactions; all edges but some rw lead to a higher place."""

    def __init__(self, history: History, reads: Reads, order: list[int], level: Level) -> None:
        self.phantoms = level.phantoms
        self.filled = history.filled if level.kind in OF_ROWS else {}
        self.transactions = [history.transactions[number] for number in order]
        self.position = [-1] * (len(history.transactions) + 1)
        for place, number in enumerate(order):
            self.position[number] = place
        self.observations = [self._observed(place, reads) for place in range(len(order))]
        self.writes = [last_writes(t) for t in self.transactions]
        self.writers: dict[Any, list[int]] = {}
        for place, written in enumerate(self.writes):
            for key in written:
                self.writers.setdefault(key, []).append(place)
        self._session = self._previous_in_session() if level.sessions else {}

    def _observed(self, place: int, reads: Reads) -> list[Observation]:
        t = self.transactions[place]
        found = list(reads.of(t))
        for observation in found:
            for number in self._depends_on(observation):
                if self.position[number] >= place:
                    raise RejectedError(f"{t} reads from a transaction that the order puts after it")
        return found

    def _depends_on(self, observation: Observation) -> tuple[int, ...]:
        """The writers of what a read shows, and the first transaction that fills its key."""
        filling = self.filled.get(observation.key)
        return observation.all if filling is None else (*observation.all, filling)

    def _previous_in_session(self) -> dict[int, int]:
        last: dict[int, int] = {}
        previous: dict[int, int] = {}
        for place, t in enumerate(self.transactions):
            if t.session in last:
                previous[place] = last[t.session]
            last[t.session] = place
        return previous

    def next_writer(self, observation: Observation) -> int | None:
        """The place of the writer of the version right after the one that was read."""
        writers = self.writers.get(observation.key, [])
        at = bisect_right(writers, self.position[observation.source])
        return writers[at] if at < len(writers) else None

    def missed(self, place: int) -> Iterator[tuple[Observation, int]]:
        """Reads with an rw edge that leads backward, and the place where it leads."""
        left_out = () if self.phantoms else self.transactions[place].left_out
        for observation in self.observations[place]:
            target = self.next_writer(observation)
            if target is not None and target < place and observation.place not in left_out:
                yield observation, target

    def before(self, place: int) -> list[int]:
        """Where the edges of wr, ww and session that lead to a place come from."""
        found = [*self.read_from(place), *self.overwritten(place)]
        if place in self._session:
            found.append(self._session[place])
        return found

    def read_from(self, place: int, until: float = inf) -> Iterator[int]:
        """Where wr edges come from that lead to operations up to one."""
        for observation in self.observations[place]:
            if observation.place <= until:
                yield from (self.position[number] for number in self._depends_on(observation) if number >= 0)

    def overwritten(self, place: int, until: float = inf) -> Iterator[int]:
        """Where ww edges come from that lead to operations up to one: writers of versions right before."""
        for key, written in self.writes[place].items():
            writers = self.writers[key]
            at = bisect_left(writers, place)
            if at and written <= until:
                yield writers[at - 1]


def check(level: Level, history: History, reads: Reads, order: list[int]) -> None:
    """Raise `RejectedError` unless the version order of the witness meets the condition of the level."""
    if level.kind == "pl-1":
        return
    graph = _Graph(history, reads, order, level)
    checks = {
        "pl-2": lambda _: None,
        "cursor": _check_cursor_stability,
        "monotonic": _check_monotonic_view,
        "single": _check_single,
        "update": _check_update,
    }
    checks[level.kind](graph)


def _check_single(graph: _Graph) -> None:
    """No cycle with one rw: no path leads from a missed version to the transaction that missed it."""
    pairs = [(target, place) for place in range(len(graph.transactions)) for _, target in graph.missed(place)]
    _refuse_path(graph, pairs, graph.before)


def _check_cursor_stability(graph: _Graph) -> None:
    """No other transaction's version comes between the one that was read and the own one."""
    for place, t in enumerate(graph.transactions):
        for observation, target in graph.missed(place):
            if observation.key in graph.writes[place]:
                other = graph.transactions[target]
                raise RejectedError(
                    f"{other} writes key {observation.key} between the read and the write of {t}"
                )


def _check_monotonic_view(graph: _Graph) -> None:
    """No path leads from a missed version into the read that missed it, or into an earlier operation.

    Such a read gets a node of its own, right before that of its transaction, so that all edges lead forward.
    """
    node_of: list[int] = []
    entries: list[list[int]] = []
    pairs: list[tuple[int, int]] = []
    readers: dict[int, Transaction] = {}
    for place, t in enumerate(graph.transactions):
        for observation, target in graph.missed(place):
            readers[len(entries)] = t
            pairs.append((node_of[target], len(entries)))
            until = observation.place
            sources = [*graph.read_from(place, until), *graph.overwritten(place, until)]
            entries.append([node_of[source] for source in sources])
        node_of.append(len(entries))
        entries.append([node_of[source] for source in graph.before(place)])
    joined = first_path(pairs, entries.__getitem__, len(entries))
    if joined is not None:
        raise RejectedError(
            f"{readers[joined[1]]} misses a version that an earlier operation of it depends on"
        )


def _check_update(graph: _Graph) -> None:
    """No cycle of dependencies and rw among the writers and any single other transaction."""
    readers_of: dict[int, list[int]] = {}
    pairs: list[tuple[int, int]] = []
    for place, t in enumerate(graph.transactions):
        is_writer = bool(graph.writes[place])
        for observation in graph.observations[place]:
            target = graph.next_writer(observation)
            if target is None or target == place:
                continue
            if is_writer and target < place:
                raise RejectedError(f"{t} writes, and the order puts it after a version that it missed")
            if is_writer:
                readers_of.setdefault(target, []).append(place)
            elif target < place:
                pairs.append((target, place))

    def before(place: int) -> list[int]:
        return [*graph.read_from(place), *readers_of.get(place, ()), *graph.overwritten(place)]

    _refuse_path(graph, pairs, before)


def _refuse_path(
    graph: _Graph, pairs: Iterable[tuple[int, int]], before: Callable[[int], Iterable[int]]
) -> None:
    joined = first_path(pairs, before, len(graph.transactions))
    if joined is not None:
        other, t = (graph.transactions[place] for place in joined)
        raise RejectedError(f"{t} misses a version of {other}, from which dependencies lead to it")
