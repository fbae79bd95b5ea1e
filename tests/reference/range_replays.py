"""Brute force for histories with range reads: transactions run on a dict, in every order.

It shares nothing with the specification, nor with the generator. A history is serializable if some
transactions, all committed ones among them, run one after the other and show what was recorded; it satisfies
snapshot isolation if they do with begins and commits in some order. Registers only.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, permutations, product
from typing import TYPE_CHECKING, TypeAlias

from isoscope.history import UNKNOWN, OperationKind, Range, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from isoscope.history import History, Operation, Transaction

__all__ = ["Replays"]

WRITES = (OperationKind.WRITE, OperationKind.INSERT, OperationKind.DELETE)
#: An initial value that is not known and that no read shows; and the state before a first transaction.
UNSEEN, FORBIDDEN = "unseen", "forbidden"
Plain: TypeAlias = tuple[str, str]
State: TypeAlias = dict[Plain, object]
#: What had been committed: keys and the transactions that wrote them.
Committed: TypeAlias = frozenset[tuple[Plain, int]]


def plain(value: object) -> Plain:
    return type(value).__name__, str(value)


NIL = plain(None)


def is_asked_for(predicate: str | None, value: object) -> bool:
    """Whether a row with this value should be shown."""
    if value in (NIL, UNSEEN):
        return False
    if predicate is None or predicate == ":true":
        return True
    form, *arguments = predicate.strip("[]").split(" ")
    if form == ":mod":
        assert isinstance(value, tuple)
        modulus, remainder = map(int, arguments)
        return value[0] == "int" and int(value[1]) % modulus == remainder
    return value in [plain(json.loads(argument)) for argument in arguments]


def is_inside(key: object, seen: Range) -> bool:
    bounds = [bound for bound in (seen.low, seen.high) if bound is not None]
    if not bounds:
        return True
    if type(key) not in (int, str):
        return seen.low == key == seen.high
    if any(type(bound) is not type(key) for bound in bounds):
        return False
    low = True if seen.low is None else seen.low <= key  # type: ignore[operator]
    return low and (True if seen.high is None else key <= seen.high)  # type: ignore[operator]


@dataclass(frozen=True)
class Replays:
    """All that a small history may stand for."""

    recorded: History

    @cached_property
    def transactions(self) -> list[Transaction]:
        return list(self.recorded)

    def is_serializable(self, *, in_sessions: bool = False) -> bool:
        """Whether some order of some transactions shows all reads."""
        return self._some(lambda chosen, state: self._has_order(chosen, state, in_sessions=in_sessions))

    def is_snapshot_isolated(self) -> bool:
        """Whether some order of begins and commits does."""
        return self._some(lambda chosen, state: self._can_run([*chosen], {}, state, frozenset()))

    def is_cut_isolated(self) -> bool:
        """Whether no committed transaction sees a key of others in two states."""
        committed = [t for t in self.transactions if t.status is Status.COMMITTED]
        return not any(
            differ(one, other)
            for t in committed
            for key in self.recorded.keys
            for one, other in combinations(self._seen(t, key), 2)
        )

    # What is chosen.

    def _some(self, works: Callable[[Sequence[Transaction], State], bool]) -> bool:
        committed = [t for t in self.transactions if t.status is Status.COMMITTED]
        doubtful = [t for t in self.transactions if t.status is Status.INDETERMINATE]
        subsets = chain.from_iterable(combinations(doubtful, n) for n in range(len(doubtful) + 1))
        return any(
            works(chosen, state)
            for subset in subsets
            for chosen in [[*committed, *subset]]
            for state in self._states(chosen)
        )

    def _states(self, chosen: Sequence[Transaction]) -> Iterator[State]:
        """What may have been there before the first transaction."""
        keys = [plain(key) for key in self.recorded.keys]
        for values in product(*(self._values(chosen, key) for key in self.recorded.keys)):
            yield dict(zip(keys, values, strict=True))

    def _values(self, chosen: Sequence[Transaction], key: object) -> list[object]:
        if any(key_written(t, key) for t in self.transactions if is_filling(t)):
            return [FORBIDDEN]
        initial = self.recorded.initial
        declared = [own for other, own in initial.of_key.items() if plain(other) == plain(key)]
        [value] = declared or [initial.value]
        return [plain(value)] if value is not UNKNOWN else self._unknown(chosen, key)

    def _unknown(self, chosen: Sequence[Transaction], key: object) -> list[object]:
        """The first value that was read and never written; if there is none, what the rules allow."""
        written = [(t, value) for t in self.transactions for value in key_written(t, key)]
        shown = [(t, value) for t in sorted(chosen, key=number) for value in self._values_read(t, key)]
        unwritten = [value for _, value in shown if value not in [v for _, v in written]]
        if unwritten:
            return unwritten[:1]
        found: list[object] = [UNSEEN]
        if any(value == NIL for _, value in written):
            found.append(NIL)
        for value in {value for _, value in shown} - {NIL}:
            writers = {t.number for t, v in written if v == value}
            left = {t.number for t in self._alive() if key_written(t, key)[-1:] == [value]}
            if len(writers) > 1 and all(left - {t.number} for t, v in shown if v == value):
                found.append(value)
        return found

    def _alive(self) -> list[Transaction]:
        return [t for t in self.transactions if t.status is not Status.ABORTED]

    def _values_read(self, t: Transaction, key: object) -> list[object]:
        return [value for value, predicate in self._seen(t, key) if predicate is None]

    # Reads.

    @cached_property
    def tables(self) -> dict[Plain, set[str | None]]:
        found: dict[Plain, set[str | None]] = {plain(key): set() for key in self.recorded.keys}
        shown: dict[Plain, set[str | None]] = {plain(key): set() for key in self.recorded.keys}
        for o in (o for t in self.transactions for o in t.operations):
            if isinstance(o.value, Range):
                for key, _ in (*o.value.rows, *o.value.tombstones):
                    shown[plain(key)].add(o.table)
            else:
                found[plain(o.key)].add(o.table)
        return {key: tables | shown[key] for key, tables in found.items()}

    def shows(self, o: Operation) -> list[tuple[object, object, str | None]]:
        """The keys and values that an operation read; with a predicate, it only says what they are not."""
        if o.kind is OperationKind.READ:
            return [(o.key, plain(o.value), None)]
        if not isinstance(o.value, Range):
            return []
        rows = [(key, plain(value)) for key, value in o.value.rows]
        rows += [(key, NIL) for key, _ in o.value.tombstones]
        names = [plain(key) for key, _ in rows]
        others = [k for k in self.recorded.keys if plain(k) not in names and o.table in self.tables[plain(k)]]
        hidden = [key for key in others if is_inside(key, o.value)]
        return [(k, v, None) for k, v in rows] + [(k, NIL, o.predicate) for k in hidden]

    def _seen(self, t: Transaction, key: object) -> list[tuple[object, str | None]]:
        """What external reads show of a key."""
        found: list[tuple[object, str | None]] = []
        for o in t.operations:
            if o.kind in WRITES and plain(o.key) == plain(key):
                break
            found += [(value, p) for k, value, p in self.shows(o) if plain(k) == plain(key)]
        return found

    # Runs.

    def _has_order(self, chosen: Sequence[Transaction], state: State, *, in_sessions: bool) -> bool:
        return any(
            self._is_in_order(order, in_sessions=in_sessions) and self._runs(order, dict(state))
            for order in permutations(chosen)
        )

    def _is_in_order(self, order: Sequence[Transaction], *, in_sessions: bool) -> bool:
        for before, after in combinations(order, 2):
            if is_filling(after) and self._is_touched(after, before):
                return False
            is_session = in_sessions and before.session == after.session
            if is_session and self._place(before) > self._place(after):
                return False
        return True

    def _place(self, t: Transaction) -> int:
        return self.recorded.sessions[t.session].transactions.index(t.number)

    def _is_touched(self, filling: Transaction, other: Transaction) -> bool:
        """Whether the other sees a key that a first transaction inserts."""
        keys = {plain(o.key) for o in filling.operations}
        used = {plain(k) for o in other.operations for k, *_ in self.shows(o)}
        used |= {plain(o.key) for o in other.operations if o.kind in WRITES}
        return not is_filling(other) and bool(keys & used)

    def _runs(self, order: Sequence[Transaction], state: State) -> bool:
        return all(self._runs_on(t, state) for t in order)

    def _runs_on(self, t: Transaction, state: State) -> bool:
        for o in t.operations:
            for key, value, predicate in self.shows(o):
                now = state[plain(key)]
                is_hidden = predicate is not None and now != FORBIDDEN and not is_asked_for(predicate, now)
                if not (is_hidden if predicate is not None else now == value):
                    return False
            if o.kind in WRITES:
                state[plain(o.key)] = written(o)
        return True

    def _can_run(
        self,
        waiting: list[Transaction],
        running: dict[int, tuple[State, Committed]],
        state: State,
        committed: Committed,
    ) -> bool:
        """Whether all can begin and commit, those that are running with the state that they began with."""
        if not waiting and not running:
            return True
        for t in waiting:
            rest = [other for other in waiting if other is not t]
            alive = [*rest, *(self.transactions[n] for n in running)]
            is_early = any(is_filling(other) and self._is_touched(other, t) for other in alive)
            if not is_early and self._runs_on(t, dict(state)):
                began = {**running, t.number: (state, committed)}
                if self._can_run(rest, began, state, committed):
                    return True
        for n, (_, before) in running.items():
            others = {other: began for other, began in running.items() if other != n}
            writes: State = {
                plain(o.key): written(o) for o in self.transactions[n].operations if o.kind in WRITES
            }
            since = {key for key, _ in committed - before}
            after = committed | {(key, n) for key in writes}
            if not since & writes.keys() and self._can_run(waiting, others, {**state, **writes}, after):
                return True
        return False


def differ(one: tuple[object, str | None], other: tuple[object, str | None]) -> bool:
    """Whether two observations of a key cannot be of one state."""
    (value, predicate), (other_value, other_predicate) = one, other
    if predicate is not None and other_predicate is not None:
        return False
    if predicate is not None:
        return is_asked_for(predicate, other_value)
    return is_asked_for(other_predicate, value) if other_predicate is not None else value != other_value


def is_filling(t: Transaction) -> bool:
    kinds = {(o.kind, o.statement) for o in t.operations}
    return t.status is Status.COMMITTED and kinds == {(OperationKind.INSERT, "init")}


def written(o: Operation) -> Plain:
    return NIL if o.kind is OperationKind.DELETE else plain(o.value)


def key_written(t: Transaction, key: object) -> list[Plain]:
    return [written(o) for o in t.operations if o.kind in WRITES and plain(o.key) == plain(key)]


def number(t: Transaction) -> int:
    return t.number
