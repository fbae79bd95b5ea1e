"""The clock levels: do reads and writes agree with the database's own timestamps?

Li et al. 2025 (CHRONOS and AION), Definition 4. `clock-snapshot-isolation` asks of the execution that the
timestamps give for SESSION, INT, EXT and NOCONFLICT, and that no transaction commits before it starts;
PREFIX holds by construction. `clock-serializable` is the same with VIS = AR: only INT and EXT remain.

Where the paper is silent (ties, lists, transactions without timestamps), `docs/explanation/semantics.md` has
the rule. A history that `clock-serializable` accepts is serializable. A history that
`clock-snapshot-isolation` accepts satisfies strong-session snapshot isolation. Cost: cubic, on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

from isoscope.history import OperationKind
from isoscope.levels import Level
from isoscope.reference import reads
from isoscope.reference.doubtful_writes import may_be_explained
from isoscope.reference.execution import Execution, committed, started
from isoscope.reference.origins import Origin, shows
from isoscope.reference.rows import is_set_aside
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import History, Operation, Scalar, Transaction

__all__ = ["LEVELS", "Judgement", "SetAside", "Violation", "judge"]

#: The place of a read, and what it shows.
Read = tuple[int, object]

LEVELS = (Level.CLOCK_SNAPSHOT_ISOLATION, Level.CLOCK_SERIALIZABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One axiom, broken once. Keys and values are `reads.token`s; lists are tuples of them.

    `transaction` is the reader, the later one in the session or the later one in AR; `other` is the other
    one, or the writer of the value that was found (the initial transaction is `INITIAL`). `index` is the
    place of the read. `expected` is None if the initial value was due and is not known; if a list does not
    end with the own appends, it is these.
    """

    name: str
    axiom: str
    transaction: int
    other: int | None = None
    key: object = None
    index: int | None = None
    expected: object = None
    found: object = None
    cls: str | None = None


class SetAside(NamedTuple):
    """A key (`deleted`, `mixed`, `timeless`) or transaction (`range-read`, `timeless`) that is not judged.

    With both (`repeated`): what the transaction first read of the key.
    """

    reason: str
    transaction: int | None = None
    key: object = None


@dataclass(frozen=True)
class Judgement:
    """Every violation; everything that was set aside; how many timestamps belong to several transactions."""

    violations: tuple[Violation, ...]
    set_aside: frozenset[SetAside]
    ties: int

    @property
    def outcome(self) -> Outcome:
        """A violation counts even if something was set aside."""
        if self.violations:
            return Outcome.VIOLATED
        return Outcome.UNKNOWN if self.set_aside else Outcome.HOLDS


def judge(history: History, level: Level) -> Judgement:
    """Every violation of one of `LEVELS`, by transaction and place."""
    execution = Execution(history, level)
    found = [*_internal(execution), *_external(execution)]
    if level is Level.CLOCK_SNAPSHOT_ISOLATION:
        found += [*_session(execution), *_no_conflict(execution), *_start_before_commit(execution)]
    return Judgement(tuple(sorted(found, key=_place)), frozenset(_set_aside(execution)), execution.ties)


def _place(violation: Violation) -> tuple[object, ...]:
    index, other = (-2 if n is None else n for n in (violation.index, violation.other))
    return violation.transaction, index, violation.axiom, other, str(violation.key)


# The axioms.


def _session(execution: Execution) -> Iterator[Violation]:
    """SO is a part of VIS: checked for neighbours, from which the other pairs follow."""
    judged = {t.number for t in execution.arbitration}
    for session in execution.history.sessions:
        for before, after in pairwise(n for n in session.transactions if n in judged):
            if (before, after) not in execution.vis:
                yield Violation(name="session-order", axiom="session", transaction=after, other=before)


def _no_conflict(execution: Execution) -> Iterator[Violation]:
    """Of two transactions that write a key, one sees the other; with equal commits neither does."""
    for key in execution.keys:
        for before, after in combinations(execution.writers(key), 2):
            pair = (before.number, after.number)
            if before.commit == after.commit or not {pair, pair[::-1]} & execution.vis:
                yield Violation(
                    name="write-conflict",
                    axiom="noconflict",
                    transaction=after.number,
                    other=before.number,
                    key=reads.token(key),
                )


def _start_before_commit(execution: Execution) -> Iterator[Violation]:
    """Equation 1."""
    for t in execution.arbitration:
        if started(t) > committed(t):
            yield Violation(name="timestamp-inversion", axiom="start-before-commit", transaction=t.number)


def _internal(execution: Execution) -> Iterator[Violation]:
    """INT: after its first access to a key, a transaction reads the value of its last access.

    This needs no timestamps.
    """
    for key in execution.keys:
        for t in execution.counted:
            for place, expected, found in _accesses(execution, t, key).wrong:
                yield Violation(
                    name=_internal_name(execution, t, key, place, found),
                    axiom="int",
                    transaction=t.number,
                    key=reads.token(key),
                    index=place,
                    expected=expected,
                    found=found,
                )


