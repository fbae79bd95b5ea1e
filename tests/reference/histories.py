"""Small random histories: the same generator for Hypothesis, which shrinks, and for seeds, which are quick.

Transactions run one after the other on a store, so that clean histories are common; then each operation
lies with a probability that the history chooses, so that every kind of wrong read is common too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from hypothesis import strategies as st

from isoscope._native import Unknown
from isoscope.history import (
    UNKNOWN,
    Initial,
    Operation,
    OperationKind,
    Range,
    Status,
    Transaction,
    VersionSource,
)
from isoscope.recorder import build

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from isoscope.history import History, Scalar

T = TypeVar("T")

KEYS: tuple[Scalar, ...] = ("x", 1, True, 1.0, None)
#: Python takes 1, 1.0 and True for one value, so what compares by `==` needs keys and values like these.
PLAIN_KEYS: tuple[Scalar, ...] = ("x", 1, 2, "1", 2.5)
SHAPES = ("register", "register", "register", "list", "list", "list", "mixed", "deleted")
VALUES: tuple[Scalar, ...] = (0, 1, 2, 3, None, True, 1.0, "1")
INITIALS = (
    Initial(value=0),
    Initial(value=0, replaceable=True),
    Initial(value=None),
    Initial(),
    Initial(value=0, of_key={"x": 1}),
    Initial(value=0, of_key={"x": UNKNOWN}),
    Initial(of_key={"x": 0}, replaceable=True),
)


class Chooser(Protocol):
    """What `random.Random` and Hypothesis have in common here."""

    def choice(self, options: Sequence[T], /) -> T: ...


@dataclass
class Drawn:
    """Choices by Hypothesis."""

    draw: Callable[[st.SearchStrategy[Any]], Any]

    def choice(self, options: Sequence[T], /) -> T:
        chosen: T = self.draw(st.sampled_from(options))
        return chosen


@st.composite
def histories(draw: st.DrawFn, *, unique: bool = False, judged: bool = False) -> History:
    """Any small history; see `random_history`."""
    return random_history(Drawn(draw), unique=unique, judged=judged)


def random_history(chooser: Chooser, *, unique: bool = False, judged: bool = False) -> History:
    """A small history; `unique`: registers whose values are unique; `judged`: no kind that is set aside."""
    return build(**random_parts(chooser, unique=unique, judged=judged))


def random_parts(chooser: Chooser, *, unique: bool = False, judged: bool = False) -> dict[str, Any]:
    """The arguments of `recorder.build` for a small history."""
    writer = _Writer(chooser, unique=unique, judged=judged or unique)
    transactions = [writer.transaction(number) for number in range(chooser.choice((2, 3, 4, 5)))]
    return {"transactions": transactions, "initial": writer.initial, "versions": writer.versions()}


@dataclass
class _Writer:
    chooser: Chooser
    unique: bool
    judged: bool
    store: dict[int, list[Scalar]] = field(default_factory=dict)
    written: dict[int, list[Scalar]] = field(default_factory=dict)
    used: int = 100

    def __post_init__(self) -> None:
        choose = self.chooser.choice
        self.names = PLAIN_KEYS if self.unique else KEYS
        self.values = VALUES[:4] if self.unique else VALUES
        self.keys = choose(((0,), (4,), (0, 1), (0, 1, 2, 3, 4)))
        shapes = ("register",) if self.unique else SHAPES[:6] if self.judged else SHAPES
        self.shapes = {key: choose(shapes) for key in self.keys}
        self.initial = choose(INITIALS[:1] if self.unique else INITIALS)
        # How many of ten operations do not do what the store says.
        self.lies = choose((0, 2, 5, 8))
        self.repeats = not self.unique and choose((True, False))
        self.statuses = choose(
            (
                (Status.COMMITTED,),
                (Status.COMMITTED, Status.COMMITTED, Status.ABORTED),
                tuple(Status),
                (Status.COMMITTED, Status.INDETERMINATE),
            )
        )

    def transaction(self, number: int) -> Transaction:
        choose = self.chooser.choice
        before = {key: list(values) for key, values in self.store.items()}
        operations = [self.operation() for _ in range(choose((0, 3, 4, 5, 6)))]
        status = choose(self.statuses)
        if status is Status.ABORTED:
            self.store = before
        return Transaction(
            number=number,
            id=number + 1,
            session=0,
            session_id=choose((1, 2, 3) if self.unique else (1, 2, "s", None)),
            status=status,
            operations=tuple(operations),
        )

    def operation(self) -> Operation:
        choose = self.chooser.choice
        key = choose(self.keys)
        kind = choose(self.kinds(self.shapes[key]))
        if kind is OperationKind.READ:
            return Operation(kind=kind, key=self.names[key], value=self.seen(key))
        if kind is OperationKind.DELETE:
            self.store[key] = [None]
            return Operation(kind=kind, key=self.names[key])
        if kind is OperationKind.RANGE_READ:
            rows = tuple((self.names[key], choose(self.values)) for _ in range(choose((0, 1))))
            return Operation(kind=kind, value=Range(low=0, rows=rows))
        if kind in (OperationKind.BEGIN, OperationKind.COMMIT):
            return Operation(kind=kind)
        value = self.value(key)
        kept = self.store.get(key, []) if kind is OperationKind.APPEND else []
        self.store[key] = [*kept, value]
        self.written.setdefault(key, []).append(value)
        return Operation(kind=kind, key=self.names[key], value=value)

    def kinds(self, shape: str) -> tuple[OperationKind, ...]:
        kind = OperationKind
        often = {
            "register": (kind.READ, kind.READ, kind.WRITE),
            "list": (kind.READ, kind.READ, kind.APPEND),
            "mixed": (kind.READ, kind.WRITE, kind.APPEND),
            "deleted": (kind.READ, kind.WRITE, kind.DELETE),
        }[shape]
        if self.unique:
            return often
        seldom = (kind.INSERT,) if shape == "register" else ()
        others = () if self.judged else (kind.RANGE_READ, kind.BEGIN)
        return (*often * 4, *seldom, *others)

    def value(self, key: int) -> Scalar:
        if self.repeats and self.lie():
            again: Scalar = self.chooser.choice([*self.written.get(key, ()), *self.values[:2]])
            return again
        self.used += 1
        return self.used

    def lie(self) -> bool:
        return self.chooser.choice(range(10)) < self.lies

    def seen(self, key: int) -> Any:
        choose = self.chooser.choice
        if not self.unique and choose(range(12)) == 0:
            return UNKNOWN
        is_list = self.shapes[key] == "list" or (self.shapes[key] == "mixed" and choose((True, False)))
        true = self.store.get(key, [] if is_list else [self.started(key)])
        if not self.lie():
            return tuple(true) if is_list else true[-1]
        # What was written to the key, by whomever; what may be written next; and anything else.
        known = self.written.get(key, [])[-4:]
        pool = [*known, *known, *known, self.used + 1, choose(self.values)]
        if not is_list:
            return choose(pool)
        elements = tuple(choose(pool) for _ in range(choose((0, 1, 2))))
        return choose(((*true, *elements), (*elements, *true), elements, tuple(true[:-1]), tuple(true[1:])))

    def started(self, key: int) -> Scalar:
        value = self.initial.of_key.get(self.names[key], self.initial.value)
        return 7 if isinstance(value, Unknown) else value

    def versions(self) -> list[tuple[VersionSource, Scalar, Scalar]]:
        choose = self.chooser.choice
        if self.unique or choose(range(4)):
            return []
        source = choose(tuple(VersionSource))
        pool = [*range(101, self.used + 1), *self.values]
        # Of 1, 1.0 and True a mapping by key holds one only (see `VersionOrder`).
        keys = [self.names[key] for key in self.keys if key in {0, 4}]
        return [(source, choose(keys), choose(pool)) for _ in range(choose((1, 2)))]
