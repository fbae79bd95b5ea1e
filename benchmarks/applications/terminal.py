"""A client of an application: a seeded choice of its transactions, on a cursor of the DB-API."""

from __future__ import annotations

import random
import sqlite3
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["SeededTerminal"]


class SeededTerminal:
    """What the clients of all applications share; texts have the placeholder `%s`."""

    def __init__(self, cursor: Any, seed: str) -> None:
        self._cursor = cursor
        self._random = random.Random(seed)
        self._seed = seed
        self._is_qmark = isinstance(cursor, sqlite3.Cursor)

    def mix(self) -> Mapping[Callable[[Any], None], int]:
        """The transactions and their weights."""
        raise NotImplementedError

    def choose(self) -> Callable[[], None]:
        """The next transaction by the mix; its parameters stay the same when it is repeated."""
        mix = self.mix()
        [chosen] = self._random.choices(list(mix), weights=list(mix.values()))
        seed = self._random.random()

        def transaction() -> None:
            self._random.seed(seed)
            chosen(self)

        return transaction

    def _skewed(self, count: int, theta: float) -> int:
        """A number below `count` by Zipf's law with the exponent `theta`; 0 is the most frequent."""
        [chosen] = self._random.choices(range(count), cum_weights=_zipf(count, theta))
        return chosen

    def _all(self, sql: str, *values: Any) -> list[Any]:
        self._do(sql, *values)
        rows: list[Any] = list(self._cursor.fetchall())
        return rows

    def _one(self, sql: str, *values: Any) -> Any:
        return self._all(sql, *values)[0]

    def _do(self, sql: str, *values: Any) -> None:
        self._cursor.execute(sql.replace("%s", "?") if self._is_qmark else sql, values)


@cache
def _zipf(count: int, theta: float) -> list[float]:
    return list(accumulate(1 / rank**theta for rank in range(1, count + 1)))
