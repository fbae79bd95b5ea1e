"""What predicate reads say of single keys, in a universe that is closed: every key is one of the history's.

After Elle's `closed-predicate` workload: a key that a predicate read does not show was in a state that does
not match, that is unborn, dead or with another value. Where several states may be meant nothing is said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from isoscope.history import UNKNOWN, OperationKind, Range, Status
from isoscope.reference import reads
from isoscope.reference.observations import INITIAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import History, Operation, Transaction

__all__ = ["Judgement", "Miss", "Observation", "judge"]

INSTALLS = (*reads.INSTALLS, OperationKind.DELETE)
#: The statement kind of what the first transaction inserts.
INIT = "init"
#: The transactions that can have made a state of a key; None if that cannot be told.
States: TypeAlias = list[int] | None
_NUMBER = "(0|-?[1-9][0-9]*)"


class Observation(NamedTuple):
    """The operation at `place` of `reader` observed the key, a `reads.token`, as `writer` left it."""

    reader: int
    place: int
    key: object
    writer: int


class Miss(NamedTuple):
    """The predicate read at `place` of `reader` does not show the key though every state of it matches."""

    reader: int
    place: int
    key: object


@dataclass(frozen=True)
class Judgement:
    """The evidence of the reads; `ambiguous_states` counts keys of reads that fit several states."""

    observations: frozenset[Observation]
    misses: frozenset[Miss]
    ambiguous_states: int


def matches(predicate: str, value: object) -> bool | None:
    """Whether a predicate asks for a key that holds `value`; None if it is no predicate of the workload."""
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    if predicate == ":true":
        return value is not None
    if found := re.fullmatch(rf"\[:= {_NUMBER}\]", predicate):
        return is_integer and value == int(found[1])
    if found := re.fullmatch(rf"\[:mod {_NUMBER} {_NUMBER}\]", predicate):
        modulus, remainder = map(int, found.groups())
        if modulus > 0:
            return isinstance(value, int) and is_integer and value % modulus == remainder
    return None


def judge(history: History) -> Judgement:
    """What predicate reads, and reads of keys that are deleted at times, observed."""
    universe = _Universe(history)
    found = [row for transaction in history for row in universe.reads(transaction)]
    return Judgement(
        observations=frozenset(row for row in found if isinstance(row, Observation)),
        misses=frozenset(row for row in found if isinstance(row, Miss)),
        ambiguous_states=found.count(None),
    )


class _Universe:
    """All keys, and all states that they were in."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.transactions = list(history)
        self.counted = reads.counted(history)
        self.keys = {reads.token(key): key for key in history.keys}

    def reads(self, reader: Transaction) -> Iterator[Observation | Miss | None]:
        """What each read says of each key; None where nothing can be said."""
        if reader.number not in self.counted:
            return
        for place, operation in enumerate(reader.operations):
            own = {reads.token(o.key): o for o in reader.operations[:place] if o.kind in INSTALLS}
            for key, states in self.states(reader, operation).items():
                if key not in own:
                    yield self.said(reader.number, place, key, states)
                elif not _shows(operation, key, own[key]):
                    yield None

    def said(self, reader: int, place: int, key: object, states: States) -> Observation | Miss | None:
        if states == []:
            return Miss(reader, place, key)
        if states is not None and len(states) == 1 and (states[0] in self.counted or states[0] == INITIAL):
            return Observation(reader, place, key, states[0])
        return None

    def states(self, reader: Transaction, operation: Operation) -> dict[object, States]:
        """For each key that an operation saw, the transactions that can have made the state it saw."""
        if isinstance(operation.value, Range) and _is_closed(operation):
            return self.of_predicate_read(reader, operation, operation.value)
        key, value = reads.token(operation.key), operation.value
        if operation.kind is not OperationKind.READ or value is UNKNOWN or not self.is_deleted(key):
            return {}
        if value is not None:
            return {key: self.writers(reader, key, value)}
        dead = [w for w, left in self.versions(reader, key).items() if left.kind is OperationKind.DELETE]
        return {key: self.unborn(key) + dead or [INITIAL]}

    def of_predicate_read(
        self, reader: Transaction, operation: Operation, seen: Range
    ) -> dict[object, States]:
        shown: dict[object, States] = {}
        for key, value in seen.rows:
            shown.setdefault(reads.token(key), self.writers(reader, reads.token(key), value))
        hidden: dict[object, States] = {
            key: self.hidden(reader, key, operation.predicate or "") for key in self.keys
        }
        return hidden | shown

    def writers(self, reader: Transaction, key: object, value: object) -> States:
        """The possible writers of a value that was shown; no transaction reads what it writes only later."""
        seen, original = reads.token(value), self.keys[key]
        initial = [INITIAL] if seen == reads.token(self.initial(key)) else []
        writers = [t.number for t in self.transactions if seen in reads.installed(t, original)]
        possible = initial + [w for w in writers if writers != [reader.number]]
        is_replaced = possible == writers and any(self.left(w, key) != seen for w in writers)
        return None if is_replaced else possible or None

    def left(self, writer: int, key: object) -> object:
        """The value of a key that a transaction left behind; UNKNOWN if it deleted it."""
        last = _of_key(self.transactions[writer], key)[-1]
        return UNKNOWN if last.kind is OperationKind.DELETE else reads.token(last.value)

    def hidden(self, reader: Transaction, key: object, predicate: str) -> States:
        """The transactions that can have made the state of a key that a predicate read does not show."""
        if any(o.kind is OperationKind.APPEND for t in self.transactions for o in _of_key(t, key)):
            return None
        initial = self.initial(key)
        is_hidden = initial is UNKNOWN or not matches(predicate, initial)
        return [
            *(self.unborn(key) if is_hidden else []),
            *(
                writer
                for writer, left in self.versions(reader, key).items()
                if left.kind is OperationKind.DELETE or not matches(predicate, left.value)
            ),
        ]

    def versions(self, reader: Transaction, key: object) -> dict[int, Operation]:
        """What others left of a key, unless they aborted."""
        left = {t.number: _of_key(t, key)[-1:] for t in self.transactions if t.status is not Status.ABORTED}
        return {w: last[0] for w, last in left.items() if last and w != reader.number}

    def unborn(self, key: object) -> list[int]:
        """The initial state, unless a first transaction precedes all others that see the key."""
        first = [t for t in self.transactions if t.status is Status.COMMITTED and _is_init(t)]
        return [] if any(_of_key(t, key) for t in first) else [INITIAL]

    def is_deleted(self, key: object) -> bool:
        counted = [t for t in self.transactions if t.number in self.counted]
        return any(o.kind is OperationKind.DELETE for t in counted for o in _of_key(t, key))

    def initial(self, key: object) -> object:
        of_key = {reads.token(other): own for other, own in self.history.initial.of_key.items()}
        return of_key.get(key, self.history.initial.value)


def _is_closed(read: Operation) -> bool:
    """Whether a range read asks for nothing but a predicate of the workload."""
    assert isinstance(read.value, Range)
    is_open = read.value.low is None and read.value.high is None and not read.value.tombstones
    return is_open and read.predicate is not None and matches(read.predicate, None) is not None


def _shows(read: Operation, key: object, own: Operation) -> bool:
    """Whether a read shows what its own transaction did last to the key."""
    left = UNKNOWN if own.kind is OperationKind.DELETE else own.value
    if not isinstance(read.value, Range):
        return reads.token(read.value) == reads.token(None if left is UNKNOWN else left)
    shown = [reads.token(value) for other, value in read.value.rows if reads.token(other) == key]
    if shown:
        return left is not UNKNOWN and shown[0] == reads.token(left)
    return left is UNKNOWN or not matches(read.predicate or "", left)


def _is_init(transaction: Transaction) -> bool:
    kinds = {(o.kind, o.statement) for o in transaction.operations}
    return kinds == {(OperationKind.INSERT, INIT)}


def _of_key(transaction: Transaction, key: object) -> list[Operation]:
    """The operations of a transaction that install versions of a key."""
    return [o for o in transaction.operations if o.kind in INSTALLS and reads.token(o.key) == key]
