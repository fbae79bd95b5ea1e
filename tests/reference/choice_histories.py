"""Small histories in which values repeat and ends are unknown: run on a simulated store, true or mutated.

Transactions begin and commit in an order of their own on a store that is serial, has snapshots, or shows
every read the latest commit. Few values are written, so most of them have several possible writers. Some
transactions abort; of some the client never learns whether they took effect. Then reads may be changed, and
each key may have a recorded order, true or not, beside timestamps and times.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from isoscope.history import (
    UNKNOWN,
    Initial,
    Interval,
    Operation,
    OperationKind,
    Status,
    Timestamp,
    Transaction,
    VersionSource,
)
from isoscope.recorder import build

from .histories import Chooser, Drawn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.history import History, Scalar

__all__ = ["choice_histories", "random_choice_history"]

KEYS = ("x", "y", "z")
INITIALS = (
    *(Initial(value=0),) * 4,
    Initial(value=None),
    Initial(),
    Initial(of_key={"x": 1}, value=0),
    Initial(value=0, of_key={"x": UNKNOWN}),
    Initial(value=0, replaceable=True),
)
#: What becomes of a transaction, and whether the store keeps its writes.
ENDS = (
    ((Status.COMMITTED, True),),
    ((Status.COMMITTED, True),) * 3 + ((Status.INDETERMINATE, True), (Status.INDETERMINATE, False)),
    ((Status.COMMITTED, True),) * 3
    + ((Status.INDETERMINATE, True), (Status.INDETERMINATE, False), (Status.ABORTED, False)),
)
STORES = ("serial", "snapshot", "snapshot", "latest")
RECORDS = ("none", "none", "none", "true", "gaps", "shuffled")


@st.composite
def choice_histories(
    draw: st.DrawFn, *, most: int = 5, evidence: bool = True, is_true: bool = False
) -> History:
    """Any history of `random_choice_history`."""
    return random_choice_history(Drawn(draw), most=most, evidence=evidence, is_true=is_true)


def random_choice_history(
    chooser: Chooser, *, most: int = 5, evidence: bool = True, is_true: bool = False
) -> History:
    """At most so many transactions; `evidence`: more than values; `is_true`: a serial run, not mutated."""
    run = _StoreRun(chooser, most=most, evidence=evidence, is_true=is_true)
    transactions = [run.transaction(number) for number in range(run.size)]
    return build(transactions, initial=run.initial, versions=run.versions())


@dataclass
class _StoreRun:
    chooser: Chooser
    most: int
    evidence: bool
    is_true: bool
    #: The numbers of transactions in the order of their commits, and the commits that each one could see.
    commits: list[int] = field(default_factory=list)
    seen: dict[int, int] = field(default_factory=dict)
    operations: dict[int, list[Operation]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        choose = self.chooser.choice
        self.size = choose([size for size in (2, 3, 3, 4, 4, 5, 6) if size <= self.most])
        self.keys = KEYS[: choose((1, 2, 2, 3))]
        self.lists = {key for key in self.keys if choose((True, False, False))}
        self.values = range(choose((2, 2, 3, 6)))
        self.initial = choose(INITIALS[:5] if self.is_true else INITIALS)
        self.store_kind = "serial" if self.is_true else choose(STORES)
        self.mutations = 0 if self.is_true else choose((0, 0, 1, 1, 2))
        ends = choose(ENDS)
        self.ends = [choose(ends) for _ in range(self.size)]
        self.sessions = [choose((1, 2, 3, None)) for _ in range(self.size)]
        clocks = ("none", "none", "true", "some", *(() if self.is_true else ("wrong",)))
        self.clock = choose(clocks) if self.evidence else "none"
        self.times = choose(("none", "none", "interval", "some", "positions")) if self.evidence else "none"
        self.run()
        for _ in range(self.mutations):
            self.mutate()

    def run(self) -> None:
        """Lets all transactions begin and commit, in any order."""
        waiting, running = [*range(self.size)], list[int]()
        while waiting or running:
            can_begin = waiting and (self.store_kind != "serial" or not running)
            if can_begin and self.chooser.choice((True, False) if running else (True,)):
                number = waiting.pop(self.chooser.choice(range(len(waiting))))
                self.seen[number] = len(self.commits)
                running.append(number)
            else:
                number = running.pop(self.chooser.choice(range(len(running))))
                self.execute(number)

    def execute(self, number: int) -> None:
        """The operations of a transaction at its commit, which is refused if another changed its keys."""
        known = self.commits[: self.seen[number]]
        self.operations[number] = []
        for _ in range(self.chooser.choice((1, 2, 2, 3, 3, 4))):
            if self.store_kind == "latest":
                known = self.commits[: self.chooser.choice(range(self.seen[number], len(self.commits) + 1))]
            self.operations[number].append(self.operation(number, known))
        since = self.commits[self.seen[number] :]
        is_refused = any(self.wrote(number, key) and self.wrote(n, key) for n in since for key in self.keys)
        if is_refused and self.store_kind == "snapshot":
            self.ends[number] = self.chooser.choice(((Status.ABORTED, False), (Status.INDETERMINATE, False)))
        if self.ends[number][1]:
            self.commits.append(number)

    def operation(self, number: int, known: Sequence[int]) -> Operation:
        choose = self.chooser.choice
        key = choose(self.keys)
        if choose((True, False)):
            kind = OperationKind.APPEND if key in self.lists else OperationKind.WRITE
            return Operation(kind=kind, key=key, value=choose(self.values))
        if choose(range(15)) == 0:
            return Operation(kind=OperationKind.READ, key=key, value=UNKNOWN)
        values = [value for n in (*known, number) for value in self.wrote(n, key)]
        shown: Any = tuple(values) if key in self.lists else [self.start(key), *values][-1]
        return Operation(kind=OperationKind.READ, key=key, value=shown)

    def start(self, key: Scalar) -> Any:
        value = self.initial.of_key.get(key, self.initial.value)
        return 0 if value is UNKNOWN else value

    def wrote(self, number: int, key: str) -> list[Any]:
        kinds = (OperationKind.WRITE, OperationKind.APPEND)
        return [o.value for o in self.operations[number] if o.key == key and o.kind in kinds]

    def mutate(self) -> None:
        """Changes what one read shows, if the operation that is hit is a read."""
        choose = self.chooser.choice
        operations = self.operations[choose(range(self.size))]
        place = choose(range(len(operations)))
        operation = operations[place]
        if operation.kind is not OperationKind.READ or operation.value is UNKNOWN:
            return
        shown: Any = choose((*self.values, self.start(operation.key), 9))
        if isinstance(operation.value, tuple):
            old = operation.value
            shown = choose((old[:-1], old[1:], old[::-1], (*old, choose(self.values)), ()))
        operations[place] = Operation(kind=OperationKind.READ, key=operation.key, value=shown)

    # Evidence.

    def transaction(self, number: int) -> Transaction:
        return Transaction(
            number=number,
            id=number + 1,
            session=0,
            session_id=self.sessions[number],
            status=self.ends[number][0],
            operations=tuple(self.operations[number]),
            **self.clocks(number),
        )

    def clocks(self, number: int) -> dict[str, Any]:
        choose = self.chooser.choice
        begin = self.seen[number]
        end = self.commits.index(number) if number in self.commits else begin
        found: dict[str, Any] = {}
        if self.clock != "none" and (self.clock != "some" or choose((True, True, False))):
            at = choose(range(4)) if self.clock == "wrong" else end
            found = {"start": Timestamp(2 * begin), "commit": Timestamp(2 * at + 1)}
        if self.times != "none" and (self.times != "some" or choose((True, True, False))):
            is_over = self.ends[number][0] is not Status.INDETERMINATE
            last = 4 * end + 2 + choose((0, 1)) if is_over or choose((True, False)) else None
            interval = Interval(4 * begin + choose((0, 1)), last)
            found["positions" if self.times == "positions" else "interval"] = interval
        return found

    def versions(self) -> list[tuple[VersionSource, Scalar, Scalar]]:
        found: list[tuple[VersionSource, Scalar, Scalar]] = []
        for key in self.keys if self.evidence else ():
            record = self.chooser.choice(RECORDS[:5] if self.is_true else RECORDS)
            values = [value for n in self.commits for value in self.wrote(n, key)] * (record != "none")
            if record == "shuffled":
                values = [values.pop(self.chooser.choice(range(len(values)))) for _ in range(len(values))]
            kept = [value for value in values if record != "gaps" or self.chooser.choice((True, True, False))]
            source = self.chooser.choice(tuple(VersionSource))
            found += [(source, key, value) for value in kept]
        return found
