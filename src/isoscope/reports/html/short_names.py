"""Short names for transactions whose ids are too long for a page."""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from isoscope.reports.plain_text import shortened

if TYPE_CHECKING:
    from isoscope.verdict import Anomaly

__all__ = ["LONGEST", "with_short_names"]

#: Letters of the longest name that is shown as it is.
LONGEST = 48
_Part = TypeVar("_Part")


def with_short_names(anomaly: Anomaly) -> Anomaly:
    """The anomaly with a short name for each very long one; equal names get equal short names."""
    if all(len(name) <= LONGEST for name in anomaly.transactions):
        return anomaly
    return _renamed(anomaly, {name: _short(name) for name in anomaly.transactions if len(name) > LONGEST})


def _short(name: str) -> str:
    """Both ends of a name, and a hash that differs from that of other names with the same ends."""
    mark = hashlib.blake2s(name.encode(), digest_size=3).hexdigest()
    return f"{shortened(name, LONGEST - 8)} ~{mark}"


def _renamed(part: _Part, short: dict[str, str]) -> _Part:
    """`part` with the short names wherever a long one stands in it."""
    found: Any = part
    if isinstance(part, str):
        found = short.get(part, part)
    elif isinstance(part, tuple):
        found = tuple(_renamed(one, short) for one in part)
    elif isinstance(part, dict):
        found = {name: _renamed(one, short) for name, one in part.items()}
    elif is_dataclass(part) and not isinstance(part, type):
        found = replace(part, **{f.name: _renamed(getattr(part, f.name), short) for f in fields(part)})
    return found  # type: ignore[no-any-return]
