"""All that a history leaves open beside the writers of registers.

Semantics: "Explanations", "Repeated initial values", "Repeated elements", "Rows of repeated values". A choice
says which indeterminate transactions took effect, which unknown initial values a read shows, which append
each element of a list is, and which write each row of a log or of a declared order is.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations, islice, product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from isoscope.verify.explanation import NOTHING, external_reads, last_writes, takes_part
from isoscope.verify.history import (
    ABORTED,
    APPEND,
    COMMITTED,
    DELETE,
    INDETERMINATE,
    INSTALLS,
    READ,
    UNKNOWN,
    WRITE,
    RejectedError,
    kinds_of_keys,
)
from isoscope.verify.predicates import Unmatched, fits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.verify.explanation import Writes

__all__ = ["Choice", "all_choices"]

Version: TypeAlias = tuple[int, int]
Shown: TypeAlias = tuple[Version | None, ...]
_MOST = 5000
_Part = TypeVar("_Part")


class Choice(NamedTuple):
    """One way to explain a history, up to the writers of registers.

    `effects`: the indeterminate transactions that took effect. `initial`: a read that shows the initial
    value, for each open key that has one. `elements`: the appends that the lists of a key show of which an
    element repeats. `rows`: of each source and key, the writes.
    """

    effects: tuple[int, ...] = ()
    initial: tuple[Version, ...] = ()
    elements: tuple[tuple[Version, Shown], ...] = ()
    rows: tuple[tuple[str, Shown], ...] = ()


def all_choices(writes: Writes) -> list[Choice]:
    """Every choice; `RejectedError` if there are too many to look at one by one."""
    found: list[Choice] = []
    open_ones = [t.number for t in writes.history.transactions if t.status == INDETERMINATE and takes_part(t)]
    if len(open_ones) > _MOST.bit_length():
        raise RejectedError(f"there are more than {_MOST} explanations")
    for effects in chain.from_iterable(combinations(open_ones, size) for size in range(len(open_ones) + 1)):
        if not _are_shown(writes, {*effects}):
            continue
        for choice in _Choices(writes, effects).all():
            found.append(choice)
            if len(found) > _MOST:
                raise RejectedError(f"there are more than {_MOST} explanations")
    return found


def _few(parts: Iterator[_Part]) -> list[_Part]:
    """All of them; `RejectedError` before there are too many."""
    found = [*islice(parts, _MOST + 1)]
    if len(found) > _MOST:
        raise RejectedError(f"there are more than {_MOST} explanations")
    return found


def _are_shown(writes: Writes, effects: set[int]) -> bool:
    """Whether a counting transaction, or a log, may show a write of each of these.

    "Indeterminate transactions": one that nothing shows is left out.
    """
    log = writes.history.recorded.get("log", {})
    logged = (_authors(writes, key, value) for key, values in log.items() for value in values)
    shown = {*chain.from_iterable(logged)} & effects
    waiting = [t for t in writes.history.transactions if t.status == COMMITTED or t.number in shown]
    while waiting:
        t = waiting.pop()
        for kind, key, value in t.operations:
            for element in value if isinstance(value, list) else [value]:
                new = (
                    (effects - shown).intersection(_authors(writes, key, element)) if kind == READ else set()
                )
                shown |= new
                waiting += [writes.history.transactions[number] for number in new]
    return shown == effects


def _authors(writes: Writes, key: Any, value: Any) -> list[int]:
    return [*writes.of(key, value), *writes.earlier.get(key, {}).get(value, [])]


class _Choices:
    """The choices if exactly these indeterminate transactions took effect."""

    def __init__(self, writes: Writes, effects: tuple[int, ...]) -> None:
        self.writes = writes
        self.history = writes.history
        self.transactions = writes.history.transactions
        self.effects = effects
        self.counting = {t.number for t in self.transactions if t.status == COMMITTED} | set(effects)
        self.kinds = kinds_of_keys(self.transactions[number] for number in self.counting)
        self.reads = [
            ((number, place), key, value)
            for number in sorted(self.counting)
            for place, key, value in external_reads(self.transactions[number], [])
            if key not in self.kinds.unjudged
        ]

    def all(self) -> Iterator[Choice]:
        for initial in product(*self._initial()):
            chosen = tuple(read for read in initial if read is not None)
            if not self._is_explained(chosen):
                continue
            values = {self._operation(read)[1]: self._operation(read)[2] for read in chosen}
            lists = [_few(self._elements(key)) for key in self._repeated_lists()]
            rows = [_few(self._rows(source, key, values)) for source, key in self._repeated_rows()]
            for parts in product(*lists):
                elements = tuple(sorted(chain.from_iterable(parts)))
                yield from (Choice(self.effects, chosen, elements, each) for each in product(*rows))

    def _operation(self, operation: Version) -> tuple[str, Any, Any]:
        return self.transactions[operation[0]].operations[operation[1]]

    # Registers.

    def _initial(self) -> Iterator[list[Version | None]]:
        """For each register whose initial value is not known: none, or the first read of a possible value."""
        said = self.history.initial
        keys = dict.fromkeys(key for _, key, value in self.reads if not isinstance(value, list))
        for key in keys:
            if not said.is_open(key) or self._shown(key) is not NOTHING:
                continue
            first: dict[Any, Version] = {}
            wrong = set()
            for read, other, value in self.reads:
                if other != key or type(value) is Unmatched:
                    continue
                if value is None and key in self.history.may_be_absent:
                    first.setdefault(value, read)
                elif not self._possible(read[0], key, value):
                    wrong.add(value)
                elif len(self._wrote(read, key, value)) > 1:
                    first.setdefault(value, read)
            yield [None, *(read for value, read in first.items() if value not in wrong)]

    def _shown(self, key: Any) -> Any:
        """The first value that a counting transaction read and that no transaction wrote."""
        for read, other, value in self.reads:
            is_of_key = other == key and type(value) is not Unmatched
            if is_of_key and not self._wrote(read, key, value):
                return value
        return NOTHING

    def _wrote(self, read: Version, key: Any, value: Any) -> set[int]:
        """The transactions that wrote the value, whatever became of them; the reader only after the read."""
        if type(value) is Unmatched:
            return set()
        return {
            t.number
            for t in self.transactions
            for place, operation in enumerate(t.operations)
            if operation in ((WRITE, key, value), (DELETE, key, value), (APPEND, key, value))
            and (t.number != read[0] or place > read[1])
        }

    def _possible(self, reader: int, key: Any, value: Any) -> list[int]:
        return [number for number in self.writes.of(key, value) if number != reader]

    def _is_explained(self, initial: tuple[Version, ...]) -> bool:
        """Whether each read of a register that has possible writers has one that took effect."""
        supposed = dict(self._operation(read)[1:] for read in initial)
        for read, key, value in self.reads:
            if isinstance(value, list):
                if not all(self._may_be_shown(read[0], key, element) for element in value):
                    return False
                continue
            if self._may_be_initial(key, value, supposed):
                continue
            possible = self._possible(read[0], key, value)
            shown = self.counting.intersection(possible) if possible else self._is_seen(read, key, value)
            if not shown:
                return False
        return all(self._is_seen(read, key, element) for read, key, element in self._misplaced())

    def _may_be_initial(self, key: Any, value: Any, supposed: dict[Any, Any]) -> bool:
        if self.writes.is_of_first_transaction(key, value):
            return False
        known = supposed.get(key, self.history.initial.of(key))
        if known is UNKNOWN:
            known = self._shown(key)
            return type(value) is Unmatched and (known is NOTHING or value.allows(known))
        return fits(known, value) and not self._is_replaced(key, known)

    def _is_seen(self, read: Version, key: Any, value: Any) -> bool:
        """Whether a wrong read may show the value: not if only transactions without effect wrote it."""
        wrote = self._wrote(read, key, value)
        seen = (n in self.counting or self.transactions[n].status == ABORTED for n in wrote)
        return not wrote or any(seen)

    def _misplaced(self) -> Iterator[tuple[Version, Any, Any]]:
        """The elements of lists whose own appends stand in the wrong place: all may be of other writers."""
        for number in sorted(self.counting):
            wrong: list[int] = []
            for _ in external_reads(self.transactions[number], wrong):
                pass
            for place in wrong:
                _, key, value = self._operation((number, place))
                if isinstance(value, list) and key not in self.kinds.unjudged:
                    yield from (((number, -1), key, element) for element in value)

    def _may_be_shown(self, reader: int, key: Any, element: Any) -> bool:
        possible = self._possible(reader, key, element)
        return not possible or bool(self.counting.intersection(possible))

    def _is_replaced(self, key: Any, value: Any) -> bool:
        wrote = {n for n in self.counting if (WRITE, key, value) in self.transactions[n].operations}
        return self.history.initial.replaceable and bool(wrote)

    # Lists.

    def _repeated_lists(self) -> list[Any]:
        appended = Counter(
            (key, value) for t in self.transactions for kind, key, value in t.operations if kind == APPEND
        )
        return [
            key
            for key in dict.fromkeys(key for key, _ in appended)
            if any(count > 1 for (other, _), count in appended.items() if other == key)
        ]

    def _elements(self, key: Any) -> Iterator[tuple[tuple[Version, Shown], ...]]:
        """Lists that begin alike show the same appends there."""
        lists = {
            read: tuple(value)
            for read, other, value in self.reads
            if other == key and isinstance(value, list)
        }
        prefixes = {value[: size + 1] for value in lists.values() for size in range(len(value))}
        ordered = sorted(prefixes, key=lambda prefix: (len(prefix), repr(prefix)))
        for chosen in self._appends(key, lists, ordered, {}):
            yield tuple(
                (read, tuple(chosen[value[: size + 1]] for size in range(len(value))))
                for read, value in lists.items()
            )

    def _appends(
        self,
        key: Any,
        lists: dict[Version, tuple[Any, ...]],
        prefixes: list[tuple[Any, ...]],
        chosen: dict[tuple[Any, ...], Version | None],
    ) -> Iterator[dict[tuple[Any, ...], Version | None]]:
        if not prefixes:
            yield chosen
            return
        for version in self._last_append(key, lists, prefixes[0], chosen):
            yield from self._appends(key, lists, prefixes[1:], {**chosen, prefixes[0]: version})

    def _last_append(
        self,
        key: Any,
        lists: dict[Version, tuple[Any, ...]],
        prefix: tuple[Any, ...],
        chosen: dict[tuple[Any, ...], Version | None],
    ) -> list[Version | None]:
        """The appends that the last element may be; only an element without any may be a wrong one."""
        before = {chosen[prefix[:size]] for size in range(1, len(prefix))}
        places = self._places(key, prefix[-1], (APPEND,))
        unused = {n: [p for p in at if (n, p) not in before] for n, at in places.items()}
        readers = {read[0] for read, value in lists.items() if value[: len(prefix)] == prefix}
        # An own append before the own ones is wrong: if there are several, one that stands behind the read.
        following = {n: (n, at[-1 if n in readers else 0]) for n, at in unused.items() if at}
        possible = [
            version
            for number, version in following.items()
            if self.transactions[number].status != ABORTED and number not in readers
        ]
        if possible:
            is_end = prefix in lists.values()
            final = (
                [v for v in possible if last_writes(self.transactions[v[0]])[key] == v[1]] if is_end else []
            )
            return [version for version in final or possible if version[0] in self.counting]
        wrong = following or {number: (number, at[-1]) for number, at in places.items()}
        seen = [v for n, v in wrong.items() if n in self.counting or self.transactions[n].status == ABORTED]
        return [*seen] if wrong else [None]

    def _places(self, key: Any, value: Any, kinds: tuple[str, ...]) -> dict[int, list[int]]:
        """Where each transaction wrote the value."""
        found: dict[int, list[int]] = {}
        for t in self.transactions:
            for place, operation in enumerate(t.operations):
                if operation[0] in kinds and operation[1:] == (key, value):
                    found.setdefault(t.number, []).append(place)
        return found

    # Recorded orders.

    def _repeated_rows(self) -> Iterator[tuple[str, Any]]:
        for source, keys in self.history.recorded.items():
            yield from ((source, key) for key in keys if key not in self.kinds.unjudged)

    def _rows(self, source: str, key: Any, initial: dict[Any, Any]) -> Iterator[tuple[str, Shown]]:
        values = self.history.recorded[source][key]
        kind = APPEND if key in self.kinds.lists else WRITE
        said = self.history.initial
        start = initial.get(key, said.of_key.get(key, said.value))
        if kind == APPEND or self._is_replaced(key, start):
            start = NOTHING
        elif start is UNKNOWN:
            start = self._shown(key)
        found = {
            self._named(key, kind, values, writers)
            for writers in self._writers(source, key, [*values], (kind, start, Counter()))
        }
        yield from ((source, names) for names in sorted(found, key=repr))

    def _writers(
        self, source: str, key: Any, values: list[Any], state: tuple[str, Any, Counter[tuple[int, Any]]]
    ) -> Iterator[list[int | None]]:
        """The writer of each row, from the last row to the first; None for one that shows no write."""
        if not values:
            yield []
            return
        kind, start, used = state
        *earlier, value = values
        unused = [
            number
            for number, places in self._places(key, value, INSTALLS).items()
            if len(places) > used[number, value]
            and (source != "log" or self.transactions[number].status != ABORTED)
        ]
        shown: list[int | None] = [n for n in unused if source != "log" or n in self.counting]
        if not unused or (not earlier and value == start):
            shown.append(None)
        for writer in shown:
            now = used + Counter({(writer, value): 1}) if writer is not None else used
            for others in self._writers(source, key, earlier, (kind, start, now)):
                yield [*others, writer]

    def _named(self, key: Any, kind: str, values: list[Any], writers: list[int | None]) -> Shown:
        """The version that each row is; None if its write left none."""
        names: list[Version | None] = []
        used: Counter[tuple[int, Any]] = Counter()
        for value, writer in zip(values, writers, strict=True):
            if writer is None:
                names.append(None)
                continue
            t = self.transactions[writer]
            places = self._places(key, value, INSTALLS)[writer]
            place = places[used[writer, value]] if kind == APPEND else places[-1]
            used[writer, value] += 1
            is_version = writer in self.counting and (kind == APPEND or last_writes(t)[key] == place)
            names.append((writer, place) if is_version else None)
        return tuple(names)
