"""Keys with too many rows for one part, cut at physical times of the database's clock.

A slice of a key is judged as a history of its own. It has the transactions with an event in its range of
time, those that run across it, and the *state at the cut*: the newest version of the transactions that ended
before it. So every read and every commit in its range meets the state that it meets in the whole history.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from isoscope._native import TableReader
from isoscope.history import UNKNOWN, History
from isoscope.scalars import edn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from isoscope.cluster.part_history import Beginning
    from isoscope.history import Initial

__all__ = ["SLICE", "LastVersion", "RawKey", "SplitKey", "TimeSlice", "initial_of", "states", "time_slices"]

#: The column that says which slice a row is in.
SLICE = "_slice"
#: An initial value that no read shows.
_NEVER = edn("isoscope: no value")
_FIRST, _LAST = -(2**63), 2**63 - 1


class RawKey(NamedTuple):
    """A key of a history, as the columns name it."""

    history: int
    key: int | None
    key_edn: str | None


@dataclass(frozen=True, slots=True)
class SplitKey:
    """A key that is cut in slices, which are numbered from `first_slice`; its initial value is EDN.

    A slice has the physical times after the cut before it, up to and with its own.
    """

    key: RawKey
    cuts: tuple[int, ...]
    initial: str
    first_slice: int


@dataclass(frozen=True, slots=True)
class TimeSlice:
    """A range of physical times of a key, both ends included."""

    history: int
    window: tuple[int, int]
    initial: str
    is_first: bool


class LastVersion(NamedTuple):
    """The newest version among transactions that end in one slice: times of its commit, then of its start."""

    key: RawKey
    slice: int
    times: tuple[int, ...]


def time_slices(split: Iterable[SplitKey]) -> list[TimeSlice]:
    """The slices of all keys, by their numbers."""
    found: list[TimeSlice] = []
    for one in split:
        firsts = (_FIRST, *(cut + 1 for cut in one.cuts))
        lasts = (*one.cuts, _LAST)
        windows = zip(firsts, lasts, strict=True)
        found += [TimeSlice(one.key.history, window, one.initial, window[0] == _FIRST) for window in windows]
    return found


def states(split: Sequence[SplitKey], lasts: Iterable[LastVersion]) -> dict[tuple[RawKey, Any], list[int]]:
    """Which slices get the versions with these times as the state at the cut before them."""
    ended = {(one.key, one.slice): one.times for one in lasts}
    found: dict[tuple[RawKey, Any], list[int]] = {}
    for one in split:
        newest: tuple[int, ...] | None = None
        for number in range(one.first_slice, one.first_slice + len(one.cuts)):
            newest = max((times for times in (newest, ended.get((one.key, number))) if times), default=None)
            if newest is not None:
                found.setdefault((one.key, newest), []).append(number + 1)
    return found


def initial_of(beginning: Beginning) -> Initial:
    """The initial values that a history states."""
    reader = TableReader()
    beginning.set_on(reader)
    return History(reader.finish()).initial


def initial_edn(initial: Initial, *, is_replaced: bool, learned: str | None) -> str:
    """The initial value of a key: the one that is stated, or that reads show; or one that no read shows."""
    if initial.value is UNKNOWN:
        return _NEVER if learned is None else learned
    return _NEVER if is_replaced else edn(initial.value)


def needs_learning(initials: Mapping[int, Initial]) -> bool:
    """Whether some history does not state its initial values."""
    return any(one.value is UNKNOWN for one in initials.values())
