"""Anomalies between transactions: TAP-g to TAP-i and TAP-k to TAP-n, and cycles of list appends.

Liu et al. 2024 (Plume), Table 1, named by DESIGN section 4; `reference/weak.py` is the specification,
`rust/kernel/src/weak` the engine. Every anomaly carries the steps that prove it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from isoscope.checkers.reads import installs, same, token, witness, witness_of
from isoscope.levels import Level
from isoscope.verdict import Anomaly, Step, Witness

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeAlias

    from isoscope.history import History, Operation, Transaction

    #: Numbers of the transactions before and after, and of the relation; the key; numbers of operations.
    StepRow: TypeAlias = tuple[int, int, int, Any, list[int]]
    #: Number of the name; reader, older (None: the initial one) and newer; key; read; order; sight.
    Finding: TypeAlias = tuple[
        int, tuple[int, int | None, int] | None, Any, int, list[StepRow], list[StepRow]
    ]

__all__ = ["NAMES", "anomaly", "breaks"]

#: The anomalies and the level whose axiom each breaks, by the numbers that the native core gives them.
NAMES = {
    "non-monotonic-read-co": Level.READ_COMMITTED,
    "non-monotonic-read-cm": Level.READ_COMMITTED,
    "fractured-read-co": Level.READ_ATOMIC,
    "fractured-read-cm": Level.READ_ATOMIC,
    "causal-conflict": Level.CAUSAL,
    "commit-order-conflict": Level.CAUSAL,
    "cyclic-causal-order": Level.READ_COMMITTED,
    "write-cycle": Level.READ_COMMITTED,
    "circular-information-flow": Level.READ_COMMITTED,
}
#: What a cycle breaks if it needs no session, and what if it does (beside read committed).
_CYCLES = {
    "cyclic-causal-order": (Level.PL_2, Level.STRONG_SESSION_PL_2),
    "write-cycle": (Level.PL_1, Level.STRONG_SESSION_PL_1),
    "circular-information-flow": (Level.PL_2, Level.STRONG_SESSION_PL_2),
}
_RELATIONS = ("session", "wr", "ww", "cm")


def breaks(anomaly: Anomaly) -> tuple[Level, ...]:
    """The weakest levels that an anomaly breaks: for a cycle that depends on whether it needs a session."""
    if anomaly.name not in _CYCLES:
        return (NAMES[anomaly.name],)
    without, with_sessions = _CYCLES[anomaly.name]
    if any(step.relation == "session" for step in anomaly.steps):
        return (with_sessions, Level.READ_COMMITTED)
    return (without,)


def anomaly(history: History, finding: Finding) -> Anomaly:
    """A finding of the native core as data for reports."""
    number, conflict, key, read, order, sight = finding
    name = list(NAMES)[number]
    if conflict is None:
        return _cycle(name, _with_fewer_readers(_round(_chain(history, order))))
    _, older, newer = conflict
    stale = witness(history, read)
    seen = _chain(history, sight)
    steps = _with_fewer_readers(_chain(history, order), [stale, *_shown_by(seen)])
    served = () if older is None else (_served(history, history.transaction(older), stale),)
    writer = history.transaction(newer)
    labels = {
        "older": served[0].before if served else None,
        "newer": writer.label,
        "reader": stale.transaction,
    }
    every = tuple(_flat((*steps, *seen, *served)))
    write = witness_of(history, writer, installs(writer, key)[-1])
    return Anomaly(
        name=name,
        transactions=_transactions(every, [label for label in labels.values() if label is not None]),
        keys=_keys([key, *_step_keys(every)]),
        witnesses=(stale, *(w for step in served for w in step.witnesses[1:]), write, *_shown_by(seen)),
        steps=every,
        facts={**labels, "served": served, "write": write, "order": steps, "sight": seen},
    )


def _cycle(name: str, steps: tuple[Step, ...]) -> Anomaly:
    return Anomaly(
        name=name,
        transactions=_transactions(steps),
        keys=_keys(_step_keys(steps)),
        witnesses=_shown_by(steps),
        steps=steps,
        facts={"order": steps},
    )


def _shown_by(steps: Sequence[Step]) -> tuple[Witness, ...]:
    """The operations that steps rest on, each once."""
    found: list[Witness] = []
    for step in steps:
        found += [w for w in step.witnesses if not any(_is_same(w, known) for known in found)]
    return tuple(found)


def _is_same(one: Witness, other: Witness) -> bool:
    return one == other and token(one.key) == token(other.key) and token(one.value) == token(other.value)


def _keys(keys: Iterable[object]) -> tuple[object, ...]:
    """Each key once: 1, 1.0 and True are three keys, though Python calls them equal."""
    return tuple({token(key): key for key in reversed(list(keys))}.values())[::-1]


def _step_keys(steps: Sequence[Step]) -> list[object]:
    return [step.key for step in steps if step.witnesses]


def _transactions(steps: Sequence[Step], first: Iterable[str] = ()) -> tuple[str, ...]:
    """Everyone who takes part: at the ends of a step, or as the reader who shows it."""
    found = [
        label
        for step in steps
        for label in (step.before, step.after, *(w.transaction for w in step.witnesses))
    ]
    return tuple(dict.fromkeys([*first, *found]))


def _flat(steps: Sequence[Step]) -> Iterator[Step]:
    """Every step, after those that brought its first transaction to the sight of its reader."""
    for step in steps:
        yield from step.sight
        yield step


def _chain(history: History, rows: Sequence[StepRow]) -> tuple[Step, ...]:
    """The steps one after the other; what came to sight by which steps goes into the step that it is for.

    The native core lists those right before it.
    """
    steps: list[Step] = []
    rest = list(rows)
    while rest:
        row = rest.pop()
        sight: list[StepRow] = []
        if _RELATIONS[row[2]] == "cm" and row[4]:
            while not sight or sight[0][0] != row[0]:
                sight.insert(0, rest.pop())
        steps.insert(0, _step(history, row, tuple(_step(history, other, ()) for other in sight)))
    return _without_detours(steps)


def _round(cycle: tuple[Step, ...]) -> tuple[Step, ...]:
    """The cycle, begun where no list goes on."""
    starts = [place for place in range(len(cycle)) if not _is_detour(cycle[place - 1], cycle[place])]
    place = starts[0] if starts else 0
    return _without_detours([*cycle[place:], *cycle[:place]])


def _without_detours(steps: Sequence[Step]) -> tuple[Step, ...]:
    """A list orders all of its elements: from one to another is one step, whatever stands between them."""
    shorter: list[Step] = []
    for step in steps:
        if shorter and _is_detour(shorter[-1], step):
            before = shorter.pop()
            witnesses = (*before.witnesses[:2], step.witnesses[2])
            shorter.append(replace(step, before=before.before, witnesses=witnesses))
        else:
            shorter.append(step)
    return tuple(shorter)


def _is_detour(first: Step, second: Step) -> bool:
    return (
        first.relation == second.relation == "ww"
        and bool(first.witnesses and second.witnesses)
        and token(first.key) == token(second.key)
        and first.before != second.after
    )


def _with_fewer_readers(steps: Sequence[Step], others: Sequence[Witness] = ()) -> tuple[Step, ...]:
    """The steps, the order of a list shown by a read that the proof needs anyhow, where there is one."""
    needed = {step.before for step in steps} | {step.after for step in steps}
    reads = [*others, *(w for step in steps if step.relation != "ww" for w in step.witnesses)]
    reads += [w for step in steps for w in step.witnesses if w.transaction in needed]
    return tuple(_shown_by_one_of(step, reads) for step in steps)


def _shown_by_one_of(step: Step, reads: Sequence[Witness]) -> Step:
    if step.relation != "ww" or not step.witnesses:
        return step
    longest, first, second = step.witnesses
    known = _elements(longest)
    for read in reads:
        shown = _elements(read)
        end = min(_place(shown, second) + 1, len(known))
        if token(second.value) not in shown:
            end = _place(known, first) + 1
        is_beginning = token(read.key) == token(step.key) and shown[:end] == known[:end]
        if is_beginning and token(first.value) in shown[:end] and len({*shown}) == len(shown):
            return replace(step, witnesses=(read, first, second))
    return step


def _elements(read: Witness) -> list[tuple[type, str]]:
    """What a read of a list shows; nothing for any other operation."""
    return [*map(token, read.value)] if isinstance(read.value, tuple) else []


def _step(history: History, row: StepRow, sight: tuple[Step, ...]) -> Step:
    before, after, number, key, operations = row
    first, second = history.transaction(before), history.transaction(after)
    relation = _RELATIONS[number]
    witnesses = tuple(witness(history, operation) for operation in operations)
    if relation == "ww" and witnesses:
        witnesses = _neighbours(history, first, second, witnesses[0])
    return Step(
        before=first.label,
        after=second.label,
        relation=relation,
        key=key,
        session=first.session_id if relation == "session" else None,
        witnesses=witnesses,
        sight=sight,
    )


def _neighbours(
    history: History, before: Transaction, after: Transaction, read: Witness
) -> tuple[Witness, ...]:
    """The read, and the two appends whose order it shows, next to each other or the second not there yet."""
    shown = _elements(read)

    def distance(pair: tuple[Operation, Operation]) -> int:
        first, second = (_place(shown, append) for append in pair)
        return second - first if first < second else 2 * len(shown)

    seen = [append for append in installs(before, read.key) if token(append.value) in shown]
    pairs = [(first, second) for first in seen for second in installs(after, read.key)]
    first, second = min(pairs, key=distance)
    return (read, witness_of(history, before, first), witness_of(history, after, second))


def _place(shown: list[tuple[type, str]], append: Operation | Witness) -> int:
    """Where a list shows an append; behind its end if not at all."""
    return shown.index(token(append.value)) if token(append.value) in shown else len(shown)


def _served(history: History, older: Transaction, stale: Witness) -> Step:
    """The stale read as a step: the older transaction comes before its reader."""
    writes = installs(older, stale.key)
    shown = [write for write in writes if same(write.value, stale.value)]
    return Step(
        before=older.label,
        after=stale.transaction,
        relation="wr",
        key=stale.key,
        witnesses=(stale, witness_of(history, older, (shown or writes)[-1])),
    )
