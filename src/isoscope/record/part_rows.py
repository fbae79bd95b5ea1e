"""The rows of each part of a statement of several SELECTs, and the answers of its subqueries."""

from __future__ import annotations

from contextlib import suppress
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from isoscope.record.plan import not_understood

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from isoscope.record.plan import Answer, Plan

__all__ = ["rows_of_parts", "unread"]

#: Values that conditions compare; bool is an int, and datetime a date.
_COMPARABLE = (int, str, float, Decimal, date, datetime, time, UUID, type(None))


def rows_of_parts(
    plan: Plan, values: Sequence[Any], ask: Callable[[str, list[Any]], Sequence[Any]]
) -> list[Any] | None:
    """The rows of the parts and, behind them, of the answers; None if a part failed.

    The statement of the program has succeeded, and must not fail for what the recorder asks.
    """
    wanted: list[Plan | Answer] = [*plan.parts, *plan.answers]
    with suppress(Exception):
        return [
            [[_plain(cell) for cell in row] for row in ask(one.separate, [values[at] for at in one.kept])]
            for one in wanted
        ]
    return None


def _plain(cell: Any) -> Any:
    """A value as a trace holds it; an empty object if conditions cannot compare it."""
    if not isinstance(cell, _COMPARABLE):
        return {}
    return (
        cell
        if isinstance(cell, int | str | None)
        else cell.isoformat()
        if isinstance(cell, date | time)
        else str(cell)
    )


def unread(sql: str) -> Plan:
    """The plan of a statement of which a part failed."""
    return not_understood(sql, "the rows that its subqueries read could not be asked for")
