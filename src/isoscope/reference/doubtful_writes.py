"""Transactions of which the client never learned the end, and that do not count as committed, by the clock.

Each may have taken effect at its commit. A read that is right only then is set aside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.history import Status
from isoscope.levels import Level
from isoscope.reference import reads
from isoscope.reference.execution import committed, started
from isoscope.reference.origins import shows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.history import Scalar, Transaction
    from isoscope.reference.execution import Execution

__all__ = ["may_be_explained"]


def may_be_explained(execution: Execution, reader: Transaction, key: Scalar, found: object) -> bool:
    """Whether what an external read shows may be due if one of these transactions took effect."""
    explains = _explains_list if execution.shape(key) == "list" else _explains_value
    doubtful = (
        t
        for t in execution.transactions
        if t.status is Status.INDETERMINATE and t not in execution.counted and reads.installed(t, key)
    )
    return any(explains(execution, reader, key, found, t) for t in doubtful)


def _explains_value(
    execution: Execution, reader: Transaction, key: Scalar, found: object, writer: Transaction
) -> bool:
    """Whether it left the value, and may be the last writer that the reader sees."""
    seen = execution.visible(reader, key)
    is_last = not seen or not execution.has_timestamps(writer) or committed(seen[-1]) <= committed(writer)
    is_it = shows(found, reads.installed(writer, key)[-1])
    return is_it and is_last and _may_be_seen(execution, reader, writer)


def _explains_list(
    execution: Execution, reader: Transaction, key: Scalar, found: object, writer: Transaction
) -> bool:
    """Whether the list has all that it appended, and all that the other writers did."""
    assert isinstance(found, tuple)
    due = execution.appended(key, execution.visible(reader, key))
    has_all = {*reads.installed(writer, key)} <= {*found}
    return has_all and _is_within(due, found) and _may_be_seen(execution, reader, writer)


def _may_be_seen(execution: Execution, reader: Transaction, writer: Transaction) -> bool:
    """Whether it committed in time, or its timestamps are not known; the order of ties is left open."""
    if not execution.has_timestamps(writer):
        return True
    is_serializable = execution.level is Level.CLOCK_SERIALIZABLE
    return committed(writer) <= (committed if is_serializable else started)(reader)


def _is_within(some: Iterable[object], everything: Iterable[object]) -> bool:
    """Whether all of `some` stand there, in this order."""
    rest = iter(everything)
    return all(one in rest for one in some)
