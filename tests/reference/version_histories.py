"""Small random histories with version orders, timestamps and intervals, true ones and false ones.

Transactions commit in an order of their own and read from a beginning of it, as the history's view says: the
whole of it (serializable), a shorter one (snapshot isolation or less), or from any part of it. The evidence
beside the operations is what that order says, or something else.
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
from isoscope.reference.versions import CLAIMS

from .histories import Chooser, Drawn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.history import History, Scalar

SESSIONS = (1, 2, 3, 4)
#: From what a transaction reads: all that committed before it; some beginning of that, with what its session
#: did or without; any of that; for every read another beginning.
VIEWS = ("newest", "snapshot", "snapshot", "session", "fork", "fork", "fork", "stale")
STATUSES = (
    (Status.COMMITTED,),
    (Status.COMMITTED,),
    (Status.COMMITTED, Status.COMMITTED, Status.INDETERMINATE),
    (Status.COMMITTED, Status.COMMITTED, Status.ABORTED, Status.INDETERMINATE),
)
SOURCES = ((), (VersionSource.DECLARED,), (VersionSource.LOG,), tuple(VersionSource))
INITIALS = (Initial(value=0), Initial(value=None), Initial(), Initial(value=0, replaceable=True))


@st.composite
def version_histories(draw: st.DrawFn, *, unique: bool = True, most: int = 5) -> History:
    """Any history of `random_version_history`."""
    return random_version_history(Drawn(draw), unique=unique, most=most)


def claims() -> st.SearchStrategy[tuple[str, ...]]:
    """Nothing, or any claims of a user."""
    return st.lists(st.sampled_from(CLAIMS), unique=True).map(tuple)


def random_version_history(chooser: Chooser, *, unique: bool = True, most: int = 5) -> History:
    """At most so many transactions; `unique`: no value is written twice, and every initial value is known."""
    return build(**random_version_parts(chooser, unique=unique, most=most))


def random_version_parts(chooser: Chooser, *, unique: bool = True, most: int = 5) -> dict[str, Any]:
    """The arguments of `recorder.build` for a history."""
    store = _Store(chooser, unique=unique, most=most)
    transactions = [store.transaction(number) for number in range(store.size)]
    return {"transactions": transactions, "initial": store.initial, "versions": store.versions()}


def random_claims(chooser: Chooser) -> tuple[str, ...]:
    """Any claims of a user."""
    return tuple(claim for claim in CLAIMS if chooser.choice((True, False)))


@dataclass
class _Store:
    chooser: Chooser
    unique: bool
    most: int
    plan: list[list[tuple[str, int | None]]] = field(default_factory=list)
    used: int = 0

    def __post_init__(self) -> None:
        choose = self.chooser.choice
        self.size = choose([size for size in (2, 3, 3, 4, 4, 5, 5) if size <= self.most])
        self.keys = choose((("x",), ("x", "y"), ("x", "y"), ("x", "y", "z")))
        self.lists = choose(((), (), self.keys, self.keys[:1]))
        self.lengths = choose(((1, 2, 3), (2, 2, 3), (2, 3, 4)))
        self.roles = choose(("any", "any", "any", "all keys", "writers first", "writers first"))
        self.view = choose(("fork", "fork", "fork", "snapshot") if self.roles == "writers first" else VIEWS)
        self.lies = choose((0, 0, 0, 0, 1, 3))
        self.is_dirty = choose((False, False, False, True))
        self.initial = choose(INITIALS[:1] if self.unique else INITIALS)
        sessions = choose((SESSIONS, SESSIONS, SESSIONS[:2]))
        self.sessions = [choose(sessions) for _ in range(self.size)]
        statuses = choose(STATUSES)
        self.statuses = [choose(statuses) for _ in range(self.size)]
        self.order = self.shuffled(range(self.size)) if choose((True, False)) else [*range(self.size)]
        self.plan = [self.planned(number) for number in range(self.size)]
        self.begun = {number: self.begin(place) for place, number in enumerate(self.order)}
        self.record = choose(("none", "true", "true", "gaps", "wrong"))
        self.clock = "none" if self.record == "wrong" else choose(("none", "true", "ties", "wrong"))
        self.times = choose(("none", "interval", "interval", "positions", "wrong"))

    def shuffled(self, numbers: Iterable[int]) -> list[int]:
        left = [*numbers]
        return [left.pop(self.chooser.choice(range(len(left)))) for _ in range(len(left))]

    # Operations.

    def planned(self, number: int) -> list[tuple[str, int | None]]:
        """Keys to be written, with values, and to be read, without."""
        choose = self.chooser.choice
        place = self.order.index(number)
        if self.roles == "writers first" and place < self.size // 2:
            return [(self.keys[place % len(self.keys)], self.value())]
        # A reader of every key sees one thing and misses another.
        is_written = {"writers first": (False, False, False, True), "all keys": (False, False, True)}
        some = [choose(self.keys) for _ in range(choose(self.lengths))]
        return [
            (key, self.value() if choose(is_written.get(self.roles, (True, False))) else None)
            for key in (some if self.roles == "any" else self.keys)
        ]

    def value(self) -> int:
        if not self.unique and self.chooser.choice(range(6)) == 0:
            return self.chooser.choice(range(self.used + 1))
        self.used += 1
        return self.used

    def begin(self, place: int) -> int:
        """How much of the order the transaction at this place of it knows."""
        if self.view == "newest":
            return place
        session = self.sessions[self.order[place]]
        mine = [at + 1 for at, n in enumerate(self.order[:place]) if self.sessions[n] == session]
        least = mine[-1] if mine and self.view == "session" else 0
        return self.chooser.choice(range(least, place + 1))

    def lasting(self, numbers: Iterable[int]) -> list[int]:
        return [n for n in numbers if self.is_dirty or self.statuses[n] is not Status.ABORTED]

    def transaction(self, number: int) -> Transaction:
        operations: list[Operation] = []
        known = self.order[: self.begun[number]]
        if self.view == "fork":
            earlier = self.order[: self.order.index(number)]
            known = [n for n in earlier if self.chooser.choice((True, False))]
        for key, value in self.plan[number]:
            kind = OperationKind.APPEND if key in self.lists else OperationKind.WRITE
            own = [o.value for o in operations if o.key == key and o.kind is kind]
            if value is None:
                shown = self.shown(number, key, own, known)
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
            **self.evidence(number),
        )

    def shown(self, number: int, key: str, own: list[Any], known: list[int]) -> Any:
        choose = self.chooser.choice
        if self.view == "stale":
            known = self.order[: choose(range(self.order.index(number) + 1))]
        values = [value for n in self.lasting(known) for value in self.writes(n, key)]
        if choose(range(10)) < self.lies:
            values, own = self.lie(key, values), choose((own, own, []))
        if key in self.lists:
            return (*values, *own)
        return [0 if self.initial.value is UNKNOWN else self.initial.value, *values, *own][-1]

    def lie(self, key: str, values: list[int]) -> list[int]:
        """Other values than the view shows: another's, fewer, in another order, or unwritten."""
        choose = self.chooser.choice
        every = [value for n in range(self.size) for value in self.writes(n, key)]
        return choose((every, every[::-1], values[:-1], values[1:], values[::-1], [*values, 71]))

    def writes(self, number: int, key: str) -> list[int]:
        return [value for other, value in self.plan[number] if other == key and value is not None]

    # Evidence.

    def evidence(self, number: int) -> dict[str, Any]:
        choose = self.chooser.choice
        place = self.order.index(number)
        found: dict[str, Any] = {}
        if self.clock != "none" and choose(range(6)):
            ticks = {"true": place, "ties": place // 2, "wrong": choose(range(4))}[self.clock]
            found = {"start": Timestamp(2 * self.begun[number]), "commit": Timestamp(2 * ticks + 1)}
        if self.times != "none":
            begins, ends = 4 * self.begun[number] + choose((0, 1)), 4 * place + 2 + choose((0, 1))
            if self.times == "wrong":
                begins, ends = sorted((choose(range(12)), choose(range(12))))
            is_over = self.statuses[number] is not Status.INDETERMINATE
            interval = Interval(begins, ends if is_over or choose((True, False)) else None)
            found["positions" if self.times == "positions" else "interval"] = interval
        return found

    def versions(self) -> list[tuple[VersionSource, Scalar, Scalar]]:
        choose = self.chooser.choice
        found: list[tuple[VersionSource, Scalar, Scalar]] = []
        for key in self.keys if self.record != "none" else ():
            order = self.shuffled(self.order) if self.record == "wrong" else self.order
            for source in choose(SOURCES):
                values = [value for n in self.lasting(order) for value in self.writes(n, key)]
                found += [(source, key, v) for v in values if self.record != "gaps" or choose(range(3))]
        return found
