"""Small random histories that break each weak level often, and each without the stronger ones.

Transactions are planned first and read afterwards: every read shows some version of its key, as a store of
lagging replicas would. How far a history's replicas lag, and for whom, decides which levels it breaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from isoscope.history import UNKNOWN, Initial, Operation, OperationKind, Status, Transaction
from isoscope.recorder import build

from .histories import Chooser, Drawn

if TYPE_CHECKING:
    from isoscope.history import History, Scalar

#: Versions of a list: who appended it, and what.
Block = tuple[int, tuple[int, ...]]

INITIALS = (Initial(value=0), Initial(value=0), Initial(), Initial(value=None))
STATUSES = (
    (Status.COMMITTED,),
    (Status.COMMITTED,),
    (Status.COMMITTED, Status.COMMITTED, Status.COMMITTED, Status.INDETERMINATE),
    (Status.COMMITTED, Status.COMMITTED, Status.ABORTED, Status.INDETERMINATE),
)
#: What a read looks at: the newest state, one state per transaction, one that never goes back per session,
#: one that never goes back per session of a replica with an order of its own, or anything at any time.
VIEWS = ("newest", "snapshot", "session", "replica", "replica", "fork", "any")


@st.composite
def weak_histories(draw: st.DrawFn, *, unique: bool = True) -> History:
    """Any history of `random_weak_history`."""
    return random_weak_history(Drawn(draw), unique=unique)


def random_weak_history(chooser: Chooser, *, unique: bool = True, most: int = 5) -> History:
    """A history of registers and lists; `unique`: no value is written by two transactions."""
    store = _Store(chooser, unique=unique, most=most)
    return build([store.transaction(number) for number in range(store.size)], initial=store.initial)


@dataclass
class _Store:
    chooser: Chooser
    unique: bool
    most: int

    def __post_init__(self) -> None:
        choose = self.chooser.choice
        self.size = choose(range(2, self.most + 1))
        self.keys = choose((("x",), ("x", "y"), ("x", "y"), ("x", "y", "z")))
        self.lists = {key for key in self.keys if choose((True, False))}
        self.view = choose(VIEWS)
        self.lies = choose((0, 0, 0, 1, 3))
        self.initial = choose(INITIALS if self.lies else INITIALS[:2])
        self.sessions = [choose((1, 2, 3)) for _ in range(self.size)]
        statuses = choose(STATUSES)
        self.statuses = [choose(statuses) for _ in range(self.size)]
        # Indeterminate transactions may have committed.
        self.lasts = [s is Status.COMMITTED or (s is not Status.ABORTED and choose((True, False)))
                      for s in self.statuses]  # fmt: skip
        if Status.INDETERMINATE not in self.statuses and choose((True, False)):
            self.initial = Initial(value=0, replaceable=True)
        self.used = 0
        self.plan = [self.planned() for _ in range(self.size)]
        numbers = range(self.size)
        self.orders = {session: self.shuffled(numbers) for session in (1, 2, 3)}
        self.horizons: dict[int, int] = {}

    def shuffled(self, numbers: range) -> list[int]:
        """The order in which a replica learns of transactions; only a fork has several."""
        if self.view != "fork":
            return list(numbers)
        rest, order = list(numbers), []
        while rest:
            order.append(self.chooser.choice(rest))
            rest.remove(order[-1])
        return order

    def planned(self) -> list[tuple[str, int | None]]:
        """Keys to be written, with values, and to be read, without."""
        choose = self.chooser.choice
        operations: list[tuple[str, int | None]] = []
        for _ in range(choose((1, 2, 2, 3, 3, 4))):
            key = choose(self.keys)
            operations.append((key, self.value(key, operations) if choose((True, False)) else None))
        return operations

    def value(self, key: str, mine: list[tuple[str, int | None]]) -> int:
        """A new value, or one that was used before; never twice one's own in a list."""
        again = 0 if self.unique else self.chooser.choice((0, 0, *range(1, self.used + 1)))
        is_repeated = again and not (key in self.lists and (key, again) in mine)
        self.used += not is_repeated
        return again if is_repeated else self.used

    def transaction(self, number: int) -> Transaction:
        self.look(number)
        operations: list[Operation] = []
        for key, value in self.plan[number]:
            kind = OperationKind.APPEND if key in self.lists else OperationKind.WRITE
            if value is None:
                own = [o.value for o in operations if o.key == key and o.kind is kind]
                operations.append(Operation(kind=OperationKind.READ, key=key, value=self.shown(number, key, own)))
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

    def look(self, number: int) -> None:
        """Moves the horizon of the transaction's session: how much of the store it sees."""
        session = self.sessions[number]
        if self.view in ("snapshot", "any", "newest"):
            self.horizons[session] = number if self.view == "newest" else self.chooser.choice(range(number + 1))
            return
        order = self.orders[session]
        mine = [order.index(n) + 1 for n in range(number) if self.sessions[n] == session]
        least = max([self.horizons.get(session, 0), *mine] if self.view == "session" else mine[:0] or [0])
        least = max(least, self.horizons.get(session, 0))
        most = self.size if self.view == "fork" else max(number, least)
        self.horizons[session] = self.chooser.choice(range(least, most + 1))

    def visible(self, number: int, key: str) -> list[Block]:
        """The versions of a key that a read sees, each with its writer."""
        choose = self.chooser.choice
        order = self.orders[self.sessions[number]]
        horizon = choose(range(self.size + 1)) if self.view == "any" else self.horizons[self.sessions[number]]
        horizon = choose((horizon, horizon, horizon, self.size)) if self.view == "snapshot" else horizon
        learned = [n for n in order[:horizon] if n != number and self.lasts[n]]
        return [(n, self.writes(n, key)) for n in learned if self.writes(n, key)]

    def writes(self, number: int, key: str) -> tuple[int, ...]:
        return tuple(value for k, value in self.plan[number] if k == key and value is not None)

    def lie(self) -> bool:
        return self.chooser.choice(range(10)) < self.lies

    def shown(self, number: int, key: str, own: list[Any]) -> Any:
        if self.lie():
            return self.lied(number, key, own)
        blocks = self.visible(number, key)
        if key in self.lists:
            return (*(value for _, block in blocks for value in block), *own)
        if own:
            return own[-1]
        return blocks[-1][1][-1] if blocks else self.started()

    def started(self) -> Scalar:
        value = self.initial.value
        return 70 if value is UNKNOWN else value  # type: ignore[return-value]

    def lied(self, number: int, key: str, own: list[Any]) -> Any:
        """Something else: any write of the key, whoever made it, or a list that lost or moved something."""
        choose = self.chooser.choice
        if choose(range(8)) == 0:
            return UNKNOWN
        everything = [(n, self.writes(n, key)) for n in range(self.size) if self.writes(n, key)]
        values = [value for _, block in everything for value in block]
        if key not in self.lists:
            return choose([*values, *values, *own, self.started(), 71])
        blocks = choose((self.visible(number, key), everything))
        if blocks:
            place = choose(range(len(blocks)))
            blocks = choose(
                (
                    blocks[:place] + blocks[place + 1 :],
                    blocks[place:] + blocks[:place],
                    [*blocks, blocks[place]],
                    [*blocks[:place], (0, blocks[place][1][:1])],
                    [*blocks, (0, (71,))],
                )
            )
        return (*(value for _, block in blocks for value in block), *choose((own, own, own[:-1], [])))
