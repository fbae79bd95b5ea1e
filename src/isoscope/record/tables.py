"""The tables of the recorded program: their primary keys and columns, as the database tells them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Lookup", "Table"]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the columns of its primary key, and all columns, with their types where they are known.

    If it `is_plain`, a statement writes the values that its text says: no trigger, rule, generated column or
    action of a foreign key changes them.
    """

    name: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    types: tuple[str, ...] = ()
    is_plain: bool = False

    def type_of(self, column: str) -> str:
        """The type of a column, empty if it is not known."""
        return self.types[self.columns.index(column)] if self.types else ""


#: Finds a table by its name; None if the database has none of that name, or not as a table.
Lookup: TypeAlias = "Callable[[str], Table | None]"
