"""Statements of several SELECTs on PostgreSQL: what the recorder asks, and whether it saw the same snapshot.

At READ COMMITTED each statement has a snapshot of its own. The server tells snapshots: if that before the
statement of the program and that of the last question of the recorder are the same, nothing ended in between,
and all statements saw the same versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from isoscope.record.part_rows import rows_of_parts, unread
from isoscope.record.placeholders import bound
from isoscope.record.plan import not_understood

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from isoscope.record.plan import Plan

__all__ = ["Question", "SameSnapshot"]

#: Executes a statement on the connection of the program without recording it; its rows, if it has any.
Question: TypeAlias = "Callable[[str, list[Any] | None], Sequence[Any]]"

#: A standby does not know all transactions that end by their numbers.
_SNAPSHOT = "SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_current_snapshot()::text END"
_SAVEPOINT = "isoscope_parts"


class SameSnapshot:
    """The questions around one statement of the program."""

    def __init__(self, ask: Question, *, is_in_transaction: Callable[[], bool]) -> None:
        self._ask = ask
        self._is_in_transaction = is_in_transaction
        self._before = self._snapshot()

    def rows(self, plan: Plan, sql: str, parameters: Any) -> tuple[Plan, list[Any]]:
        """What the parts of the statement read, behind it; the plan says if that is not known."""
        rows = self.asked(plan, parameters)
        if rows is None:
            return unread(sql), []
        if not self.is_same():
            return not_understood(sql, "another transaction ended while its rows were asked for"), []
        return plan, rows

    def is_same(self) -> bool:
        """Whether no transaction has ended since the questions began."""
        return self._before is not None and self._snapshot() == self._before

    def asked(self, plan: Plan, parameters: Any) -> list[Any] | None:
        """What the parts of the statement read; None if they cannot be asked for."""
        values = [] if plan.marked is None else bound(plan.marked, parameters)
        if values is None or self._before is None:
            return None
        # An error in a question must not abort the transaction of the program.
        has_savepoint = self._is_in_transaction()
        if has_savepoint:
            self._ask(f"SAVEPOINT {_SAVEPOINT}", None)
        given = None if parameters is None else values
        rows = rows_of_parts(
            plan, values, lambda text, kept: self._ask(text, None if given is None else kept)
        )
        if has_savepoint and rows is None:
            self._ask(f"ROLLBACK TO SAVEPOINT {_SAVEPOINT}", None)
        if has_savepoint:
            self._ask(f"RELEASE SAVEPOINT {_SAVEPOINT}", None)
        return rows

    def _snapshot(self) -> str | None:
        try:
            [(found,)] = self._ask(_SNAPSHOT, None)
        except Exception:  # The statement of the program raises it, too.
            return None
        return None if found is None else str(found)
