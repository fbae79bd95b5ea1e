"""Small histories with intervals, of correct databases and of wrong ones.

A *simulated* history comes from the kernel's engine. A *drafted* one is made of random operations, and each
read is answered with a value that the oracle allows, so that every legal execution is in reach. A *changed*
history is one of both in which one thing was changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from isoscope.databases.profiled import FAULTS, Delays, Load, Profiled, run
from isoscope.history import UNKNOWN, Initial, Interval, Operation, OperationKind, Range, Status, Transaction
from isoscope.recorder import build
from isoscope.reference.instants import is_explained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from random import Random

    from isoscope.history import History, Scalar, Unknown
    from isoscope.profiles import Profile

__all__ = ["changed", "correct"]

_KEYS = (1, 2)
#: The key of a range read that is not answered yet.
_RANGE = "range"
_LABELS = (None, None, None, "select for update", "select for share")
_TRIES = 40
_ATTEMPTS = 3
#: A value that no transaction writes.
_STRANGE = 77


def correct(random: Random, profile: Profile) -> History:
    """A history that a correct database can give."""
    return _drafted(random, profile) if random.random() < 0.6 else _simulated(random, profile)


def changed(random: Random, profile: Profile) -> History:
    """A history that a correct database can hardly give; if none is found soon, any that was changed."""
    history = _changed(random, profile)
    for _ in range(_ATTEMPTS):
        if not is_explained(history, profile):
            break
        history = _changed(random, profile)
    return history


def _changed(random: Random, profile: Profile) -> History:
    if random.random() < 0.2:
        return _simulated(random, profile, faults={random.choice(sorted(FAULTS)): 0.5})
    return random.choice(_CHANGES)(random, correct(random, profile))


# The kernel's engine.


def _simulated(random: Random, profile: Profile, faults: dict[str, float] | None = None) -> History:
    load = Load(
        clients=random.randint(2, 3),
        transactions=random.randint(2, 4),
        operations=(1, 3),
        keys=2,
        ranges=random.choice([0, 0.3]),
        longest_range=2,
        for_update=random.choice([0, 0.3]),
        for_share=random.choice([0, 0.3]),
        updates_after_reads=0.3,
        inserts=random.choice([0, 0.3]),
        deletes=random.choice([0, 0.3]),
        repeated_values=random.choice([0, 0, 2]),
        rollbacks=random.choice([0, 0.1]),
        lost_answers=random.choice([0, 0.1]),
    )
    delays = Delays(
        network=random.choice([1_000, 50_000, 200_000]),
        service=random.choice([0, 20_000]),
        thinking=random.choice([0, 20_000, 500_000]),
    )
    database = Profiled(profile=profile, seed=random.getrandbits(32), delays=delays, faults=faults or {})
    grain = random.choice([1, 1, 20_000, 200_000])
    history = run(database, load, truth=False).history
    initial = random.choice([history.initial, history.initial, Initial(value=UNKNOWN)])
    return build((_timed(t, lambda now: now // grain) for t in history), initial=initial)


def _timed(transaction: Transaction, clock: Callable[[int], int]) -> Transaction:
    """The transaction as another clock shows it."""
    operations = tuple(replace(o, interval=_moved(o.interval, clock)) for o in transaction.operations)
    return replace(transaction, operations=operations, interval=None)


def _moved(interval: Interval | None, clock: Callable[[int], int]) -> Interval | None:
    if interval is None:
        return None
    return Interval(*(None if end is None else clock(end) for end in interval))


# Drafts.


def _drafted(random: Random, profile: Profile) -> History:
    """Operations at random; reads are answered one by one, each as some execution would."""
    for _ in range(_TRIES):
        draft = _Draft(random)
        history = draft.history(draft.transactions())
        if is_explained(history, profile):
            return draft.answered(profile)
    return _simulated(random, profile)


class _Draft:
    """Transactions whose reads are not answered yet."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.is_unique = random.random() < 0.7
        self.initial: Scalar | Unknown = random.choice([0, 0, None, None, UNKNOWN])
        self.written = 0
        self.scale = random.choice([(0, 0, 1), (0, 1, 2), (1, 3, 6)])
        self.sessions = [0] * random.randint(2, 4)
        self._transactions = [self._transaction() for _ in range(random.randint(2, 4))]

    def transactions(self) -> list[Transaction]:
        return self._transactions

    def history(self, transactions: Sequence[Transaction]) -> History:
        named = (replace(t, id=number) for number, t in enumerate(transactions))
        return build(named, initial=Initial(value=self.initial))

    def answered(self, profile: Profile) -> History:
        """The first answer of each read, in a random order of answers, that the oracle explains."""
        for number, place in self._reads():
            for answer in self._answers(self._transactions[number].operations[place]):
                tried = self._with(number, place, answer)
                if is_explained(self.history(tried), profile):
                    self._transactions = tried
                    break
        return self.history([_without_unanswered(t) for t in self._transactions])

    def _reads(self) -> list[tuple[int, int]]:
        return [
            (number, place)
            for number, t in enumerate(self._transactions)
            for place, o in enumerate(t.operations)
            if o.kind is OperationKind.READ
        ]

    def _with(self, number: int, place: int, answer: object) -> list[Transaction]:
        transactions = list(self._transactions)
        operations = list(transactions[number].operations)
        details: dict[str, Any] = {"value": answer}
        if isinstance(answer, Range):
            details |= {"kind": OperationKind.RANGE_READ, "key": None}
        operations[place] = replace(operations[place], **details)
        transactions[number] = replace(transactions[number], operations=tuple(operations))
        return transactions

    def _answers(self, read: Operation) -> list[object]:
        if read.key != _RANGE:
            found: list[object] = list(self._values(read.key))
            if read.statement in ("update", "delete"):
                return [None]
        else:
            found = [
                Range(low=1, high=2, rows=tuple((k, v) for k, v in ((1, one), (2, two)) if v is not None))
                for one in self._values(1)
                for two in self._values(2)
            ]
        self.random.shuffle(found)
        return found

    def _values(self, key: Scalar) -> list[Scalar]:
        own = [o.value for t in self._transactions for o in t.operations if o.key == key and _writes(o)]
        return list(dict.fromkeys([*own, None, 0]))  # type: ignore[list-item]

    def _transaction(self) -> Transaction:
        random = self.random
        session = random.randrange(len(self.sessions))
        now = max(self.sessions[session], random.choice([0, 0, 2, 5]))
        operations: list[Operation] = []
        if random.random() < 0.5:
            now, times = self._waited(now)
            operations.append(Operation(kind=OperationKind.BEGIN, interval=times))
        for _ in range(random.randint(1, 3)):
            now, times = self._waited(now)
            operations.append(self._statement(times))
        status = random.choice([Status.COMMITTED] * 8 + [Status.ABORTED, Status.INDETERMINATE])
        now, times = self._waited(now)
        end = OperationKind.ABORT if status is Status.ABORTED else OperationKind.COMMIT
        operations.append(Operation(kind=end, interval=times))
        self.sessions[session] = now
        return Transaction(
            number=0,
            id=None,
            session=0,
            session_id=session,
            status=status,
            operations=tuple(operations),
        )

    def _waited(self, now: int) -> tuple[int, Interval]:
        invoke = now + self.random.choice([0, 1, 2])
        complete = invoke + self.random.choice(self.scale)
        return complete, Interval(invoke, complete)

    def _statement(self, times: Interval) -> Operation:
        random = self.random
        key = random.choice(_KEYS)
        kinds = ["read"] * 5 + ["range", "write", "write", "insert", "delete", "vain"]
        match random.choice(kinds):
            case "range":
                return _asked(_RANGE, times, random.choice(_LABELS))
            case "write":
                return Operation(kind=OperationKind.WRITE, key=key, value=self._value(), interval=times)
            case "insert":
                return Operation(kind=OperationKind.INSERT, key=key, value=self._value(), interval=times)
            case "delete":
                return Operation(kind=OperationKind.DELETE, key=key, interval=times)
            case "vain":
                label = random.choice(["update", "delete"])
                return _asked(key, times, label)
        return _asked(key, times, random.choice(_LABELS))

    def _value(self) -> int:
        self.written += 1
        return self.written if self.is_unique else self.random.choice([0, 1, 2])


