"""Random numbers of a session from its own seed: plans of transactions, and values of its own.

Only `Random.random` is used: Python promises that its numbers stay the same.
"""

from __future__ import annotations

from itertools import count
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.workloads.clients import Operations
    from isoscope.workloads.keys import Draw, Fraction, Plan

__all__ = ["append_lists", "fractions", "lengths", "plans", "values", "write_registers"]


def fractions(seed: int, session: int) -> Fraction:
    """The random numbers of a session."""
    return Random((seed << 32) + session).random


def values(session: int, sessions: int) -> Iterator[int]:
    """Values that no other session writes; 0 is the initial value of every key."""
    return count(session + 1, sessions)


def lengths(fraction: Fraction, least: int, most: int) -> Draw:
    """Numbers between these two, both included."""
    spread = most - least + 1
    return lambda: least + int(fraction() * spread)


def plans(fraction: Fraction, draw: Draw, length: Draw, read_ratio: float) -> Iterator[Plan]:
    """Transactions without end, each operation a read or a write of a key of its own."""
    while True:
        yield [(fraction() < read_ratio, draw()) for _ in range(length())]


def write_registers(plan: Plan, fresh: Iterator[int], operations: Operations) -> None:
    """Executes a plan with registers."""
    read, write = operations.read, operations.write
    for is_read, key in plan:
        if is_read:
            read(key)
        else:
            write(key, next(fresh))


def append_lists(plan: Plan, fresh: Iterator[int], operations: Operations) -> None:
    """Executes a plan with lists."""
    read, append = operations.read, operations.append
    for is_read, key in plan:
        if is_read:
            read(key)
        else:
            append(key, next(fresh))
