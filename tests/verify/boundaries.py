"""Tiny histories that stand between two neighbouring levels: they keep the first and break the second."""

from __future__ import annotations

from typing import Any, NamedTuple

from isoscope.verify.history import History, Initial, Transaction


class Boundary(NamedTuple):
    """Transactions as (session, operations); an operation is `r x 0`, `w x 1`, `a x 1`, `r x [1,2]`."""

    keeps: str
    breaks: str
    transactions: tuple[tuple[int, str], ...]


BOUNDARIES = {
    "write skew": Boundary("snapshot-isolation", "serializable", ((0, "r x 0, w y 1"), (1, "r y 0, w x 2"))),
    "long fork": Boundary(
        "parallel-snapshot-isolation",
        "snapshot-isolation",
        ((0, "w x 1"), (1, "w y 2"), (2, "r x 1, r y 0"), (3, "r x 0, r y 2")),
    ),
    "two readers disagree": Boundary(
        "update-serializable",
        "serializable",
        ((0, "w x 1"), (1, "w y 2"), (2, "r x 1, r y 0"), (3, "r x 0, r y 2")),
    ),
    "a reader between two writers": Boundary(
        "snapshot-isolation",
        "update-serializable",
        ((0, "r x 0, r y 0, w x 1"), (1, "w y 2"), (2, "r x 0, r y 2")),
    ),
    "lost update": Boundary("prefix", "snapshot-isolation", ((0, "r x 0, w x 1"), (1, "r x 0, w x 2"))),
    "lost update of a cursor": Boundary(
        "monotonic-view", "cursor-stability", ((0, "r x 0, w x 1"), (1, "r x 0, w x 2"))
    ),
    "read skew": Boundary("monotonic-view", "consistent-view", ((0, "w x 1, w y 1"), (1, "r y 0, r x 1"))),
    "monotonic view": Boundary("pl-2", "monotonic-view", ((0, "w x 1, w y 1"), (1, "r x 1, r y 0"))),
    "fork of sessions": Boundary(
        "causal", "prefix", ((0, "w x 1"), (1, "w y 2"), (2, "r x 1, r y 0"), (3, "r x 0, r y 2"))
    ),
    "a friend of a friend": Boundary(
        "read-atomic", "causal", ((0, "w x 1"), (1, "r x 1, w y 2"), (2, "r y 2, r x 0"))
    ),
    "own session": Boundary("read-committed", "read-atomic", ((0, "w x 1"), (0, "r x 0"))),
    "fractured": Boundary("read-committed", "read-atomic", ((0, "w x 1, w y 1"), (1, "r x 0, r y 1"))),
    "not monotonic": Boundary("pl-2", "read-committed", ((0, "w x 1, w y 1"), (1, "r y 1, r x 0"))),
    "dirty": Boundary("pl-1", "pl-2", ((0, "w x 1, w x 2"), (1, "r x 1"))),
    "information in a circle": Boundary("pl-1", "pl-2", ((0, "w x 1, r y 2"), (1, "w y 2, r x 1"))),
    "sessions": Boundary("serializable", "strong-session-serializable", ((0, "w x 1"), (0, "r x 0"))),
    "a session goes back": Boundary("pl-2", "strong-session-pl-2", ((0, "r x 1"), (0, "w x 1"))),
    "interleaved lists": Boundary(
        "cut-isolation", "pl-1", ((0, "a x 1, a x 3"), (1, "a x 2"), (2, "r x [1,2,3]"))
    ),
    "unread appends": Boundary(
        "parallel-snapshot-isolation",
        "snapshot-isolation",
        ((0, "a y 1"), (1, "r y [1], r x []"), (2, "r x [], a x 1"), (3, "r y [], a x 2")),
    ),
}


def tiny(transactions: tuple[tuple[int, str], ...]) -> History:
    """The history of these transactions, called 1, 2, ..., all committed."""
    made = []
    for number, (session, text) in enumerate(transactions):
        t = Transaction(number, number + 1, session)
        t.operations = [_operation(part) for part in _parts(text)]
        t.begin, t.end = 0, 1
        made.append(t)
    return History(made, Initial(value=0), "tiny")


def _parts(text: str) -> list[str]:
    return text.split(", ")


def _operation(text: str) -> tuple[str, str, Any]:
    kind, key, value = text.split(" ")
    name = {"r": "read", "w": "write", "a": "append"}[kind]
    if value.startswith("["):
        return name, key, [int(element) for element in value[1:-1].split(",") if element]
    return name, key, int(value)
