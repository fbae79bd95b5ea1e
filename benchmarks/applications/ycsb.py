"""YCSB as SQL: workload A, half reads and half updates of skewed keys, and YCSB-T with ranges (Range-B)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.applications.terminal import SeededTerminal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["SCHEMA", "Ranges", "WorkloadA", "load", "load_all"]

SCHEMA = ("CREATE TABLE usertable (id INTEGER PRIMARY KEY, field VARCHAR(40))",)
#: Keys that a range read spans.
_SPAN = 10


def load(execute_many: Callable[[str, list[tuple[Any, ...]]], Any], keys: int) -> None:
    """Every second key, so that inserts find room."""
    execute_many(
        "INSERT INTO usertable VALUES (%s, %s)", [(key, f"first {key}") for key in range(0, keys, 2)]
    )


def load_all(execute_many: Callable[[str, list[tuple[Any, ...]]], Any], keys: int) -> None:
    """Every key; YCSB has 1,000 of them by default."""
    execute_many("INSERT INTO usertable VALUES (%s, %s)", [(key, f"first {key}") for key in range(keys)])


class WorkloadA(SeededTerminal):
    """A client; keys follow Zipf's law with the exponent 0.99.

    YCSB has one operation in a transaction, which no level can break: `operations` makes it several.
    """

    def __init__(self, cursor: Any, keys: int, seed: str, operations: int = 4) -> None:
        super().__init__(cursor, seed)
        self._keys = keys
        self._operations = operations
        self._written = 0

    def mix(self) -> Mapping[Callable[[Any], None], int]:
        """One kind of transaction, whose operations are drawn."""
        return {WorkloadA.operate: 1}

    def operate(self) -> None:
        """Reads and updates, as many of one as of the other on average."""
        for _ in range(self._operations):
            key = self._skewed(self._keys, 0.99)
            if self._random.random() < 0.5:
                self._all("SELECT field FROM usertable WHERE id = %s", key)
            else:
                self._written += 1
                value = f"{self._seed} {self._written}"
                self._do("UPDATE usertable SET field = %s WHERE id = %s", value, key)


class Ranges(SeededTerminal):
    """A client; each transaction is one operation of the benchmark."""

    def __init__(self, cursor: Any, keys: int, seed: str) -> None:
        super().__init__(cursor, seed)
        self._keys = keys
        self._written = 0

    def mix(self) -> Mapping[Callable[[Any], None], int]:
        """The shares of Range-B."""
        return _MIX

    def _key(self) -> int:
        return self._random.randrange(self._keys)

    def _value(self) -> str:
        self._written += 1
        return f"{self._seed} {self._written}"

    def insert(self) -> None:
        """A row where there is none."""
        key = self._key()
        if not self._all("SELECT field FROM usertable WHERE id = %s", key):
            self._do("INSERT INTO usertable VALUES (%s, %s)", key, self._value())

    def delete(self) -> None:
        """A row less."""
        self._do("DELETE FROM usertable WHERE id = %s", self._key())

    def read(self) -> None:
        """One row."""
        self._all("SELECT field FROM usertable WHERE id = %s", self._key())

    def update(self) -> None:
        """One row with a new value."""
        self._do("UPDATE usertable SET field = %s WHERE id = %s", self._value(), self._key())

    def range_read(self) -> None:
        """The same rows twice: a phantom is a row that only one of the reads shows."""
        low = self._key()
        for _ in range(2):
            self._all("SELECT id, field FROM usertable WHERE id BETWEEN %s AND %s", low, low + _SPAN - 1)


_MIX: dict[Callable[[Any], None], int] = {
    Ranges.insert: 20,
    Ranges.delete: 20,
    Ranges.read: 20,
    Ranges.update: 20,
    Ranges.range_read: 20,
}
