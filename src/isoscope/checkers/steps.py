"""Steps of a proof as data for reports: without detours, and shown by few readers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from isoscope.checkers.witnesses import installs, token, witness, witness_of
from isoscope.verdict import START, Anomaly, Step, Witness

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from isoscope._native import ProofStep
    from isoscope.checkers.witnesses import Recorded
    from isoscope.history import Operation, Transaction

__all__ = [
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

#: Sources that order all versions of a key: from one version to any later one is one step. The empty source
#: is that of a list.
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
    """All transactions that take part: at the ends of a step, or as the reader that shows it."""
    found = [
        label
        for step in steps
        for label in (step.before, step.after, *(w.transaction for w in step.witnesses))
    ]
    return tuple(label for label in dict.fromkeys([*first, *found]) if label != START)


def flat(steps: Sequence[Step]) -> Iterator[Step]:
    """Every step, after the steps that brought its first transaction to the sight of its reader."""
    for step in steps:
        yield from step.sight
        yield step


def chain(history: Recorded, found: Sequence[ProofStep]) -> tuple[Step, ...]:
    """The steps of the native core one after the other.

    A `cm` step carries, as its `sight`, the steps that brought its first transaction to the sight of its
    reader. The native core lists those right before it.
    """
    steps: list[Step] = []
    rest = list(found)
    while rest:
        last = rest.pop()
        sight: list[ProofStep] = []
        if last.relation == "cm" and last.operations:
            while not sight or sight[0].before != last.before:
                sight.insert(0, rest.pop())
        steps.insert(0, _step(history, last, tuple(_step(history, other, ()) for other in sight)))
    return without_detours(steps)


def turned(cycle: Sequence[Step]) -> tuple[Step, ...]:
    """The cycle, turned so that no detour spans its begin."""
    starts = [place for place in range(len(cycle)) if not _is_detour(cycle[place - 1], cycle[place])]
    place = starts[0] if starts else 0
    return without_detours([*cycle[place:], *cycle[:place]])


def without_detours(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps, with one step in the place of several along one list, one log or one session."""
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
    """The steps, with the order of a list shown by a read that the proof needs anyway, where there is one."""
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
    """The elements that a read of a list shows; none for any other operation."""
    return [*map(token, read.value)] if isinstance(read.value, tuple) else []


def _step(history: Recorded, found: ProofStep, sight: tuple[Step, ...]) -> Step:
    assert found.before is not None, "values prove nothing about the initial state"
    assert found.after is not None, "values prove nothing about the initial state"
    first, second = history.transaction(found.before), history.transaction(found.after)
    witnesses = tuple(witness(history, operation) for operation in found.operations)
    if found.relation == "ww" and witnesses and not found.source:
        witnesses = _neighbours(history, first, second, witnesses[0])
    return Step(
        before=first.label,
        after=second.label,
        relation=found.relation,
        key=found.key,
        session=first.session_id if found.relation == "session" else None,
        witnesses=witnesses,
        source=found.source,
        sight=sight,
    )


def _neighbours(
    history: Recorded, before: Transaction, after: Transaction, read: Witness
) -> tuple[Witness, ...]:
    """The read, and the two appends whose order it shows: as near as possible, or the second one missing."""
    shown = _elements(read)

    def distance(pair: tuple[Operation, Operation]) -> int:
        first, second = (_place(shown, append) for append in pair)
        return second - first if first < second else 2 * len(shown)

    seen = [append for append in installs(before, read.key) if token(append.value) in shown]
    pairs = [(first, second) for first in seen for second in installs(after, read.key)]
    first, second = min(pairs, key=distance)
    return (read, witness_of(history, before, first), witness_of(history, after, second))


def _place(shown: list[tuple[type, str]], append: Operation | Witness) -> int:
    """The place where a list shows an append; behind its end if it does not."""
    return shown.index(token(append.value)) if token(append.value) in shown else len(shown)
