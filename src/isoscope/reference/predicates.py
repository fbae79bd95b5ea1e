"""Predicates of range reads: which values of a key they ask for.

`docs/explanation/semantics.md` lists the forms. Values are compared as `accesses.token`s, so that 1, 1.0 and
True are three values.
"""

from __future__ import annotations

import json
import re

from isoscope.reference.accesses import token

__all__ = ["asks_for", "is_known", "matches"]

_NUMBER = "(0|-?[1-9][0-9]*)"
_TEXT = r'"(?:[^"\\]|\\.)*"'
_VALUES = re.compile(rf" ({_NUMBER}|{_TEXT})")


def matches(predicate: str, value: object) -> bool | None:
    """Whether a predicate asks for a key that holds `value`; None if its form is not known."""
    return asks_for(predicate, token(value)) if is_known(predicate) else None


def is_known(predicate: str) -> bool:
    """Whether the form of a predicate is one of the four."""
    return predicate == ":true" or _remainder(predicate) is not None or _values(predicate) is not None


def asks_for(predicate: str, value: object) -> bool:
    """Whether a predicate of a known form asks for a value, given as its token. Nil never matches."""
    if predicate == ":true":
        return value != token(None)
    if found := _remainder(predicate):
        assert isinstance(value, tuple)
        kind, text = value
        modulus, remainder = found
        return kind == "int" and int(text) % modulus == remainder
    return value in (_values(predicate) or ())


def _remainder(predicate: str) -> tuple[int, int] | None:
    """N and R of `[:mod N R]`."""
    found = re.fullmatch(rf"\[:mod {_NUMBER} {_NUMBER}\]", predicate)
    return (int(found[1]), int(found[2])) if found and int(found[1]) > 0 else None


def _values(predicate: str) -> list[object] | None:
    """The tokens of the values that `[:= N]` and `[:in V ...]` ask for."""
    if found := re.fullmatch(rf"\[:= {_NUMBER}\]", predicate):
        return [token(int(found[1]))]
    found = re.fullmatch(rf"\[:in((?:{_VALUES.pattern})+)\]", predicate, re.DOTALL)
    texts = [each[0] for each in _VALUES.findall(found[1])] if found else []
    try:
        values = [json.loads(text) for text in texts]
    except ValueError:
        return None
    return [token(value) for value in values] or None
