"""The clock levels by a replay of the timestamps: Algorithm 2 of Li et al. 2025, on plain maps.

Start and commit events happen one after the other. A start runs the whole transaction on a copy of the store;
a commit puts its writes there. For `clock-serializable` the transactions run one by one. No relations, no
axioms: written apart from `isoscope.reference.clock`, to be held against it. Which transactions count,
what registers hold at first and which keys a range read reads is taken from the specification.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from isoscope.history import UNKNOWN, OperationKind
from isoscope.levels import Level
from isoscope.reference import reads
from isoscope.reference.rows import Rows

if TYPE_CHECKING:
    from isoscope.history import History, Transaction

Name: TypeAlias = tuple[type, object]

NOTHING = object()


@dataclass
class Found:
    """The violations: reads by transaction and place, pairs by number; `older` reads are of a past state."""

    external: set[tuple[int, int]] = field(default_factory=set)
    older: set[tuple[int, int]] = field(default_factory=set)
    internal: set[tuple[int, int]] = field(default_factory=set)
    conflicts: set[tuple[frozenset[int], Name]] = field(default_factory=set)
    sessions: set[tuple[int, int]] = field(default_factory=set)
    inverted: set[int] = field(default_factory=set)


def replay(history: History, level: Level) -> Found:
    """Runs the history in the order of its timestamps."""
    return _Replay(history, is_serial=level is Level.CLOCK_SERIALIZABLE).run()


def name(scalar: object) -> Name:
    """Python takes 1, 1.0 and True for equal; here they are not."""
    return type(scalar), scalar


class _Replay:
    def __init__(self, history: History, *, is_serial: bool) -> None:
        history = Rows(history).history
        self.history = history
        self.is_serial = is_serial
        count = reads.counted(history)
        self.counted = [t for t in history if t.number in count]
        self.timed = [t for t in self.counted if t.commit and (t.start or is_serial)]
        self.shapes = {name(k): reads.shape(self.counted, k) for k in history.keys}
        given = (history, [*history], count)
        self.initial = {name(k): reads.initial_value(*given, k) for k in history.keys}
        #: A register that may not have existed at first can be read as nil before the first write.
        self.initial |= {name(k): reads.NIL for k in history.keys if reads.may_be_absent(*given, k)}
        #: Every version of a key that was committed so far: whose it is, and what it wrote.
        self.store: dict[Name, list[tuple[int, list[Any]]]] = {}
        self.found = Found()
        #: The transactions that had committed when a transaction started.
        self.began: dict[int, set[int]] = {}

    def run(self) -> Found:
        committed: list[int] = []
        for event, t in self.events():
            if event == "commit":
                self.commit(t)
                committed.append(t.number)
            else:
                self.began[t.number] = {*committed}
                self.execute(t)
        for t in self.counted:
            if t not in self.timed:
                self.execute(t)  # what it reads twice must be the same, whenever it ran
        if not self.is_serial:
            self.compare()
        self.forget_keys_without_times()
        return self.found

    def events(self) -> list[tuple[str, Transaction]]:
        if self.is_serial:
            in_order = sorted(
                self.timed, key=lambda t: (t.commit, bool(t.start), t.start or (), *self.rank(t))
            )
            return [(event, t) for t in in_order for event in ("start", "commit")]
        events = [(t.commit, 0, t.start, *self.rank(t), "commit", t.number) for t in self.timed]
        for t in self.timed:
            # An instant is over before the next one begins; "a start" sorts before "commit".
            comes_after = 0 if t.start == t.commit else 1
            events.append((t.start, comes_after, t.start, *self.rank(t), "a start", t.number))
        by_number = {t.number: t for t in self.timed}
        return [(event[-2].removeprefix("a "), by_number[event[-1]]) for event in sorted(events)]

    def rank(self, t: Transaction) -> tuple[Any, ...]:
        """Where a transaction stands of those at the same time: by session, then by place there."""
        called = t.id if t.session_id is None else t.session_id
        kind = {int: 0, str: 1}.get(type(called), 2)
        number = called if kind == 0 else 0
        [place] = [
            s.transactions.index(t.number) for s in self.history.sessions if t.number in s.transactions
        ]
        return t.session_id is None, kind, number, str(called).encode(), place

    def commit(self, t: Transaction) -> None:
        written: dict[Name, list[Any]] = {}
        for operation in t.operations:
            if operation.kind.value in ("write", "insert", "append", "delete"):
                written.setdefault(name(operation.key), []).append(name(operation.value))
        for key, values in written.items():
            self.store.setdefault(key, []).append((t.number, values))

    def states(self, t: Transaction, key: Name) -> list[Any]:
        """The states of the key, one after the other, as far as the transaction may see them."""
        versions = [values for number, values in self.store.get(key, []) if number != t.number]
        if self.shapes[key] == "list":
            return [
                [value for values in versions[:size] for value in values] for size in range(len(versions) + 1)
            ]
        return [self.first(key), *(values[-1] for values in versions)]

    def first(self, key: Name) -> object:
        """As `reads.token`s have it: a type by its name, a value by its text."""
        return self.initial[key] or NOTHING

    def execute(self, t: Transaction) -> None:
        """Runs the transaction on a copy of the store, which each read sets right."""
        copy: dict[Name, Any] = {}
        own: dict[Name, list[Any]] = {}
        touched: set[Name] = set()
        for place, operation in enumerate(t.operations):
            key = name(operation.key)
            if self.shapes.get(key) not in ("register", "list") or operation.value is UNKNOWN:
                continue
            is_list = self.shapes[key] == "list"
            held = copy.setdefault(key, self.states(t, key)[-1])
            if operation.kind is OperationKind.READ:
                values: Any = operation.value
                copy[key] = [name(value) for value in values] if is_list else name(values)
                if not self.same(copy[key], held):
                    self.blame(t, place, copy[key], own.get(key, []), is_first=key not in touched)
                touched.add(key)
            else:
                own.setdefault(key, []).append(name(operation.value))
                copy[key] = [*held, own[key][-1]] if is_list else own[key][-1]
                touched |= set() if is_list else {key}

    def blame(self, t: Transaction, place: int, shown: Any, own: list[Any], *, is_first: bool) -> None:
        """A wrong first read breaks EXT, unless it lacks an own append."""
        has_own = not own or shown[-len(own) :] == own
        if not is_first or not has_own:
            self.found.internal.add((t.number, place))
            return
        self.found.external.add((t.number, place))
        of_others = shown[: len(shown) - len(own)] if own else shown
        past = self.states(t, name(t.operations[place].key))
        if any(self.same(of_others, state) for state in past):
            self.found.older.add((t.number, place))

    def same(self, shown: Any, held: Any) -> bool:
        if isinstance(held, tuple) and isinstance(held[0], str):  # an initial value, which is a token
            return reads.token(shown[1]) == held
        return bool(shown == held)

    def compare(self) -> None:
        for session in self.history.sessions:
            numbers = [n for n in session.transactions if n in self.began]
            wrong = [(a, b) for a, b in pairwise(numbers) if a not in self.began[b]]
            self.found.sessions |= {*wrong}
        commits = {t.number: t.commit for t in self.timed}
        self.found.inverted = {t.number for t in self.timed if t.start > t.commit}  # type: ignore[operator]
        for key, versions in self.store.items():
            for (a, _), (b, _) in combinations(versions, 2):
                is_apart = a in self.began[b] or b in self.began[a]
                if self.shapes[key] in ("register", "list") and (not is_apart or commits[a] == commits[b]):
                    self.found.conflicts.add((frozenset((a, b)), key))

    def forget_keys_without_times(self) -> None:
        timeless = {t.number for t in self.counted} - {t.number for t in self.timed}
        written = {
            name(o.key)
            for t in self.counted
            for o in t.operations
            if t.number in timeless and o.kind.value in ("write", "insert", "append", "delete")
        }
        transactions = {t.number: t for t in self.counted}
        self.found.external = {
            (number, place)
            for number, place in self.found.external
            if number not in timeless and name(transactions[number].operations[place].key) not in written
        }
        self.found.older &= self.found.external
