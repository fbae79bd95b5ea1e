"""Witnesses run by hand: a store of values, and the weak axioms on positions; nothing of the native core."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from isoscope.history import UNKNOWN, History, OperationKind, Status, Transaction
from isoscope.levels import Level
from isoscope.verdict import WitnessForm, WitnessOrder

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["check_witness"]

REPLAYED = {
    Level.SERIALIZABLE,
    Level.REPEATABLE_READ,
    Level.STRONG_SESSION_SERIALIZABLE,
    Level.STRICT_SERIALIZABLE,
}
IN_SESSIONS = ("strong-session-", "strict-", "strong-", "prefix", "causal", "read-atomic", "read-committed")
WEAK = (Level.READ_COMMITTED, Level.READ_ATOMIC, Level.CAUSAL)
INSTALLS = (OperationKind.WRITE, OperationKind.INSERT, OperationKind.APPEND)


def check_witness(history: History, witness: WitnessOrder) -> None:
    """Raises AssertionError if the witness does not show its level."""
    transactions: dict[Any, Transaction] = {t.id: t for t in history}
    took_effect = {*witness.took_effect}
    counting = {
        t.id
        for t in history
        if t.operations and (t.status is Status.COMMITTED or t.id in took_effect) and _touches(t)
    }
    if witness.form is WitnessForm.VERSIONS:
        return
    twice = 2 if witness.form is WitnessForm.EVENTS else 1
    assert {*witness.order} >= counting, (counting, witness)
    assert all(witness.order.count(one) == twice for one in witness.order), witness
    _check_sessions(transactions, witness)
    if witness.form is WitnessForm.EVENTS:
        _run_snapshots(history, transactions, witness)
    elif witness.level in REPLAYED:
        _run_serially(history, [transactions[one] for one in witness.order])


def _touches(t: Transaction) -> bool:
    kinds = (OperationKind.READ, *INSTALLS)
    return any(o.kind in kinds and (o.kind in INSTALLS or o.value is not UNKNOWN) for o in t.operations)


def _check_sessions(transactions: dict[Any, Transaction], witness: WitnessOrder) -> None:
    """At levels with sessions the first of two has ended before the second begins."""
    if not str(witness.level).startswith(IN_SESSIONS):
        return
    begun: dict[int, int] = {}
    seen: set[Any] = set()
    for one in witness.order:
        t = transactions[one]
        ends = witness.form is WitnessForm.ORDER or one in seen
        if one not in seen:
            seen.add(one)
            begun[t.session] = max(begun.get(t.session, -1), t.number)
        if ends:
            later = [transactions[other] for other in seen if transactions[other].session == t.session]
            assert all(other.number <= t.number for other in later), witness


class _Store:
    """Values of keys; an unknown initial value is what the first read shows."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.values: dict[Any, Any] = {}

    def current(self, key: Any, shown: Any) -> Any:
        if key not in self.values:
            initial = self.history.initial
            value: Any = initial.of_key.get(key, initial.value)
            if isinstance(shown, tuple):
                value = ()
            elif value is UNKNOWN:
                value = shown
            self.values[key] = value
        return self.values[key]


def _run(t: Transaction, read: Any, write: Any) -> Iterator[tuple[Any, Any]]:
    """Runs the operations on what the transaction sees; yields what it writes."""
    own: dict[Any, Any] = {}
    for operation in t.operations:
        key, value = operation.key, operation.value
        if operation.kind is OperationKind.READ and value is not UNKNOWN:
            shown = own[key] if key in own else read(key, value)
            assert shown == value or ({shown, value} <= {None, ()}), (t.id, key, value, shown)
        elif operation.kind is OperationKind.APPEND:
            before = own[key] if key in own else write(key, ())
            own[key] = (*(before or ()), value)
        elif operation.kind in INSTALLS:
            own[key] = value
    yield from own.items()


def _run_serially(history: History, order: list[Transaction]) -> None:
    store = _Store(history)
    for t in order:
        store.values.update(dict(_run(t, store.current, store.current)))


def _run_snapshots(history: History, transactions: dict[Any, Transaction], witness: WitnessOrder) -> None:
    store = _Store(history)
    wrote: dict[Any, int] = {}
    begun: dict[Any, tuple[int, dict[Any, Any]]] = {}
    for place, one in enumerate(witness.order):
        t = transactions[one]
        if one not in begun:
            begun[one] = (place, dict(_run(t, store.current, store.current)))
            continue
        began, changes = begun[one]
        for key, value in changes.items():
            assert witness.level is Level.PREFIX or wrote.get(key, -1) < began, (one, key, witness)
            appended = tuple(o.value for o in t.operations if o.kind is OperationKind.APPEND and o.key == key)
            state = store.values.get(key) or ()
            store.values[key] = (*state, *appended) if appended else value
            wrote[key] = place


def check_axiom(history: History, witness: WitnessOrder) -> None:
    """The axiom of a weak level on a commit order, where each value of a register has one writer."""
    place = {one: number for number, one in enumerate(witness.order)}
    writers = {(o.key, o.value): t.id for t in history for o in t.operations if o.kind in INSTALLS}
    written = {t.id: {o.key for o in t.operations if o.kind in INSTALLS} for t in history}
    sources = {t.id: [*_external(t, writers)] for t in history if t.id in place}
    before = _happens_before(history, sources, place)
    for reader, reads in sources.items():
        for number, (key, source) in enumerate(reads):
            sees = {
                Level.READ_COMMITTED: {one for _, one in reads[:number]},
                Level.READ_ATOMIC: {one for _, one in reads} | before["session"][reader],
                Level.CAUSAL: before["all"][reader],
            }[witness.level]
            for newer in sees - {source, reader, None}:
                if key in written[newer]:
                    assert source is not None, (reader, key, newer)
                    assert place[newer] < place[source], (reader, key, newer, witness)


def _external(t: Transaction, writers: dict[Any, Any]) -> Iterator[tuple[Any, Any]]:
    own = set()
    for operation in t.operations:
        if operation.kind in INSTALLS:
            own.add(operation.key)
        elif (
            operation.kind is OperationKind.READ
            and operation.key not in own
            and operation.value is not UNKNOWN
        ):
            yield operation.key, writers.get((operation.key, operation.value))


def _happens_before(history: History, sources: Any, place: dict[Any, int]) -> dict[str, dict[Any, set[Any]]]:
    sessions: dict[int, list[Any]] = {}
    for t in history:
        if t.id in place:
            sessions.setdefault(t.session, []).append(t.id)
    in_session = {one: {*members[:at]} for members in sessions.values() for at, one in enumerate(members)}
    previous = {after: before for members in sessions.values() for before, after in pairwise(members)}
    found: dict[Any, set[Any]] = {}
    for one in sorted(place, key=place.__getitem__):
        direct = {source for _, source in sources[one]} - {None, one} | {previous.get(one)} - {None}
        found[one] = direct.union(*(found[other] for other in direct))
    return {"session": in_session, "all": found}
