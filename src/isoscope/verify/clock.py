"""Levels of the database's own clock: timestamps decide them, a certificate adds nothing.

Li et al. 2025 (CHRONOS): SESSION, INT, EXT, NOCONFLICT, start before commit. Semantics: from "Clock levels"
to "Missing timestamps". Cost: a sort, then linear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.verify.explanation import NOTHING, Explanation, Writes, may_be_initial
from isoscope.verify.history import (
    APPEND,
    COMMITTED,
    DELETE,
    INDETERMINATE,
    INSTALLS,
    MARKER,
    RANGE,
    READ,
    UNKNOWN,
    WRITE,
    Term,
)
from isoscope.verify.predicates import Unmatched
from isoscope.verify.resolved_history import settled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.verify.history import Initial, Transaction

__all__ = ["judge"]


def judge(kind: str, explanation: Explanation) -> tuple[str, str]:
    """The outcome, holds, violated or unknown, and what breaks the level or leaves it open."""
    writes = explanation.writes
    counted = _counted(writes)
    if writes.history.unjudged and writes.history.has_indeterminate:
        # How a key is used is said by the transactions that count.
        writes = Writes(settled(writes.history, counted))
    clock = _Clock(kind, Explanation(writes, counted))
    broken = next(clock.violations(), "")
    if broken:
        return "violated", broken
    if clock.is_open:
        return "unknown", "timestamps are missing, or some keys are not judged"
    return "holds", ""


def _counted(writes: Writes) -> set[int]:
    """Indeterminate transactions that alone wrote what a counting one read, or what a log shows.

    The clock levels know no explanations: a value that also a transaction wrote that aborted proves nothing.
    """
    history = writes.history
    authors: dict[tuple[Any, Any], set[int]] = {}
    for t in history.transactions:
        for kind, key, value in t.operations:
            if kind in INSTALLS:
                authors.setdefault((key, value), set()).add(t.number)
    found: set[int] = set()
    seen = [
        (key, value)
        for key, values in history.recorded.get("log", {}).items()
        for place, value in enumerate(values)
        if place or not may_be_initial(writes, key, value)  # the first row may be the initial state
    ]
    for t in history.transactions:
        if t.status == COMMITTED:
            seen += _seen_of_others(t, history.initial)
    while seen:
        key, value = seen.pop()
        if value is None and _may_not_exist(writes, key):
            continue
        alone = authors.get((key, value), set())  # the reader is one of them, if it wrote the value later
        for number in alone if len(alone) == 1 else ():
            other = history.transactions[number]
            if other.status == INDETERMINATE and number not in found:
                found.add(number)
                seen += _seen_of_others(other, history.initial)
    return found


def _may_not_exist(writes: Writes, key: Any) -> bool:
    """Semantics, "Keys that may not exist at first": a read of nil may show the initial state."""
    transactions = writes.history.transactions
    shown = any(transactions[number].status == COMMITTED for number, _ in writes.unwritten(key))
    return may_be_initial(writes, key, None) and not shown


def _seen_of_others(t: Transaction, initial: Initial) -> Iterator[tuple[Any, Any]]:
    """Keys and values that a transaction read and did not write before."""
    own: dict[Any, list[Any]] = {}
    for kind, key, value in t.operations:
        if kind in INSTALLS:
            own.setdefault(key, []).append(value)
        elif kind == READ and isinstance(value, list):
            yield from ((key, element) for element in value if element not in own.get(key, []))
        elif (
            kind == READ
            and key not in own
            and type(value) is not Unmatched
            and value not in (UNKNOWN, initial.of(key))
        ):
            yield key, value


def _never_judged(explanation: Explanation) -> set[Any]:
    """Keys that are used both as register and as list; a delete is one of a register."""
    kinds: dict[Any, set[str]] = {}
    for t in explanation.history.transactions:
        for kind, key, value in t.operations if explanation.counting[t.number] else ():
            if kind == APPEND or (kind == READ and isinstance(value, list)):
                kinds.setdefault(key, set()).add("list")
            elif kind in INSTALLS or (kind == READ and value is not UNKNOWN and value is not None):
                kinds.setdefault(key, set()).add("register")
    return {key for key, found in kinds.items() if len(found) > 1}


class _Clock:
    """Transactions that take part, and the keys whose first reads are judged."""

    def __init__(self, kind: str, explanation: Explanation) -> None:
        history = explanation.history
        self.explanation = explanation
        self.snapshots = kind == "clock-snapshot-isolation"
        self.all = [t for t in history.transactions if explanation.counting[t.number] and _takes_part(t)]
        self.timed = [
            t for t in self.all if t.commit is not None and (t.start is not None or not self.snapshots)
        ]
        timed = {t.number for t in self.timed}
        self.never_judged = _never_judged(explanation)
        self.unjudged: set[Any] = set(self.never_judged)
        for t in self.all:
            if t.number not in timed:
                self.unjudged |= _written(t).keys()
        operations = (operation for t in self.all for operation in t.operations)
        is_unjudged = any(kind == RANGE or type(value) is Unmatched for kind, _, value in operations)
        self.is_open = len(timed) < len(self.all) or bool(self.never_judged) or is_unjudged
        self.values: dict[Any, Any] = {}

    def violations(self) -> Iterator[str]:
        """Sentences about what is wrong, in no particular order."""
        for t in self.all:
            yield from _later_reads(t, self.never_judged)
        if self.snapshots:
            yield from self._order_of_times()
            yield from self._conflicts()
            yield from self._first_reads(self._events())
        else:
            order = sorted(self.timed, key=_commit_order)
            yield from self._first_reads((t, moment) for t in order for moment in ("start", "commit"))

    def _order_of_times(self) -> Iterator[str]:
        last: dict[int, Transaction] = {}
        for t in sorted(self.timed, key=lambda t: (t.session, t.place)):
            if t.start is not None and t.commit is not None and t.start > t.commit:
                yield f"{t} starts after its own commit"
            before = last.get(t.session)
            committed = before.commit if before is not None else None
            if committed is not None and t.start is not None and t.start < committed:
                yield f"{t} starts before {before} of its session committed"
            last[t.session] = t

    def _conflicts(self) -> Iterator[str]:
        last: dict[Any, Transaction] = {}
        for t in sorted(self.timed, key=_commit_order):
            for key in _written(t):
                other = last.get(key)
                if other is not None and not _sees(t, other):
                    yield f"{other} and {t} overlap and write key {key}"
                last[key] = t

    def _events(self) -> Iterator[tuple[Transaction, str]]:
        """Commits before starts at one instant; a transaction of one instant does both at its commit."""
        events = []
        for t in self.timed:
            events.append((t.commit, 0, *_tie(t), t.number, "commit", t))
            if t.start != t.commit:
                events.append((t.start, 1, *_tie(t), t.number, "start", t))
        events.sort(key=lambda event: event[:-2])
        for *_, moment, t in events:
            if moment == "commit" and t.start == t.commit:
                yield t, "start"
            yield t, moment

    def _first_reads(self, events: Iterator[tuple[Transaction, str]]) -> Iterator[str]:
        for t, moment in events:
            if moment == "start":
                yield from self._first_reads_of(t)
                continue
            for kind, key, value in t.operations:
                if key in self.never_judged:
                    continue
                if kind in (WRITE, DELETE):
                    self.values[key] = value
                elif kind == APPEND:
                    self.values.setdefault(key, []).append(value)

    def _first_reads_of(self, t: Transaction) -> Iterator[str]:
        own: dict[Any, list[Any]] = {}
        met: set[Any] = set()
        for place, (kind, key, value) in enumerate(t.operations):
            if kind == APPEND and key not in met:
                own.setdefault(key, []).append(value)
            elif kind in (WRITE, DELETE):
                met.add(key)
            elif kind == READ and _is_told(value) and key not in met:
                met.add(key)
                mine = own.get(key, [])
                if key in self.unjudged or (mine and value[-len(mine) :] != mine):
                    continue
                seen = value[: len(value) - len(mine)] if mine else value
                if seen != self._current(key, seen):
                    yield f"operation {place} of {t} is a stale read of key {key}"

    def _current(self, key: Any, seen: Any) -> Any:
        if key in self.values:
            return self.values[key]
        initial = self.explanation.initial(key)
        if initial is UNKNOWN and seen is None and key in self.explanation.history.may_be_absent:
            return None
        return NOTHING if initial is UNKNOWN else initial


def _written(t: Transaction) -> dict[Any, None]:
    """Keys that a transaction writes."""
    return dict.fromkeys(key for kind, key, _ in t.operations if kind in INSTALLS)


def _is_told(value: Any) -> bool:
    """Whether a read says what its key was; what a predicate leaves out is not judged."""
    return value is not UNKNOWN and type(value) is not Unmatched


def _takes_part(t: Transaction) -> bool:
    """Whether it reads or writes; its times count, also if the client never learned what it read."""
    return any(kind != MARKER for kind, _, _ in t.operations)


def _sees(t: Transaction, other: Transaction) -> bool:
    """Whether the other one, which commits no later, had committed when t started."""
    if t.start is None or t.commit is None or other.commit is None:
        return True
    return other.commit <= t.start and other.commit < t.commit


def _later_reads(t: Transaction, unjudged: set[Any]) -> Iterator[str]:
    """INT: a later read shows what the access before it wrote or showed."""
    whole: dict[Any, Any] = {}
    own: dict[Any, list[Any]] = {}
    for place, (kind, key, value) in enumerate(t.operations):
        if key in unjudged or (kind == READ and not _is_told(value)):
            continue
        if kind in (WRITE, DELETE):
            whole[key] = value
        elif kind == APPEND and key in whole:
            whole[key] = [*whole[key], value]
        elif kind == APPEND:
            own.setdefault(key, []).append(value)
        elif kind == READ:
            mine = own.get(key, [])
            fits = whole[key] == value if key in whole else not mine or value[-len(mine) :] == mine
            if not fits:
                yield f"operation {place} of {t} does not show what the access before it wrote or showed"
            whole[key] = value


def _commit_order(t: Transaction) -> Any:
    return (t.commit, *_tie(t), t.number)


def _tie(t: Transaction) -> tuple[Any, ...]:
    """Start timestamp, session by its name, place in the session."""
    start = t.start or (-1, -1)
    name = t.session_id
    if isinstance(name, int):
        return start, 0, name, "", t.place
    if isinstance(name, str):
        return start, 1, 0, name, t.place
    if name is not UNKNOWN:
        return start, 2, 0, str(name), t.place
    rank = 0 if isinstance(t.id, int) else 1 if not isinstance(t.id, Term) else 2
    return start, 3 + rank, t.id if isinstance(t.id, int) else 0, str(t.id), t.place
