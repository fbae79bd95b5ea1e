"""A second definition of explanations, written from the words of the documentation alone.

`docs/explanation/semantics.md` (Explanations, Possible writers, Repeated initial values) is its source, and
`docs/explanation/version-order.md` (Conditions) that of `conditions.py`. Histories are small, values
repeat, and every explanation is tried: which indeterminate transactions took effect, which writer each read
shows, what an unknown initial value was, and in which order the versions of each key were installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from isoscope.history import Status

if TYPE_CHECKING:
    from collections.abc import Iterator

START = -1  # the implicit first transaction
NOWHERE = -2  # a write that is no version: of an aborted transaction, or one that its writer replaced
ANY = object()  # an unknown initial value that equals no value of the history

VERSION_LEVELS = (
    "pl-1",
    "pl-2",
    "cursor-stability",
    "monotonic-view",
    "consistent-view",
    "parallel-snapshot-isolation",
    "update-serializable",
    "snapshot-isolation",
    "repeatable-read",
    "serializable",
    "strong-session-pl-1",
    "strong-session-pl-2",
    "strong-session-parallel-snapshot-isolation",
    "strong-session-snapshot-isolation",
    "strong-session-serializable",
    "prefix",
    "read-your-writes",
    "monotonic-reads",
    "monotonic-writes",
    "writes-follow-reads",
)
WEAK_LEVELS = ("cut-isolation", "read-committed", "read-atomic", "causal")
LEVELS = (*VERSION_LEVELS, *WEAK_LEVELS)
GUARANTEES = ("read-your-writes", "monotonic-reads", "monotonic-writes", "writes-follow-reads")
#: Levels that forbid no wrong single read.
LENIENT = ("pl-1", "strong-session-pl-1", "cut-isolation", *GUARANTEES)
#: Levels that imply cut isolation.
CUT = (
    "consistent-view",
    "parallel-snapshot-isolation",
    "update-serializable",
    "snapshot-isolation",
    "repeatable-read",
    "serializable",
    "strong-session-parallel-snapshot-isolation",
    "strong-session-snapshot-isolation",
    "strong-session-serializable",
    "prefix",
    "cut-isolation",
    "read-atomic",
    "causal",
)


class Op(NamedTuple):
    """A read or a write; the value of a read that no client learned is None."""

    write: bool
    key: str
    value: int | None


@dataclass(frozen=True)
class Txn:
    """A transaction: its session, its status and its operations."""

    session: int
    status: Status
    ops: tuple[Op, ...]

    def last(self, key: str) -> int | None:
        """The value of the last write of the key."""
        return next((op.value for op in reversed(self.ops) if op.write and op.key == key), None)

    def written(self) -> set[str]:
        """The keys that it writes."""
        return {op.key for op in self.ops if op.write}

    def reads(self) -> Iterator[tuple[int, Op, bool]]:
        """Reads with a known result: place, operation, whether it is external."""
        written: set[str] = set()
        for place, op in enumerate(self.ops):
            if op.write:
                written.add(op.key)
            elif op.value is not None:
                yield place, op, op.key not in written


class Read(NamedTuple):
    """An external read of a transaction that took effect."""

    reader: int
    place: int
    key: str
    value: int


Edges = set[tuple[int, int]]
Attribution = dict[Read, int]


class World(NamedTuple):
    """Which transactions took effect, and the initial value of each key."""

    effect: tuple[int, ...]
    initial: dict[str, object]


class Words(NamedTuple):
    """How to read the documentation where it leaves a question open."""

    #: Whose reads may show an unknown initial value: any, live (not aborted), effect, committed.
    shows: str = "effect"
    #: A read of a write that its writer replaced shows the writer's version, otherwise none.
    intermediate: bool = True
    #: If such a writer is indeterminate, it took effect.
    took_effect: bool = True


class Case:
    """A history and the questions that do not depend on an explanation."""

    def __init__(self, txns: tuple[Txn, ...], initial: int | None, words: Words | None = None) -> None:
        """`initial` is None if it is unknown."""
        self.txns = txns
        self.initial = initial
        self.words = words or Words()
        self.answer: dict[str, bool] = {}
        self.key_names = sorted({op.key for txn in txns for op in txn.ops})

    def writers(self, key: str, value: int, reader: int) -> list[int]:
        """Possible writers, without the initial state."""
        return [
            number
            for number, txn in enumerate(self.txns)
            if number != reader and txn.status is not Status.ABORTED and txn.last(key) == value
        ]

    def bad_writes(self, world: World, read: Read) -> list[int]:
        """All writes of the value, for a read without possible writers."""
        found: set[int] = set()
        written = False
        for number, txn in enumerate(self.txns):
            if not any(op.write and op.key == read.key and op.value == read.value for op in txn.ops):
                continue
            written = True
            if number == read.reader or txn.status is Status.ABORTED:
                found.add(NOWHERE)
            elif number in world.effect:
                found.add(number if self.words.intermediate else NOWHERE)
            elif not self.words.took_effect:
                found.add(NOWHERE)
        return sorted(found) if written else [NOWHERE]

    def initials(self, effect: tuple[int, ...]) -> Iterator[dict[str, object]]:
        """Every choice of the initial values."""
        if self.initial is not None:
            yield dict.fromkeys(self.key_names, self.initial)
            return
        for choice in product(*(self.unknown(key, effect) for key in self.key_names)):
            yield dict(zip(self.key_names, choice, strict=True))

    def heard(self, number: int, effect: tuple[int, ...]) -> bool:
        """Whether reads of a transaction may show an unknown initial value."""
        status = self.txns[number].status
        match self.words.shows:
            case "any":
                return True
            case "live":
                return status is not Status.ABORTED
            case "effect":
                return number in effect
            case _:
                return status is Status.COMMITTED

    def unknown(self, key: str, effect: tuple[int, ...]) -> list[object]:
        """What an unknown initial value of the key may have been."""
        writes = {
            (number, op.value)
            for number, txn in enumerate(self.txns)
            for op in txn.ops
            if op.write and op.key == key
        }
        reads = [
            (number, op.value)
            for number, txn in enumerate(self.txns)
            if self.heard(number, effect)
            for _, op, external in txn.reads()
            if external and op.key == key
        ]
        written = {value for _, value in writes}
        shown = [value for _, value in reads if value not in written]
        if shown:
            return [shown[0]]
        several = {
            value for value in written if len({number for number, other in writes if other == value}) > 1
        }
        repeated = sorted({value for _, value in reads if value is not None} & several)
        return [
            ANY,
            *(
                value
                for value in repeated
                if all(self.writers(key, value, n) for n, v in reads if v == value)
            ),
        ]

    def worlds(self) -> Iterator[World]:
        """Every choice of transactions that took effect, and of initial values."""
        doubt = [n for n, txn in enumerate(self.txns) if txn.status is Status.INDETERMINATE]
        for flags in product((False, True), repeat=len(doubt)):
            chosen = {n for n, flag in zip(doubt, flags, strict=True) if flag}
            effect = tuple(
                n for n, txn in enumerate(self.txns) if txn.status is Status.COMMITTED or n in chosen
            )
            for initial in self.initials(effect):
                yield World(effect, initial)

    def wrong_own(self, world: World) -> bool:
        """Whether an own read does not show the last own write."""
        for number in world.effect:
            state: dict[str, int | None] = {}
            for op in self.txns[number].ops:
                if op.write:
                    state[op.key] = op.value
                elif op.value is not None and op.key in state and state[op.key] != op.value:
                    return True
        return False

    def external(self, world: World) -> list[Read]:
        """External reads of the transactions that took effect."""
        return [
            Read(number, place, op.key, op.value)
            for number in world.effect
            for place, op, external in self.txns[number].reads()
            if external and op.value is not None
        ]

    def unrepeatable(self, world: World) -> bool:
        """Whether two external reads of a key by one transaction differ."""
        values: dict[tuple[int, str], set[int]] = {}
        for read in self.external(world):
            values.setdefault((read.reader, read.key), set()).add(read.value)
        return any(len(found) > 1 for found in values.values())

    def candidates(self, world: World, read: Read) -> tuple[list[int], bool]:
        """What the read may show, and whether it is wrong in every explanation."""
        possible = self.writers(read.key, read.value, read.reader)
        if world.initial[read.key] == read.value:
            possible.append(START)
        if not possible:
            return self.bad_writes(world, read), True
        return [writer for writer in possible if writer == START or writer in world.effect], False

    def all_shown(self, world: World, attribution: Attribution) -> bool:
        """Whether reads lead from a committed transaction to each indeterminate one that took effect."""
        found = {n for n in world.effect if self.txns[n].status is Status.COMMITTED}
        while more := {w for r, w in attribution.items() if r.reader in found and w >= 0} - found:
            found |= more
        return found >= set(world.effect)

    def session_pairs(self, world: World) -> list[tuple[int, int]]:
        """Transactions that took effect, in session order, at any distance."""
        return [
            (a, b)
            for a, b in product(world.effect, repeat=2)
            if a < b and self.txns[a].session == self.txns[b].session
        ]
