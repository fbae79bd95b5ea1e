"""Values of database drivers as the scalars of a history, and back.

Decimals, bytes, UUIDs, dates and times have no column of their own: each is a `Term`, known by its EDN text.
Equal decimals, and equal instants, get the same text, because a driver seldom returns them as they were
written: `1.50` comes back for `1.5`, and UTC for a local time.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING
from uuid import UUID

from isoscope._native import Term

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["edn", "key_scalar", "python_value", "scalar"]

#: Integers with more digits than this stay decimals: `Decimal("1E+999999")` is short.
_DIGITS = 100
_TAGGED = re.compile(r'#([\w/-]+) "([^"]*)"')
_DECIMAL = re.compile(r"([-+.\dE]+)M")
_EXPECTED = (
    "expected None, a bool, int, float, str, Decimal, bytes, UUID, date, time, datetime, timedelta or Term"
)


def scalar(value: object) -> bool | int | float | str | Term | None:
    """The scalar that stands for `value` in a history. Raises TypeError if there is none.

    A decimal is its number, without trailing zeros, and an integer if it has no fraction; a time with a zone
    is its instant.
    """
    if hasattr(value, "dtype") and hasattr(value, "item"):  # a scalar of NumPy, which may be a float too
        return scalar(value.item())
    if value is None or isinstance(value, bool | int | float | str | Term):
        return value
    if isinstance(value, Decimal):
        return _decimal(value)
    # A datetime is a date too, so that it comes first.
    for kind, text in _TEXTS:
        if isinstance(value, kind):
            return Term(text(value))
    raise TypeError(f"{_EXPECTED}, found {type(value).__name__}")


def key_scalar(key: object) -> bool | int | float | str | Term | None:
    """The scalar of a key; a tuple is a vector of scalars."""
    return Term(edn(key)) if isinstance(key, tuple) else scalar(key)


def python_value(value: object) -> object:
    """The Python value that a `Term` stands for; anything else, and a term without a twin, as it is."""
    if not isinstance(value, Term):
        return value
    if number := _DECIMAL.fullmatch(value.text):
        return Decimal(number[1])
    tagged = _TAGGED.fullmatch(value.text)
    if tagged is None or tagged[1] not in _VALUES:
        return value
    try:
        return _VALUES[tagged[1]](tagged[2])
    except (ValueError, ArithmeticError):  # a file may hold anything
        return value


def _decimal(value: Decimal) -> int | Term:
    if not value.is_finite():
        return Term(f'#isoscope/decimal "{value}"')
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    number = "".join(map(str, digits)).lstrip("0")
    short = number.rstrip("0")
    if not short:
        return 0
    exponent += len(number) - len(short)
    if 0 <= exponent <= _DIGITS:
        return int(f"{'-' * sign}{short}{'0' * exponent}")
    return Term(f"{'-' * sign}{short}E{exponent}M" if exponent > 0 else f"{_plain(sign, short, exponent)}M")


def _plain(sign: int, digits: str, exponent: int) -> str:
    """A number with a fraction; one with many zeros behind the point keeps its exponent."""
    if -exponent - len(digits) > _DIGITS:
        return f"{'-' * sign}{digits}E{exponent}"
    padded = digits.rjust(1 - exponent, "0")
    return f"{'-' * sign}{padded[:exponent]}.{padded[exponent:]}"


def edn(value: object) -> str:
    """The EDN text of a scalar, or of a tuple of them."""
    if isinstance(value, tuple):
        return f"[{' '.join(map(edn, value))}]"
    simple = scalar(value)
    if isinstance(simple, Term):
        return simple.text
    if simple is None:
        return "nil"
    if isinstance(simple, bool):
        return str(simple).lower()
    if isinstance(simple, str):
        escaped = re.sub(r'[\\"]', r"\\\g<0>", simple)
        return f'"{escaped}"'
    return repr(simple)


def _instant(value: datetime) -> str:
    if value.tzinfo is None:
        return f'#isoscope/datetime "{value.isoformat()}"'
    return f'#inst "{value.astimezone(UTC).replace(tzinfo=None).isoformat()}Z"'


_TEXTS: tuple[tuple[type | tuple[type, ...], Callable[..., str]], ...] = (
    (datetime, _instant),
    (date, lambda value: f'#isoscope/date "{value.isoformat()}"'),
    (time, lambda value: f'#isoscope/time "{value.isoformat()}"'),
    (timedelta, lambda value: f'#isoscope/microseconds "{value // timedelta(microseconds=1)}"'),
    (UUID, lambda value: f'#uuid "{value}"'),
    ((bytes, bytearray, memoryview), lambda value: f'#isoscope/bytes "{bytes(value).hex()}"'),
)
_VALUES: dict[str, Callable[[str], object]] = {
    "inst": datetime.fromisoformat,
    "isoscope/datetime": datetime.fromisoformat,
    "isoscope/date": date.fromisoformat,
    "isoscope/time": time.fromisoformat,
    "isoscope/microseconds": lambda text: timedelta(microseconds=int(text)),
    "isoscope/decimal": Decimal,
    "uuid": UUID,
    "isoscope/bytes": bytes.fromhex,
}
