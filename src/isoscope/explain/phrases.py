"""Parts of sentences: keys, values, operations, each on one line and harmless on a terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from isoscope.history import OperationKind, Term

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.verdict import Witness

__all__ = ["assignment", "at", "did", "key_in_words", "listed", "read", "same", "session", "shown", "whole"]

_LONGEST = 60


def whole(value: object) -> str:
    """A key or value on one line, harmless on a terminal."""
    return f"[{' '.join(map(_scalar, value))}]" if isinstance(value, tuple) else _scalar(value)


def shown(value: object) -> str:
    """A key or value as messages show it: short as well."""
    text = whole(value)
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2
    return f"{text[:half]} ... {text[-half:]}"


def _scalar(value: object) -> str:
    if value is None:
        return "nil"
    if isinstance(value, str) and (not value.isidentifier() or value in ("nil", "True", "False")):
        return json.dumps(value, ensure_ascii=not value.isprintable())
    if isinstance(value, Term) and not value.text.isprintable():
        return json.dumps(value.text)
    return str(value)


def key_in_words(key: object) -> str:
    """A key inside a sentence: a bare number would read like a value."""
    return f"key {shown(key)}" if isinstance(key, int | float | None) else shown(key)


def assignment(witness: Witness) -> str:
    """`x = 1`."""
    return f"{key_in_words(witness.key)} = {shown(witness.value)}"


def at(witness: Witness) -> str:
    """The operation's place in the input, if it has one."""
    return f" ({witness.place})" if witness.place else ""


def read(witness: Witness) -> str:
    """`T1 read x = 1 (h.txt:3)`."""
    return f"{witness.transaction} read {assignment(witness)}{at(witness)}"


def did(witness: Witness) -> str:
    """What a writer did."""
    return "appended" if witness.kind == OperationKind.APPEND else "wrote"


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def session(name: object) -> str:
    """The session that two transactions share."""
    return "the same session" if name is None else f"session {shown(name)}"


def same(one: object, other: object) -> bool:
    """Whether two keys or values are the same: 1, 1.0 and True are three, though Python calls them equal."""
    return (type(one), str(one)) == (type(other), str(other))
