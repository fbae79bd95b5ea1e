"""The order of events by the database's clock, as `rust/kernel/src/clock/events.rs` has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isoscope.history import Timestamp, Transaction

__all__ = ["commit_order", "reading_order"]

#: After every event: transactions without a place in the order.
_UNORDERED = (1,)


def reading_order(transaction: Transaction, *, is_serial: bool) -> tuple[Any, ...]:
    """When a transaction reads.

    That is its start; its commit if both are one instant, or for serializability. Of one session's
    transactions at one time, the positions of rows decide in the end.
    """
    start, commit = transaction.start, transaction.commit
    if commit is None or (start is None and not is_serial):
        return _UNORDERED
    is_start = not is_serial and start != commit
    return _event(transaction, is_start=is_start)


def commit_order(transaction: Transaction) -> tuple[Any, ...]:
    """When a transaction commits."""
    return _event(transaction, is_start=False)


def _event(transaction: Transaction, *, is_start: bool) -> tuple[Any, ...]:
    when = transaction.start if is_start else transaction.commit
    # A missing start, which serializability does not ask for, comes before all.
    return (
        0,
        _reading(when),
        is_start,
        (transaction.start is not None, _reading(transaction.start)),
        _session(transaction),
        transaction.sequence or 0,
    )


def _reading(time: Timestamp | None) -> tuple[int, int]:
    return (0, 0) if time is None else (time.physical, time.logical)


def _session(transaction: Transaction) -> tuple[Any, ...]:
    """Sessions by name; those without one come last, by the ids of their transactions."""
    if transaction.session_id is None:
        return (1, *_id(transaction.id))
    return (0, *_id(transaction.session_id))


def _id(value: object) -> tuple[int, int, str]:
    """Integers by number, then strings, then all others by their texts."""
    if isinstance(value, int) and not isinstance(value, bool):
        return 0, value, ""
    return (1, 0, value) if isinstance(value, str) else (2, 0, str(value))
