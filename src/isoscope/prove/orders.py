"""Orders that may show why a level holds, of a history with few transactions: all of them, one by one."""

from __future__ import annotations

from itertools import islice, permutations, product
from typing import TYPE_CHECKING, Any

from isoscope.verify.explanation import Explanation, external_reads, takes_part
from isoscope.verify.guarantees import versions_of
from isoscope.verify.history import APPEND, DELETE, UNKNOWN, WRITE
from isoscope.verify.predicates import fits
from isoscope.verify.reads import INITIAL
from isoscope.verify.state import shows_last

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.prove.steps import Named
    from isoscope.verify.explanation import Writes
    from isoscope.verify.history import Transaction
    from isoscope.verify.levels import Level

__all__ = ["all_orders"]

_MOST = 2000
_MOST_VERSIONS = 6
_Version = tuple[int, int]


def all_orders(
    writes: Writes, level: Level, named: Named, only: str | None = None
) -> Iterator[dict[str, Any]]:
    """Contents of witnesses of the kind that the level asks for; not more than a few thousand."""
    explanation = Explanation(writes)
    believes_lists = only in (None, "lists")
    counting = [t for t in writes.history.transactions if explanation.counting[t.number] and takes_part(t)]
    contents = _contents(explanation, counting, level, named, believes_lists=believes_lists)
    yield from islice(contents, _MOST)


def _contents(
    explanation: Explanation, counting: list[Transaction], level: Level, named: Named, *, believes_lists: bool
) -> Iterator[dict[str, Any]]:
    if level.kind in ("snapshot", "prefix"):
        for order in permutations(counting):
            events = _events(
                explanation, list(order), conflicts=level.kind == "snapshot", believes_lists=believes_lists
            )
            if events:
                yield {"events": [named.transaction(number) for number in events]}
        return
    writers = [*_writers(explanation, counting, named)]
    if not level.forbids_wrong_reads and level.kind != "pl-1":
        orders = [*_version_orders(counting, named)]
        yield from ({"versions": order, "writers": chosen} for chosen in writers for order in orders)
        return
    for order in permutations(counting):
        names = [named.transaction(t.number) for t in order]
        for chosen in writers if level.kind != "serializable" else [[]]:
            yield {"order": names, "writers": chosen}


def _writers(explanation: Explanation, counting: list[Transaction], named: Named) -> Iterator[list[Any]]:
    """Every choice of the writers of registers, as a certificate has it."""
    options: dict[_Version, list[Any]] = {}
    for t in counting:
        for place, key, value in external_reads(t, []):
            if isinstance(value, list):
                continue
            found = [
                n for n in explanation.writes.of(key, value) if n != t.number and explanation.counting[n]
            ]
            found += [INITIAL] if explanation.possible_initial(key, value) else []
            if not found:  # an intermediate read, which session guarantees do not forbid
                replaced = explanation.writes.earlier.get(key, {}).get(value, [])
                found = [n for n in sorted({*replaced}) if n != t.number and explanation.counting[n]]
            if len(found) > 1:
                options[t.number, place] = [_written(explanation, number, key, named) for number in found]
    for chosen in islice(product(*options.values()), 64):
        yield [[named.operation(read), write] for read, write in zip(options, chosen, strict=True)]


def _written(explanation: Explanation, number: int, key: Any, named: Named) -> Any:
    if number == INITIAL:
        return None
    t = explanation.history.transactions[number]
    return next(named.operation(version) for other, version in versions_of(t) if other == key)


def _version_orders(counting: list[Transaction], named: Named) -> Iterator[list[Any]]:
    of_key: dict[Any, list[_Version]] = {}
    for t in counting:
        for key, version in versions_of(t):
            of_key.setdefault(key, []).append(version)
    every = [[*permutations(versions)] for versions in of_key.values() if len(versions) <= _MOST_VERSIONS]
    if len(every) == len(of_key):
        for orders in islice(product(*every), _MOST):
            yield [[*map(named.operation, order)] for order in orders]


def _events(
    explanation: Explanation, order: list[Transaction], *, conflicts: bool, believes_lists: bool
) -> list[int]:
    """Begins as late as the reads allow, for this order of commits; empty if there are none."""
    states: list[dict[Any, Any]] = [{}]
    for t in order:
        states.append(_after(states[-1], t))
    begins: dict[int, list[int]] = {}
    for place, t in enumerate(order):
        fitting = (
            at
            for at in range(place, -1, -1)
            if _reads_from(explanation, states[at], t, believes_lists=believes_lists)
        )
        begin = next(fitting, None)
        if begin is None or (conflicts and _meets(t, order[begin:place])):
            return []
        begins.setdefault(begin, []).append(t.number)
    events: list[int] = []
    for place, t in enumerate(order):
        events += begins.get(place, [])
        events.append(t.number)
    return events


def _after(state: dict[Any, Any], t: Transaction) -> dict[Any, Any]:
    found = dict(state)
    for kind, key, value in t.operations:
        if kind in (WRITE, DELETE):
            found[key] = value
        elif kind == APPEND:
            found[key] = [*found.get(key, []), value]
    return found


def _reads_from(
    explanation: Explanation, state: dict[Any, Any], t: Transaction, *, believes_lists: bool
) -> bool:
    for _, key, value in external_reads(t, []):
        if key in state:
            is_shown = fits(state[key], value) or (not believes_lists and shows_last(state[key], value))
        else:
            current = explanation.initial(key)
            is_shown = current is UNKNOWN or fits(current, value) or explanation.possible_initial(key, value)
        if not is_shown:
            return False
    return True


def _meets(t: Transaction, others: list[Transaction]) -> bool:
    keys = {key for key, _ in versions_of(t)}
    return any(key in keys for other in others for key, _ in versions_of(other))
