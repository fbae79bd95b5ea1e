"""Keys, values and lists as text, each on one line and harmless on a terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from isoscope.history import Range, Term, label

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "abbreviated",
    "duration",
    "enumeration",
    "harmless",
    "key_in_words",
    "same",
    "shown",
    "shown_around",
    "transaction_name",
    "whole",
]

#: A longer text is abbreviated.
_LONGEST = 60
#: Neighbours that an element of a long list is shown with, on either side.
_NEAR = 2
_UNITS = ((10**9, "s"), (10**6, "ms"), (10**3, "us"))


def transaction_name(transaction_id: Any) -> str:
    """The transaction with this id as messages name it."""
    return harmless(label(transaction_id))


def whole(value: object) -> str:
    """A key or value on one line, harmless on a terminal."""
    if isinstance(value, Range):
        return f"{{{', '.join(f'{_scalar(key)} {_scalar(row)}' for key, row in value.rows)}}}"
    return f"[{' '.join(map(_scalar, value))}]" if isinstance(value, tuple) else _scalar(value)


def shown(value: object) -> str:
    """A key or value as messages show it: short as well; of a long list the first and the last elements."""
    if isinstance(value, str | int):
        return abbreviated(_scalar(value))
    text = whole(value)
    if not isinstance(value, tuple) or len(text) <= _LONGEST:
        return abbreviated(text)
    first, last = _beginning(value), _beginning(value[::-1])[::-1]
    return f"[{' '.join([*first, '...', *last])}]" if len(first) + len(last) < len(value) else _each(value)


def _beginning(values: tuple[object, ...]) -> list[str]:
    """As many elements as fit into half of the width, and at least one."""
    words: list[str] = []
    room = _LONGEST // 2
    for word in map(shown, values):
        room -= len(word) + 1
        if words and room < 0:
            break
        words.append(word)
    return words


def _each(values: tuple[object, ...]) -> str:
    return f"[{' '.join(map(shown, values))}]"


def shown_around(value: object, elements: Sequence[object]) -> str:
    """A value, of a long list the parts around these elements."""
    if not isinstance(value, tuple) or len(whole(value)) <= _LONGEST:
        return shown(value)
    places = [place for place, one in enumerate(value) if any(same(one, element) for element in elements)]
    near = sorted(
        {n for place in places for n in range(place - _NEAR, place + _NEAR + 1)} & {*range(len(value))}
    )
    if not near:
        return shown(value)
    words: list[str] = []
    last = -1
    for place in near:
        words += [*(["..."] if place > last + 1 else []), shown(value[place])]
        last = place
    return f"[{' '.join(words)}{' ...' if last < len(value) - 1 else ''}]"


def _scalar(value: object) -> str:
    if isinstance(value, str):
        # An identifier may contain characters that are not printed.
        is_word = value.isidentifier() and value.isprintable() and value not in ("nil", "True", "False")
        return value if is_word else json.dumps(value, ensure_ascii=not value.isprintable())
    if value is None:
        return "nil"
    if isinstance(value, Term) and not value.text.isprintable():
        return json.dumps(value.text)
    return str(value)


def abbreviated(text: str) -> str:
    """The text; three dots replace the middle of a long one."""
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2
    return f"{text[:half]} ... {text[-half:]}"


def harmless(text: str) -> str:
    """A text that is no value, such as the name of a file, on one line and harmless on a terminal."""
    return text if text.isprintable() else json.dumps(text)[1:-1]


def key_in_words(key: object) -> str:
    """A key inside a sentence: a bare number would read like a value."""
    return f"key {shown(key)}" if isinstance(key, int | float | None) else shown(key)


def same(one: object, other: object) -> bool:
    """Whether two keys or values are the same: 1, 1.0 and True are three, though Python calls them equal."""
    return (type(one), str(one)) == (type(other), str(other))


def duration(nanoseconds: int) -> str:
    """`1.5 ms`, with three digits that count."""
    for size, unit in _UNITS:
        if nanoseconds >= size:
            number = nanoseconds / size
            return f"{number:,.0f} {unit}" if number >= 100 else f"{number:.3g} {unit}"
    return f"{nanoseconds} ns"


def enumeration(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
