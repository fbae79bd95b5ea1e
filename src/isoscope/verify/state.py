"""The committed state of all keys while transactions are replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.verify.explanation import NOTHING, SupposedInitial, external_reads, last_writes
from isoscope.verify.history import APPEND, DELETE, UNKNOWN, WRITE, RejectedError, show
from isoscope.verify.predicates import Unmatched, fits

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
    a list shows the version of its last element, and that the others were there. Without `phantoms` a read
    may miss later versions of what a range read does not show: the key need only have been so at some time.
    """

    def __init__(
        self, explanation: Explanation, *, believes_lists: bool = True, phantoms: bool = True
    ) -> None:
        self._explanation = explanation
        self._believes_lists = believes_lists
        self._values: dict[Any, Any] = {}
        self._supposed = SupposedInitial()
        self._phantoms = phantoms
        #: What each key was before, if reads may show that.
        self._past: dict[Any, dict[Any, None]] = {}

    def read_all(self, t: Transaction) -> None:
        """Raise `RejectedError` unless every read of the transaction shows this state, or its own writes."""
        values = self._values
        for place, key, value in external_reads(t):
            current = values.get(key, NOTHING)
            if current is NOTHING:
                current = self._initial(key, value)
            if current != value and not self._is_shown(key, value, current, is_left_out=place in t.left_out):
                raise RejectedError(
                    f"{t} reads {show(value)} in operation {place}, where the replay has {show(current)}"
                )

    def _is_shown(self, key: Any, value: Any, current: Any, *, is_left_out: bool) -> bool:
        """Whether a read shows the state, though the two are not equal."""
        if type(value) is Unmatched and current is not NOTHING and value.allows(current):
            return True
        if is_left_out and not self._phantoms:
            was_so = any(fits(state, value) for state in self._past.get(key, ()))
            return was_so or self._initial(key, value) == value
        return not self._believes_lists and shows_last(current, value)

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
        if not self._phantoms:
            for key in last_writes(t):
                if not isinstance(values[key], list):
                    self._past.setdefault(key, {})[values[key]] = None

    def _initial(self, key: Any, value: Any) -> Any:
        """What a read of the untouched key that shows `value` meets: that, if it may have been so."""
        initial = self._explanation.initial(key)
        if not self._explanation.possible_initial(key, value):
            return NOTHING if initial is UNKNOWN or key in self._explanation.history.filled else initial
        is_open = initial is UNKNOWN or initial is NOTHING
        return value if not is_open or self._supposed.agrees(key, value) else NOTHING