def _without_unanswered(transaction: Transaction) -> Transaction:
    """Reads that no database could have answered were not sent."""
    kept = tuple(o for o in transaction.operations if o.value is not UNKNOWN)
    return replace(transaction, operations=kept)


def _asked(key: Scalar, times: Interval, label: str | None) -> Operation:
    return Operation(kind=OperationKind.READ, key=key, value=UNKNOWN, interval=times, statement=label)


def _writes(operation: Operation) -> bool:
    return operation.kind in (OperationKind.WRITE, OperationKind.INSERT)


# Changes.


def _value_changed(random: Random, history: History) -> History:
    """One read shows another value of its key."""
    places = [
        (t.number, place)
        for t in history
        if t.status is Status.COMMITTED
        for place, o in enumerate(t.operations)
        if o.kind in (OperationKind.READ, OperationKind.RANGE_READ) and o.value is not UNKNOWN
    ]
    if not places:
        return _moved_in_time(random, history)
    number, place = random.choice(places)
    operation = list(history)[number].operations[place]
    return _replaced(history, number, place, replace(operation, value=_another(random, history, operation)))


def _another(random: Random, history: History, read: Operation) -> Scalar | Range:
    if not isinstance(read.value, Range):
        return _value(random, history, read.key, read.value)
    rows = dict(read.value.rows)
    inside = [k for k in _KEYS if _is_between(read.value.low, k, read.value.high)]
    key = random.choice([*rows, *inside] or [1])
    rows[key] = _value(random, history, key, rows.get(key))
    shown = tuple((k, v) for k, v in rows.items() if v is not None)
    return replace(read.value, rows=shown)


