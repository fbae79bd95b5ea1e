"""The parts of a proof: operations, steps between transactions, and the transactions that take part."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["START", "Participant", "Step", "Witness"]

#: A step names this instead of a transaction for the state before the first transaction.
START = "the initial state"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRange:
    """The rows that a range read asked for; an open bound, a table or predicate that it has not is None."""

    low: object = None
    high: object = None
    table: str | None = None
    predicate: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """An operation that an anomaly or a step rests on; `place` is `path:line` of the input, or empty.

    `index` is its place among the operations of its transaction, `interval` when its client sent it and had
    the answer: its own, else that of its transaction, None if neither is known. `sql` is the statement of a
    recorded program. `asked` is what a range read asked for; with a key, it did not show that key. `item` is
    the place if reads of single keys replace range reads, -1 if that was not done.
    """

    transaction: str
    kind: str
    key: object
    value: object
    place: str = ""
    index: int = field(default=-1, compare=False)
    interval: tuple[int | None, int | None] | None = field(default=None, compare=False)
    sql: str = field(default="", compare=False)
    asked: AskedRange | None = field(default=None, compare=False)
    item: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """`before` comes before `after`; relation, key and witnesses say how the history shows it.

    `session` is the id of the session that both ran in, if that is the relation. A step `cm` (a transaction
    read the key from `after` although `before`, which wrote it too, was in its sight) has as witnesses the
    read, the write that it showed and the write that it missed, and in `sight` the steps from `before` to the
    reader.

    A step `rw` (`before` did not see what `after` wrote) has the read, the write that it missed and, if the
    read was of a write and that is known, the write that it showed. `source` says how the order of the two
    versions is known, and for `real-time` what `times` counts: the completion of `before` and the invocation
    of `after`. For `clock` it names the two events, `commit start` or the like, whose `timestamps` these are.
    """

    before: str
    after: str
    relation: str
    key: object = None
    session: object = None
    witnesses: tuple[Witness, ...] = ()
    sight: tuple[Step, ...] = ()
    source: str = ""
    times: tuple[int, int] | None = None
    timestamps: tuple[tuple[int, int], tuple[int, int]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Participant:
    """What a transaction of an anomaly did: the operations that matter, and few beside them.

    `lane` numbers its session, which the input calls `session` (None if it does not), and `position` says how
    many transactions came before it there. `left_out` counts the operations that are not among `operations`;
    each `index` says where. `times` are begin and end by `clock`: of its client (`intervals`), of the
    database (`timestamps`) or by the order of events (`events`); an unknown end is None. `node` is the one
    that its session was connected to, or empty, and `faults` went on meanwhile, such as `partition of n2`.
    """

    transaction: str
    lane: int
    session: object
    position: int
    status: str
    operations: tuple[Witness, ...]
    matters: frozenset[int]
    left_out: int = 0
    clock: str = ""
    times: tuple[int | None, int | None] = (None, None)
    place: str = ""
    node: str = ""
    faults: tuple[str, ...] = ()

    @property
    def at(self) -> str:
        """The node and the faults, as they follow the name of the session: ` at n2 (kill of n1)`."""
        meanwhile = f" ({', '.join(self.faults)})" if self.faults else ""
        return f" at {self.node}{meanwhile}" if self.node else ""