def _internal_name(execution: Execution, t: Transaction, key: Scalar, place: int, found: object) -> str:
    own = reads.installed_before(t, key, place)
    if not own:
        return "non-repeatable-read"
    if found == own[-1]:
        return "non-repeatable-read"
    is_earlier = execution.shape(key) == "register" and found in own[:-1]
    return "not-my-last-write" if is_earlier else "not-my-own-write"


def _external(execution: Execution) -> Iterator[Violation]:
    """EXT: the first access of a key, if it is a read, shows the last version in AR that VIS lets it see.

    A predicate that leaves the key out does not say which version it was, so the next read is asked too.
    """
    for key in execution.keys:
        for t in execution.arbitration if not execution.is_timeless(key) else ():
            expected = execution.state(key, execution.visible(t, key))
            certain, _ = _stale(execution, t, key)
            for place, found in certain[:1]:
                cls, other = Origin(execution, t, key).of(found)
                yield Violation(
                    name="stale-read",
                    axiom="ext",
                    transaction=t.number,
                    other=other,
                    key=reads.token(key),
                    index=place,
                    expected=expected,
                    found=found,
                    cls=cls,
                )


def _stale(execution: Execution, t: Transaction, key: Scalar) -> tuple[list[Read], list[Read]]:
    """External reads that do not show the state that is due, and those that a doubtful writer may explain."""
    expected = execution.state(key, execution.visible(t, key))
    first = _accesses(execution, t, key).external
    stale = [one for one in first if not _is_right(execution, t, key, one[1], expected)]
    explained = [one for one in stale if may_be_explained(execution, t, key, one[1])]
    return [one for one in stale if one not in explained], explained


def _is_right(execution: Execution, t: Transaction, key: Scalar, found: object, expected: object) -> bool:
    """Whether a read shows the state that is due; an unknown one may be any that a predicate leaves out."""
    is_unseen = expected is None and not execution.visible(t, key)
    if isinstance(found, str) and is_unseen:
        return execution.may_be_left_out(key, found)
    if found == reads.NIL and is_unseen:
        return execution.may_be_absent(key)
    return shows(found, expected)


class _Accesses(NamedTuple):
    """The accesses of a transaction to a key: `external` has places of external reads, and what they show.

    That is a value, a list, or the predicate that left the key out. `wrong`: reads that do not follow from
    the accesses before them (place, expected, found).
    """

    external: list[Read]
    wrong: list[tuple[int, object, object]]


def _accesses(execution: Execution, t: Transaction, key: Scalar) -> _Accesses:
    known = {place for place, _ in reads.known_reads(t)}
    operations = [
        (place, operation)
        for place, operation in enumerate(t.operations)
        if reads.token(operation.key) == reads.token(key)
        and (place in known or operation.kind in reads.INSTALLS)
    ]
    return (_of_list if execution.shape(key) == "list" else _of_register)(t, operations)


def _of_register(_: Transaction, operations: list[tuple[int, Operation]]) -> _Accesses:
    external: list[Read] = []
    wrong: list[tuple[int, object, object]] = []
    before: list[object] = []  # The last value, and the predicates that left it out since or before.
    for place, operation in operations:
        predicate = reads.asked(operation) if operation.kind is OperationKind.READ else None
        found = predicate if predicate is not None else reads.token(operation.value)
        if operation.kind is not OperationKind.READ:
            before = [found]
            continue
        if all(isinstance(shown, str) for shown in before):
            external.append((place, found))
        differing = [shown for shown in before if not shows(found, shown) and not shows(shown, found)]
        wrong += [(place, shown, found) for shown in differing[:1]]
        before = [*before, found] if predicate is not None and not differing else [found]
    return _Accesses(external, wrong)


def _of_list(t: Transaction, operations: list[tuple[int, Operation]]) -> _Accesses:
    """The first read is P and the own appends; a later one is the read before it and the appends since."""
    external: list[Read] = []
    wrong: list[tuple[int, object, object]] = []
    shown: tuple[object, ...] | None = None
    since: tuple[object, ...] = ()
    for place, operation in operations:
        if operation.kind is not OperationKind.READ:
            since = (*since, reads.token(operation.value))
            continue
        found = tuple(reads.seen(operation))
        foreign = reads.foreign_part(t, place, operation)
        if shown is None and foreign is not None:
            external.append((place, tuple(foreign)))
        elif shown is None or found != shown + since:
            wrong.append((place, (shown or ()) + since, found))
        shown, since = found, ()
    return _Accesses(external, wrong)


def _set_aside(execution: Execution) -> Iterator[SetAside]:
    for t in execution.transactions:
        if t in execution.counted and any(map(is_set_aside, t.operations)):
            yield SetAside("range-read", transaction=t.number)
    for t in execution.timeless:
        yield SetAside("timeless", transaction=t.number)
    for key in execution.history.keys:
        if execution.shape(key) not in ("register", "list"):
            yield SetAside(execution.shape(key), key=reads.token(key))
        elif execution.is_timeless(key):
            yield SetAside("timeless", key=reads.token(key))
        else:
            explained = (t for t in execution.arbitration if _stale(execution, t, key)[1])
            yield from (SetAside("repeated", t.number, reads.token(key)) for t in explained)
