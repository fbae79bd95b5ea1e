"""All explanations of tiny histories: which transactions took effect, which write each read shows."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.verify.history import History, Transaction

INITIAL = -1
Version = tuple[int, int]


class World:
    """An explanation: who took effect, and which transaction wrote what each external read shows."""

    def __init__(self, history: History, counting: list[Transaction], writers: dict[Version, int]) -> None:
        self.history = history
        self.counting = counting
        self.writers = writers
        self.reads = {(t.number, place): (key, value) for t in counting for place, key, value in external(t)}

    def versions(self) -> dict[Any, list[Version]]:
        found: dict[Any, list[Version]] = {}
        for t in self.counting:
            for key, version in versions_of(t):
                found.setdefault(key, []).append(version)
        return found


def external(t: Transaction) -> Iterator[tuple[int, Any, Any]]:
    """External reads, with *P* of lists; a wrong own read is left out."""
    for place, (kind, key, value) in enumerate(t.operations):
        if kind != "read":
            continue
        own = [op[2] for op in t.operations[:place] if op[0] in ("write", "append") and op[1] == key]
        if not own:
            yield place, key, value
        elif isinstance(value, list) and value[len(value) - len(own) :] == own and len(value) >= len(own):
            yield place, key, value[: len(value) - len(own)]


def has_wrong_own_read(t: Transaction) -> bool:
    shown = {place for place, _, _ in external(t)}
    for place, (kind, key, value) in enumerate(t.operations):
        own = [op[2] for op in t.operations[:place] if op[0] in ("write", "append") and op[1] == key]
        if kind == "read" and own and place not in shown and (isinstance(value, list) or own[-1] != value):
            return True
    return False


def versions_of(t: Transaction) -> Iterator[tuple[Any, Version]]:
    for place, (kind, key, _) in enumerate(t.operations):
        later = [op for op in t.operations[place + 1 :] if op[0] == "write" and op[1] == key]
        if kind == "append" or (kind == "write" and not later):
            yield key, (t.number, place)


def value_of(history: History, version: Version) -> Any:
    return history.transactions[version[0]].operations[version[1]][2]


def worlds(history: History) -> Iterator[World]:
    """Every set of indeterminate transactions, every writer of every read of a register."""
    open_ones = [t for t in history.transactions if t.status == "indeterminate"]
    for size in range(len(open_ones) + 1):
        for took_effect in combinations(open_ones, size):
            counting = [t for t in history.transactions if t.status == "committed" or t in took_effect]
            yield from _worlds_of(history, counting)


def _worlds_of(history: History, counting: list[Transaction]) -> Iterator[World]:
    if any(is_unexplained(history, counting, t) for t in counting):
        return
    reads = {
        (t.number, place): possible(history, counting, t, key, value)
        for t in counting
        for place, key, value in external(t)
        if not isinstance(value, list)
    }
    reads = {read: numbers for read, numbers in reads.items() if numbers}  # the others are wrong in any case
    for chosen in product(*reads.values()):
        yield World(history, counting, dict(zip(reads, chosen, strict=True)))


def is_unexplained(history: History, counting: list[Transaction], t: Transaction) -> bool:
    """Whether a read shows what only transactions wrote that did not take effect, but may have."""
    alive = [other for other in history.transactions if other.status != "aborted"]
    for _, key, value in external(t):
        for element in value if isinstance(value, list) else [value]:
            # Nothing is told of the initial value of a list, so its elements are always written.
            if possible(history, alive, t, key, element) and not possible(history, counting, t, key, element):
                return True
    return False


def possible(
    history: History, counting: list[Transaction], reader: Transaction, key: Any, value: Any
) -> list[int]:
    found = [
        t.number
        for t in counting
        if t is not reader and any(k == key and value_of(history, v) == value for k, v in versions_of(t))
    ]
    said = history.initial
    written = any(op[:1] == ("write",) and op[1:] == (key, value) for t in counting for op in t.operations)
    return found + [INITIAL] * (value == said.value and not (said.replaceable and written))


def canonical(world: World) -> dict[Any, list[Any]]:
    longest: dict[Any, list[Any]] = {}
    for key, value in world.reads.values():
        if (
            isinstance(value, list)
            and len(value) > len(longest.get(key, []))
            and len(set(value)) == len(value)
        ):
            longest[key] = value
    for key, value in world.reads.values():
        same = isinstance(value, list) and len(value) == len(longest.get(key, []))
        if same and value != longest.get(key, []) and len(set(value)) == len(value):
            longest[key] = []
    return longest


def wrong_reads(world: World) -> bool:
    """Whether a read is wrong by itself, or a list is no beginning of the longest one."""
    if any(has_wrong_own_read(t) for t in world.counting):
        return True
    lists = canonical(world)
    for read, (key, value) in world.reads.items():
        if not isinstance(value, list):
            if read not in world.writers:
                return True
            continue
        if value != lists.get(key, [])[: len(value)]:
            return True
        authors = [appender(world, key, element, read[0]) for element in value]
        if None in authors:
            return True
        if value and authors[-1] != [v for k, v in versions_of_number(world, authors[-1]) if k == key][-1]:
            return True
    return torn(world, lists)


def torn(world: World, lists: dict[Any, list[Any]]) -> bool:
    """Whether the longest list shows the appends of a transaction out of order, or not from the first on."""
    for t in world.counting:
        for key, longest in lists.items():
            own = [op[2] for op in t.operations if op[0] == "append" and op[1] == key]
            shown = [element for element in longest if element in own]
            if shown != own[: len(shown)]:
                return True
    return False


def versions_of_number(world: World, version: Version | None) -> list[tuple[Any, Version]]:
    return [] if version is None else list(versions_of(world.history.transactions[version[0]]))


def appender(world: World, key: Any, element: Any, reader: int) -> Version | None:
    for t in world.counting:
        for written, version in versions_of(t):
            if written == key and t.number != reader and value_of(world.history, version) == element:
                return version
    return None


def has_duplicates(world: World) -> bool:
    return any(isinstance(v, list) and len(set(v)) < len(v) for _, v in world.reads.values())


def non_repeatable(world: World) -> bool:
    seen: dict[Any, Any] = {}
    return any(
        seen.setdefault((number, key), value) != value for (number, _), (key, value) in world.reads.items()
    )
