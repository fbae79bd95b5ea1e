"""The committed state of all keys while transactions are replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.verify.explanation import NOTHING, external_reads
from isoscope.verify.history import APPEND, DELETE, UNKNOWN, WRITE, RejectedError, show

if TYPE_CHECKING:
    from isoscope.verify.explanation import Explanation
    from isoscope.verify.history import Transaction

__all__ = ["State", "shows_last"]


def shows_last(current: Any, value: Any) -> bool:
    """Whether a read shows the last element of a list, and no element that is not in it."""
    if not isinstance(current, list) or not isinstance(value, list) or not current or not value:
        return False
    return bool(current[-1] == value[-1]) and all(element in current for element in value)


class State:
    """The value of each key; an initial value that may be any of several is the first one that is read.

    `believes_lists`: lists say in which order their elements were appended. If another source is heard alone,
    a list shows the version of its last element, and that the others were there.
    """

    def __init__(self, explanation: Explanation, *, believes_lists: bool = True) -> None:
        self._explanation = explanation
        self._believes_lists = believes_lists
        self._values: dict[Any, Any] = {}
        self._supposed: dict[Any, Any] = {}

    def read_all(self, t: Transaction) -> None:
        """Raise `RejectedError` unless every read of the transaction shows this state, or its own writes."""
        values = self._values
        for place, key, value in external_reads(t):
            current = values.get(key, NOTHING)
            if current is NOTHING:
                current = self._initial(key, value)
            if current != value and (self._believes_lists or not shows_last(current, value)):
                raise RejectedError(
                    f"{t} reads {show(value)} in operation {place}, where the replay has {show(current)}"
                )

    def install(self, t: Transaction) -> None:
        """Commit the writes of the transaction."""
        values = self._values
        for kind, key, value in t.operations:
            if kind in (WRITE, DELETE):
                values[key] = value
            elif kind == APPEND:
                current = values.get(key)
                if isinstance(current, list):
                    current.append(value)
                else:
                    values[key] = [value]

    def _initial(self, key: Any, value: Any) -> Any:
        if value is None and self._explanation.may_be_absent(key):
            return None
        initial = self._explanation.initial(key)
        if initial is not UNKNOWN:
            return initial
        if key not in self._supposed and self._explanation.possible_initial(key, value):
            self._supposed[key] = value
        return self._supposed.get(key, NOTHING)
