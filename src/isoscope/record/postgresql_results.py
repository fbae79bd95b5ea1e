"""Results of psycopg 3: the columns that the recorder asked for, and the rest as the program expects it."""

from __future__ import annotations

from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from psycopg.pq import ExecStatus

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SilentResult", "TrimmedCursor", "changed_count", "first_columns", "hidden_rows"]


@cache
def first_columns(columns: int) -> Callable[[Any], Any]:
    """Takes the first columns of a row."""
    return itemgetter(slice(columns))


class SilentResult:
    """The result of a change without RETURNING, as the program expects it: without rows."""

    status = ExecStatus.COMMAND_OK
    nfields = ntuples = 0

    def __init__(self, result: Any) -> None:
        self._result = result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._result, name)


class TrimmedCursor:
    """A cursor as row factories see it: without the hidden columns."""

    def __init__(self, cursor: Any, visible: int) -> None:
        self._cursor = cursor
        self.pgresult = _TrimmedResult(cursor.pgresult, visible)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)


class _TrimmedResult:
    def __init__(self, result: Any, visible: int) -> None:
        self._result = result
        self.nfields = visible

    def __getattr__(self, name: str) -> Any:
        return getattr(self._result, name)


def changed_count(result: Any, hidden: int) -> Any:
    """How many rows a change wrote that has no hidden columns."""
    del hidden
    return result.command_tuples or 0


def hidden_rows(result: Any, hidden: int) -> Any:
    """The hidden columns of each row, as bytes."""
    count = result.ntuples
    if not count:
        return ()
    end, get = result.nfields, result.get_value
    if count == 1 and hidden <= 2:
        return ((get(0, end - 1),),) if hidden == 1 else ((get(0, end - 2), get(0, end - 1)),)
    columns = range(end - hidden, end)
    return [[get(row, column) for column in columns] for row in range(count)]
