"""A statement that was executed, as the recorder keeps it until its transaction ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from isoscope.record.plan import Plan

__all__ = ["Done"]


class Done:
    """A statement; its rows are the hidden columns, one list a row, or their number if it had none.

    They may be read later, by `reader` from a result of the driver: a loop over all statements of a
    transaction takes a third of the time that the same work takes between two answers of the server.
    """

    __slots__ = (
        "complete", "invoke", "is_undone", "parameters", "place", "plan", "reader", "rows", "sql",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913, PLR0917 - called for each statement, where names would cost time
        self,
        sql: str,
        plan: Plan,
        parameters: Any,
        place: tuple[str, int],
        invoke: int,
        complete: int,
        rows: Any = (),
        reader: Callable[[Any, int], Any] | None = None,
    ) -> None:
        self.sql = sql
        self.plan = plan
        self.parameters = parameters
        self.place = place
        self.invoke = invoke
        self.complete = complete
        self.rows = rows
        self.is_undone = False
        self.reader = reader

    def read(self) -> Any:
        """The rows; the result of the driver is dropped."""
        if self.reader is not None:
            self.rows, self.reader = self.reader(self.rows, self.plan.hidden), None
        return self.rows
