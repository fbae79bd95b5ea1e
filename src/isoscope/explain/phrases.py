"""Parts of sentences: keys, values, operations, each on one line and harmless on a terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from isoscope.history import UNKNOWN, OperationKind, Range, Term

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.verdict import Witness

__all__ = [
    "abbreviated",
    "act",
    "around",
    "assignment",
    "at",
    "change",
    "deed",
    "did",
    "duration",
    "harmless",
    "key_in_words",
    "listed",
    "possession",
    "read",
    "same",
    "session",
    "shown",
    "whole",
]

_LONGEST = 60
#: Neighbours that an element of a long list is shown with, on either side.
_NEAR = 2
_VERBS = {
    OperationKind.READ: "read",
    OperationKind.RANGE_READ: "read",
    OperationKind.WRITE: "wrote",
    OperationKind.INSERT: "inserted",
}
_UNITS = ((10**9, "s"), (10**6, "ms"), (10**3, "us"))


def whole(value: object) -> str:
    """A key or value on one line, harmless on a terminal."""
    if isinstance(value, Range):
        return f"{{{', '.join(f'{_scalar(key)} {_scalar(row)}' for key, row in value.rows)}}}"
    return f"[{' '.join(map(_scalar, value))}]" if isinstance(value, tuple) else _scalar(value)


def shown(value: object) -> str:
    """A key or value as messages show it: short as well; of a long list the first and the last elements."""
    text = whole(value)
    if not isinstance(value, tuple) or len(text) <= _LONGEST:
        return abbreviated(text)
    first, last = _beginning(value), _beginning(value[::-1])[::-1]
    return f"[{' '.join([*first, '...', *last])}]" if len(first) + len(last) < len(value) else _each(value)


def _beginning(values: tuple[object, ...]) -> list[str]:
    """As many elements as fit into half of the room, and at least one."""
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


def abbreviated(text: str) -> str:
    """A text, in the middle of a long one three dots."""
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2
    return f"{text[:half]} ... {text[-half:]}"


def harmless(text: str) -> str:
    """A name of a file, or whatever else is no value, on one line and harmless on a terminal."""
    return text if text.isprintable() else json.dumps(text)[1:-1]


def around(value: object, elements: Sequence[object]) -> str:
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
    if value is None:
        return "nil"
    # Some characters that nobody sees may stand in an identifier.
    is_word = isinstance(value, str) and value.isidentifier() and value.isprintable()
    if isinstance(value, str) and (not is_word or value in ("nil", "True", "False")):
        return json.dumps(value, ensure_ascii=not value.isprintable())
    if isinstance(value, Term) and not value.text.isprintable():
        return json.dumps(value.text)
    return str(value)


def key_in_words(key: object) -> str:
    """A key inside a sentence: a bare number would read like a value."""
    return f"key {shown(key)}" if isinstance(key, int | float | None) else shown(key)


def assignment(witness: Witness, *elements: object) -> str:
    """`x = 1`; a long list is shown around the elements that matter."""
    if isinstance(witness.value, Range):
        return f"by a predicate {shown(witness.value)}"
    return f"{key_in_words(witness.key)} = {around(witness.value, elements)}"


def at(witness: Witness) -> str:
    """The operation's place in the input, if it has one."""
    return f" ({harmless(witness.place)})" if witness.place else ""


def read(witness: Witness, *elements: object, who: str = "") -> str:
    """`T1 read x = 1 (h.txt:3)`."""
    return f"{who or witness.transaction} read {assignment(witness, *elements)}{at(witness)}"


def did(witness: Witness) -> str:
    """What a writer did."""
    return "appended" if witness.kind == OperationKind.APPEND else "wrote"


def act(witness: Witness) -> str:
    """`T1 read x = 1 (h.txt:3)`, `T1 wrote x = 1`, `T1 appended 1 to x`."""
    return f"{witness.transaction} {deed(witness)}{at(witness)}"


def deed(witness: Witness, *elements: object) -> str:
    """`read x = 1`, `wrote x = 1`, `appended 1 to x`; a long list around the elements that matter."""
    if witness.kind == OperationKind.APPEND:
        return f"appended {shown(witness.value)} to {key_in_words(witness.key)}"
    if witness.kind == OperationKind.DELETE:
        return f"deleted {key_in_words(witness.key)}"
    verb = _VERBS.get(OperationKind(witness.kind))
    if verb is None:
        return witness.kind
    if witness.value is UNKNOWN:
        return f"{verb} {key_in_words(witness.key)}, with an unknown result"
    return f"{verb} {assignment(witness, *elements)}"


def change(witness: Witness) -> str:
    """What a write is called."""
    return "append" if witness.kind == OperationKind.APPEND else "write"


def possession(write: Witness) -> str:
    """`T1's 1 (h.txt:3)`."""
    return f"{write.transaction}'s {shown(write.value)}{at(write)}"


def duration(nanoseconds: int) -> str:
    """`1.5 ms`, with three digits that count."""
    for size, unit in _UNITS:
        if nanoseconds >= size:
            number = nanoseconds / size
            return f"{number:,.0f} {unit}" if number >= 100 else f"{number:.3g} {unit}"
    return f"{nanoseconds} ns"


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def session(name: object) -> str:
    """The session that two transactions share."""
    return "the same session" if name is None else f"session {shown(name)}"


def same(one: object, other: object) -> bool:
    """Whether two keys or values are the same: 1, 1.0 and True are three, though Python calls them equal."""
    return (type(one), str(one)) == (type(other), str(other))
