"""What the server did for each transaction of a history, as far as its profile and the answers tell.

An indeterminate transaction committed or did not: each choice gives a trace of its own.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from isoscope.history import UNKNOWN, OperationKind, Range, Status
from isoscope.profiles import Read
from isoscope.reference.instants.program import Program
from isoscope.reference.instants.steps import Step, Trace, related
from isoscope.reference.mechanisms.conduct import MARKERS, READS, WRITES
from isoscope.reference.reads import token

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.history import History, Scalar, Transaction
    from isoscope.profiles import Profile

__all__ = ["is_supported", "traces"]

_KINDS = (OperationKind.WRITE, OperationKind.INSERT, OperationKind.DELETE, *READS, *MARKERS)


def is_supported(history: History) -> bool:
    """Whether it has rows alone, neither lists nor cells of a row, and no predicates."""
    operations = [o for t in history for o in t.operations]
    return all(
        o.kind in _KINDS
        and o.predicate is None
        and not o.columns
        and not isinstance(o.value, tuple)
        and o.interval is not None
        for o in operations
    )


def traces(history: History, profile: Profile, *, sessions: bool = True) -> Iterator[Trace]:
    """One trace for each choice of which transactions of unknown end committed, or did their last statement.

    `sessions`: a transaction follows the one before it in its session, also where their times touch. Without
    reads of uncommitted data it is not seen whether a statement did its work that was rolled back.
    """
    transactions = [t for t in history if t.operations]
    is_seen = any(conduct.read is Read.UNCOMMITTED for conduct in profile.statements.values())
    may = [t.number for t in transactions if t.status is Status.INDETERMINATE]
    failed = [t.number for t in transactions if t.status is not Status.COMMITTED] if is_seen else []
    certain = {t.number for t in transactions if t.status is Status.COMMITTED}
    for commits, finishes in product(_subsets(may), _subsets(failed)):
        programs = [
            Program(
                t,
                profile,
                _keys(transactions),
                commits=t.number in certain | commits,
                finishes=t.number in finishes,
            )
            for t in transactions
        ]
        yield _trace(history, profile, programs, _sessions(transactions) if sessions else {})


def _subsets(numbers: list[int]) -> list[set[int]]:
    every = product((True, False), repeat=len(numbers))
    return [{n for n, is_in in zip(numbers, chosen, strict=True) if is_in} for chosen in every]


def _trace(history: History, profile: Profile, programs: list[Program], sessions: dict[int, int]) -> Trace:
    stages = {program.number: program.stages() for program in programs}
    steps = [step for program in programs for stage in stages[program.number] for step in stage]
    changed = {p.number: frozenset(_concerned(p, stages[p.number])) for p in programs}
    return Trace(
        steps=tuple(steps),
        before=tuple(_before(steps, stages, changed, sessions, profile)),
        changes={p.number: p.changes for p in programs},
        late={p.number: p.late for p in programs},
        sent={p.number: p.sent for p in programs},
        committed=frozenset(p.number for p in programs if p.commits),
        initial=_initial(history, _keys([p.transaction for p in programs])),
    )


def _concerned(program: Program, stages: list[list[Step]]) -> set[object]:
    """What a transaction changes or locks."""
    locked = {step.key for stage in stages for step in stage if step.key is not None}
    return locked | {change.key for change in program.changes}


def _keys(transactions: Iterable[Transaction]) -> dict[object, Scalar]:
    named = {token(o.key): o.key for t in transactions for o in t.operations if o.kind in (*WRITES, *READS)}
    shown = {
        token(key): key
        for t in transactions
        for o in t.operations
        if isinstance(o.value, Range)
        for key, _ in o.value.rows
    }
    return {key: own for key, own in (named | shown).items() if own is not None}


def _initial(history: History, keys: dict[object, Scalar]) -> dict[object, tuple[object, ...] | None]:
    """What each key held at first; None: anything."""
    told = {key: history.initial.of_key.get(own, history.initial.value) for key, own in keys.items()}
    return {key: None if value is UNKNOWN else (token(value),) for key, value in told.items()}


def _sessions(transactions: list[Transaction]) -> dict[int, int]:
    """The transaction of the same session that was answered before each one."""
    last: dict[int, Transaction] = {}
    found = {}
    for t in transactions:
        if t.session in last and last[t.session].status is Status.COMMITTED:
            found[t.number] = last[t.session].number
        last[t.session] = t
    return found


def _before(
    steps: list[Step],
    stages: dict[int, list[list[Step]]],
    changed: dict[int, frozenset[object]],
    sessions: dict[int, int],
    profile: Profile,
) -> Iterator[int]:
    index = {id(step): bit for bit, step in enumerate(steps)}
    for step in steps:
        mask = 0
        for other in steps:
            is_bound = not profile.clock_skew or related(other, step, changed)
            is_session = sessions.get(step.number) == other.number
            is_over = other.number != step.number and other.span.precedes(step.span)
            if is_bound and (is_over or is_session):
                mask |= 1 << index[id(other)]
        own = stages[step.number]
        place = next(n for n, stage in enumerate(own) if any(one is step for one in stage))
        for stage in own[:place]:
            for other in stage:
                mask |= 1 << index[id(other)]
        yield mask
