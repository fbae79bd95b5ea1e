"""What each read says of each key: what it shows, what of that is the reader's own, and when it looked.

A range read is a read of each row that it shows, and a read of nothing for each key inside its bounds that
it does not show, unless a predicate narrows what it asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from isoscope.history import UNKNOWN, OperationKind, Range
from isoscope.profiles import Read
from isoscope.reference.mechanisms.conduct import WRITES, conduct_of, waits_for_rows
from isoscope.reference.mechanisms.versions import NOTHING, Place, is_inside, keys_of, shown_value
from isoscope.reference.observations import INITIAL
from isoscope.reference.reads import token

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import Operation, Transaction
    from isoscope.reference.mechanisms.versions import Store, Version, Write
    from isoscope.reference.mechanisms.worlds import Span

__all__ = ["Observation", "may_be_lost", "observations", "of_others", "shows", "snapshots"]


class Observation(NamedTuple):
    """The read at `place` shows `value` of `key`; of a list the elements that are not its own.

    `own`: the reader's last write of the key before it. `is_own`: what is shown must be that; of a list, it
    does not end with the own appends. `may_be_own`: the own write is a delete that may have found no row.
    `is_absent`: a range read does not show the key.
    """

    place: Place
    key: object
    value: object
    own: Write | None = None
    is_own: bool = False
    may_be_own: bool = False
    is_absent: bool = False
    is_uncommitted: bool = False


def observations(store: Store) -> list[Observation]:
    """What reads of transactions that did commit say of keys that are judged."""
    return [
        observation
        for reader in store.readers
        for place, operation in enumerate(reader.operations)
        for observation in _of(store, reader, place, operation)
    ]


def snapshots(store: Store, observation: Observation) -> list[Span]:
    """When the reader may have looked.

    A transaction that changed one cell of a row sees the other cells as they were at its snapshot, or as they
    were when it changed the row: that differs between databases. An append reads the list: the elements
    before the own ones are those that the first own append found.
    """
    reader, place = observation.place
    if store.shape(observation.key) == "list":
        own = store.writes(observation.key, reader, before=place)
        return [store.times[reader].snapshot(own[0].place.operation if own else place)]
    times, row = store.times[reader], store.row(observation.key)
    changed = [
        write
        for write, operation in enumerate(store.transactions[reader].operations[:place])
        if operation.kind in WRITES and store.row(token(operation.key)) == row
        if token(operation.key) != observation.key
    ]
    return [times.snapshot(place), *(times.operation(write) for write in changed)]


def of_others(store: Store, observation: Observation) -> dict[int, Version]:
    """The versions of the key that are not the reader's, by transaction."""
    reader = observation.place.transaction
    return {v.transaction: v for v in store.versions(observation.key) if v.transaction != reader}


def shows(store: Store, observation: Observation, version: Version) -> bool:
    """Whether this can be the version that a read shows; a list shows that of its last element."""
    if store.shape(observation.key) == "list":
        assert isinstance(observation.value, tuple)
        assert isinstance(version.value, tuple)
        return observation.value[-1:] == version.value[-1:]
    if version.transaction == INITIAL:
        return observation.is_absent or store.is_initial(observation.key, observation.value)
    return observation.value == version.value


def may_be_lost(store: Store, observation: Observation) -> bool:
    """Whether a locking read of nothing may have waited for a row that was deleted, and inserted again."""
    reader, place = observation.place
    operation = store.operation(observation.place)
    waits = waits_for_rows(conduct_of(operation, store.profile), store.profile)
    span = store.times[reader].operation(place)
    deletes = [
        t.number
        for t in store.transactions
        if t.number != reader and store.deletes(observation.key, t.number)
    ]
    commits = [store.times[number].commit for number in deletes]
    is_near = any(c is not None and not c.precedes(span) and not span.precedes(c) for c in commits)
    return waits and observation.value == NOTHING and is_near


def _of(store: Store, reader: Transaction, place: int, operation: Operation) -> Iterator[Observation]:
    conduct = conduct_of(operation, store.profile)
    is_uncommitted = conduct.read is Read.UNCOMMITTED
    for key, value, is_absent in _said(store, operation):
        if conduct.skips_locked and value == NOTHING:
            continue  # the row may be there, and locked by another transaction
        if is_uncommitted and is_absent and not store.writes(key, reader.number, before=place):
            continue  # a scan of uncommitted data can miss rows
        seen = Observation(Place(reader.number, place), key, value, is_absent=is_absent)
        writes = store.writes(key, reader.number, before=place)
        shape = store.shape(key)
        if shape == "register":
            yield _of_register(store, seen._replace(is_uncommitted=is_uncommitted), writes)
        elif shape == "list" and operation.kind is OperationKind.READ:
            yield _of_list(seen, operation, writes)._replace(is_uncommitted=is_uncommitted)


def _of_register(store: Store, seen: Observation, writes: list[Write]) -> Observation:
    """The last own write counts, but a delete that finds no row changes nothing.

    A delete that finds no row in the snapshot of its transaction leaves nothing for other reads of it.
    """
    while len(writes) > 1 and writes[-1].value == writes[-2].value == NOTHING:
        writes = writes[:-1]
    if not writes:
        return seen
    times, place = store.times[seen.place.transaction], writes[-1].place.operation
    is_one = times.is_of_transaction(place) and times.is_of_transaction(seen.place.operation)
    is_certain = is_one or store.finds(writes[-1].place)
    return seen._replace(own=writes[-1], is_own=is_certain, may_be_own=not is_certain)


def _of_list(seen: Observation, read: Operation, writes: list[Write]) -> Observation:
    """A list is what others left of it, followed by all that its reader has appended."""
    elements = [token(element) for element in read.value] if isinstance(read.value, tuple) else []
    own = [write.value for write in writes]
    kept = len(elements) - len(own)
    is_whole = kept >= 0 and elements[kept:] == own
    last = writes[-1] if writes else None
    return seen._replace(value=tuple(elements[: max(kept, 0)]), own=last, is_own=not is_whole)


def _said(store: Store, operation: Operation) -> Iterator[tuple[object, object, bool]]:
    """Key, value, and whether a range read is silent about it."""
    if operation.kind is OperationKind.READ and operation.value is not UNKNOWN:
        yield token(operation.key), shown_value(operation), False
    if operation.kind is not OperationKind.RANGE_READ or not isinstance(operation.value, Range):
        return
    shown = {token(key): token(value) for key, value in operation.value.rows}
    gone = {token(key): NOTHING for key, _ in operation.value.tombstones if token(key) not in shown}
    for key, value in shown.items():
        yield key, value, False
    for key in gone | dict.fromkeys(_asked(store, operation)):
        if key not in shown:
            yield key, NOTHING, True


def _asked(store: Store, operation: Operation) -> list[object]:
    """Keys that a range read asks for, as far as other operations name them."""
    asked = operation.value
    assert isinstance(asked, Range)
    if operation.predicate is not None:
        return []
    return [
        token(key)
        for t in store.transactions
        for o in t.operations
        if (o.table, o.columns) == (operation.table, operation.columns)
        for key in keys_of(o)
        if key is not None and is_inside(key, asked.low, asked.high)
    ]
