"""Small random histories of tables whose rows come and go, with range reads and predicates.

A history is executed one transaction after the other on a dict, so that it is serializable in the order of
the input, or it is disturbed afterwards: some reads then show what they should not.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from isoscope._native import Term
from isoscope.history import (
    UNKNOWN,
    Initial,
    Operation,
    OperationKind,
    Range,
    Status,
    Timestamp,
    Transaction,
    Unknown,
)
from isoscope.recorder import build

if TYPE_CHECKING:
    import random

    from isoscope.history import History, Scalar

__all__ = ["disturbed", "serial"]

#: Keys and their tables: integers, texts, both, terms, with and without names of tables.
SCHEMAS: tuple[dict[Scalar, str | None], ...] = (
    {1: None},
    {1: None, 2: None},
    {1: None, 2: None, 3: None},
    {1: "t", 2: "t", 3: "u"},
    {"a": "t", "b": "t", 1: "t"},
    {"a": None, "b": "t", "c": "t"},
    {Term("p"): "t", Term("q"): "t", 1: "t"},
)
PREDICATES = (":true", "[:= 1]", "[:mod 2 0]", "[:mod 2 1]", "[:in 1 2]", '[:in 0 "one"]')
READS = ("read", "range", "range")
CHANGES = ("write", "insert", "delete")
KINDS = (*READS, "range", "write", *CHANGES)
WRITES = (OperationKind.WRITE, OperationKind.INSERT, OperationKind.DELETE)
#: The value of rows that were there before the history began, which no transaction writes.
BEFORE = 7


def serial(rng: random.Random) -> History:
    """A history that ran one transaction after the other."""
    return _Run(rng).history()


def disturbed(rng: random.Random) -> History:
    """The same, but transactions read from old states, or reads and the order were changed afterwards."""
    run = _Run(rng, lag=rng.choice((0, 2)))
    run.execute()
    for _ in range(rng.choice((0, 1, 2)) if run.lag else rng.choice((1, 1, 2))):
        run.disturb()
    if rng.random() < 0.4:
        rng.shuffle(run.transactions)
    # What was disturbed did not happen at these times.
    run.transactions = [replace(t, start=None, commit=None) for t in run.transactions]
    return run.built()


def _matches(predicate: str | None, value: Scalar) -> bool:
    if value is None or predicate is None or predicate == ":true":
        return value is not None
    if predicate.startswith("[:mod"):
        return isinstance(value, int) and value % 2 == int(predicate[-2])
    return value in {"[:= 1]": (1,), "[:in 1 2]": (1, 2), '[:in 0 "one"]': (0, "one")}[predicate]


@dataclass
class _Run:
    """A database that is a dict, and what its clients recorded."""

    rng: random.Random
    #: So many transactions may have committed since the state that a transaction reads from.
    lag: int = 0
    transactions: list[Transaction] = field(default_factory=list)
    states: list[dict[Scalar, Scalar]] = field(default_factory=list)

    def __post_init__(self) -> None:
        rng = self.rng
        self.schema = rng.choice(SCHEMAS)
        self.has_unique_values = rng.random() < 0.4
        self.values = iter(range(100, 1000))
        self.initial = rng.choice(("nil", "zero", "of key", "unknown", "unknown", "first"))
        # With unknown initial values, one that an aborted transaction alone deletes would be a wrong read.
        self.may_abort = self.initial != "unknown"

    def history(self) -> History:
        self.execute()
        return self.built()

    def execute(self) -> None:
        rng = self.rng
        self.states = [{key: self.first_value() for key in self.schema}]
        if self.initial == "first":
            self.insert_first()
        for _ in range(rng.choice((1, 2, 2, 3, 3, 4))):
            self.transaction()

    def first_value(self) -> Scalar:
        known = {"zero": 0, "of key": BEFORE, "unknown": self.rng.choice((None, BEFORE))}
        return known.get(self.initial)

    def built(self) -> History:
        initial = {
            "zero": Initial(value=0),
            "of key": Initial(value=UNKNOWN, of_key=dict.fromkeys(self.schema, BEFORE)),
            "unknown": Initial(value=UNKNOWN),
        }
        return build(self.transactions, initial=initial.get(self.initial, Initial(value=None)))

    def insert_first(self) -> None:
        keys = [*self.schema]
        chosen = keys if self.rng.random() < 0.7 else keys[:1]
        inserts = [
            Operation(kind=OperationKind.INSERT, key=k, value=0, table=self.schema[k], statement="init")
            for k in chosen
        ]
        self.states.append({**self.states[-1], **dict.fromkeys(chosen, 0)})
        self.add(inserts, Status.COMMITTED)

    def add(self, operations: list[Operation], status: Status) -> None:
        number = len(self.transactions)
        now = Timestamp(10 * number)
        self.transactions.append(
            Transaction(
                number=0,
                id=number,
                session=0,
                session_id=self.rng.randrange(3),
                status=status,
                operations=tuple(operations),
                start=now,
                commit=now,
            )
        )

    def transaction(self) -> None:
        rng = self.rng
        statuses = [Status.COMMITTED] * 6 + [Status.INDETERMINATE] + [Status.ABORTED] * self.may_abort
        status = rng.choice(statuses)
        old = self.states[-1 - rng.randrange(min(self.lag + 1, len(self.states)))]
        view = dict(old)
        kinds = [READS, CHANGES] if self.lag and rng.random() < 0.7 else [KINDS] * rng.choice((1, 1, 2, 2, 3))
        operations = [self.operation(view, rng.choice(choice)) for choice in kinds]
        took_effect = status is Status.COMMITTED or (status is Status.INDETERMINATE and rng.random() < 0.5)
        if took_effect:
            written = {o.key for o in operations if o.kind in WRITES}
            self.states.append({**self.states[-1], **{key: view[key] for key in written}})
        self.add(operations, status)

    def operation(self, view: dict[Scalar, Scalar], kind: str) -> Operation:
        key = self.rng.choice([*self.schema])
        if kind == "range":
            return self.range_read(view)
        if kind == "read":
            return Operation(kind=OperationKind.READ, key=key, value=view.get(key), table=self.schema[key])
        view[key] = None if kind == "delete" else self.value()
        return Operation(kind=OperationKind(kind), key=key, value=view[key], table=self.schema[key])

    def value(self) -> Scalar:
        return next(self.values) if self.has_unique_values else self.rng.choice((0, 1, 2, "one"))

    def range_read(self, view: dict[Scalar, Scalar]) -> Operation:
        rng = self.rng
        table = rng.choice([*self.schema.values()])
        low, high = self.bounds(table)
        inside = [k for k in self.schema if self.schema[k] == table and _is_between(k, low, high)]
        predicate = rng.choice((None, None, *PREDICATES))
        rows = [(k, view[k]) for k in inside if _matches(predicate, view[k])]
        dead = [(k, None) for k in inside if view[k] is None and rng.random() < 0.3]
        seen = Range(low=low, high=high, rows=tuple(rows), tombstones=tuple(dead))
        return Operation(kind=OperationKind.RANGE_READ, value=seen, table=table, predicate=predicate)

    def bounds(self, table: str | None) -> tuple[Scalar, Scalar]:
        own = [k for k in self.schema if self.schema[k] == table]
        low, high = self.rng.choice((None, None, *own)), self.rng.choice((None, None, *own))
        # Between bounds of which one is a term lies a key only if both are this key.
        term = next((bound for bound in (low, high) if isinstance(bound, Term)), None)
        return (low, high) if term is None else (term, term)

    def disturb(self) -> None:
        """Changes what one read shows; nothing if the transaction does not read."""
        place = self.rng.randrange(len(self.transactions))
        operations = [*self.transactions[place].operations]
        reads = [
            p for p, o in enumerate(operations) if o.kind in (OperationKind.READ, OperationKind.RANGE_READ)
        ]
        if not reads:
            return
        at = self.rng.choice(reads)
        if self.rng.random() < 0.4:
            operations.append(operations[at])
        operations[at] = self.changed(operations[at])
        self.transactions[place] = replace(self.transactions[place], operations=tuple(operations))

    def changed(self, read: Operation) -> Operation:
        written = [o.value for t in self.transactions for o in t.operations if o.kind is OperationKind.WRITE]
        value = self.rng.choice((None, 0, BEFORE, *written))
        assert not isinstance(value, tuple | Range | Unknown)
        if not isinstance(read.value, Range):
            return replace(read, value=value)
        key = self.rng.choice([*self.schema])
        rows = dict(read.value.rows)
        dead = tuple(row for row in read.value.tombstones if row[0] != key)
        if rows.pop(key, None) is None or self.rng.random() < 0.5:
            rows[key] = 0 if value is None else value
        return replace(read, value=replace(read.value, rows=tuple(rows.items()), tombstones=dead))


def _is_between(key: Scalar, low: Scalar, high: Scalar) -> bool:
    if isinstance(key, Term):
        return (low is None and high is None) or key == low
    kind = int if isinstance(key, int) else str
    if any(bound is not None and not isinstance(bound, kind) for bound in (low, high)):
        return False
    return (low is None or low <= key) and (high is None or key <= high)  # type: ignore[operator]