def _is_between(low: Scalar, key: int, high: Scalar) -> bool:
    return (not isinstance(low, int) or low <= key) and (not isinstance(high, int) or key <= high)


def _value(random: Random, history: History, key: Scalar, shown: object) -> Scalar:
    """Another value of a key, seldom one that no transaction wrote."""
    own = [o.value for t in history for o in t.operations if _writes(o) and o.key == key]
    known = [value for value in dict.fromkeys([*own, None, 0]) if value != shown]
    return random.choice([*known, *known, *known, *known, _STRANGE])  # type: ignore[return-value]


def _replaced(history: History, number: int, place: int, operation: Operation) -> History:
    def each() -> Iterator[Transaction]:
        for t in history:
            operations = list(t.operations)
            if t.number == number:
                operations[place] = operation
            yield replace(t, operations=tuple(operations))

    return build(each(), initial=history.initial)


def _moved_in_time(random: Random, history: History) -> History:
    """One transaction happened earlier or later than it did, in a session of its own."""
    transactions = list(history)
    moved = random.randrange(len(transactions))
    ends = [end for t in transactions for o in t.operations for end in o.interval or () if end is not None]
    length = max(max(ends) - min(ends), 1)
    shift = random.choice([-1, 1]) * random.randint(1, length)
    each = (
        replace(_timed(t, lambda now: now + shift), session_id="moved") if t.number == moved else t
        for t in transactions
    )
    return build(each, initial=history.initial)


def _shorter(random: Random, history: History) -> History:
    """Clients had their answers sooner, or sent their requests later, than they did."""
    cut = {t.number: random.choice(["invoke", "complete", "neither"]) for t in history}

    def each(t: Transaction) -> Transaction:
        return replace(
            t, operations=tuple(replace(o, interval=_cut(o.interval, cut[t.number])) for o in t.operations)
        )

    return build(map(each, history), initial=history.initial)


def _cut(interval: Interval | None, which: str) -> Interval | None:
    if interval is None or interval.invoke is None or interval.complete is None:
        return interval
    match which:
        case "invoke":
            return Interval(interval.complete, interval.complete)
        case "complete":
            return Interval(interval.invoke, interval.invoke)
    return interval


def _rolled_back(random: Random, history: History) -> History:
    """A transaction that committed says that it was rolled back."""
    number = random.randrange(len(list(history)))

    def each(t: Transaction) -> Transaction:
        if t.number != number or t.operations[-1].kind is not OperationKind.COMMIT:
            return t
        end = replace(t.operations[-1], kind=OperationKind.ABORT)
        return replace(t, status=Status.ABORTED, operations=(*t.operations[:-1], end))

    return build(map(each, history), initial=history.initial)


_CHANGES: tuple[Callable[[Random, History], History], ...] = (
    _value_changed,
    _value_changed,
    _value_changed,
    _moved_in_time,
    _shorter,
    _rolled_back,
)
