"""Reads and keys that a checker does not judge: a level that nothing breaks is then unknown, not held."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["unjudged_reason"]

_LONGEST_KEY = 40


def unjudged_reason(
    *,
    repeated_reads: int = 0,
    repeated_keys: Sequence[object] = (),
    deleted_keys: Sequence[object] = (),
    mixed_keys: Sequence[object] = (),
    range_reads: int = 0,
) -> str:
    """Why the history may be wrong although nothing was found; empty if all of it was judged."""
    reasons = []
    if repeated_reads:
        reads = "1 read" if repeated_reads == 1 else f"{repeated_reads} reads"
        reasons.append(f"{reads} saw values that several transactions wrote ({_keys(repeated_keys)})")
    if deleted_keys:
        reasons.append(f"operation kind `delete` is not judged ({_keys(deleted_keys)})")
    if mixed_keys:
        reasons.append(f"keys are both written and appended to ({_keys(mixed_keys)})")
    if range_reads:
        reasons.append(f"operation kind `range-read` is not judged ({range_reads} of them)")
    return "; ".join(reasons)


def _keys(keys: Sequence[object]) -> str:
    shown = ", ".join(map(_harmless, keys[:3]))
    more = f" and {len(keys) - 3} more" if len(keys) > 3 else ""
    return f"key{'s' if len(keys) > 1 else ''} {shown}{more}"


def _harmless(key: object) -> str:
    """The key on one line, short, without anything that a terminal would obey."""
    text = str(key) if str(key).isprintable() else ascii(key)
    return text if len(text) <= _LONGEST_KEY else f"{text[:_LONGEST_KEY]}..."
