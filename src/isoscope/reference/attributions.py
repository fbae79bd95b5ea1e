"""Attributions: the write that each value shown by a read, a list or a recorded order may come from.

Values may repeat, so a value alone does not identify its write. Here it is known which transactions took
effect, and what each register held before the first write. Every site that shows values (a read, the lists
of a key, the recorded order of a key) has its options; an option gives each value the name of one write. A
site without options says that other transactions must have taken effect. Cost: exponential, on purpose.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from isoscope.history import Status, VersionSource
from isoscope.reference import reads
from isoscope.reference.predicates import asks_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isoscope.history import History, Operation, Scalar, Transaction

__all__ = ["INITIAL_STATE", "Attributions", "Option", "Shown", "Site", "left_by_others", "write_name"]

#: A read, by numbers of transaction and operation; or a recorded order, by its source and the key's token.
Site: TypeAlias = tuple[int, int] | tuple[VersionSource, object]
#: Names of writes instead of values: of a register one, of a list or a recorded order several.
Shown: TypeAlias = str | tuple[str, ...]
Option: TypeAlias = dict[Site, Shown]
#: The beginning of a list, as `reads.token`s.
Prefix: TypeAlias = tuple[object, ...]

#: The name of what a register held before the first write.
INITIAL_STATE = "initial"


def write_name(transaction: int, place: int) -> str:
    """The name of a write: no two have the same."""
    return f"{transaction}.{place}"


def left_by_others(
    transactions: Sequence[Transaction], reader: Transaction, key: object, value: object
) -> list[Transaction]:
    """The other transactions that did not abort and whose last write of a register is `value`."""
    return [
        t
        for t in transactions
        if t is not reader and t.status is not Status.ABORTED and reads.installed(t, key)[-1:] == [value]
    ]


def _unwritten(value: object) -> str:
    return f"unwritten {value}"


@dataclass(frozen=True)
class Attributions:
    """The options, if the `effective` transactions took effect and registers started with `initial`."""

    history: History
    transactions: Sequence[Transaction]
    effective: frozenset[int]
    initial: Mapping[object, object]

    def sites(self) -> Iterator[list[Option]]:
        """The options of every site."""
        for key in self.history.keys:
            shape = self.shapes[reads.token(key)]
            if shape == "register":
                yield from self._register(key)
            elif shape == "list":
                yield from self._list(key)
        yield from self._recorded_orders()

    @cached_property
    def shapes(self) -> dict[object, str]:
        """What each key holds, by the transactions that took effect."""
        took_effect = [t for t in self.transactions if t.number in self.effective]
        return {reads.token(key): reads.shape(took_effect, key) for key in self.history.keys}

    def _reads(self, key: Scalar) -> Iterator[tuple[Transaction, int, Operation]]:
        for reader in self.transactions:
            for place, read in reads.reads_of(reader, key) if reader.number in self.effective else ():
                yield reader, place, read

    def places(self, t: Transaction, key: object, value: object) -> list[int]:
        """Where the transaction writes `value`, in program order."""
        return [
            place
            for place, o in enumerate(t.operations)
            if o.kind in reads.INSTALLS and (reads.token(o.key), reads.token(o.value)) == (key, value)
        ]

    def is_seen(self, t: Transaction) -> bool:
        """Whether a wrong read may show it: all but those that did not take effect without having aborted."""
        return t.number in self.effective or t.status is Status.ABORTED

    # Registers.

    def _register(self, key: Scalar) -> Iterator[list[Option]]:
        for reader, place, read in self._reads(key):
            is_own = bool(reads.installed_before(reader, key, place))
            if reads.asked(read) is not None:
                of_read = self._own_read_of_nothing if is_own else self._read_of_nothing
            else:
                of_read = self._own_read if is_own else self._external_read
            yield [{(reader.number, place): name} for name in of_read(reader, place, read)]

    def _own_read(self, reader: Transaction, place: int, read: Operation) -> list[str]:
        """The own write of the value, the last before the read or else the first after it."""
        places = self.places(reader, reads.token(read.key), reads.token(read.value))
        nearest = [p for p in places if p < place][-1:] or places[:1]
        return [write_name(reader.number, p) for p in nearest] or [_unwritten(reads.token(read.value))]

    def _external_read(self, reader: Transaction, place: int, read: Operation) -> list[str]:
        """The possible writers; only a read without any may show a write that it should not."""
        key, value = reads.token(read.key), reads.token(read.value)
        possible = left_by_others(self.transactions, reader, read.key, value)
        is_initial = value == self.initial[key]
        if possible or is_initial:
            names = [self._last(t, key, value) for t in possible if t.number in self.effective]
            return [*names, INITIAL_STATE] if is_initial else names
        wrong = reads.writers(list(self.transactions), reader, place, read.key, value)
        names = [self._last(t, key, value) for t in wrong if self.is_seen(t)]
        return names if wrong else [_unwritten(value)]

    def _own_read_of_nothing(self, reader: Transaction, place: int, read: Operation) -> list[str]:
        """A predicate leaves out the last own write, unless it asks for that."""
        *_, value = reads.installed_before(reader, read.key, place)
        if asks_for(reads.asked(read) or "", value):
            return [_unwritten(reads.asked(read))]
        places = self.places(reader, reads.token(read.key), value)
        return [write_name(reader.number, p) for p in places if p < place][-1:]

    def _read_of_nothing(self, reader: Transaction, _: int, read: Operation) -> list[str]:
        """A predicate leaves out what one of the possible writers left."""
        key = reads.token(read.key)
        possible = reads.left_unmatched(self.transactions, reader, read)
        names = [
            self._last(
                self.transactions[number], key, reads.installed(self.transactions[number], read.key)[-1]
            )
            for number in possible
            if number in self.effective
        ]
        if self._is_left_out_at_first(read):
            return [*names, INITIAL_STATE]
        return names if possible else [_unwritten(reads.asked(read))]

    def _is_left_out_at_first(self, read: Operation) -> bool:
        """An unknown initial value that no read shows may be one that the predicate does not ask for."""
        initial = self.initial[reads.token(read.key)]
        transactions = list(self.transactions)
        if reads.is_inserted_first(transactions, read.key):
            return False
        if initial is not None:
            return not asks_for(reads.asked(read) or "", initial)
        return reads.is_open(self.history, transactions, self.effective, read.key)

    def _last(self, t: Transaction, key: object, value: object) -> str:
        return write_name(t.number, self.places(t, key, value)[-1])

    # Lists.

    def _list(self, key: Scalar) -> Iterator[list[Option]]:
        """Lists that begin alike show the same appends there; a list with misplaced own appends is apart."""
        found = {(t.number, p): (t, reads.foreign_part(t, p, read), read) for t, p, read in self._reads(key)}
        together = {site: tuple(foreign) for site, (_, foreign, _) in found.items() if foreign is not None}
        yield [
            {site: (*names, *self._own_appends(key, *site)) for site, names in option.items()}
            for option in self._lists(key, together, may_be_own=False)
        ]
        for site, (_, foreign, read) in found.items():
            if foreign is None:
                apart = self._lists(key, {site: tuple(reads.seen(read))}, may_be_own=True)
                yield [{**option} for option in apart]

    def _own_appends(self, key: Scalar, reader: int, place: int) -> list[str]:
        operations = enumerate(self.transactions[reader].operations[:place])
        mine = [
            p for p, o in operations if o.kind in reads.INSTALLS and reads.token(o.key) == reads.token(key)
        ]
        return [write_name(reader, p) for p in mine]

    def _lists(
        self, key: Scalar, lists: Mapping[tuple[int, int], Prefix], *, may_be_own: bool
    ) -> Iterator[dict[Site, tuple[str, ...]]]:
        prefixes = {elements[: size + 1] for elements in lists.values() for size in range(len(elements))}
        appends = _Appends(self, key, lists, may_be_own=may_be_own)
        for chosen in appends.choices(sorted(prefixes, key=lambda p: (len(p), repr(p))), {}):
            yield {
                site: tuple(appends.name(elements[: size + 1], chosen) for size in range(len(elements)))
                for site, elements in lists.items()
            }

    # Recorded orders.

    def _recorded_orders(self) -> Iterator[list[Option]]:
        for order in self.history.version_orders:
            for key, values in order.versions.items():
                rows = [reads.token(value) for value in values]
                shape = self.shapes.get(reads.token(key))
                if shape in ("register", "list"):
                    chosen = self._rows(order.source, reads.token(key), rows, Counter())
                    names = sorted({self._row_names(reads.token(key), rows, each) for each in chosen})
                    yield [{(order.source, reads.token(key)): each} for each in names]

    def _rows(
        self, source: VersionSource, key: object, rows: list[object], used: Counter[tuple[int, object]]
    ) -> Iterator[list[int | None]]:
        """The writer of each row, from the last to the first; None for a row that shows no write.

        Different rows are different writes. If there are more rows than writes, the first ones say nothing.
        """
        if not rows:
            yield []
            return
        *earlier, value = rows
        wrote = [t for t in self.transactions if self._is_recorded(source, t)]
        unused = [t for t in wrote if len(self.places(t, key, value)) > used[t.number, value]]
        writers: list[int | None] = [t.number for t in unused if self._may_be_shown(source, t)]
        is_start = not earlier and self.shapes[key] == "register" and value == self.initial[key]
        for writer in [*writers, *([None] if not unused or is_start else [])]:
            now = Counter({(writer, value): 1}) if writer is not None else Counter()
            for others in self._rows(source, key, earlier, used + now):
                yield [*others, writer]

    def _is_recorded(self, source: VersionSource, t: Transaction) -> bool:
        """Whether the source may show the transaction: a log shows none that aborted."""
        return source is not VersionSource.LOG or t.status is not Status.ABORTED

    def _may_be_shown(self, source: VersionSource, t: Transaction) -> bool:
        """A log proves that a transaction took effect; a declared order does not."""
        return source is not VersionSource.LOG or t.number in self.effective

    def _row_names(self, key: object, rows: list[object], writers: list[int | None]) -> tuple[str, ...]:
        """A register has the last write of its writer; equal elements of a list follow program order."""
        names: list[str] = []
        used: Counter[tuple[int, object]] = Counter()
        for value, writer in zip(rows, writers, strict=True):
            if writer is not None:
                places = self.places(self.transactions[writer], key, value)
                place = places[used[writer, value]] if self.shapes[key] == "list" else places[-1]
                used[writer, value] += 1
                names.append(write_name(writer, place))
        return tuple(names)


@dataclass(frozen=True)
class _Appends:
    """Which transaction appended the last element of each beginning of the lists of one key."""

    attributions: Attributions
    key: Scalar
    lists: Mapping[tuple[int, int], Prefix]
    may_be_own: bool

    def choices(
        self, prefixes: list[Prefix], chosen: dict[Prefix, int | None]
    ) -> Iterator[dict[Prefix, int | None]]:
        """Every way to name the appender of each beginning, the shorter ones first."""
        if not prefixes:
            yield chosen
            return
        for appender in self.appenders(prefixes[0], chosen):
            yield from self.choices(prefixes[1:], {**chosen, prefixes[0]: appender})

    def appenders(self, prefix: Prefix, chosen: Mapping[Prefix, int | None]) -> list[int | None]:
        """The possible ones; only an element without any may show an append that it should not."""
        transactions = self.attributions.transactions
        wrote = [t for t in transactions if self.places(t, prefix[-1])]
        unused = [t for t in wrote if self.shown(t, prefix, chosen) < len(self.places(t, prefix[-1]))]
        readers = () if self.may_be_own else self.readers(prefix)
        possible = [t for t in unused if t.status is not Status.ABORTED and t.number not in readers]
        if possible:
            final = [t for t in possible if self.is_final(t, prefix, chosen)] if self.is_whole(prefix) else []
            return [t.number for t in final or possible if t.number in self.attributions.effective]
        seen = [t.number for t in unused or wrote if self.attributions.is_seen(t)]
        return [*seen] if wrote else [None]

    def readers(self, prefix: Prefix) -> set[int]:
        return {reader for (reader, _), elements in self.lists.items() if elements[: len(prefix)] == prefix}

    def is_whole(self, prefix: Prefix) -> bool:
        """Whether a read ended here."""
        return not self.may_be_own and prefix in self.lists.values()

    def is_final(self, t: Transaction, prefix: Prefix, chosen: Mapping[Prefix, int | None]) -> bool:
        """Whether the next append of this element is the last that the transaction makes."""
        place = self.places(t, prefix[-1])[self.shown(t, prefix, chosen)]
        behind = reads.installed(t, self.key, after=place)
        return not behind

    def places(self, t: Transaction, element: object) -> list[int]:
        return self.attributions.places(t, reads.token(self.key), element)

    def shown(self, t: Transaction, prefix: Prefix, chosen: Mapping[Prefix, int | None]) -> int:
        """How many of its appends of the last element stand before it."""
        shorter = (prefix[:size] for size in range(1, len(prefix)))
        return sum(p[-1] == prefix[-1] and chosen[p] == t.number for p in shorter)

    def name(self, prefix: Prefix, chosen: Mapping[Prefix, int | None]) -> str:
        """Appends of a transaction in program order; its own later ones, which are wrong, from the end."""
        appender = chosen[prefix]
        if appender is None:
            return _unwritten(prefix[-1])
        t = self.attributions.transactions[appender]
        places = self.places(t, prefix[-1])
        if not self.may_be_own and appender in self.readers(prefix):
            places = places[::-1]
        return write_name(appender, places[min(self.shown(t, prefix, chosen), len(places) - 1)])
