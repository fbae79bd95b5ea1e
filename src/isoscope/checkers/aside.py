"""What no checker looks at: then a level that nothing breaks is unknown, not held."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

    from isoscope.history import Scalar

    #: Repeated reads and their keys; keys that are deleted; keys that are mixed; range reads.
    Aside: TypeAlias = tuple[int, list[Scalar], list[Scalar], list[Scalar], int]

__all__ = ["unjudged"]

_LONGEST_KEY = 40


def unjudged(aside: Aside, *, by_writer: bool) -> str:
    """Why nothing was found and something may still be wrong; `by_writer`: whether it matters who wrote."""
    repeated_reads, repeated_keys, deleted_keys, mixed_keys, range_reads = aside
    reasons = []
    # Whoever wrote them, two equal values do not differ: cut isolation needs no unique writers.
    if repeated_reads and by_writer:
        reads = "1 read" if repeated_reads == 1 else f"{repeated_reads} reads"
        reasons.append(f"{reads} saw values that several transactions wrote ({_keys(repeated_keys)})")
    if deleted_keys:
        reasons.append(f"operation kind `delete` is not judged ({_keys(deleted_keys)})")
    if mixed_keys:
        reasons.append(f"keys are both written and appended to ({_keys(mixed_keys)})")
    if range_reads:
        reasons.append(f"operation kind `range-read` is not judged ({range_reads} of them)")
    return "; ".join(reasons)


def _keys(keys: list[Scalar]) -> str:
    shown = ", ".join(map(_harmless, keys[:3]))
    more = f" and {len(keys) - 3} more" if len(keys) > 3 else ""
    return f"key{'s' if len(keys) > 1 else ''} {shown}{more}"


def _harmless(key: Scalar) -> str:
    """The key on one line, short, without anything that a terminal would obey."""
    text = str(key) if str(key).isprintable() else ascii(key)
    return text if len(text) <= _LONGEST_KEY else f"{text[:_LONGEST_KEY]}..."
