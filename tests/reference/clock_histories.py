"""Small histories with timestamps: random ones, in which every violation is likely, and told ones.

Every transaction has a start and a commit on a short time line, reads what had committed by its start (or by
its commit, as if it ran alone), and lies now and then. Timestamps may be unique, tie in every way or be
inverted; a transaction may lack one or both, be aborted or indeterminate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from isoscope.history import UNKNOWN, Initial, Operation, OperationKind, Range, Status, Timestamp, Transaction
from isoscope.recorder import build

from .histories import Chooser, Drawn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.history import History, Scalar, Value

SESSIONS: tuple[tuple[Scalar, ...], ...] = (
    (1, 2, 3),
    (1, 2, "s", "1", None),
    (None,),
    (1,),
    (10, 9, "z", "é", 1.5),
)
CLOCKS = ("unique", "unique", "unique", "ties", "ties", "instants", "inverted")
STATUSES = (
    (Status.COMMITTED,),
    (Status.COMMITTED,),
    (Status.COMMITTED, Status.COMMITTED, Status.INDETERMINATE),
    (Status.COMMITTED, Status.COMMITTED, Status.ABORTED, Status.INDETERMINATE),
)
INITIALS = (Initial(value=0), Initial(value=None), Initial(), Initial(), Initial(value=0, replaceable=True))
#: What is not judged, once in a while.
ODDITIES = ("none",) * 6 + ("delete", "mixed", "range", "unknown result")


@st.composite
def clock_histories(draw: st.DrawFn, *, unique: bool = False, most: int = 6) -> History:
    """Any history of `random_clock_history`."""
    return random_clock_history(Drawn(draw), unique=unique, most=most)


def random_clock_history(chooser: Chooser, *, unique: bool = False, most: int = 6) -> History:
    """At most so many transactions; `unique`: no value is written twice, and nothing will be set aside."""
    return build(**random_clock_parts(chooser, unique=unique, most=most))


def random_clock_parts(chooser: Chooser, *, unique: bool = False, most: int = 6) -> dict[str, Any]:
    """The arguments of `recorder.build` for a history."""
    clock = _Clock(chooser, unique=unique, most=most)
    transactions = [clock.transaction(number) for number in clock.order]
    return {"transactions": transactions, "initial": clock.initial}


def shuffled(transactions: list[Transaction], chooser: Chooser) -> list[Transaction]:
    """In another order of arrival, in which each session has the same order."""
    left = [*transactions]
    mixed = [left.pop(chooser.choice(range(len(left)))) for _ in range(len(left))]
    if any(t.sequence is not None for t in transactions):
        return mixed
    waiting = [*transactions]
    return [waiting.pop(_next_of_session(waiting, t.session_id)) for t in mixed]


def _next_of_session(waiting: list[Transaction], session: Scalar) -> int:
    names = [(type(t.session_id), t.session_id) for t in waiting]
    return names.index((type(session), session))


@dataclass
class _Clock:
    chooser: Chooser
    unique: bool
    most: int
    used: int = 0

    def __post_init__(self) -> None:
        choose = self.chooser.choice
        self.size = choose([size for size in (2, 3, 3, 4, 4, 5, 6) if size <= self.most])
        self.keys = choose((("x", "y"), ("x", "y"), ("x", "y", "z")))
        self.lists = choose(((), (), self.keys, self.keys[:1]))
        self.initial = choose((INITIALS[0], INITIALS[2]) if self.unique else INITIALS)
        self.lies = choose((0, 0, 0, 1, 1, 4))
        self.oddity = "none" if self.unique else choose(ODDITIES)
        self.clock = choose(CLOCKS)
        self.view = choose(("snapshot", "snapshot", "serial"))
        self.is_polite = choose((True, True, False))
        statuses = choose(STATUSES)
        self.statuses = [choose(statuses) for _ in range(self.size)]
        self.times = self.drawn_times()
        self.order = self.drawn_order()
        names = choose(SESSIONS)
        self.sessions = [choose(names) for _ in range(self.size)]
        self.has_sequence = choose((True, False, False))
        self.gaps = 0 if self.unique else choose((0, 0, 0, 0, 3))
        self.plan: list[list[tuple[str, int | None]]] = []
        for number in range(self.size):
            self.plan.append(self.planned(number))

    # Time.

    def drawn_times(self) -> list[tuple[int, int]]:
        choose = self.chooser.choice
        if self.clock == "unique":
            ticks = self.mixed(range(2 * self.size))
            pairs = zip(ticks[::2], ticks[1::2], strict=True)
            return [(min(pair), max(pair)) for pair in pairs]
        if self.clock == "inverted":
            return [(choose(range(6)), choose(range(6))) for _ in range(self.size)]
        lengths = (0, 0, 0, 1) if self.clock == "instants" else (0, 1, 1, 2, 3)
        starts = [choose(range(2 if self.clock == "instants" else 6)) for _ in range(self.size)]
        return [(start, start + choose(lengths)) for start in starts]

    def mixed(self, numbers: Iterable[int]) -> list[int]:
        left = [*numbers]
        return [left.pop(self.chooser.choice(range(len(left)))) for _ in range(len(left))]

    def drawn_order(self) -> list[int]:
        """The order of the file: of the starts, so that sessions are often right, or any."""
        by_start = sorted(range(self.size), key=lambda number: self.times[number])
        return by_start if self.chooser.choice(range(3)) else self.mixed(range(self.size))

    def overlap(self, one: int, other: int) -> bool:
        (start, commit), (start_too, commit_too) = self.times[one], self.times[other]
        return not (commit <= start_too or commit_too <= start) or commit == commit_too

    def seen_by(self, number: int) -> list[int]:
        """The transactions that had committed when the transaction started, or when it committed."""
        start, commit = self.times[number]
        until = start if self.view == "snapshot" else commit
        others = [n for n in range(self.size) if n != number and self.statuses[n] is not Status.ABORTED]
        return sorted((n for n in others if self.times[n][1] <= until), key=lambda n: self.times[n][::-1])

    # Operations.

    def planned(self, number: int) -> list[tuple[str, int | None]]:
        """Keys to be written, with values, and to be read, without."""
        choose = self.chooser.choice
        some = [choose(self.keys) for _ in range(choose((1, 2, 3, 4, 5)))]
        return [(key, self.value() if self.may_write(number, key) else None) for key in some]

    def may_write(self, number: int, key: str) -> bool:
        rivals = (n for n in range(number) if self.overlap(n, number) and self.writes(n, key))
        return self.chooser.choice((True, False)) and not (self.is_polite and any(rivals))

    def value(self) -> int:
        if not self.unique and self.chooser.choice(range(4)) == 0:
            return self.chooser.choice(range(self.used + 2))
        self.used += 1
        return self.used

    def writes(self, number: int, key: str) -> list[int]:
        return [v for other, v in self.plan[number] if other == key and v is not None]

    def transaction(self, number: int) -> Transaction:
        operations: list[Operation] = []
        for key, value in self.plan[number]:
            kind = OperationKind.APPEND if key in self.lists else OperationKind.WRITE
            own = [o.value for o in operations if o.key == key and o.kind is kind]
            if value is None:
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
            operations=(*operations, *self.odd_operations()),
            sequence=sorted(self.times).index(self.times[number]) * 10 + number
            if self.has_sequence
            else None,
            **self.timestamps(number),
        )

    def timestamps(self, number: int) -> dict[str, Any]:
        choose = self.chooser.choice
        start, commit = (Timestamp(time // 2, time % 2) for time in self.times[number])
        missing = choose(("start", "commit", "both")) if choose(range(10)) < self.gaps else ""
        found = {"start": start, "commit": commit}
        return {name: time for name, time in found.items() if missing not in (name, "both")}

    def odd_operations(self) -> list[Operation]:
        choose = self.chooser.choice
        if self.oddity == "none" or choose(range(4)):
            return []
        key = choose(self.keys)
        results: tuple[Value, ...] = ((), 3)
        return [
            {
                "delete": Operation(kind=OperationKind.DELETE, key=key),
                "mixed": Operation(kind=OperationKind.READ, key=key, value=choose(results)),
                "range": Operation(kind=OperationKind.RANGE_READ, value=Range(low=0)),
                "unknown result": Operation(kind=OperationKind.READ, key=key, value=UNKNOWN),
            }[self.oddity]
        ]

    # Results.

    def shown(self, number: int, key: str, own: list[Any]) -> Any:
        choose = self.chooser.choice
        values = [value for n in self.seen_by(number) for value in self.writes(n, key)]
        if choose(range(10)) < self.lies:
            values, own = self.lie(key, values), choose((own, own, own[:-1], []))
        if key in self.lists:
            return (*values, *own)
        return [7 if self.initial.value is UNKNOWN else self.initial.value, *values, *own][-1]

    def lie(self, key: str, values: list[int]) -> list[int]:
        """Other values than the view shows: of any transaction, fewer, more, reordered, or never written."""
        choose = self.chooser.choice
        written = [value for n in range(self.size) for value in self.writes(n, key)]
        some = written[: choose(range(len(written) + 1))]
        more = [v for v in written if v not in values][:1]
        wrong = (some, written[::-1], values[:-1], values[1:], [*values, *more], [*values, 71], [*values, 72])
        return choose(wrong)


def clocked(*lines: str, initial: Initial | Scalar = 0) -> History:
    """`a 1-3: r(x,[1]) w(y,3)` is a transaction of session a; `a 1-3 aborted: ...`, `a: ...` without times.

    `?` is a result, or an initial value, that is not known.
    """
    transactions = [_told(number, *line.split(":")) for number, line in enumerate(lines)]
    return build(transactions, initial=initial if isinstance(initial, Initial) else Initial(value=initial))


def _told(number: int, head: str, text: str) -> Transaction:
    session, times, status = (*head.split(), "", "")[:3]
    start, _, commit = times.partition("-")
    return replace(
        Transaction(number=number, id=number, session=0, session_id=session),
        status=Status(status or "committed"),
        start=Timestamp(int(start)) if start else None,
        commit=Timestamp(int(commit)) if commit else None,
        operations=tuple(map(_operation, text.split())),
    )


def _operation(text: str) -> Operation:
    kinds = {
        "r": OperationKind.READ,
        "w": OperationKind.WRITE,
        "a": OperationKind.APPEND,
        "d": OperationKind.DELETE,
    }
    key, _, value = text[2:-1].partition(",")
    return Operation(kind=kinds[text[0]], key=key, value=_value(value))


def _value(text: str) -> Any:
    if text == "?":
        return UNKNOWN
    if not text.startswith("["):
        return int(text) if text else None
    return tuple(int(number) for number in text.strip("[]").split(";") if number)
