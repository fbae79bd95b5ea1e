"""Steps of a proof: the numbers of the native core as data, by the shortest way and with few readers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from isoscope.checkers.witnesses import installs, token, witness, witness_of
from isoscope.verdict import START, Anomaly, Step, Witness

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeAlias

    from isoscope.history import History, Operation, Transaction

    #: Numbers of the transactions before and after, and of the relation; the key; numbers of operations.
    StepRow: TypeAlias = tuple[int, int, int, Any, list[int]]

__all__ = [
    "RELATIONS",
    "chain",
    "cycle",
    "each_key",
    "flat",
    "shown_by",
    "step_keys",
    "transactions_of",
    "turned",
    "with_fewer_readers",
    "without_detours",
]

#: By the numbers that the native core gives them.
RELATIONS = ("session", "wr", "ww", "cm", "rw", "real-time")
#: How the order of versions can be known without looking at each two of them: from one to another is one
#: step, whatever lies between. The empty one is a list's.
_WHOLE_ORDERS = ("", "list read", "log", "declared", "timestamps")


def cycle(name: str, steps: Sequence[Step]) -> Anomaly:
    """The anomaly that steps in a circle are."""
    return Anomaly(
        name=name,
        transactions=transactions_of(steps),
        keys=each_key(step_keys(steps)),
        witnesses=shown_by(steps),
        steps=tuple(steps),
    )


def shown_by(steps: Sequence[Step]) -> tuple[Witness, ...]:
    """The operations that steps rest on, each once."""
    found: list[Witness] = []
    for step in steps:
        found += [w for w in step.witnesses if not any(_is_same(w, known) for known in found)]
    return tuple(found)


def _is_same(one: Witness, other: Witness) -> bool:
    return one == other and token(one.key) == token(other.key) and token(one.value) == token(other.value)


def each_key(keys: Iterable[object]) -> tuple[object, ...]:
    """Each key once: 1, 1.0 and True are three keys, though Python calls them equal."""
    return tuple({token(key): key for key in reversed(list(keys))}.values())[::-1]


def step_keys(steps: Sequence[Step]) -> list[object]:
    """The keys that steps are about."""
    return [step.key for step in steps if step.witnesses]


def transactions_of(steps: Sequence[Step], first: Iterable[str] = ()) -> tuple[str, ...]:
    """Everyone who takes part: at the ends of a step, or as the reader who shows it."""
    found = [
        label
        for step in steps
        for label in (step.before, step.after, *(w.transaction for w in step.witnesses))
    ]
    return tuple(label for label in dict.fromkeys([*first, *found]) if label != START)


def flat(steps: Sequence[Step]) -> Iterator[Step]:
    """Every step, after those that brought its first transaction to the sight of its reader."""
    for step in steps:
        yield from step.sight
        yield step


def chain(history: History, rows: Sequence[StepRow]) -> tuple[Step, ...]:
    """The steps one after the other; what came to sight by which steps goes into the step that it is for.

    The native core lists those right before it.
    """
    steps: list[Step] = []
    rest = list(rows)
    while rest:
        row = rest.pop()
        sight: list[StepRow] = []
        if RELATIONS[row[2]] == "cm" and row[4]:
            while not sight or sight[0][0] != row[0]:
                sight.insert(0, rest.pop())
        steps.insert(0, _step(history, row, tuple(_step(history, other, ()) for other in sight)))
    return without_detours(steps)


def turned(cycle: Sequence[Step]) -> tuple[Step, ...]:
    """The cycle, begun where no order of versions goes on."""
    starts = [place for place in range(len(cycle)) if not _is_detour(cycle[place - 1], cycle[place])]
    place = starts[0] if starts else 0
    return without_detours([*cycle[place:], *cycle[:place]])


def without_detours(steps: Sequence[Step]) -> tuple[Step, ...]:
    """A list orders all of its elements: from one to another is one step, whatever stands between them.

    So does a log, and a session its transactions.
    """
    shorter: list[Step] = []
    for step in steps:
        if shorter and _is_detour(shorter[-1], step):
            shorter.append(_joined(shorter.pop(), step))
        else:
            shorter.append(step)
    return tuple(shorter)


def _joined(first: Step, second: Step) -> Step:
    times = (first.times[0], second.times[1]) if first.times and second.times else None
    witnesses = (*first.witnesses[:-1], *second.witnesses[-1:])
    return replace(second, before=first.before, witnesses=witnesses, times=times)


def _is_detour(first: Step, second: Step) -> bool:
    if first.before == second.after or (first.relation, first.source) != (second.relation, second.source):
        return False
    if first.relation in ("session", "real-time"):
        return True
    return (
        first.relation == "ww"
        and first.source in _WHOLE_ORDERS
        and bool(first.witnesses and second.witnesses)
        and token(first.key) == token(second.key)
    )


def with_fewer_readers(steps: Sequence[Step], others: Sequence[Witness] = ()) -> tuple[Step, ...]:
    """The steps, the order of a list shown by a read that the proof needs anyhow, where there is one."""
    needed = {step.before for step in steps} | {step.after for step in steps}
    reads = [*others, *(w for step in steps if step.relation != "ww" for w in step.witnesses)]
    reads += [w for step in steps for w in step.witnesses if w.transaction in needed]
    return tuple(_shown_by_one_of(step, reads) for step in steps)


def _shown_by_one_of(step: Step, reads: Sequence[Witness]) -> Step:
    if step.relation != "ww" or not step.witnesses or not isinstance(step.witnesses[0].value, tuple):
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
    relation = RELATIONS[number]
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
