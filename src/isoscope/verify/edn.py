"""A reader of EDN: values as scalars, maps as dicts, vectors and lists as Python lists.

Composite forms that stand where a scalar is expected become one `Term` by their text; see `as_scalar`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from isoscope.verify.history import BadInputError, Term

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Reader", "as_scalar", "parse_one"]

_TOKEN = re.compile(
    r"""(?:[\s,]|;[^\n]*)*(?:
    (?P<open>\#\{|\#_|\#\#[A-Za-z]+|[\[({\])}^])
  | (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<character>\\(?:newline|space|tab|return|formfeed|backspace|u[0-9a-fA-F]{4}|.))
  | (?P<tag>\#[A-Za-z][^\s,()\[\]{}";]*)
  | (?P<atom>[^\s,()\[\]{}";\#\\^][^\s,()\[\]{}";]*)
  | (?P<end>\Z)
  )""",
    re.VERBOSE | re.DOTALL,
)
_INTEGER = re.compile(r"[+-]?\d+N?")
_FLOAT = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?M?")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_CLOSING = {"[": "]", "(": ")", "{": "}", "#{": "}"}
_WORDS: dict[str, Any] = {"nil": None, "true": Term("bool", "true"), "false": Term("bool", "false")}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)


class Form(list[Any]):
    """A vector, list or set; `text` is how the input spells it."""

    text = ""


class Map(dict[Any, Any]):
    """A map; `text` is how the input spells it, `pairs` are its entries in order."""

    text = ""


class Reader:
    """Reads one form after the other from a text."""

    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._at = 0
        self._name = name

    def __iter__(self) -> Iterator[Any]:
        while True:
            kind, token = self._next()
            if kind == "end":
                return
            if self._skips(kind, token):
                continue
            yield self._value(kind, token, 0)

    def fail(self, expected: str) -> BadInputError:
        """The error at the present place."""
        line = self._text.count("\n", 0, self._at) + 1
        return BadInputError(f"{self._name}:{line}: expected {expected}")

    def _next(self) -> tuple[str, str]:
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            raise self.fail("EDN")
        self._at = match.end()
        kind = match.lastgroup or ""
        return kind, match.group(kind)

    def _skips(self, kind: str, token: str) -> bool:
        """Whether the token was a comment, metadata or a tag, which is read over."""
        if kind == "tag":
            return True
        if kind == "open" and token in ("#_", "^"):
            self._form(0)
            return True
        return False

    def _form(self, depth: int) -> Any:
        while True:
            kind, token = self._next()
            if kind == "end":
                raise self.fail("a value, found the end")
            if not self._skips(kind, token):
                return self._value(kind, token, depth)

    def _value(self, kind: str, token: str, depth: int) -> Any:
        if kind == "atom":
            return _atom(token)
        if kind == "string":
            return _ESCAPE.sub(_unescape, token[1:-1]) if "\\" in token else token[1:-1]
        if kind == "character":
            return Term("character", token)
        if token.startswith("##"):
            return Term("float", token)
        if token not in _CLOSING or depth > 100:
            raise self.fail(f"a value, found {token}")
        return self._collection(token, depth)

    def _collection(self, opening: str, depth: int) -> Any:
        start = self._at - len(opening)
        items: list[Any] = []
        closing = _CLOSING[opening]
        while True:
            kind, token = self._next()
            if kind == "open" and token == closing:
                break
            if kind == "end":
                raise self.fail(closing)
            if not self._skips(kind, token):
                items.append(self._value(kind, token, depth + 1))
        text = self._text[start : self._at]
        if opening != "{":
            form = Form(items)
            form.text = text
            return form
        return self._map(items, text)

    def _map(self, items: list[Any], text: str) -> Map:
        keys = [as_scalar(key) for key in items[::2]]
        result = Map(zip(keys, items[1::2], strict=False))
        if len(items) % 2 or len(result) < len(keys):
            raise self.fail("a map with a value for each key, each key once")
        result.text = text
        return result


def parse_one(text: str, name: str) -> Any:
    """The one form of a text."""
    forms = list(Reader(text, name))
    if len(forms) != 1:
        raise BadInputError(f"{name}: expected one EDN form, found {text!r}")
    return forms[0]


def as_scalar(value: Any) -> Any:
    """A composite form as one scalar, known by its text without needless spaces."""
    if isinstance(value, Form | Map):
        return Term("form", re.sub(r"[\s,]+", " ", value.text))
    return value


def _atom(token: str) -> Any:
    if _INTEGER.fullmatch(token):
        return int(token.removesuffix("N"))
    if token in _WORDS:
        return _WORDS[token]
    if _FLOAT.fullmatch(token):
        return Term("float", token if token.endswith("M") else repr(float(token)))
    return Term("keyword" if token.startswith(":") else "symbol", token)


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPES.get(code, code)
