"""What a read by a predicate says of a key that it leaves out: it was in a state that does not match.

Semantics: "Predicates", "Non-repeatable reads".
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from isoscope.verify.edn import Form, parse_one
from isoscope.verify.history import BadInputError, Term

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Seen", "Unmatched", "differ", "fits", "is_known"]

_TRUE, _EQUALS, _MODULO, _ONE_OF = (Term("keyword", name) for name in (":true", ":=", ":mod", ":in"))


class Unmatched(NamedTuple):
    """Any state that the predicate does not match; stands where a read has its value."""

    predicate: str

    def allows(self, value: Any) -> bool:
        """Whether a key with this value is rightly left out; nil never matches."""
        condition = _condition(self.predicate)
        return value is None or condition is None or not condition(value)

    def __str__(self) -> str:
        return f"nothing that matches {self.predicate}"


def is_known(predicate: str) -> bool:
    """Whether the form of the predicate is one of the four."""
    return _condition(predicate) is not None


@cache
def _condition(predicate: str) -> Callable[[Any], bool] | None:
    """What a value that is not nil must be to match; None if the form is not known."""
    try:
        form = parse_one(predicate, "a predicate")
    except BadInputError:
        return None
    if form == _TRUE:
        return lambda _: True
    is_vector = isinstance(form, Form) and form.text[:1] in ("[", "(") and len(form) > 1
    return _comparison(*form) if is_vector else None


def _comparison(name: Any, *operands: Any) -> Callable[[Any], bool] | None:
    numbers = all(type(each) is int for each in operands)
    if name == _EQUALS and numbers and len(operands) == 1:
        return lambda value: bool(value == operands[0])
    if name == _MODULO and numbers and len(operands) == 2 and operands[0] > 0:
        return lambda value: type(value) is int and value % operands[0] == operands[1]
    if name == _ONE_OF and all(type(each) in (int, str) for each in operands):
        return lambda value: value in operands
    return None


def fits(state: Any, value: Any) -> bool:
    """Whether a read that shows `value` of a register is right where the register holds `state`."""
    return bool(state == value) or (type(value) is Unmatched and value.allows(state))


def differ(one: Any, two: Any) -> bool:
    """Whether two reads of a key cannot show one state; two that leave it out never differ."""
    if type(one) is Unmatched:
        return type(two) is not Unmatched and not one.allows(two)
    return not fits(one, two)


class Seen:
    """What one transaction read of each key."""

    __slots__ = ("_left_out", "_shown")

    def __init__(self) -> None:
        self._shown: dict[Any, Any] = {}
        self._left_out: dict[Any, list[Unmatched]] = {}

    def differs(self, key: Any, value: Any) -> bool:
        """Whether an earlier read of the key shows something else; remembers this one."""
        if type(value) is Unmatched:
            self._left_out.setdefault(key, []).append(value)
            return key in self._shown and not value.allows(self._shown[key])
        if self._shown.setdefault(key, value) != value:
            return True
        return bool(self._left_out) and any(differ(other, value) for other in self._left_out.get(key, ()))
