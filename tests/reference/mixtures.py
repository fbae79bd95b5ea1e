"""Small histories that mix every kind of evidence in one: what single generators keep apart meets here.

Two to four transactions and one to three keys, each a register or a list. A key may have a recorded order,
which may contradict sessions and reads. Some transactions are empty, aborted or indeterminate; initial
values, times and timestamps are known or not. `open_mixtures` have a register without any order beside a list
whose appends no transaction reads: nothing but a search over both together decides them.
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
    from isoscope.history import History, Scalar

KEYS = ("x", "y", "z")
INITIALS = (
    Initial(value=0),
    Initial(value=0),
    Initial(value=None),
    Initial(),
    Initial(value=0, replaceable=True),
)
STATUSES = (
    (Status.COMMITTED,),
    (Status.COMMITTED,),
    (Status.COMMITTED, Status.COMMITTED, Status.COMMITTED, Status.INDETERMINATE, Status.ABORTED),
)
#: What is recorded of the order of a key: nothing, the true order, or one that mixes up the transactions.
RECORDS = ("none", "none", "none", "true", "shuffled", "gaps")


@st.composite
def mixtures(draw: st.DrawFn, *, unique: bool = True) -> History:
    """Any history of `random_mixture`."""
    return random_mixture(Drawn(draw), unique=unique)


def random_mixture(chooser: Chooser, *, unique: bool = True) -> History:
    """A small mixed history; `unique`: no value is written twice, and nothing is read from thin air."""
    return build(**random_mixture_parts(chooser, unique=unique))


@st.composite
def open_mixtures(draw: st.DrawFn) -> History:
    """Any history of `random_open_mixture`."""
    return random_open_mixture(Drawn(draw))


def random_open_mixture(chooser: Chooser) -> History:
    """Three or four transactions on a list that is read empty and a register of which no order is recorded.

    Two at least append to the list and two at least write the register; some read either of them first.
    """
    choose = chooser.choice
    size = choose((3, 3, 4))
    pairs = [(0, 1), (0, 2), (1, 2)]
    appenders = {*choose(pairs), *choose(((), (size - 1,)))}
    writers = {*choose(pairs), *choose(((), (size - 1,)))}
    missing = {*choose(pairs), *choose(((), (size - 1,)))}
    transactions: list[Transaction] = []
    for number in range(size):
        sources = [0, *[n + 1 for n in writers if n != number] * 2]
        of_list = [
            *([_operation("read", "x", ())] if number in missing else []),
            *([_operation("append", "x", number + 1)] if number in appenders else []),
        ]
        of_register = [
            *([_operation("read", "y", choose(sources))] if choose((True, False)) else []),
            *([_operation("write", "y", number + 1)] if number in writers else []),
        ]
        first, second = choose(((of_list, of_register), (of_register, of_list)))
        transactions.append(_transaction(number, choose((1, 2, 3, 4)), (*first, *second)))
    return build(transactions=transactions, initial=Initial(value=0))


def _operation(kind: str, key: str, value: Any) -> Operation:
    return Operation(kind=OperationKind(kind), key=key, value=value)


def _transaction(
    number: int, session: int, operations: tuple[Operation, ...], **evidence: Any
) -> Transaction:
    return Transaction(
        number=number, id=number, session=0, session_id=session, operations=operations, **evidence
    )


def random_mixture_parts(chooser: Chooser, *, unique: bool = True) -> dict[str, Any]:
    """The arguments of `recorder.build` for a history."""
    mixture = _Mixture(chooser, unique=unique)
    return {
        "transactions": [mixture.transaction(number) for number in range(mixture.size)],
        "initial": mixture.initial,
        "versions": mixture.versions(),
    }


@dataclass
class _Mixture:
    chooser: Chooser
    unique: bool
    used: int = 0
    plan: list[list[tuple[str, int | None]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        choose = self.chooser.choice
        self.size = choose((2, 3, 3, 3, 4))
        self.keys = KEYS[: choose((1, 2, 2, 3))]
        self.lists = {key for key in self.keys if choose((True, False))}
        self.initial = choose(INITIALS)
        self.sessions = [choose((1, 1, 2, 3)) for _ in range(self.size)]
        statuses = choose(STATUSES)
        self.statuses = [choose(statuses) for _ in range(self.size)]
        self.lengths = choose(((1, 2), (2, 3), (2, 3), (2, 3, 4)))
        self.is_sloppy = choose((False, False, True))
        self.plan = [self.planned() for _ in range(self.size)]
        self.order = self.shuffled(range(self.size))
        self.clock = choose(("none", "none", "none", "true", "some", "wrong"))
        self.times = choose(("none", "none", "interval", "some", "positions", "wrong"))

    def shuffled(self, numbers: Any) -> list[Any]:
        left = [*numbers]
        return [left.pop(self.chooser.choice(range(len(left)))) for _ in range(len(left))]

    # Operations.

    def planned(self) -> list[tuple[str, int | None]]:
        """Keys to be written, with values, and to be read, without; now and then nothing at all."""
        choose = self.chooser.choice
        if choose(range(12)) == 0:
            return []
        return [
            (choose(self.keys), self.value() if choose((True, False)) else None)
            for _ in range(choose(self.lengths))
        ]

    def value(self) -> int:
        if not self.unique and self.chooser.choice(range(5)) == 0:
            return self.chooser.choice(range(self.used + 1))
        self.used += 1
        return self.used

    def written(self, number: int, key: str) -> list[int]:
        return [value for other, value in self.plan[number] if other == key and value is not None]

    def transaction(self, number: int) -> Transaction:
        operations: list[Operation] = []
        for key, value in self.plan[number]:
            if value is None:
                shown = self.shown(number, key, operations)
                operations.append(_operation("read", key, shown))
            else:
                operations.append(_operation("append" if key in self.lists else "write", key, value))
        evidence = {"status": self.statuses[number], **self.evidence(number)}
        return _transaction(number, self.sessions[number], tuple(operations), **evidence)

    def shown(self, number: int, key: str, operations: list[Operation]) -> Any:
        choose = self.chooser.choice
        own = [o.value for o in operations if o.key == key and o.kind is not OperationKind.READ]
        others = [n for n in self.order if n != number and self.written(n, key)]
        seen = others[: choose(range(len(others) + 1))]
        if key in self.lists:
            values = [value for n in seen for value in self.written(n, key)]
            return (*self.bent(values), *own)
        if own:
            return own[-1]
        if not self.unique and choose(range(10)) == 0:
            return choose((UNKNOWN, 77))
        if not seen:
            return 0 if self.initial.value is UNKNOWN else self.initial.value
        return self.written(choose(seen) if self.is_sloppy else seen[-1], key)[-1]

    def bent(self, values: list[int]) -> list[int]:
        """What a list shows if a read is wrong: part of a transaction, or another order."""
        choose = self.chooser.choice
        if not self.is_sloppy or choose((True, True, False)):
            return values
        return choose((values[:-1], values[1:], self.shuffled(values)))

    # Evidence.

    def evidence(self, number: int) -> dict[str, Any]:
        choose = self.chooser.choice
        place = self.order.index(number)
        found: dict[str, Any] = {}
        if self.clock != "none" and (self.clock != "some" or choose((True, True, False))):
            at = choose(range(4)) if self.clock == "wrong" else place
            found = {"start": Timestamp(2 * choose(range(at + 1))), "commit": Timestamp(2 * at + 1)}
        if self.times != "none" and (self.times != "some" or choose((True, True, False))):
            begin = choose(range(10)) if self.times == "wrong" else 4 * place - choose((0, 0, 5))
            end = begin + choose((0, 2, 5))
            is_over = self.statuses[number] is not Status.INDETERMINATE or choose((True, False))
            interval = Interval(begin, end if is_over else None)
            found["positions" if self.times == "positions" else "interval"] = interval
        return found

    def versions(self) -> list[tuple[VersionSource, Scalar, Scalar]]:
        choose = self.chooser.choice
        found: list[tuple[VersionSource, Scalar, Scalar]] = []
        for key in self.keys:
            record = choose(RECORDS)
            turns = [n for n in self.order for _ in self.written(n, key)]
            turns = {"none": [], "shuffled": self.shuffled(turns)}.get(record, turns)
            waiting = {n: iter(self.written(n, key)) for n in turns}
            values = [next(waiting[n]) for n in turns]
            kept = [value for value in values if record != "gaps" or choose((True, True, False))]
            source = choose(tuple(VersionSource))
            found += [(source, key, value) for value in kept]
        return found
