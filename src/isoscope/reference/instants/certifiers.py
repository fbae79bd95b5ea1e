"""Certifiers that look at reads: what would be refused if this transaction committed now."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isoscope.reference.instants.server import Server, State

__all__ = ["is_dangerous", "loses_an_update", "reads_are_newest"]


def reads_are_newest(server: Server, state: State, number: int) -> bool:
    """A transaction that writes commits only if what it read is still the newest."""
    if not server.trace.changes[number]:
        return True
    return all(
        server.newest(state, key, len(state.log))[0] == writer
        for reader, key, writer in state.seen
        if reader == number
    )


def loses_an_update(server: Server, state: State, number: int) -> bool:
    """Whether a row changed that the transaction read and changes: without first updater wins, reads tell."""
    changed = {change.key for change in server.changes(state, number)}
    return any(
        server.newest(state, key, len(state.log))[0] != writer
        for reader, key, writer in state.seen
        if reader == number and key in changed
    )


def is_dangerous(server: Server, state: State, number: int) -> bool:
    """Whether T1 -rw-> T2 -rw-> T3, of which `number` is one, of which T3 committed first."""
    log = (*state.log, number)
    missed = {
        (reader, following)
        for reader, key, writer in state.seen
        for following in [_following(server, state, log, key, writer)]
        if reader in log and following not in (None, reader)
    }
    edges = {(t1, t2) for t1, t2 in missed if t2 is not None and _is_concurrent(state, log, t1, t2)}
    return any(
        b == c and number in (a, b, d) and _is_first(server, state, log, (a, b, d))
        for (a, b), (c, d) in product(edges, repeat=2)
    )


def _following(server: Server, state: State, log: tuple[int, ...], key: object, writer: int) -> int | None:
    """Whose version of a key directly follows that of the writer."""
    after = log.index(writer) + 1 if writer in log else 0
    changed = (n for n in log[after:] if any(c.key == key for c in server.changes(state, n)))
    return next(changed, None)


def _is_concurrent(state: State, log: tuple[int, ...], t1: int, t2: int) -> bool:
    """Whether each took its snapshot before the other committed; one without a snapshot is not."""
    pairs = [(state.snapshot(one), log.index(other)) for one, other in permutations((t1, t2))]
    return all(snapshot is not None and snapshot <= commit for snapshot, commit in pairs)


def _is_first(server: Server, state: State, log: tuple[int, ...], three: tuple[int, int, int]) -> bool:
    t1, t2, t3 = three
    if t1 == t3:
        return True
    is_first = log.index(t3) < log.index(t1) and log.index(t3) < log.index(t2)
    is_reader = not server.trace.changes[t1]
    return is_first and (not is_reader or log.index(t3) < (state.snapshot(t1) or 0))
