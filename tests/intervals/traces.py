"""Small traces of any kind: random intervals, few values, and no database behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.history import UNKNOWN
from tests.reference import timed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from isoscope.history import History, Operation, Scalar, Transaction, Unknown

__all__ = ["drawn_trace"]

CELLS = {"t/1/a": "a", "t/1/b": "b"}
#: Labels of reads, more often none.
STATEMENTS = (
    *[None] * 6,
    "select for update",
    "SELECT v FROM t FOR SHARE",
    "select_for_key_share",
    "select for update skip locked",
    "select v from t with (readpast)",
    "select v from t with (nolock)",
    "update",
    "explain",
)
LOCK_MODES = (*[None] * 12, "NON_LOCK", "SHARE_LOCK", "update", "Exclusive", "strange")
READ_MODES = (*[None] * 12, "UNCOMMITTED_READ", "uncommitted", "CONSISTENT_READ", "locking", "strange")


def drawn_trace(
    random: Random, *, cells: bool = False, lists: bool = False, is_certain: bool = False
) -> History:
    """A few transactions that overlap, on few keys.

    `is_certain`: it is known how each ended, and what keys held at first.
    """
    kinds = ["register", "rows", *(["cells"] if cells else []), *(["lists"] if lists else [])]
    kind = random.choice(kinds)
    ends = ["aborted"] if is_certain else ["aborted", "indeterminate"]
    transactions = (_transaction(random, kind, ends) for _ in range(random.randint(2, 5)))
    firsts: list[int | Unknown] = [0] if is_certain else [0, 0, UNKNOWN]
    initial = random.choice(firsts) if kind == "register" else None
    return timed.history(*transactions, initial=initial)


def _transaction(random: Random, kind: str, ends: list[str]) -> Transaction:
    now = random.randint(0, 12)
    operations: list[Operation] = []
    for _ in range(random.randint(1, 3)):
        now, times = _waited(random, now)
        operations.append(_operation(random, kind, times))
    if random.random() < 0.3:
        start = operations[0].interval
        assert start is not None
        assert start.invoke is not None
        operations.insert(0, timed.begin(start.invoke - 1, start.invoke - 1))
    _, times = _waited(random, now)
    match random.choice(["committed"] * 6 + ends):
        case "aborted":
            return timed.aborted(*operations, timed.rollback(*times))
        case "indeterminate":
            return timed.indeterminate(*operations, timed.commit(*times))
    return timed.committed(*operations, timed.commit(*times))


def _labels(random: Random, statements: Sequence[str | None] = (None,)) -> dict[str, Any]:
    return {
        "statement": random.choice(statements),
        "lock_mode": random.choice(LOCK_MODES),
        "read_mode": random.choice(READ_MODES),
    }


def _waited(random: Random, now: int) -> tuple[int, tuple[int, int]]:
    invoke = now + random.randint(1, 3)
    complete = invoke + random.choice([0, 1, 1, 2, 4])
    return complete, (invoke, complete)


def _operation(random: Random, kind: str, times: tuple[int, int]) -> Operation:
    match kind:
        case "rows":
            return _on_rows(random, times)
        case "lists":
            return _on_a_list(random, times)
    key = random.choice(list(CELLS) if kind == "cells" else ["x", "x", "y"])
    details: dict[str, Any] = {"table": "t", "columns": (CELLS[key],)} if kind == "cells" else {}
    value = random.randint(0, 2)
    if random.random() < 0.5:
        return timed.write(
            key, value or None if kind == "cells" else value, *times, **details, **_labels(random)
        )
    return timed.read(key, value, *times, **_labels(random, STATEMENTS), **details)


def _on_a_list(random: Random, times: tuple[int, int]) -> Operation:
    if random.random() < 0.5:
        return timed.append("l", random.randint(1, 4), *times, **_labels(random))
    shown = random.sample(range(1, 5), random.randint(0, 2))
    return timed.read("l", shown, *times, **_labels(random, STATEMENTS))


def _on_rows(random: Random, times: tuple[int, int]) -> Operation:
    key, value = random.randint(1, 2), random.randint(1, 2)
    match random.choice(["read", "range", "write", "insert", "delete"]):
        case "read":
            shown = random.choice([None, value])
            return timed.read(key, shown, *times, **_labels(random, STATEMENTS))
        case "range":
            rows: dict[Scalar, Scalar] = {
                one: random.randint(1, 2) for one in (1, 2) if random.random() < 0.5
            }
            return timed.range_read(1, 2, rows, *times, **_labels(random, STATEMENTS))
        case "insert":
            return timed.insert(key, value, *times, **_labels(random))
        case "delete":
            return timed.delete(key, *times, **_labels(random))
    return timed.write(key, value, *times, **_labels(random))
