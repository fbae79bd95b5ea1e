"""Read committed, read atomic and causal: the axioms of Biswas and Enea 2019 on a given commit order.

If t3 reads a key from t1 and sees t2, which writes the key too, then t2 comes before t1. Cost: read atomic is
linear in the reads and in the writes of those that they observe, the smaller of the two for each pair; causal
follows paths where a read leaves out a later writer of its key (`reachability`).
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from isoscope.verify.explanation import last_writes
from isoscope.verify.history import RejectedError
from isoscope.verify.reachability import first_path
from isoscope.verify.reads import INITIAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.verify.history import History, Transaction
    from isoscope.verify.reads import Observation, Reads

__all__ = ["check"]


class _Order:
    """The commit order, and what it says of the writers of a key."""

    def __init__(self, history: History, order: list[int]) -> None:
        self.transactions = history.transactions
        self.order = order
        self.position = [-1] * (
            len(self.transactions) + 1
        )  # the last place is that of the implicit first one
        for place, number in enumerate(order):
            self.position[number] = place
        self._writes: list[dict[Any, int] | None] = [None] * len(self.transactions)

    def writes(self, number: int) -> dict[Any, int]:
        """The keys that a transaction writes."""
        found = self._writes[number]
        if found is None:
            found = self._writes[number] = last_writes(self.transactions[number])
        return found

    def demand(self, earlier: int, observation: Observation, t: Transaction) -> None:
        """`earlier` is seen by t and writes the key of the observation: it must come before the source."""
        if self.position[earlier] > self.position[observation.source] and earlier not in observation.all:
            seen, source = self.transactions[earlier], self._name(observation.source)
            raise RejectedError(
                f"{t} sees {seen} and reads key {observation.key} from {source}, "
                f"but the order puts {source} before {seen}"
            )

    def _name(self, number: int) -> str:
        return "the initial state" if number == INITIAL else str(self.transactions[number])


def check(kind: str, history: History, reads: Reads, order: list[int]) -> None:
    """Raise `RejectedError` unless the order meets the axiom of the level."""
    commit_order = _Order(history, order)
    if kind == "read-committed":
        _check_read_committed(commit_order, reads)
    elif kind == "read-atomic":
        _check_read_atomic(commit_order, reads)
    else:
        _check_causal(commit_order, reads)


def _observations(commit_order: _Order, t: Transaction, reads: Reads) -> list[Observation]:
    """The observations of a transaction; whatever it observes comes before it."""
    found = list(reads.of(t))
    position = commit_order.position
    own = position[t.number]
    for observation in found:
        for number in observation.all:
            if position[number] >= own:
                other = commit_order.transactions[number]
                raise RejectedError(f"{t} reads from {other}, but the order puts {other} after it")
    return found


def _check_read_committed(commit_order: _Order, reads: Reads) -> None:
    """Sees: t3 read something from t2 earlier in the transaction."""
    for number in commit_order.order:
        t = commit_order.transactions[number]
        found = _observations(commit_order, t, reads)
        if len(found) < 2:
            continue
        last_read = {observation.key: observation.place for observation in found}
        latest: dict[Any, int] = {}
        for observation in found:
            if observation.key in latest:
                commit_order.demand(latest[observation.key], observation, t)
            for seen in observation.all:
                _remember(commit_order, seen, last_read, latest)


def _check_read_atomic(commit_order: _Order, reads: Reads) -> None:
    """Sees: t3 reads from t2, or t2 precedes t3 in its session."""
    session_writes: dict[int, dict[Any, int]] = {}
    for number in commit_order.order:
        t = commit_order.transactions[number]
        found = _observations(commit_order, t, reads)
        own = session_writes.setdefault(t.session, {})
        keys = {observation.key: 0 for observation in found}
        latest = {key: own[key] for key in keys if key in own}
        if len(found) > 1:  # a single read sees nothing but its own source
            for seen in {seen for observation in found for seen in observation.all}:
                _remember(commit_order, seen, keys, latest)
        for observation in found:
            if observation.key in latest:
                commit_order.demand(latest[observation.key], observation, t)
        own.update(dict.fromkeys(commit_order.writes(number), number))


def _remember(commit_order: _Order, seen: int, keys: dict[Any, int], latest: dict[Any, int]) -> None:
    """Of the transactions that are seen and write a key, keep the last; look at the fewer keys of the two."""
    if seen == INITIAL:
        return
    writes = commit_order.writes(seen)
    few, many = (writes, keys) if len(writes) < len(keys) else (keys, writes)
    place = commit_order.position[seen]
    for key in few:
        if key in many and commit_order.position[latest.get(key, INITIAL)] < place:
            latest[key] = seen


def _check_causal(commit_order: _Order, reads: Reads) -> None:
    """Sees: a chain of sessions and reads leads from t2 to t3."""
    writers: dict[Any, list[int]] = {}
    before: list[tuple[int, ...]] = []
    last: dict[int, int] = {}
    pairs: set[tuple[int, int]] = set()
    for place, number in enumerate(commit_order.order):
        t = commit_order.transactions[number]
        found = _observations(commit_order, t, reads)
        for observation in found:
            pairs.update(_missed(commit_order, observation, writers.get(observation.key, []), place))
        seen = {commit_order.position[seen] for observation in found for seen in observation.all}
        if t.session in last:
            seen.add(last[t.session])
        seen.discard(-1)
        before.append(tuple(seen))
        last[t.session] = place
        for key in last_writes(t):
            writers.setdefault(key, []).append(place)
    joined = first_path(pairs, before.__getitem__, len(before))
    if joined is not None:
        seen_name, reader = (commit_order.transactions[commit_order.order[place]] for place in joined)
        raise RejectedError(
            f"{seen_name} happens before {reader}, which reads an older version of a key that it writes"
        )


def _missed(
    commit_order: _Order, observation: Observation, writers: list[int], place: int
) -> Iterator[tuple[int, int]]:
    """Writers between the source of a read and the reader: none of them may happen before it.

    Of each session the first one is enough: the others happen before less.
    """
    begin = bisect_right(writers, commit_order.position[observation.source])
    sessions: set[int] = set()
    for writer in writers[begin:]:
        number = commit_order.order[writer]
        session = commit_order.transactions[number].session
        if session not in sessions and number not in observation.all:
            sessions.add(session)
            yield writer, place
