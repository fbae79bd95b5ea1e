"""Small random histories that break each weak level often, and each without the weaker ones.

Transactions are planned first and read afterwards: every read shows some version of its key, as a store of
lagging replicas would. What a history's replicas know of, and when, decides which levels it breaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from isoscope.history import UNKNOWN, Initial, Operation, OperationKind, Status, Transaction
from isoscope.recorder import build

from .histories import Chooser, Drawn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.history import History

#: What one transaction appends to a list.
Block = tuple[int, ...]

INITIALS = (Initial(value=0), Initial(value=0), Initial(), Initial(value=None))
STATUSES = (
    (Status.COMMITTED,),
    (Status.COMMITTED,),
    (Status.COMMITTED, Status.COMMITTED, Status.COMMITTED, Status.INDETERMINATE),
    (Status.COMMITTED, Status.COMMITTED, Status.ABORTED, Status.INDETERMINATE),
)
#: Which transactions a read knows of:
VIEWS = (
    "newest",  # all before its own
    "subset",  # its session's, and any others: read atomic, hardly ever causal
    "subset",
    "growing",  # more with every read: read committed, hardly ever read atomic
    "fork",  # a beginning of its session's own order of all of them
    "fork",
    "stale",  # a beginning of the order, another one for every read
    "future",  # any, at any time
)
SESSIONS = (1, 2, 3, 4)


@st.composite
def weak_histories(draw: st.DrawFn, *, unique: bool = True) -> History:
    """Any history of `random_weak_history`."""
    return random_weak_history(Drawn(draw), unique=unique)


def random_weak_history(chooser: Chooser, *, unique: bool = True) -> History:
    """A history of registers and lists; `unique`: no value is written by two transactions."""
    store = _Store(chooser, unique=unique)
    return build([store.transaction(number) for number in range(store.size)], initial=store.initial)


@dataclass
class _Store:
    chooser: Chooser
    unique: bool

    def __post_init__(self) -> None:
        choose = self.chooser.choice
        self.size = choose((2, 4, 5, 6, 6))
        self.lengths = choose(((1, 2, 3), (2, 3), (3, 4, 5)))
        # Whether every transaction uses every key once: then many see one thing and miss another.
        self.is_even = choose((True, False))
        self.keys = choose((("x",), ("x", "y"), ("x", "y"), ("x", "y", "z")))
        self.lists = choose(((), (), self.keys, self.keys[:1]))
        self.view = choose(VIEWS)
        self.lies = choose((0, 0, 0, 0, 1, 3))
        self.sessions = [choose(SESSIONS) for _ in range(self.size)]
        statuses = choose(STATUSES)
        self.statuses = [choose(statuses) for _ in range(self.size)]
        # An indeterminate transaction may have committed.
        may_last = {Status.COMMITTED: (True,), Status.ABORTED: (False,), Status.INDETERMINATE: (True, False)}
        self.lasting = [n for n in range(self.size) if choose(may_last[self.statuses[n]])]
        self.initial = choose(INITIALS)
        if choose((True, False)):
            self.initial = Initial(value=0, replaceable=True)
        self.used = 0
        self.plan = [self.planned() for _ in range(self.size)]
        self.orders = {session: self.interleaved() for session in SESSIONS}
        self.known: dict[int, list[int]] = {}

    def interleaved(self) -> list[int]:
        """All transactions in an order that every session agrees with."""
        queues = [[n for n in range(self.size) if self.sessions[n] == session] for session in SESSIONS]
        order: list[int] = []
        while left := [queue for queue in queues if queue]:
            order.append(self.chooser.choice(left).pop(0))
        return order

    def planned(self) -> list[tuple[str, int | None]]:
        """Keys to be written, with values, and to be read, without."""
        choose = self.chooser.choice
        operations: list[tuple[str, int | None]] = []
        keys = [choose(self.keys) for _ in range(choose(self.lengths))]
        for key in self.keys if self.is_even else keys:
            operations.append((key, self.value(key, operations) if choose((True, False)) else None))
        return operations

    def value(self, key: str, mine: list[tuple[str, int | None]]) -> int:
        """A new value, or one that was used before: the initial one, or any; one's own does not repeat it."""
        options: list[int | None] = [None, None, *range(self.used + 1)]
        if self.unique:
            options = [None, None, None, None, *(value for other, value in mine if other == key)]
        again = self.chooser.choice(options)
        if again is not None:
            return again
        self.used += 1
        return self.used

    def transaction(self, number: int) -> Transaction:
        operations: list[Operation] = []
        self.begin(number)
        for key, value in self.plan[number]:
            kind = OperationKind.APPEND if key in self.lists else OperationKind.WRITE
            if value is None:
                own = [o.value for o in operations if o.key == key and o.kind is kind]
                shown = self.shown(number, key, own)
                operations.append(Operation(kind=OperationKind.READ, key=key, value=shown))
            else:
                operations.append(Operation(kind=kind, key=key, value=value))
        return Transaction(
            number=number,
            id=number + 1,
            session=0,
            session_id=self.sessions[number],
            status=self.statuses[number],
            operations=tuple(operations),
        )

    def begin(self, number: int) -> None:
        """What the transaction knows of when it begins."""
        mine = [n for n in range(number) if self.sessions[n] == self.sessions[number]]
        others = [n for n in range(number) if self.sessions[n] != self.sessions[number]]
        known: dict[str, Iterable[int]] = {
            "newest": range(number),
            "subset": [*mine, *self.some(others)],
            "growing": self.some(range(number)),
            "fork": self.beginning(number) if self.view == "fork" else (),
        }
        self.known[number] = sorted(known.get(self.view, ()), key=self.order(number).index)

    def order(self, number: int) -> list[int]:
        return self.orders[self.sessions[number]] if self.view == "fork" else list(range(self.size))

    def beginning(self, number: int) -> list[int]:
        """A part of the session's order, with the session itself, and never less than before."""
        order = [n for n in self.orders[self.sessions[number]] if n < number]
        mine = [n for n in order if self.sessions[n] == self.sessions[number]]
        least = max((order.index(n) + 1 for m in mine for n in (m, *self.known[m])), default=0)
        return order[: self.chooser.choice(range(least, len(order) + 1))]

    def some(self, numbers: Iterable[int]) -> list[int]:
        return [number for number in numbers if self.chooser.choice((True, False))]

    def blocks(self, number: int, key: str) -> list[Block]:
        """What a read sees of a key, writer by writer."""
        if self.view == "growing":
            more = self.some(n for n in range(number) if n not in self.known[number])
            self.known[number] = sorted([*self.known[number], *more])
        elif self.view in ("stale", "future"):
            most = number if self.view == "stale" else self.size
            self.known[number] = list(range(self.chooser.choice(range(most + 1))))
        known = [n for n in self.known[number] if n != number and n in self.lasting]
        writers = [n for n in known if self.writes(n, key)]
        if writers and key in self.lists:  # a list cannot leave out what stands before its last element
            order = self.order(number)
            before = order[: order.index(writers[-1]) + 1]
            writers = [n for n in before if n != number and n in self.lasting]
        return [self.writes(n, key) for n in writers]

    def writes(self, number: int, key: str) -> Block:
        return tuple(value for k, value in self.plan[number] if k == key and value is not None)

    def shown(self, number: int, key: str, own: list[Any]) -> Any:
        if self.chooser.choice(range(10)) < self.lies:
            return self.lie(number, key, own)
        blocks = self.blocks(number, key)
        if key in self.lists:
            return (*sum(blocks, ()), *own)
        if own:
            return own[-1]
        return blocks[-1][-1] if blocks else self.started()

    def started(self) -> Any:
        return 70 if self.initial.value is UNKNOWN else self.initial.value

    def lie(self, number: int, key: str, own: list[Any]) -> Any:
        """Something else: any write of the key, or a list that lost or moved something."""
        choose = self.chooser.choice
        everything = [self.writes(n, key) for n in range(self.size)]
        if choose(range(8)) == 0:
            return UNKNOWN
        if key not in self.lists:
            return choose([*sum(everything, ()), *own * 3, self.started(), 71])
        blocks = choose((self.blocks(number, key), everything)) or [()]
        place = choose(range(len(blocks)))
        blocks = choose(
            (
                blocks[:place] + blocks[place + 1 :],
                blocks[place:] + blocks[:place],
                [*blocks, blocks[place]],
                [*blocks[:place], blocks[place][:1]],
                [*blocks[:place], blocks[place][1:]],
                [*blocks[:place], blocks[place][::-1], *blocks[place + 1 :]],
                [*blocks, (71,)],
            )
        )
        return (*sum(blocks, ()), *choose((own, own[:-1], [])))
