"""A statement that was executed, as the recorder keeps it until its transaction ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from isoscope.record.plan import Plan

__all__ = ["Done", "Reader"]

#: Reads the hidden columns, of which there are so many, from a result of the driver.
Reader: TypeAlias = Callable[[Any, int], Any]


class Done(NamedTuple):
    """A statement; its rows are the hidden columns, one list a row, or their number if it had none.

    They may be read later, by `reader` from a result of the driver: a loop over all statements of a
    transaction takes a third of the time that the same work takes between two answers of the server.
    """

    sql: str
    plan: Plan
    parameters: Any
    place: tuple[str, int]
    invoke: int
    complete: int
    rows: Any = ()
    reader: Reader | None = None
    is_undone: bool = False

    def read(self) -> Done:
        """The same with its rows; the result of the driver is dropped."""
        if self.reader is None:
            return self
        return self._replace(rows=self.reader(self.rows, self.plan.hidden), reader=None)
