"""Why a level holds: an order of transactions, of begins and commits, or of versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isoscope.levels import Level

__all__ = ["OperationPlace", "ShownWrites", "VersionsOfKeys", "WitnessForm", "WitnessOrder", "WritersOfReads"]


class WitnessForm(StrEnum):
    """What a witness orders: transactions, begins and commits, or the versions of each key alone."""

    ORDER = "order"
    EVENTS = "events"
    VERSIONS = "versions"


class OperationPlace(NamedTuple):
    """An operation: the id of its transaction, and its place among the operations there, from 0."""

    transaction: object
    place: int


_OfKey: TypeAlias = tuple[object, tuple[OperationPlace, ...]]


class VersionsOfKeys(Sequence[_OfKey]):
    """Keys, each with the writes that installed its versions, the oldest first; made when they are looked at.

    `packed` gives the same as JSON without an object for each version: for each key with several versions a
    list of `[id, place]`, and whether one transaction has several versions of a key; None if it cannot.
    """

    def __init__(
        self, make: Callable[[], Iterator[_OfKey]], packed: Callable[[], tuple[str, bool] | None]
    ) -> None:
        self._make = make
        self.packed = packed

    @cached_property
    def _all(self) -> tuple[_OfKey, ...]:
        return tuple(self._make())

    @overload
    def __getitem__(self, place: int) -> _OfKey: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[_OfKey, ...]: ...
    def __getitem__(self, place: int | slice) -> _OfKey | tuple[_OfKey, ...]:
        return self._all[place]

    def __len__(self) -> int:
        return len(self._all)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownWrites:
    """A read that several writes may explain, and the one that it shows; of a list, those of its elements.

    None stands for the initial state, and in a list for an element that no transaction appended.
    """

    read: OperationPlace
    writes: tuple[OperationPlace | None, ...]
    is_list: bool = False


class WritersOfReads(Sequence[ShownWrites]):
    """The reads that several writes may explain, made when they are looked at.

    `packed` gives the same as JSON without an object for each read: `[[id, place], [id, place]]`, null for
    the initial state; None if it cannot.
    """

    def __init__(
        self, count: int, make: Callable[[], Iterator[ShownWrites]], packed: Callable[[], str | None]
    ) -> None:
        self._count = count
        self._make = make
        self.packed = packed

    @cached_property
    def _all(self) -> tuple[ShownWrites, ...]:
        return tuple(self._make())

    @overload
    def __getitem__(self, place: int) -> ShownWrites: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[ShownWrites, ...]: ...
    def __getitem__(self, place: int | slice) -> ShownWrites | tuple[ShownWrites, ...]:
        return self._all[place]

    def __len__(self) -> int:
        return self._count


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessOrder:
    """An order that shows that a level holds; it was replayed.

    `order` lists transactions by their ids. Of the form `events` it lists each of them twice: the first place
    is its begin, the second its commit. Transactions that touch no data may be left out: they can stand
    anywhere.

    `versions` has the versions of each key that was written, the oldest first, by the writes that installed
    them; without the initial version. They are given where `order` does not say them.
    `took_effect` are the indeterminate transactions that took effect. `source` is the source of the order of
    versions that is believed alone, if sources contradict each other: then there is a witness for each.
    """

    level: Level
    form: WitnessForm
    order: tuple[object, ...] = ()
    versions: Sequence[_OfKey] = ()
    took_effect: tuple[object, ...] = ()
    reads: Sequence[ShownWrites] = ()
    source: str = ""
